"""Answers that depend on a save: they go out after it, or when a bound has passed (ring 2)."""

from msgspec.structs import replace

from zidane_core.agent import moves
from zidane_core.agent.effects import Answer, AnswerValue, Effect, Start, Stop
from zidane_core.agent.events import Key
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Owed, Thread
from zidane_core.agent.work import Wait


def owe(options: Options, thread: Thread, ticket: int, value: AnswerValue) -> Moved:
    """Answer once everything that is in the log now is stored. Nothing waits for what the store will not take."""
    store = thread.store
    upto = store.seq + len(thread.later) if thread.phase == "cold" else len(thread.log)
    if store.state != "open" or store.held or store.seq >= upto:
        return thread, (Answer(ticket, value),)
    thread, bound = moves.key(thread)
    thread = replace(thread, owed=(*thread.owed, Owed(ticket, value, upto, bound)))
    return thread, (Start(bound, Wait(options.limits.settle_within)),)


def promise(options: Options, thread: Thread, ticket: int, value: AnswerValue) -> Moved:
    """Answer once what belongs to the ticket is in the log (see `placed`) and stored."""
    thread, bound = moves.key(thread)
    thread = replace(thread, owed=(*thread.owed, Owed(ticket, value, None, bound)))
    return thread, (Start(bound, Wait(options.limits.settle_within)),)


def placed(thread: Thread, ticket: int) -> Thread:
    """What belongs to a promised answer is in the log now."""
    upto = len(thread.log)
    owed = tuple(replace(one, upto=upto) if one.ticket == ticket else one for one in thread.owed)
    return replace(thread, owed=owed)


def pay(thread: Thread) -> Moved:
    """Answer what is due."""
    due = tuple(owed for owed in thread.owed if _is_due(thread, owed))
    if not due:
        return thread, ()
    left = tuple(owed for owed in thread.owed if owed not in due)
    return replace(thread, owed=left), tuple(effect for owed in due for effect in _paid(owed))


def expire(thread: Thread, bound: Key) -> Thread:
    """The wait for an answer is over; the same thread when it is none of these."""
    if not any(owed.bound == bound for owed in thread.owed):
        return thread
    owed = tuple(replace(one, expired=True) if one.bound == bound else one for one in thread.owed)
    return replace(thread, owed=owed)


def all_of(thread: Thread) -> tuple[Effect, ...]:
    """Every answer that is still owed, now."""
    return tuple(effect for owed in thread.owed for effect in _paid(owed))


def _is_due(thread: Thread, owed: Owed) -> bool:
    store = thread.store
    if owed.expired or owed.upto is None:
        return owed.expired
    return store.state != "open" or store.held or store.seq >= owed.upto


def _paid(owed: Owed) -> tuple[Effect, ...]:
    stop: tuple[Effect, ...] = () if owed.expired else (Stop(owed.bound),)
    return (*stop, Answer(owed.ticket, owed.value))
