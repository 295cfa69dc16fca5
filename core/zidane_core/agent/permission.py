"""Whether a tool call may run: denials, policy, roots, guarded files, grants (ring 2). One gate for every tool."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from zidane_core.agent import commands, denials, guarded
from zidane_core.agent.modes import mode_of
from zidane_core.agent.state import Call, Options, Thread
from zidane_core.data.rules import Denials, Grant, Policy
from zidane_core.data.tools import ToolSpec


class Allow(msgspec.Struct, frozen=True, gc=False, tag="allow"):
    """The call may run without a question; `harmless` when that is so only because it changes nothing."""

    harmless: bool = False


class AskUser(msgspec.Struct, frozen=True, gc=False, tag="ask_user"):
    """The user decides; `always` is the grant that "always" would give, None when it is not offered. `lasting`: it may
    be kept for the project, too. `yes` and `no` are the answers in words."""

    always: Grant | None = None
    scope: str = ""
    lasting: bool = False
    yes: str = "Allow once"
    no: str = "Reject"


class Refuse(msgspec.Struct, frozen=True, gc=False, tag="refuse"):
    """The call may not run; the reason goes to the model."""

    reason: str


Verdict: TypeAlias = Allow | AskUser | Refuse

PLANNING = "The session is in a mode without changes. Put what you would do into the plan; the user decides when it begins."
READ_ONLY = "This session is read-only: the policy allows no changes. Tell the user what you would have done."


def decide(options: Options, thread: Thread, call: Call, spec: ToolSpec) -> Verdict:
    """The verdict on a call whose preparation is done."""
    denied = denial(options, thread, call, spec)
    if denied:
        return Refuse(denied)
    if spec.access == "mode":
        return AskUser(yes="Begin with this plan", no="Keep planning")
    if spec.changes and not mode_of(options, thread).changes:
        return Refuse(PLANNING)
    if spec.access == "none":
        return Allow()
    policy = policy_of(thread)
    harmless = spec.access == "read" or (spec.access == "run" and _reads_only(options, thread, call, spec))
    if policy == "read-only" and not harmless:
        return Refuse(READ_ONLY)
    if spec.access in {"read", "write"} and _outside(call):
        return AskUser()
    if not harmless and _guarded(options, thread, call, spec):
        return AskUser()
    if harmless or policy == "allow-all":
        return Allow(harmless)
    verdict = _ASK[spec.access](thread, call, spec)
    if isinstance(verdict, AskUser):
        return replace(verdict, lasting=_lasting(options, thread, verdict))
    return verdict


def may_be_harmless(options: Options, call: Call, spec: ToolSpec) -> bool:
    """Whether a command may run without a question once its paths are known to lie in the roots."""
    read_only = spec.access == "run" and commands.read_only_paths(_subject(call, spec)) is not None
    return read_only and options.read_only_commands


# What holds in a thread ----------------------------------------------------------------------------


def denials_of(options: Options, thread: Thread) -> Denials:
    """What is denied in a thread: by the user, and by its project."""
    project = Denials() if thread.project is None else thread.project.settings.denials
    own = options.denials
    return Denials((*own.paths, *project.paths), (*own.commands, *project.commands))


def policy_of(thread: Thread) -> Policy:
    """The policy in force: a project can only make it tighter."""
    project = None if thread.project is None else thread.project.settings.policy
    own = thread.settings.policy
    return own if project is None or _TIGHTER.index(project) < _TIGHTER.index(own) else project


_TIGHTER: Final[tuple[Policy, ...]] = ("allow-all", "allow-edits", "ask", "read-only")


def _grants(thread: Thread) -> tuple[Grant, ...]:
    return thread.grants if thread.project is None else (*thread.grants, *thread.project.grants)


def project_folder(thread: Thread) -> str:
    """The folder that permissions of the thread's project belong to, '' without one."""
    return "" if thread.project is None else next(iter(thread.project.folders), "")


def _lasting(options: Options, thread: Thread, asked: AskUser) -> bool:
    """Whether the grant may be kept for the project: a tool of the client is one of this connection only."""
    if asked.always is None or asked.always.value[:1] == (CLIENT_TOOL,):
        return False
    return options.remembers and bool(project_folder(thread))


CLIENT_TOOL: Final = "client_tool"
"""The machine of the client's tools."""

# Denied and guarded --------------------------------------------------------------------------------


def denial(options: Options, thread: Thread, call: Call, spec: ToolSpec) -> str:
    """Why a call is denied, as a sentence for the model, '' when it is not. Before the preparation only what the call
    names is known, afterwards also where that leads."""
    denied = denials_of(options, thread)
    if denied == Denials():
        return ""
    resolved = () if call.preview is None else call.preview.paths
    rules = denials.path_rules(denied.paths, thread.roots)
    named = (*call.paths, *(path.real for path in resolved))
    rule = next((rule for path in named if (rule := denials.denied_path(rules, path, thread.cwd))), "")
    if not rule and spec.access == "run":
        rule = denials.denied_line(denied, _subject(call, spec), _folder(thread, call), thread.roots)
    elif not rule and spec.access in _OF_OTHERS and not spec.path_arguments:
        rule = denials.denied_argument(denied, call.arguments, thread.cwd, thread.roots)
    return denials.refusal(rule) if rule else ""


_OF_OTHERS: Final = frozenset({"read", "write", "other"})
"""Accesses of tools whose arguments may be paths that nobody resolves."""


def _folder(thread: Thread, call: Call) -> str:
    """The folder that a command would run in."""
    return call.paths[0] if call.paths else thread.cwd


def _guarded(options: Options, thread: Thread, call: Call, spec: ToolSpec) -> bool:
    """Whether a call may write what is never written without a question."""
    if spec.access == "write":
        resolved = () if call.preview is None else call.preview.paths
        return any(guarded.is_guarded(path.real, options.protected) for path in resolved)
    return spec.access == "run" and guarded.names_guarded(
        _subject(call, spec), _folder(thread, call), options.protected
    )


def _outside(call: Call) -> bool:
    """Whether a path lies outside of the roots, or was not resolved at all."""
    resolved = () if call.preview is None else call.preview.paths
    return not all(path.inside for path in resolved) or len(resolved) < len(call.paths)


def _reads_only(options: Options, thread: Thread, call: Call, spec: ToolSpec) -> bool:
    if not may_be_harmless(options, call, spec) or call.preview is None:
        return False
    if denials_of(options, thread).paths and denials.sweeps(_subject(call, spec)):
        return False
    return call.preview.harmless and not _outside(call)


# What a grant covers -------------------------------------------------------------------------------


def _subject(call: Call, spec: ToolSpec) -> str:
    value = call.arguments.get(spec.subject or "")
    return value if isinstance(value, str) else ""


def _write(thread: Thread, call: Call, spec: ToolSpec) -> Verdict:
    if policy_of(thread) == "allow-edits" or Grant("edits") in _grants(thread):
        return Allow()
    return AskUser(Grant("edits"), "edits in this workspace")


def _run(thread: Thread, call: Call, spec: ToolSpec) -> Verdict:
    if call.preview is None or not all(path.inside for path in call.preview.paths[:1]):
        return AskUser()  # the folder it would run in lies outside of the roots
    line = _subject(call, spec)
    if any(_covers(grant, line) for grant in _grants(thread)):
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
    if host and Grant("host", (host,)) in _grants(thread):
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
    return Allow() if grant in _grants(thread) else AskUser(grant, f"the tool {spec.name}")


_ASK: Final[Mapping[str, Callable[[Thread, Call, ToolSpec], Verdict]]] = MappingProxyType(
    {"read": _other, "write": _write, "run": _run, "fetch": _fetch, "other": _other}
)
