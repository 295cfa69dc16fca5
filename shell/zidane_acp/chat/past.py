"""What a replay told, as turns: how much there is, and what of it fits a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from zidane_acp.chat.standing import Standing, after, changes, without_mode
from zidane_acp.chat.told import ModeTold
from zidane_acp.chat.updates import Card, Changed, Compaction, Plan, Said, Update

TURNS: Final = 10
STEPS: Final = 60
"""Messages, thoughts and calls that are shown at most, however few the turns are."""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """A prompt and all that followed. The first turn has no prompt when the agent spoke first."""

    prompt: str
    updates: tuple[Update, ...]


class Past(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The end of a conversation: the turns to show, and how much before them is left out.

    `steps_left_out` are those at the beginning of the only turn that is shown, when it is too long itself.
    """

    turns: tuple[Turn, ...] = ()
    messages: int = 0
    turns_left_out: int = 0
    steps_left_out: int = 0


def with_modes(updates: Iterable[Update | ModeTold], now: Standing) -> Iterator[Update]:
    """A replay in which each change of the mode is told in the names of today; `now` is how the session stands."""
    before = without_mode(now)
    for update in updates:
        if not isinstance(update, ModeTold):
            yield update
            continue
        then = after(before, update)
        if words := changes(before, then):
            yield Changed(words)
        before = then


def past_of(updates: Sequence[Update], turns: int = TURNS, steps: int = STEPS) -> Past:
    """The last turns of a replay: at most `turns` of them, at most `steps` steps, and at least the last turn."""
    told = tuple(_turns(updates))
    shown: list[Turn] = []
    left = steps
    for turn in reversed(told[-turns:]):
        left -= len(set(_numbered(turn.updates)))
        if shown and left < 0:
            break
        shown.append(turn)
    gone = 0
    if len(shown) == 1:
        shown[0], gone = _end_of(shown[0], steps)
    return Past(
        turns=tuple(reversed(shown)),
        messages=sum(_messages(turn) for turn in told),
        turns_left_out=len(told) - len(shown),
        steps_left_out=gone,
    )


def _turns(updates: Iterable[Update]) -> Iterator[Turn]:
    prompt, message, after, fresh = "", "", list[Update](), False
    for update in updates:
        if not (isinstance(update, Said) and update.kind == "user"):
            after.append(update)
            fresh = False
        elif fresh and update.message == message:
            prompt += update.text
        else:
            # Two messages of the user in a row are two turns: the first one was cancelled while it waited.
            if prompt or after:
                yield Turn(prompt, tuple(after))
            prompt, message, after, fresh = update.text, update.message, [], True
    if prompt or after:
        yield Turn(prompt, tuple(after))


def _numbered(updates: Iterable[Update]) -> Iterator[int]:
    """For each update the number of the step that it belongs to; what changes a step belongs to that step."""
    known: dict[tuple[type, str], int] = {}
    before: tuple[str, str] | None = None
    last = 0
    for update in updates:
        thing = (type(update), update.id) if isinstance(update, (Card, Compaction)) else None
        if thing in known:
            yield known[thing]
        elif isinstance(update, Plan):
            yield last
        else:
            said = (update.kind, update.message) if isinstance(update, Said) else None
            if said is None or said != before:
                last += 1
            if thing is not None:
                known[thing] = last
            before = said
            yield last


def _end_of(turn: Turn, steps: int) -> tuple[Turn, int]:
    """The turn's last steps, and how many are left out. The plan is about all of them, so it stays."""
    numbers = tuple(_numbered(turn.updates))
    gone = max(max(numbers, default=0) - steps, 0)
    numbered = zip(turn.updates, numbers, strict=True)
    kept = tuple(update for update, number in numbered if number > gone or isinstance(update, Plan))
    return Turn(turn.prompt, kept), gone


def _messages(turn: Turn) -> int:
    """How many messages a turn holds, the user's and the agent's; where they bear no id, those of a row are one."""
    numbered = zip(turn.updates, _numbered(turn.updates), strict=True)
    agents = {
        update.message or number
        for update, number in numbered
        if isinstance(update, Said) and update.kind == "agent"
    }
    return len(agents) + bool(turn.prompt)
