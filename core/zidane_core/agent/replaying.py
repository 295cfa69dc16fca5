"""What a log shows: the same as was shown while it was written (ring 2).

Live and replayed cards are made by the same functions (`reports`) from the same entries, so that a replay cannot say
anything else. What only mattered at the time (progress, notices, usage, the list of commands) is left out.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from zidane_core.agent import repairing, reports
from zidane_core.agent.effects import (
    Chunk,
    CompactionShown,
    ContentShown,
    Effect,
    ModeShown,
    PlanShown,
    Shown,
    Tell,
    TitleShown,
)
from zidane_core.agent.state import Thread
from zidane_core.data import history
from zidane_core.data.content import Text
from zidane_core.text import whole as whole_text


def replay(thread: str, entries: Iterable[history.Entry]) -> tuple[Effect, ...]:
    """Everything that the client of a thread is to see of its log, in order."""
    return tuple(effect for entry in entries for effect in _SHOW.get(type(entry), _nothing)(thread, entry))


def whole(thread: Thread) -> tuple[Effect, ...]:
    """What the client of an open thread is to see: its log, what is missing at its end, what its turn shows now, and
    what waits for the open block."""
    missing = repairing.repairs(thread.log, thread.store.journal) if thread.cut else ()
    logged = replay(thread.id, (*thread.log, *missing))
    return (*logged, *_running(thread), *replay(thread.id, thread.later))


def _running(thread: Thread) -> tuple[Effect, ...]:
    """The block that is being streamed, the cards of calls that are not done, the compaction that goes on."""
    turn = thread.turn
    if turn is None:
        return ()
    block = turn.open
    said = () if block is None else (Chunk(thread.id, block.kind, block.message, whole_text(block.text)),)
    cards = (call.shown for call in turn.calls if call.phase != "done")
    compaction = turn.compaction
    shortens = (
        (Tell(thread.id, CompactionShown(compaction.id, "in_progress")),)
        if compaction is not None and compaction.id
        else ()
    )
    return (*said, *(Tell(thread.id, card) for card in cards if card is not None), *shortens)


def _nothing(thread: str, entry: history.Entry) -> tuple[Effect, ...]:
    return ()


def _user(thread: str, entry: history.UserSaid) -> tuple[Effect, ...]:
    return tuple(
        Chunk(thread, "user", entry.message, part.text)
        if isinstance(part, Text) and part.hints is None
        else Tell(thread, ContentShown("user", entry.message, part))
        for part in entry.parts
    )


def _text(thread: str, entry: history.TextSaid) -> tuple[Effect, ...]:
    return (Chunk(thread, "agent", entry.message, entry.text),) if entry.text else ()


def _thought(thread: str, entry: history.Thinking) -> tuple[Effect, ...]:
    return (Chunk(thread, "thought", entry.message, entry.text),) if entry.text else ()


def _told(shown: Callable[[Any], Shown]) -> Callable[[str, Any], tuple[Effect, ...]]:
    return lambda thread, entry: (Tell(thread, shown(entry)),)


def _setting(thread: str, entry: history.SettingChanged) -> tuple[Effect, ...]:
    return (Tell(thread, ModeShown(entry.value)),) if entry.option == "mode" else ()


# Any: each function takes the entry type of its key, which a dict type cannot say.
_SHOW: Final[Mapping[type, Callable[[str, Any], tuple[Effect, ...]]]] = MappingProxyType(
    {
        history.UserSaid: _user,
        history.TextSaid: _text,
        history.Thinking: _thought,
        history.CallMade: _told(reports.opened),
        history.ResultMade: _told(reports.closed),
        history.PlanSet: _told(lambda entry: PlanShown(entry.entries)),
        history.TitleSet: _told(lambda entry: TitleShown(entry.title)),
        history.SettingChanged: _setting,
        history.Compacted: _told(lambda entry: CompactionShown(entry.id, "completed", summary=entry.summary)),
    }
)
