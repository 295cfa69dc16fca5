"""The question before a call runs, and what its answer means (ring 2). Anything that is not an offered allow is a refusal."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from zidane_core.agent.peer import Chose, Dismissed, PeerAnswer, PermissionChoice, Unanswerable
from zidane_core.agent.permission import AskUser

ALLOW_ONCE: Final = "allow_once"
ALLOW_ALWAYS: Final = "allow_always"
ALLOW_PROJECT: Final = "allow_project"
REJECT_ONCE: Final = "reject_once"


def choices(asked: AskUser) -> tuple[PermissionChoice, ...]:
    """The options to offer; the name of each "always" states its scope."""
    once = PermissionChoice(ALLOW_ONCE, asked.yes, "allow_once")
    reject = PermissionChoice(REJECT_ONCE, asked.no, "reject_once")
    if asked.always is None:
        return (once, reject)
    session = PermissionChoice(ALLOW_ALWAYS, f"Always allow {asked.scope} (this session)", "allow_always")
    if not asked.lasting:
        return (once, session, reject)
    project = PermissionChoice(ALLOW_PROJECT, f"Always allow {asked.scope} (this project)", "allow_always")
    return (once, session, project, reject)


def offered(always: bool, lasting: bool) -> frozenset[str]:
    """The ids of the options that a question has, which offered a grant or not, and one for the project or not."""
    more = ((ALLOW_ALWAYS,) if always else ()) + ((ALLOW_PROJECT,) if always and lasting else ())
    return frozenset((ALLOW_ONCE, REJECT_ONCE, *more))


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What an answer means. `reason` is for the model, `remark` for the log."""

    kind: Literal["once", "always", "project", "refused", "cancelled"]
    reason: str = ""
    remark: str = ""


REFUSED = (
    "The user refused this call. Do not make the same change in another way; "
    "say what you wanted to do, or ask what to do instead."
)


LONGEST_REMARK = 80


def read_answer(options: frozenset[str], answer: PeerAnswer) -> Decision:
    """What the client's answer to a question with these options means; everything unclear is a refusal."""
    if isinstance(answer, Dismissed):
        return Decision("cancelled")
    if isinstance(answer, Unanswerable):
        reason = f"The call was not approved: the client cannot ask the user ({answer.reason})."
        return Decision("refused", reason, f"a permission request was not answered: {answer.reason}")
    if not isinstance(answer, Chose):
        reason = "The call was not approved: the client's answer could not be read."
        return Decision("refused", reason, "a permission answer could not be read; the call was refused")
    if answer.option not in options:
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
        ALLOW_PROJECT: Decision("project"),
        REJECT_ONCE: Decision("refused", REFUSED),
    }
)
