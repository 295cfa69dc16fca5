"""Threads: opened, found, closed with the connection (ring 2)."""

from hashlib import sha256

from msgspec.structs import replace

from zidane_core import buckets
from zidane_core.agent import moves, saving, table, turns
from zidane_core.agent.effects import Answer, CommandsShown, Effect, Start, Tell, ThreadAnswer
from zidane_core.agent.events import CheckedPaths, JobOutcome, Ok
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Agent, Options, Settings, Store, Thread
from zidane_core.agent.work import CheckPaths, Wait
from zidane_core.faults import ErrorCode, Fault


def create(seed: str, options: Options) -> Agent:
    """An agent with no threads. `seed` is random and makes the ids of its threads unguessable."""
    return Agent(seed=seed, options=options, threads=buckets.empty(), owners=buckets.empty())


def open_thread(
    agent: Agent, ticket: int, cwd: str, roots: tuple[str, ...] = (), notices: tuple[str, ...] = ()
) -> tuple[Agent, tuple[Effect, ...]]:
    """Make a thread whose working folder is being looked at; the ticket is answered when that is done."""
    number = agent.opened + 1
    digest = sha256(f"{agent.seed}:{number}".encode()).hexdigest()[:16]
    options = agent.options
    thread = Thread(
        id=f"sess_{digest}_{number}",
        epoch=number,
        tag=digest[:6],
        cwd=cwd,
        roots=(cwd, *roots),
        settings=Settings(options.default_model, options.thinking, options.policy),
        opening=ticket,
        notices=notices,
        store=Store(state="open" if options.store else "none"),
    )
    thread, job = moves.key(thread)
    agent = replace(table.put(agent, replace(thread, job=job)), opened=number)
    return agent, (Start(job, CheckPaths((cwd, *roots))),)


def opened(options: Options, thread: Thread, outcome: JobOutcome) -> Moved:
    """The working folder was looked at: the thread is open, or its request failed."""
    ticket = thread.opening
    if ticket is None:
        return thread, ()
    fault = _fault(thread, outcome)
    if fault is not None:
        return replace(thread, phase="gone", opening=None, job=""), (Answer(ticket, fault),)
    thread = replace(thread, phase="open", opening=None, job="")
    listed = tuple((command.name, command.description, command.hint) for command in options.commands)
    # After the answer, since the client does not know the session before it.
    shown: tuple[Effect, ...] = (Tell(thread.id, CommandsShown(listed)),) if listed else ()
    return thread, (Answer(ticket, ThreadAnswer(thread.id)), *shown)


def _fault(thread: Thread, outcome: JobOutcome) -> Fault | None:
    if isinstance(outcome, Ok) and isinstance(outcome.value, CheckedPaths):
        problem = outcome.value.problem
    else:
        problem = "could not be looked at"
    if problem is None:
        return None
    message = f"Invalid params: cwd {problem}: {thread.cwd}"
    return Fault(ErrorCode.INVALID_PARAMS, message, {"field": "cwd", "cwd": thread.cwd})


def close_all(agent: Agent) -> tuple[Agent, tuple[Effect, ...]]:
    """The connection is over: every turn stops, every queued prompt is dropped.

    Whatever is still to be answered then is answered within one bound.
    """
    effects: tuple[Effect, ...] = ()
    for thread in tuple(table.every(agent)):
        moved, cancelled = turns.cancel(agent.options, thread, "closed")
        moved, settled = turns.settle(agent.options, moved)
        agent = table.put(agent, moved)
        effects = (*effects, *cancelled, *settled)
    # Last, so that the bounds of the turns, which are as long, pass before it.
    bound = Start(CLOSING, Wait(agent.options.limits.settle_within))
    return agent, effects if quiet(agent) else (*effects, bound)


CLOSING = "closing/0"
"""The key of the wait that bounds the end of a connection."""


def quiet(agent: Agent) -> bool:
    """Whether no turn runs, nothing is being saved, and no request to open a thread waits for its answer."""
    return all(_is_quiet(thread) for thread in table.every(agent))


def _is_quiet(thread: Thread) -> bool:
    return thread.turn is None and thread.opening is None and saving.is_settled(thread)


def give_up(agent: Agent) -> tuple[Effect, ...]:
    """The bound on the end has passed: what could not be opened is answered all the same."""
    fault = Fault(ErrorCode.REQUEST_CANCELLED, "The agent ended before the working folder could be looked at")
    tickets = (thread.opening for thread in table.every(agent))
    return tuple(Answer(ticket, fault) for ticket in tickets if ticket is not None)
