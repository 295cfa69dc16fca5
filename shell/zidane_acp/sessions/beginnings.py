"""A session by the beginning of its id: one rule, and one set of sentences, for the commands and the chat."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from returns.result import Failure, Result, Success

from zidane_acp.chat.safe_text import clip, line

T = TypeVar("T")

LAST: Final = "last"
"""The word for the newest session."""

NAMED: Final = 5
"""So many sessions are named when a beginning fits several."""

LONG: Final = 60
"""Characters of an id that a sentence shows."""


def beginning_with(word: str, sessions: Iterable[T], id_of: Callable[[T], str], step: str) -> Result[T, str]:
    """The only session whose id begins so. The failure is a sentence; `step` says what to do when there is none."""
    fitting = [session for session in sessions if word and id_of(session).startswith(word)]
    if len(fitting) == 1:
        return Success(fitting[0])
    shown = repr(clip(line(word), LONG))
    if not fitting:
        return Failure(f"There is no session {shown}; {step}.")
    names = ", ".join(clip(line(id_of(session)), LONG) for session in fitting[:NAMED])
    more = ", …" if len(fitting) > NAMED else ""
    return Failure(f"{len(fitting)} sessions begin with {shown}: {names}{more}; give more of the id.")
