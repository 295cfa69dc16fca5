"""The threads of a connection: made, opened again, gone, and ended with the connection (ring 2)."""

from msgspec.structs import replace

from zidane_core import buckets
from zidane_core.agent import (
    lanes,
    listing,
    logins,
    naming,
    opening,
    owing,
    pending,
    saving,
    servers,
    table,
    turns,
)
from zidane_core.agent.effects import Answer, Effect, EmptyAnswer, Log, Start, Stop
from zidane_core.agent.events import JobOutcome, Key
from zidane_core.agent.state import Agent, LoggingIn, LoggingOut, Options, Setup, Thread
from zidane_core.agent.work import Wait
from zidane_core.faults import session_not_found


def create(seed: str, options: Options) -> Agent:
    """An agent with no threads. `seed` is random and makes the ids of its threads unguessable."""
    return Agent(seed=seed, options=options, threads=buckets.empty(), owners=buckets.empty())


def gone(agent: Agent, thread: Thread) -> tuple[Agent, tuple[Effect, ...]]:
    """A thread has ended: everybody who still waits for it has an answer, and those who want it opened again or
    deleted get that."""
    agent = table.drop(agent, thread.id)
    untold = tuple(Log("warning", f"the user was not told: {notice}") for notice in thread.notices)
    effects: tuple[Effect, ...] = (
        *owing.all_of(thread),
        *naming.stop(thread),
        *servers.stop_all(thread),
        *saving.last(thread),
        *untold,
    )
    if thread.setup is not None and thread.setup.ticket:
        effects = (*effects, Stop(thread.job), Answer(thread.setup.ticket, opening.STOPPED))
    closing = thread.closing
    if closing is not None:
        stop: tuple[Effect, ...] = () if closing.expired else (Stop(closing.bound),)
        answer: tuple[Effect, ...] = (Answer(closing.ticket, EmptyAnswer()),) if closing.ticket else ()
        effects = (*effects, *stop, *answer)
        for ticket in closing.deletes:
            agent, more = listing.delete(agent, ticket, thread.id)
            effects = (*effects, *more)
    again = tuple(held for held in thread.lane if isinstance(held, Setup))
    if again:
        agent, made = opening.make(agent, thread.id, again[0], thread.updated)
        fresh = replace(made, lane=thread.lane[thread.lane.index(again[0]) :])
        fresh, more = turns.settle(agent.options, fresh)
        agent, effects = table.put(agent, fresh), (*effects, *more)
    before = thread.lane[: thread.lane.index(again[0])] if again else thread.lane
    lost = tuple(Answer(held.ticket, session_not_found(thread.id)) for held in before)
    return agent, (*effects, *lost)


def job_ended(agent: Agent, key: Key, outcome: JobOutcome) -> tuple[Agent, tuple[Effect, ...]]:
    """A job of no thread ended: its request is answered."""
    request = agent.jobs[key]
    if isinstance(request, LoggingIn | LoggingOut):
        return logins.ended(agent, key, request, outcome)
    return listing.ended(agent, key, request, outcome)


def close_all(agent: Agent) -> tuple[Agent, tuple[Effect, ...]]:
    """The connection is over: every turn stops, every queued prompt and every request in a lane is dropped.

    Whatever is still to be answered then is answered within one bound.
    """
    effects = logins.stop_all(agent)
    for thread in tuple(table.every(agent)):
        moved, cancelled = turns.cancel(agent.options, thread, "closed")
        moved, dropped = lanes.drop(moved)
        moved, settled = turns.settle(agent.options, moved)
        agent = table.put(agent, moved)
        # What another program's turn has held up is tried once more; what comes of it nobody waits for.
        held = saving.last(moved) if moved.store.held and moved.turn is None else ()
        effects = (*effects, *cancelled, *dropped, *settled, *held, *naming.stop(moved))
    # Last, so that the bounds of the turns, which are as long, pass before it.
    bound = Start(CLOSING, Wait(agent.options.limits.settle_within))
    return agent, effects if quiet(agent) else (*effects, bound)


CLOSING = "closing/0"
"""The key of the wait that bounds the end of a connection."""


def quiet(agent: Agent) -> bool:
    """Whether no turn runs, nothing is being saved, and no request waits for its answer."""
    return not agent.jobs and all(_is_quiet(thread) for thread in table.every(agent))


def _is_quiet(thread: Thread) -> bool:
    waits = thread.turn or thread.prompts or thread.owed or thread.closing
    return not waits and thread.setup is None and saving.is_settled(thread)


def give_up(agent: Agent) -> tuple[Effect, ...]:
    """The bound on the end has passed: what could not be done is answered all the same."""
    effects: tuple[Effect, ...] = pending.give_up(agent)
    for thread in table.every(agent):
        effects = (*effects, *owing.all_of(thread))
        if thread.setup is not None and thread.setup.ticket:
            effects = (*effects, Answer(thread.setup.ticket, opening.STOPPED))
        if thread.closing is not None and thread.closing.ticket:
            effects = (*effects, Answer(thread.closing.ticket, EmptyAnswer()))
        deletes = () if thread.closing is None else thread.closing.deletes
        effects = (*effects, *(Answer(ticket, pending.STOPPED) for ticket in deletes))
    return effects
