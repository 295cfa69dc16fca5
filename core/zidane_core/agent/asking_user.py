"""The machine of `ask_user` (ring 2): a form where the client shows forms, else the question as plain text.

In plain text the question is the agent's last word of the turn, and the user's next prompt is the answer.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from returns.result import Failure

from zidane_core.agent import forms
from zidane_core.agent.local_machine import failed
from zidane_core.agent.machines import (
    Ask,
    Done,
    Got,
    Machine,
    Pose,
    Ready,
    State,
    Stateless,
    Turned,
    Work,
    nothing_to_halt,
)
from zidane_core.agent.peer import AskForm, Dismissed, Filled, Unanswerable
from zidane_core.data.content import Text
from zidane_core.data.tools import ToolResult
from zidane_core.fp import fold


class Asking(msgspec.Struct, frozen=True, gc=False):
    """The form that is shown."""

    form: dict[str, object]


def _begin(work: Work) -> Turned:
    form = forms.form(work.arguments.get("schema"))
    if isinstance(form, Failure):
        return Stateless(), (Done(failed(form.failure())),)
    return Asking(form.unwrap()), (Ready(),)


def _go(state: State, work: Work) -> Turned:
    if not isinstance(state, Asking):
        return state, ()
    message = str(work.arguments.get("message"))
    if work.abilities.forms:
        return state, (Ask("form", AskForm(message, state.form, work.call)),)
    return state, (Pose(forms.as_text(message, state.form)), Done(_said(POSED)))


POSED: Final = "The user was asked in plain text. The turn ends here; the next message is the answer."


def _said(text: str, **raw: object) -> ToolResult:
    return ToolResult(content=(Text(text),), raw=raw or None)


def _got(state: State, work: Work, tag: str, got: Got) -> Turned:
    if not isinstance(state, Asking):
        return state, ()
    return state, (Done(_result(state, got)),)


def _result(state: Asking, got: Got) -> ToolResult:
    if isinstance(got, Unanswerable):
        return failed(f"The question could not be asked: {got.reason}")
    if isinstance(got, Dismissed):
        return _said(CANCELLED, action="cancel")
    if not isinstance(got, Filled):
        return failed("The client's answer to the question could not be read.")
    if got.action != "accept":
        unknown = f"The client answered with {got.action[:80]!r}, which counts as no answer."
        return _said(_WORDS.get(got.action, unknown), action=got.action[:80])
    return fold(forms.filled(state.form, got.content), _accepted, _wrong)


CANCELLED: Final = "The user closed the question without an answer."
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"decline": "The user declined to answer.", "cancel": CANCELLED}
)


def _accepted(content: dict[str, object]) -> ToolResult:
    only = content.get("answer") if list(content) == ["answer"] else None
    text = only if isinstance(only, str) else msgspec.json.encode(content).decode()
    return _said(f"The user answered: {text}", action="accept", content=content)


def _wrong(problem: str) -> ToolResult:
    return failed(f"The user's answer does not fit the form: {problem}. Ask again if you need it.")


ASK_USER: Final = Machine(_begin, _go, _got, nothing_to_halt)
