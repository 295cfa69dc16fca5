"""What a thread is, from the entries of its log (ring 2): what was chosen and allowed, the title, the plan, the counters."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from zidane_core.agent import settings
from zidane_core.agent.state import Options, Thread
from zidane_core.data import history
from zidane_core.data.outcome import Usage


def restored(options: Options, thread: Thread, entries: Iterable[history.Entry]) -> Thread:
    """The thread as these entries of its log leave it; the log itself is not touched."""
    for entry in entries:
        restore = _RESTORE.get(type(entry))
        if restore is not None:
            thread = restore(options, thread, entry)
    return thread


def _user(options: Options, thread: Thread, entry: history.UserSaid) -> Thread:
    return replace(thread, turns=max(thread.turns, entry.turn))


def _called(options: Options, thread: Thread, entry: history.CallMade) -> Thread:
    """Commands have run in an earlier program: what an editor shows may be older than the disk."""
    return replace(thread, commanded=True) if entry.kind == "execute" else thread


def _ended(options: Options, thread: Thread, entry: history.TurnEnded) -> Thread:
    # A turn that used tokens and does not say what it cost was written without a price.
    told = entry.cost is not None or entry.usage != Usage()
    thread = replace(thread, cost=entry.cost) if told else thread
    return replace(thread, context=entry.context) if entry.context else thread


def _uncounted(options: Options, thread: Thread, entry: history.Compacted | history.Shortened) -> Thread:
    """The model sees less than was counted; how much less is known after its next answer."""
    return replace(thread, context=0)


def _plan(options: Options, thread: Thread, entry: history.PlanSet) -> Thread:
    return replace(thread, plan=entry.entries)


def _title(options: Options, thread: Thread, entry: history.TitleSet) -> Thread:
    title = thread.title
    return replace(thread, title=replace(title, text=entry.title, asked=title.asked or entry.by_model))


def _granted(options: Options, thread: Thread, entry: history.Granted) -> Thread:
    return thread if entry.grant in thread.grants else replace(thread, grants=(*thread.grants, entry.grant))


def _setting(options: Options, thread: Thread, entry: history.SettingChanged) -> Thread:
    return settings.restored(options, thread, entry.option, entry.value)


# Any: each function takes the entry type of its key, which a dict type cannot say.
_RESTORE: Final[Mapping[type, Callable[[Options, Thread, Any], Thread]]] = MappingProxyType(
    {
        history.UserSaid: _user,
        history.CallMade: _called,
        history.TurnEnded: _ended,
        history.Shortened: _uncounted,
        history.Compacted: _uncounted,
        history.PlanSet: _plan,
        history.TitleSet: _title,
        history.Granted: _granted,
        history.SettingChanged: _setting,
    }
)
