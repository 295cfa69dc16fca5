"""Prompts and turns: queued, begun, stopped, settled (ring 2).

`settle` runs after every event of a thread and is the only place that answers a running prompt.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec.structs import replace

from zidane_core.agent import (
    blocks,
    calls,
    compacting,
    gathering,
    inquiries,
    lanes,
    moves,
    naming,
    owing,
    repairing,
    resting,
    rounds,
    saving,
    signals,
    slash,
)
from zidane_core.agent.effects import Answer, Effect, Start, Stop, TurnAnswer
from zidane_core.agent.events import Prompt
from zidane_core.agent.local_machine import READ_STOPPED, UNKNOWN, failed
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Call, Closing, Options, Thread, Turn
from zidane_core.agent.work import Wait
from zidane_core.data import history
from zidane_core.faults import Fault

# Stopping ------------------------------------------------------------------------------------------


def cancel(options: Options, thread: Thread, why: Literal["cancelled", "closed"] = "cancelled") -> Moved:
    """Stop the running turn, and answer the prompts queued behind it as cancelled, all within the bound."""
    thread = lanes.cancel_prompts(thread)
    waiting = tuple(queued.prompt.ticket for queued in thread.prompts if not queued.cancelled)
    effects: tuple[Effect, ...] = ()
    for ticket in waiting:
        thread, promised = owing.promise(options, thread, ticket, CANCELLED)
        effects = (*effects, *promised)
    prompts = tuple(replace(queued, cancelled=True) for queued in thread.prompts)
    thread = replace(thread, prompts=prompts) if waiting else thread
    thread, cancelled = inquiries.cancel_all(thread)
    thread, stopped = stop(options, thread, why)
    return thread, (*effects, *cancelled, *stopped)


def withdraw(options: Options, thread: Thread, ticket: int) -> Moved:
    """One request is not wanted any more: a running prompt stops, a queued one is answered at once and its text
    stays, and so is what waits in the lane."""
    if thread.turn is not None and thread.turn.ticket == ticket:
        return stop(options, thread, "cancelled")
    if any(isinstance(held, Prompt) and held.ticket == ticket for held in thread.lane):
        thread = lanes.cancel_prompts(thread, ticket)
    elif not any(queued.prompt.ticket == ticket and not queued.cancelled for queued in thread.prompts):
        return lanes.withdraw(thread, ticket)
    prompts = tuple(
        replace(queued, prompt=replace(queued.prompt, ticket=ANSWERED), cancelled=True)
        if queued.prompt.ticket == ticket
        else queued
        for queued in thread.prompts
    )
    # Not after a save: its place in the log comes only when the turn before it has ended.
    return replace(thread, prompts=prompts), (Answer(ticket, CANCELLED),)


ANSWERED = 0
"""The ticket of a prompt that has its answer already."""

CANCELLED = TurnAnswer("cancelled")


def stop(options: Options, thread: Thread, why: Literal["cancelled", "closed"]) -> Moved:
    """Let nothing new start, stop what runs, and set a bound on waiting for it."""
    turn = thread.turn
    if turn is None or turn.stopping:
        return thread, ()
    thread, deadline = moves.key(thread)
    thread, gathered = gathering.stop(thread, turn)
    effects: tuple[Effect, ...] = (Start(deadline, Wait(options.limits.settle_within)), *gathered)
    turn = replace(thread.turn or turn, stopping=why, deadline=deadline)
    if turn.job:
        effects = (*effects, Stop(turn.job))
    thread = replace(thread, turn=turn)
    for call in turn.calls:
        thread, more = _halt(options, thread, call)
        effects = (*effects, *more)
    thread, cancelled = inquiries.cancel_all(thread)
    return thread, (*effects, *cancelled)


def _halt(options: Options, thread: Thread, call: Call) -> Moved:
    turn = thread.turn
    if turn is None or call.phase == "done":
        return thread, ()
    if call.phase == "run":
        return signals.halt(options, thread, call)
    return calls.finish(options, thread, turn, call, failed(NOT_RUN))


NOT_RUN = "The call was not run: the user cancelled the turn."


# Settling ------------------------------------------------------------------------------------------


def settle(options: Options, thread: Thread) -> Moved:
    """Do everything that has become due: end the turn, begin the next, write cancelled prompts."""
    effects: tuple[Effect, ...] = ()
    while True:
        before = thread
        thread, more = _settle_once(options, thread)
        effects = (*effects, *more)
        if thread is before:
            thread, listed = slash.advertise(options, thread)
            thread, saves = saving.save(options, thread)
            thread, rests = resting.watch(options, thread)
            return thread, (*effects, *listed, *saves, *rests)


def _settle_once(options: Options, thread: Thread) -> Moved:
    turn = thread.turn
    if lanes.is_free(thread):
        return lanes.next_of(options, thread)
    if thread.owed and (paid := owing.pay(thread))[0] is not thread:
        return paid
    if thread.phase != "open":
        return _SETTLE_CLOSED[thread.phase](options, thread)
    if turn is None and thread.closing is not None and not thread.prompts:
        return _close(thread, thread.closing)
    if turn is None:
        return _next_prompt(options, thread)
    if turn.value is not None:
        if not (saving.is_saved(thread) or turn.expired):
            return thread, ()
        if thread.notices and thread.store.state == "memory":
            return _notices(thread, turn)  # that it could not be saved is told before the answer
        return _answer(options, thread, turn, turn.value)
    if turn.stopping:
        waiting = turn.job or any(call.phase == "run" and call.jobs for call in turn.calls)
        return (thread, ()) if waiting and not turn.expired else _end(options, thread, turn)
    if turn.phase == "claim" and not saving.is_claimed(thread):
        return thread, ()
    if (thread.notices or turn.notices) and turn.open is None:
        return _notices(thread, turn)
    if turn.phase == "claim":
        thread, named = naming.name(options, thread)
        thread, begun = gathering.begin(options, thread, turn)
        return thread, (*named, *begun)
    if turn.phase == "gather":
        return gathering.advance(options, thread, turn)
    if turn.phase == "compact" and turn.compaction is not None and not turn.job:
        return compacting.make_room(options, thread, turn, turn.compaction)
    if turn.phase == "answer":
        return _end(options, thread, turn)
    if turn.phase == "tools" and all(call.phase == "done" for call in turn.calls):
        return rounds.next_round(options, thread, turn)
    return thread, ()


def _settle_opening(options: Options, thread: Thread) -> Moved:
    """Only the bound on closing ends what cannot be opened."""
    expired = thread.closing is not None and thread.closing.expired
    return (saving.without_history(thread, "gone"), ()) if expired else (thread, ())


def _settle_cold(options: Options, thread: Thread) -> Moved:
    if thread.closing is not None and (thread.closing.expired or not (thread.prompts or thread.later)):
        return _close(thread, thread.closing)
    return resting.wake(options, thread)


def _settle_gone(options: Options, thread: Thread) -> Moved:
    return thread, ()


_SETTLE_CLOSED: Final[Mapping[str, Callable[[Options, Thread], Moved]]] = MappingProxyType(
    {"opening": _settle_opening, "cold": _settle_cold, "gone": _settle_gone}
)


def _end(options: Options, thread: Thread, turn: Turn) -> Moved:
    """The work of the turn is over. A turn that was told to stop is cancelled, whatever it was doing."""
    effects = compacting.dropped(thread, turn)
    if turn.posed:
        # The model has been told that the user was asked, so they are, even when the turn ends some other way.
        thread, said = blocks.say(thread, turn, "agent", (turn.posed,))
        effects = (*effects, *said)
        turn = replace(thread.turn or turn, posed="")
    thread, turn = blocks.close(thread, replace(turn, compaction=None))
    thread = replace(thread, turn=turn)
    for call in turn.calls:
        if call.phase != "done" and thread.turn is not None:
            halted = failed(UNKNOWN if call.spec is None or call.spec.changes else READ_STOPPED)
            thread, more = calls.finish(options, thread, thread.turn, call, halted)
            effects = (*effects, *more)
    value = (
        TurnAnswer("cancelled", turn.usage)
        if turn.stopping
        else turn.fault or TurnAnswer(turn.stop or "end_turn", turn.usage)
    )
    reason = value.stop if isinstance(value, TurnAnswer) else None
    if turn.aside:
        thread = moves.append(thread, history.Excluded(turn.number, aside=True))
    ending = history.TurnEnded(
        turn.number, reason, turn.fault if reason is None else None, turn.usage, thread.context, thread.cost
    )
    thread = moves.append(thread, ending)
    return replace(thread, turn=replace(thread.turn or turn, value=value)), effects


def _answer(options: Options, thread: Thread, turn: Turn, value: TurnAnswer | Fault) -> Moved:
    """The only answer of a running prompt."""
    stops: tuple[Effect, ...] = (Stop(turn.deadline),) if turn.deadline and not turn.expired else ()
    asked: tuple[Effect, ...] = ()
    thread = replace(thread, turn=None)
    if isinstance(value, TurnAnswer) and value.stop == "end_turn" and not turn.stopping:
        thread, asked = naming.ask(options, thread)
    return thread, (*stops, Answer(turn.ticket, value), *asked)


def _notices(thread: Thread, turn: Turn) -> Moved:
    """What the user is to know of the session, and of the prompt."""
    waiting = (*((text, "thread") for text in thread.notices), *((text, "prompt") for text in turn.notices))
    effects: tuple[Effect, ...] = ()
    thread = replace(thread, notices=(), turn=replace(turn, notices=()))
    for text, kind in waiting:
        thread, told = moves.notice(thread, "warning", text, kind)
        effects = (*effects, *told)
    return thread, effects


def close(options: Options, thread: Thread, ticket: int) -> Moved:
    """End the thread: the turn and what waits is cancelled, and there is a bound on waiting for the store, too."""
    return _begin_to_close(options, thread, Closing(ticket, ""))


def delete(options: Options, thread: Thread, ticket: int) -> Moved:
    """End the thread, and delete what is stored of it then."""
    if thread.closing is None:
        return _begin_to_close(options, thread, Closing(0, "", deletes=(ticket,)))
    return replace(thread, closing=replace(thread.closing, deletes=(*thread.closing.deletes, ticket))), ()


def _begin_to_close(options: Options, thread: Thread, closing: Closing) -> Moved:
    thread, bound = moves.key(thread)
    thread, effects = cancel(options, replace(thread, closing=replace(closing, bound=bound)), "closed")
    thread, dropped = lanes.drop(thread)
    return thread, (*effects, *dropped, Start(bound, Wait(options.limits.settle_within)))


def _close(thread: Thread, closing: Closing) -> Moved:
    """Nothing runs and nothing waits any more: the thread is gone once it is stored."""
    ready = saving.is_settled(thread) and not thread.owed
    return (replace(thread, phase="gone"), ()) if ready or closing.expired else (thread, ())


def _next_prompt(options: Options, thread: Thread) -> Moved:
    if not thread.prompts:
        return thread, ()
    queued, rest = thread.prompts[0], thread.prompts[1:]
    prompt = queued.prompt
    base = len(thread.log)
    missing = repairing.repairs(thread.log, thread.store.journal) if thread.cut else ()
    for entry in missing:
        thread = moves.append(thread, entry)
    thread, message = moves.message(thread)
    number = thread.turns + 1
    thread = replace(thread, prompts=rest, turns=number, cut=False)
    thread = moves.append(thread, history.UserSaid(message, prompt.parts, number))
    if queued.cancelled:
        thread = moves.append(
            thread, history.TurnEnded(number, "cancelled", context=thread.context, cost=thread.cost)
        )
        return owing.placed(thread, prompt.ticket), ()
    turn = Turn(
        ticket=prompt.ticket,
        number=number,
        trace=prompt.trace,
        base=base,
        repaired=bool(missing),
        notices=prompt.notices,
        round=1,
        phase="claim",
    )
    return replace(thread, turn=turn), ()
