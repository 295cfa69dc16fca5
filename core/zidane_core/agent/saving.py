"""What of a thread's log is stored, and what waits for it (ring 2).

One save is in flight at a time; it takes everything new. The first save of a turn takes the lease and holds the
model, the last one drops it and holds the answer. A store that fails for good leaves the thread in memory, with one
notice; a locked one is tried again. What a row means is decided here: the store knows texts and numbers only.
"""

from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from zidane_core.agent import log, moves, pages
from zidane_core.agent.effects import Answer, Save, Start, Stop, Wait
from zidane_core.agent.events import Conflict, Saved, SaveFailed
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Thread
from zidane_core.data.history import Entry, Unread
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
DISK: Final = (
    "This session can no longer be saved; it goes on in memory. `zidane-acp doctor` says what is wrong."
)


def save(options: Options, thread: Thread) -> Moved:
    """Save what is new, unless a save is on its way."""
    store = thread.store
    new = len(thread.log) - store.seq
    if store.state != "open" or store.saving or store.pause or not new:
        return thread, ()
    thread, key = moves.key(thread)
    turn = thread.turn
    ended = turn is not None and turn.value is not None
    lease: Lease = "keep" if turn is None else "drop" if ended else "keep" if store.lease else "take"
    entries = tuple(_text(entry) for entry in pages.after(thread.log, store.seq))
    thread = replace(thread, store=replace(store, saving=key, flying=new, leasing=lease))
    return thread, (Save(key, thread.id, store.seq, entries, lease),)


def _text(entry: Entry) -> str:
    return encode_json(entry).decode()


def is_saved(thread: Thread) -> bool:
    """Whether an answer need not wait: all is stored, or nothing will be."""
    return thread.store.state != "open" or thread.store.seq == len(thread.log)


def is_claimed(thread: Thread) -> bool:
    """Whether the turn may begin: the session is ours, or it is not stored."""
    return thread.store.state != "open" or thread.store.lease


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
    turn = thread.turn
    if event.reason == "in_use" and turn is not None and turn.phase == "claim":
        return _refused(thread, turn.ticket, turn.deadline)
    store = replace(thread.store, state="memory", lease=False)
    return replace(thread, store=store, notices=(*thread.notices, DISK)), ()


def _refused(thread: Thread, ticket: int, deadline: str) -> Moved:
    """The prompt was not ours to answer: the log is as it was before it."""
    kept = pages.truncate(thread.log, thread.store.seq)
    thread = replace(thread, log=kept, view=log.view_of(kept), turn=None)
    return thread, (*((Stop(deadline),) if deadline else ()), Answer(ticket, IN_USE))


def paused(options: Options, thread: Thread) -> Moved:
    """The pause after a locked store is over."""
    return replace(thread, store=replace(thread.store, pause="")), ()


def conflict(options: Options, thread: Thread, event: Conflict) -> Moved:
    """Another program appended first: its entries come before ours, and ours are saved again."""
    store = thread.store
    if event.key != store.saving:
        return thread, ()
    known, ours = pages.truncate(thread.log, store.seq), pages.after(thread.log, store.seq)
    theirs = tuple(_entry(text) for text in event.missing)
    merged = known
    for entry in (*theirs, *ours):
        merged = pages.append(merged, entry)
    store = replace(store, seq=len(known) + len(theirs), saving="", flying=0)
    return replace(thread, log=merged, view=log.view_of(merged), store=store), ()


def _entry(text: str) -> Entry:
    try:
        return msgspec.json.decode(text, type=Entry)
    except msgspec.DecodeError:  # written by a newer program
        return Unread(text)
