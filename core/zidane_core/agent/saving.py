"""What of a thread's log is stored, and what waits for it (ring 2).

One save is in flight at a time; it takes everything new. The first save of a turn takes the lease and holds the
model, the last one drops it and holds the answer. A store that fails for good leaves the thread in memory, with one
notice; a locked one is tried again. What a row means is decided here: the store knows texts and numbers only.
"""

from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from zidane_core.agent import log, moves, pages
from zidane_core.agent.effects import Save, Start
from zidane_core.agent.events import Conflict, Saved, SaveFailed
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Thread, Turn
from zidane_core.agent.work import Wait
from zidane_core.data.history import Entry, PlanSet, Unread, UserSaid
from zidane_core.faults import ErrorCode, Fault
from zidane_core.text import encode_json

Lease: TypeAlias = Literal["take", "keep", "drop"]

TRIES: Final = 5
PAUSE: Final = 0.2
"""Seconds before a locked store is tried again; longer each time."""

IN_USE: Final = Fault(
    ErrorCode.INVALID_REQUEST,
    "Another program works in this session now; wait until it has ended its turn, or start a new session.",
    {"kind": "in_use"},
)
LOST: Final = "Another program took this session over; what follows here is kept in memory only."
DISK: Final = (
    "This session can no longer be saved; it goes on in memory. `zidane-acp doctor` says what is wrong."
)


def save(options: Options, thread: Thread) -> Moved:
    """Save what is new, unless a save is on its way."""
    store, turn = thread.store, thread.turn
    new = len(thread.log) - store.seq
    if store.state != "open" or store.saving or store.pause or not new or (store.held and turn is None):
        return thread, ()
    thread, key = moves.key(thread)
    ended = turn is not None and turn.value is not None
    lease: Lease = "keep" if turn is None else "drop" if ended else "keep" if store.lease else "take"
    entries = tuple(_text(entry) for entry in pages.after(thread.log, store.seq))
    thread = replace(thread, store=replace(store, saving=key, flying=new, leasing=lease, held=False))
    return thread, (Save(key, thread.id, store.seq, entries, lease),)


def _text(entry: Entry) -> str:
    return encode_json(entry).decode()


def is_saved(thread: Thread) -> bool:
    """Whether an answer need not wait: all is stored, or nothing will be."""
    return thread.store.state != "open" or thread.store.seq == len(thread.log)


def is_claimed(thread: Thread) -> bool:
    """Whether the turn may begin: the session is ours, or it is not stored."""
    store = thread.store
    dropping = bool(store.saving) and store.leasing == "drop"
    return store.state != "open" or (store.lease and not dropping)


def is_settled(thread: Thread) -> bool:
    """Whether nothing of the thread is on its way to the store any more; what is held cannot go there now."""
    return (is_saved(thread) or thread.store.held) and not thread.store.saving


# What came of it -----------------------------------------------------------------------------------


def saved(options: Options, thread: Thread, event: Saved) -> Moved:
    """A save is on disk."""
    store = thread.store
    if event.key != store.saving:
        return thread, ()
    lease = {"take": True, "drop": False}.get(store.leasing, store.lease)
    store = replace(store, seq=store.seq + store.flying, saving="", flying=0, lease=lease, tries=0)
    return replace(thread, store=store), ()


def save_failed(options: Options, thread: Thread, event: SaveFailed) -> Moved:
    """A save failed: for now, for good, or because the session is another program's."""
    store = thread.store
    if event.key != store.saving:
        return thread, ()
    thread = replace(thread, store=replace(store, saving="", flying=0))
    if event.reason == "locked" and store.tries + 1 < TRIES:
        thread, pause = moves.key(thread)
        tries = store.tries + 1
        thread = replace(thread, store=replace(thread.store, tries=tries, pause=pause))
        return thread, (Start(pause, Wait(PAUSE * tries)),)
    if event.reason == "in_use":
        return _not_ours(thread)
    return _in_memory(thread, DISK)


def _not_ours(thread: Thread) -> Moved:
    """Another program holds the lease: the prompt that wanted it is refused, what was said between turns waits."""
    turn = thread.turn
    if turn is None:
        return replace(thread, store=replace(thread.store, held=True)), ()
    if turn.phase == "claim" and not turn.stopping and turn.value is None:
        return _refused(thread, turn), ()
    return _in_memory(thread, LOST)


def _in_memory(thread: Thread, notice: str) -> Moved:
    store = replace(thread.store, state="memory", lease=False)
    return replace(thread, store=store, notices=(*thread.notices, notice)), ()


def _refused(thread: Thread, turn: Turn) -> Thread:
    """The prompt was not ours to answer: nothing of it stays in the log. Settling gives its answer at once."""
    later = tuple(e for e in pages.after(thread.log, turn.base) if not isinstance(e, UserSaid))
    kept = pages.truncate(thread.log, turn.base)
    for entry in later:
        kept = pages.append(kept, entry)
    turn = replace(turn, value=IN_USE, expired=True)
    store = replace(thread.store, held=True)
    return replace(thread, log=kept, view=log.view_of(kept), turn=turn, store=store)


def paused(options: Options, thread: Thread) -> Moved:
    """The pause after a locked store is over."""
    return replace(thread, store=replace(thread.store, pause="")), ()


def conflict(options: Options, thread: Thread, event: Conflict) -> Moved:
    """Another program appended first. Before our turn has begun its entries come before ours, which are saved again;
    in the middle of a turn it means that the session was taken over."""
    store, turn = thread.store, thread.turn
    if event.key != store.saving:
        return thread, ()
    thread = replace(thread, store=replace(store, saving="", flying=0))
    if turn is not None and turn.phase != "claim":
        return _in_memory(thread, LOST)
    theirs = tuple(_entry(text) for text in event.missing)
    merged = pages.truncate(thread.log, store.seq)
    for entry in (*theirs, *pages.after(thread.log, store.seq)):
        merged = pages.append(merged, entry)
    store = replace(thread.store, seq=store.seq + len(theirs))
    plans = tuple(entry.entries for entry in theirs if isinstance(entry, PlanSet))
    return replace(
        thread,
        log=merged,
        view=log.view_of(merged),
        store=store,
        plan=plans[-1] if plans else thread.plan,
        turns=max((thread.turns, *(entry.turn for entry in theirs if isinstance(entry, UserSaid)))),
        turn=None if turn is None else replace(turn, base=turn.base + len(theirs)),
    ), ()


def _entry(text: str) -> Entry:
    try:
        return msgspec.json.decode(text, type=Entry)
    except msgspec.DecodeError:  # written by a newer program
        return Unread(text)
