"""What is kept of the message that is being streamed (ring 2): at most so many writes a second, each of a bounded size.

A save holds finished messages only. A program that is killed in the middle of one leaves this behind.
"""

from msgspec.structs import replace

from zidane_core.agent import moves, records
from zidane_core.agent.effects import Effect, Journal, Start
from zidane_core.agent.events import Key
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Thread
from zidane_core.agent.work import Wait


def schedule(options: Options, thread: Thread) -> Moved:
    """A piece was streamed: it goes to the journal in a moment, with all that comes until then."""
    turn = thread.turn
    if turn is None or turn.journal or turn.open is None or not thread.store.lease:
        return thread, ()
    thread, due = moves.key(thread)
    return replace(thread, turn=replace(turn, journal=due)), (Start(due, Wait(options.limits.journal_every)),)


def is_due(thread: Thread, key: Key) -> bool:
    """Whether this is the wait of the journal."""
    return thread.turn is not None and bool(key) and key == thread.turn.journal


def write(thread: Thread) -> Moved:
    """The wait is over: the closed pieces that are new, and the tail."""
    turn = thread.turn
    if turn is None:
        return thread, ()
    block = turn.open
    if block is None:
        return replace(thread, turn=replace(turn, journal="")), ()
    text = block.text
    pieces = (*text.blocks[block.journaled :], *((text.tail,) if text.tail else ()))
    rows: tuple[Effect, ...] = tuple(
        Journal(thread.id, block.message, number, records.piece_text(block.kind, piece))
        for number, piece in enumerate(pieces, block.journaled)
    )
    block = replace(block, journaled=len(text.blocks))
    return replace(thread, turn=replace(turn, journal="", open=block)), rows
