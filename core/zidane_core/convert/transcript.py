"""The entries of a session's log -> what a reader of the conversation is shown, one record after another.

A call and its result become one card, which stands where the call stands. What only the model needs is left out.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

import msgspec

from zidane_core.data import history
from zidane_core.data.content import Part, Severity
from zidane_core.data.outcome import StopReason, Usage
from zidane_core.data.tools import Diff, Location, PlanEntry, ToolKind

CardStatus: TypeAlias = Literal["completed", "failed", "interrupted"]
"""How a call ended; `interrupted` has no result."""


class About(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What stands above a conversation. `when` is a date as text, since the core knows no time zone."""

    session: str
    title: str = ""
    cwd: str = ""
    when: str = ""


class Prompt(msgspec.Struct, frozen=True, gc=False):
    """What the user said."""

    parts: tuple[Part, ...]


class Answer(msgspec.Struct, frozen=True, gc=False):
    """A block of the agent's answer, in Markdown."""

    text: str


class Thought(msgspec.Struct, frozen=True, gc=False):
    """A block of the model's thinking."""

    text: str


class Card(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A call as it ended: `raw` is its input, `raw_output` what it gave for programs, `output` for people."""

    title: str
    kind: ToolKind = "other"
    status: CardStatus = "interrupted"
    locations: tuple[Location, ...] = ()
    diffs: tuple[Diff, ...] = ()
    output: tuple[Part, ...] = ()
    raw: dict[str, object] = {}
    raw_output: dict[str, object] | None = None


class Plan(msgspec.Struct, frozen=True, gc=False):
    """The whole plan, as it was from here on."""

    steps: tuple[PlanEntry, ...]


class Notice(msgspec.Struct, frozen=True, gc=False):
    """A sentence that is neither the user's nor the model's."""

    severity: Severity
    text: str


class End(msgspec.Struct, frozen=True, gc=False):
    """A turn's end: its stop reason, or else the sentence of its fault."""

    stop: StopReason | None
    fault: str
    usage: Usage


class Damaged(msgspec.Struct, frozen=True, gc=False):
    """An entry that this version cannot read."""


Shown: TypeAlias = Prompt | Answer | Thought | Card | Plan | Notice | End | Damaged


def transcript(entries: Iterable[history.Entry]) -> tuple[Shown, ...]:
    """What is shown of a log, in order. A result whose call is not there has a card of its own."""
    shown: list[Shown] = []
    waiting: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry, history.CallMade):
            waiting[entry.call] = len(shown)
            shown.append(_opened(entry))
        elif isinstance(entry, history.ResultMade):
            place = waiting.pop(entry.call, None)
            before = None if place is None else shown[place]
            card = _closed(entry, before if isinstance(before, Card) else None)
            if place is None:
                shown.append(card)
            else:
                shown[place] = card
        else:
            shown.extend(_SHOW[type(entry)](entry))
    return tuple(shown)


def damaged(shown: Iterable[Shown]) -> int:
    """How many entries could not be read."""
    return sum(isinstance(item, Damaged) for item in shown)


def _opened(entry: history.CallMade) -> Card:
    return Card(
        title=entry.title or entry.name,
        kind=entry.kind,
        locations=entry.locations,
        raw=entry.raw,
    )


def _closed(entry: history.ResultMade, card: Card | None) -> Card:
    """The card with its result: what the result does not say again stays."""
    return Card(
        title=entry.title or (card.title if card else entry.name),
        kind=card.kind if card else "other",
        status="failed" if entry.failed else "completed",
        locations=entry.locations or (card.locations if card else ()),
        diffs=entry.diffs,
        output=entry.shown,
        raw=card.raw if card else {},
        raw_output=entry.raw,
    )


def _text(entry: history.TextSaid) -> tuple[Shown, ...]:
    return (Answer(entry.text),) if entry.text.strip() else ()


def _thought(entry: history.Thinking) -> tuple[Shown, ...]:
    return (Thought(entry.text),) if entry.text.strip() else ()


def _turn_end(entry: history.TurnEnded) -> tuple[Shown, ...]:
    return (End(entry.stop, entry.fault.message if entry.fault else "", entry.usage),)


def _told(words: Callable[[Any], str]) -> Callable[[Any], tuple[Shown, ...]]:
    return lambda entry: (Notice("info", words(entry)),)


def _excluded(entry: history.Excluded) -> tuple[Shown, ...]:
    return () if entry.aside else (Notice("info", "The model does not see this turn any more."),)


def _nothing(entry: history.Entry) -> tuple[Shown, ...]:
    return ()


# Any: each function takes the entry type of its key, which a dict type cannot say.
_SHOW: Final[Mapping[type, Callable[[Any], tuple[Shown, ...]]]] = MappingProxyType(
    {
        history.UserSaid: lambda entry: (Prompt(entry.parts),),
        history.Attached: _nothing,
        history.TextSaid: _text,
        history.Thinking: _thought,
        history.ForeignKept: _nothing,
        history.PlanSet: lambda entry: (Plan(entry.entries),),
        history.TitleSet: _nothing,
        history.SettingChanged: _told(lambda entry: f"{entry.option.capitalize()} set to {entry.value}."),
        history.NoticeGiven: lambda entry: (Notice(entry.severity, entry.text),),
        history.TurnEnded: _turn_end,
        history.Shortened: _told(lambda entry: "Older results of tools were shortened for the model."),
        history.Granted: _nothing,
        history.Compacted: _told(
            lambda entry: f"What is above was summarised for the model: {entry.summary}"
        ),
        history.Excluded: _excluded,
        history.InterruptMade: _told(lambda entry: "Paused with questions: " + " / ".join(entry.questions)),
        history.Resumed: _told(lambda entry: "Went on with the answers: " + " / ".join(entry.answers)),
        history.Unread: lambda entry: (Damaged(),),
    }
)
