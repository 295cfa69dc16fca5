"""Whether a tool call may run: policy, roots, grants, and what the user can answer (ring 2).

One gate for every tool. Anything that is not an offered allow is a refusal.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from zidane_core.agent import commands
from zidane_core.agent.modes import mode_of
from zidane_core.agent.peer import Chose, Dismissed, PeerAnswer, PermissionChoice, Unanswerable
from zidane_core.agent.state import Call, Options, Thread
from zidane_core.data.rules import Grant
from zidane_core.data.tools import ToolSpec


class Allow(msgspec.Struct, frozen=True, gc=False, tag="allow"):
    """The call may run without a question; `harmless` when that is so only because it changes nothing."""

    harmless: bool = False


class AskUser(msgspec.Struct, frozen=True, gc=False, tag="ask_user"):
    """The user decides; `always` is the grant that "always" would give, None when it is not offered."""

    always: Grant | None = None
    scope: str = ""


class Refuse(msgspec.Struct, frozen=True, gc=False, tag="refuse"):
    """The call may not run; the reason goes to the model."""

    reason: str


Verdict: TypeAlias = Allow | AskUser | Refuse

PLANNING = "The session is in a mode without changes. Put what you would do into the plan; the user decides when it begins."
READ_ONLY = "This session is read-only: the policy allows no changes. Tell the user what you would have done."


def decide(options: Options, thread: Thread, call: Call, spec: ToolSpec) -> Verdict:
    """The verdict on a call whose preparation is done."""
    if spec.access == "mode":
        return AskUser()
    if spec.changes and not mode_of(options, thread).changes:
        return Refuse(PLANNING)
    if spec.access == "none":
        return Allow()
    policy = thread.settings.policy
    harmless = spec.access == "read" or (spec.access == "run" and _reads_only(options, call, spec))
    if policy == "read-only" and not harmless:
        return Refuse(READ_ONLY)
    if spec.access in {"read", "write"} and _outside(call):
        return AskUser()
    if spec.access == "write" and _guarded(call):
        return AskUser()
    if harmless or policy == "allow-all":
        return Allow(harmless)
    return _ASK[spec.access](thread, call, spec)


def may_be_harmless(options: Options, call: Call, spec: ToolSpec) -> bool:
    """Whether a command may run without a question once its paths are known to lie in the roots."""
    read_only = spec.access == "run" and commands.read_only_paths(_subject(call, spec)) is not None
    return read_only and options.read_only_commands


def _outside(call: Call) -> bool:
    """Whether a path lies outside of the roots, or was not resolved at all."""
    resolved = () if call.preview is None else call.preview.paths
    return not all(path.inside for path in resolved) or len(resolved) < len(call.paths)


def _guarded(call: Call) -> bool:
    """Whether a path lies in a repository's own folder, whose files can name programs that git then runs."""
    resolved = () if call.preview is None else call.preview.paths
    return any(".git" in re.split(r"[/\\]", path.real.lower()) for path in resolved)


def _reads_only(options: Options, call: Call, spec: ToolSpec) -> bool:
    if not may_be_harmless(options, call, spec) or call.preview is None:
        return False
    return call.preview.harmless and not _outside(call)


def _subject(call: Call, spec: ToolSpec) -> str:
    value = call.arguments.get(spec.subject or "")
    return value if isinstance(value, str) else ""


def _write(thread: Thread, call: Call, spec: ToolSpec) -> Verdict:
    if thread.settings.policy == "allow-edits" or Grant("edits") in thread.grants:
        return Allow()
    return AskUser(Grant("edits"), "edits in this workspace")


def _run(thread: Thread, call: Call, spec: ToolSpec) -> Verdict:
    if call.preview is None or not all(path.inside for path in call.preview.paths[:1]):
        return AskUser()  # the folder it would run in lies outside of the roots
    line = _subject(call, spec)
    if any(_covers(grant, line) for grant in thread.grants):
        return Allow()
    words = commands.prefix(line)
    if words is None:
        return AskUser(Grant("command", (line,)), "this exact command")
    return AskUser(Grant("prefix", words), f"`{commands.shown_prefix(words)}`")


def _covers(grant: Grant, line: str) -> bool:
    if grant.kind == "command":
        return grant.value == (line,)
    return grant.kind == "prefix" and commands.covers(grant.value, line)


def _fetch(thread: Thread, call: Call, spec: ToolSpec) -> Verdict:
    host = _host(_subject(call, spec))
    if host and Grant("host", (host,)) in thread.grants:
        return Allow()
    return AskUser(Grant("host", (host,)), f"fetching from {host}") if host else AskUser()


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _other(thread: Thread, call: Call, spec: ToolSpec) -> Verdict:
    # By who runs it, too: of another server or client a tool of this name is another tool.
    grant = Grant("tool", (spec.machine, spec.server, spec.remote or spec.name))
    return Allow() if grant in thread.grants else AskUser(grant, f"the tool {spec.name}")


_ASK: Final[Mapping[str, Callable[[Thread, Call, ToolSpec], Verdict]]] = MappingProxyType(
    {"read": _other, "write": _write, "run": _run, "fetch": _fetch, "other": _other}
)


# The question --------------------------------------------------------------------------------------

ALLOW_ONCE: Final = "allow_once"
ALLOW_ALWAYS: Final = "allow_always"
REJECT_ONCE: Final = "reject_once"


def choices(asked: AskUser) -> tuple[PermissionChoice, ...]:
    """The options to offer; the name of "always" states its scope."""
    once = PermissionChoice(ALLOW_ONCE, "Allow once", "allow_once")
    reject = PermissionChoice(REJECT_ONCE, "Reject", "reject_once")
    if asked.always is None:
        return (once, reject)
    always = PermissionChoice(ALLOW_ALWAYS, f"Always allow {asked.scope} (this session)", "allow_always")
    return (once, always, reject)


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What an answer means. `reason` is for the model, `remark` for the log."""

    kind: Literal["once", "always", "refused", "cancelled"]
    reason: str = ""
    remark: str = ""


REFUSED = (
    "The user refused this call. Do not make the same change in another way; "
    "say what you wanted to do, or ask what to do instead."
)


LONGEST_REMARK = 80


def read_answer(always: bool, answer: PeerAnswer) -> Decision:
    """What the client's answer to a question means, which offered `always` or not; everything unclear is a refusal."""
    if isinstance(answer, Dismissed):
        return Decision("cancelled")
    if isinstance(answer, Unanswerable):
        reason = f"The call was not approved: the client cannot ask the user ({answer.reason})."
        return Decision("refused", reason, f"a permission request was not answered: {answer.reason}")
    if not isinstance(answer, Chose):
        reason = "The call was not approved: the client's answer could not be read."
        return Decision("refused", reason, "a permission answer could not be read; the call was refused")
    if answer.option not in _DECISIONS or (answer.option == ALLOW_ALWAYS and not always):
        return Decision(
            "refused",
            "The call was not approved: the client's answer named no offered option.",
            f"a permission answer named the unknown option {answer.option[:LONGEST_REMARK]!r}; the call was refused",
        )
    return _DECISIONS[answer.option]


_DECISIONS: Final[Mapping[str, Decision]] = MappingProxyType(
    {
        ALLOW_ONCE: Decision("once"),
        ALLOW_ALWAYS: Decision("always"),
        REJECT_ONCE: Decision("refused", REFUSED),
    }
)
