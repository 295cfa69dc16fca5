"""Small moves of a thread that all of the machine uses (ring 2): fresh names, log entries, turn fields."""

from typing import TypeAlias

from msgspec.structs import replace

from zidane_core.agent import log, pages
from zidane_core.agent.effects import Effect, NoticeShown, Tell
from zidane_core.agent.events import Key
from zidane_core.agent.state import Call, Thread, Turn
from zidane_core.data import history
from zidane_core.data.content import Severity

Moved: TypeAlias = tuple[Thread, tuple[Effect, ...]]
"""A thread that went on, and what is to be done."""


def key(thread: Thread) -> tuple[Thread, Key]:
    """A fresh key: the thread, its epoch and a counter, so that it is never used twice."""
    fresh = thread.keys + 1
    return replace(thread, keys=fresh), f"{thread.id}/{thread.epoch}.{fresh}"


def thread_of(used: Key) -> str:
    """The id of the thread that a key belongs to."""
    return used.rpartition("/")[0]


def message(thread: Thread) -> tuple[Thread, str]:
    """A fresh message id, unique in the thread."""
    fresh = thread.messages + 1
    return replace(thread, messages=fresh), f"msg_{thread.tag}_{fresh}"


def append(thread: Thread, entry: history.Entry) -> Thread:
    """The thread with one more log entry, in the log and in the model's view."""
    return replace(thread, log=pages.append(thread.log, entry), view=log.extend(thread.view, entry))


def append_later(thread: Thread, entry: history.Entry) -> Thread:
    """The same once the open block is closed, since the log holds closed blocks in their order, or once the history
    is there again."""
    if thread.phase == "open" and (thread.turn is None or thread.turn.open is None):
        return append(thread, entry)
    return replace(thread, later=(*thread.later, entry))


def append_waiting(thread: Thread) -> Thread:
    """The block is closed: the entries that waited for it."""
    waiting, thread = thread.later, replace(thread, later=()) if thread.later else thread
    for entry in waiting:
        thread = append(thread, entry)
    return thread


def with_call(thread: Thread, turn: Turn, call: Call) -> Thread:
    """The thread with this state of one of its calls."""
    calls = tuple(call if known.id == call.id else known for known in turn.calls)
    return replace(thread, turn=replace(turn, calls=calls))


def notice(thread: Thread, severity: Severity, text: str, kind: str = "") -> Moved:
    """Tell the user something, and keep it in the log. No block may be open."""
    thread, shown = message(thread)
    thread = append(thread, history.NoticeGiven(shown, severity, text))
    return thread, (Tell(thread.id, NoticeShown(shown, severity, text, kind)),)
