"""What of a thread's log is stored, and what waits for it (ring 2).

One save is in flight at a time; it takes everything new. The first save of a turn takes the lease and holds the
model, the last one drops it and holds the answer. A store that fails for good leaves the thread in memory, with one
notice; a locked one is tried again. What a row means is decided here: the store knows texts and numbers only.
"""

from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from zidane_core.agent import log, moves, pages, records, repairing, restoring
from zidane_core.agent.effects import Effect, Log, Release, Save, Start
from zidane_core.agent.events import Conflict, Saved, SaveFailed
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Thread, Turn
from zidane_core.agent.work import Wait
from zidane_core.data.history import SettingChanged, TextSaid, Thinking, TitleSet
from zidane_core.faults import ErrorCode, Fault

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
GONE: Final = "This session was deleted elsewhere; what follows here is kept in memory only."
DISK: Final = "This session can no longer be saved; it goes on in memory."
DOCTOR: Final = "`zidane-acp doctor` says what is wrong."


def save(options: Options, thread: Thread) -> Moved:
    """Save what is new, unless a save is on its way."""
    return _save(thread) if _may_save(thread) else (thread, ())


def last(thread: Thread) -> tuple[Effect, ...]:
    """What is still to be done for the store when the thread is gone: one more try for what it does not have, which
    nobody waits for, and the lease is given back."""
    store = thread.store
    effects: tuple[Effect, ...] = ()
    unsaved = store.state == "open" and len(thread.log) > store.seq + store.flying
    if unsaved and not store.saving:
        effects = _save(replace(thread, turn=None))[1]
    elif unsaved or thread.later:
        effects = (Log("warning", f"the last entries of the session {thread.id} are not stored"),)
    holds = store.lease or (store.saving and store.leasing == "take")
    return (*effects, Release(thread.id)) if holds else effects


def _save(thread: Thread) -> Moved:
    store = thread.store
    new = pages.after(thread.log, store.seq)
    thread, key = moves.key(thread)
    lease = _lease(thread)
    streamed = tuple(entry.message for entry in new if isinstance(entry, TextSaid | Thinking))
    leftover = tuple(dict.fromkeys(row.message for row in store.journal)) if lease == "take" else ()
    made = Save(
        key=key,
        session=thread.id,
        expected_seq=store.seq,
        entries=tuple(records.text_of(entry) for entry in new),
        lease=lease,
        clears=tuple(dict.fromkeys((*streamed, *leftover))),
        journal=sum(len(row.body) for row in store.journal),
        cwd=thread.cwd,
        updated=thread.updated,
        head=records.head_text(
            records.Head(thread.title.text, thread.roots[1:], thread.created), thread.head
        ),
    )
    store = replace(store, made=True, saving=key, flying=len(new), leasing=lease, held=False)
    return replace(thread, store=store), (made,)


def _lease(thread: Thread) -> Lease:
    """Taken by the first save of a turn, given back by the last one, also when that comes after the answer."""
    store, turn = thread.store, thread.turn
    if turn is None or turn.value is not None:
        return "drop" if store.lease else "keep"
    return "keep" if store.lease else "take"


def _may_save(thread: Thread) -> bool:
    store = thread.store
    if store.state != "open" or store.saving or store.pause or thread.phase != "open":
        return False
    if not store.made:
        return True  # the row of a new session, so that another program can open it by its id
    if thread.turn is None and (store.held or thread.prompts):
        return False
    return len(thread.log) > store.seq or (store.lease and thread.turn is None)


def is_saved(thread: Thread) -> bool:
    """Whether an answer need not wait: all is stored, or nothing will be."""
    return thread.store.state != "open" or thread.store.seq >= len(thread.log)


def is_claimed(thread: Thread) -> bool:
    """Whether the turn may begin: the session is ours and the prompt is stored, or nothing will be."""
    store = thread.store
    dropping = bool(store.saving) and store.leasing == "drop"
    return store.state != "open" or (store.lease and not dropping and is_saved(thread))


def is_settled(thread: Thread) -> bool:
    """Whether nothing of the thread is on its way to the store any more; what is held cannot go there now."""
    return (is_saved(thread) or thread.store.held or thread.phase == "cold") and not thread.store.saving


def is_all_stored(thread: Thread) -> bool:
    """Whether the store has everything of an open thread, and nothing is going on in it: its history can be given
    back and read again."""
    busy = thread.turn or thread.prompts or thread.owed or thread.later or thread.closing
    store = thread.store
    stored = (
        store.state == "open" and store.seq > 0 and not (store.saving or store.lease) and is_saved(thread)
    )
    return thread.phase == "open" and stored and not busy


def without_history(thread: Thread, phase: Literal["cold", "gone"] = "cold") -> Thread:
    """The thread with its history given back; the store has all of it."""
    return replace(thread, phase=phase, log=pages.Pages(), view=log.View())


# What came of it -----------------------------------------------------------------------------------


def saved(options: Options, thread: Thread, event: Saved) -> Moved:
    """A save is on disk."""
    store = thread.store
    if event.key != store.saving:
        return thread, ()
    lease = {"take": True, "drop": False}.get(store.leasing, store.lease)
    journal = () if store.leasing == "take" else store.journal
    store = replace(
        store, seq=store.seq + store.flying, saving="", flying=0, lease=lease, tries=0, journal=journal
    )
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
        made = bool(thread.store.seq)
        thread = replace(thread, store=replace(thread.store, made=made, tries=tries, pause=pause))
        return thread, (Start(pause, Wait(PAUSE * tries)),)
    if event.reason == "in_use":
        return _not_ours(thread)
    return _in_memory(thread, GONE if event.reason == "gone" else f"{DISK} {event.detail or DOCTOR}")


def _not_ours(thread: Thread) -> Moved:
    """Another program holds the lease: the prompt that wanted it is refused, what was said between turns waits."""
    turn = thread.turn
    held = replace(thread, store=replace(thread.store, held=True, lease=False))
    if turn is None:
        return held, ()
    if turn.phase != "claim" or thread.store.lease:
        # It was ours, and the prompt is stored: only a notice before the claim was over is still on its way.
        return _in_memory(thread, LOST)
    if turn.stopping or turn.value is not None:
        # A cancelled prompt that was never ours: its text waits with what was said between turns.
        return replace(held, turn=replace(turn, expired=True)), ()
    return _refused(held, turn), ()


def _in_memory(thread: Thread, notice: str) -> Moved:
    release: tuple[Effect, ...] = (Release(thread.id),) if thread.store.lease else ()
    store = replace(thread.store, state="memory", lease=False)
    return replace(thread, store=store, notices=(*thread.notices, notice)), release


def _refused(thread: Thread, turn: Turn) -> Thread:
    """The prompt was not ours to answer: nothing of it stays in the log. Settling gives its answer at once."""
    kept = pages.truncate(thread.log, turn.base)
    for entry in pages.after(thread.log, turn.base):
        if isinstance(entry, SettingChanged | TitleSet):
            kept = pages.append(kept, entry)
    turn = replace(turn, value=IN_USE, expired=True)
    return replace(thread, log=kept, view=log.view_of(kept), turn=turn, cut=turn.repaired)


def paused(options: Options, thread: Thread) -> Moved:
    """The pause after a locked store is over."""
    return replace(thread, store=replace(thread.store, pause="")), ()


def conflict(options: Options, thread: Thread, event: Conflict) -> Moved:
    """Others have stored more. Before our turn has begun their entries come before ours, which are saved again;
    in the middle of a turn it means that the session was taken over."""
    store, turn = thread.store, thread.turn
    if event.key != store.saving:
        return thread, ()
    thread = replace(thread, store=replace(store, saving="", flying=0))
    if turn is not None and turn.phase != "claim":
        return _in_memory(thread, LOST)
    stored = pages.truncate(thread.log, store.seq)
    assumed = repairing.repairs(stored, store.journal) if turn is not None and turn.repaired else ()
    ours = tuple(entry for entry in pages.after(thread.log, store.seq) if entry not in assumed)
    theirs = tuple(records.entry_of(text) for text in event.missing)
    thread = restoring.restored(options, thread, theirs)
    for entry in theirs:
        stored = pages.append(stored, entry)
    seq, missing = len(stored), repairing.repairs(stored, event.journal)
    merged = stored
    for entry in (*(missing if turn is not None else ()), *ours):
        merged = pages.append(merged, entry)
    moved = len(merged) - len(thread.log)
    owed = tuple(one if one.upto is None else replace(one, upto=one.upto + moved) for one in thread.owed)
    return replace(
        thread,
        owed=owed,
        log=merged,
        view=log.view_of(merged),
        store=replace(thread.store, seq=seq, journal=event.journal),
        cut=bool(missing) and turn is None,
        turn=None if turn is None else replace(turn, base=seq, repaired=bool(missing)),
    ), ()
