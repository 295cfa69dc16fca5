"""The root reducer of ring 2: one table from event to handler. It only routes; threads do the work."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from zidane_core import buckets
from zidane_core.agent import (
    calls,
    choosing,
    compacting,
    deciding,
    gathering,
    inquiries,
    journaling,
    lanes,
    listing,
    logins,
    moves,
    naming,
    new_models,
    opening,
    owing,
    pump,
    remembering,
    resting,
    rounds,
    saving,
    servers,
    slash_answers,
    table,
    threads,
    trusting,
    turns,
)
from zidane_core.agent.effects import Answer, Effect, Exit
from zidane_core.agent.events import (
    Answered,
    Asked,
    Closed,
    Conflict,
    Ended,
    Event,
    Failed,
    JobOutcome,
    Key,
    ModelsChanged,
    Ok,
    Progressed,
    Prompt,
    Saved,
    SaveFailed,
    Stopped,
)
from zidane_core.agent.moves import Moved
from zidane_core.agent.question import offered, read_answer
from zidane_core.agent.state import Agent, Call, Choosing, Link, Listing, Options, Setup, Thread, Turn
from zidane_core.data.models import Broke
from zidane_core.data.tools import ToolOutput

Step: TypeAlias = tuple[Agent, tuple[Effect, ...]]

EXIT_CODES: Final[Mapping[str, int]] = MappingProxyType(
    {"eof": 0, "broken_pipe": 0, "terminated": 143, "hung_up": 129}
)


def step(agent: Agent, event: Event) -> Step:
    """The agent after an event, and what is to be done. Total: no event makes it raise.

    An event of an old turn or an unknown job gives the very same agent and no effects.
    """
    handler = _HANDLERS.get(type(event))
    return (agent, ()) if handler is None else handler(agent, event)


def with_thread(agent: Agent, thread: Thread | None, moved: Moved, now: float | None) -> Step:
    """Put a moved thread back, after settling it. `thread` is how it was, None for one that is new. Without `now` it was
    no use of the session."""
    after, effects = moved
    if after is thread and not effects:
        return agent, ()
    after, settled = turns.settle(agent.options, after if now is None else replace(after, updated=now))
    effects = (*effects, *settled)
    if after.commanded and not agent.commanded:
        agent = table.commanded(agent)
    if after.phase == "gone":
        agent, ended = threads.gone(agent, after)
        return _leave(agent, (*effects, *ended))
    return _leave(table.put(agent, after), effects)


def _answered_tickets(agent: Agent, effects: tuple[Effect, ...]) -> Agent:
    """An answered ticket has no owner any more."""
    owners = agent.owners
    for effect in effects:
        if type(effect) is Answer:
            owners = buckets.drop(owners, effect.ticket)
    return agent if owners is agent.owners else replace(agent, owners=owners)


def _leave(agent: Agent, effects: tuple[Effect, ...]) -> Step:
    """When the connection is over and the last turn has ended, the process may end."""
    agent = _answered_tickets(agent, effects)
    if agent.closing and threads.quiet(agent):
        return agent, (*effects, Exit(EXIT_CODES[agent.closing]))
    return agent, effects


# Jobs ----------------------------------------------------------------------------------------------


def _progressed(agent: Agent, event: Progressed) -> Step:
    thread = table.find(agent, moves.thread_of(event.key))
    if thread is None:
        return agent, ()
    if event.key == thread.job:
        return _put(agent, thread, opening.progress(agent.options, thread, event.batch))
    if event.key == thread.title.job:
        return _put(agent, thread, (naming.progress(thread, event.batch), ()))
    server = servers.of_job(thread, event.key)
    if server is not None:
        moved = servers.progress(agent.options, thread, server, event.batch)
        return with_thread(agent, thread, moved, None)
    turn = thread.turn
    if turn is None or turn.stopping:
        return agent, ()
    if event.key == turn.job and turn.phase == "compact":
        return _put(agent, thread, (compacting.progress(thread, turn, event.batch), ()))
    if event.key == turn.job:
        return _put(agent, thread, _streamed(agent.options, thread, event))
    found = _call(turn, event.key)
    if found is None:
        return agent, ()
    call = found[0]
    text = "".join(piece.text for piece in event.batch if isinstance(piece, ToolOutput))
    return _put(agent, thread, calls.stream(agent.options, thread, turn, call, text, event.now))


def _put(agent: Agent, thread: Thread, moved: Moved) -> Step:
    """Put a thread back that has nothing to settle: the path of a chunk."""
    after, effects = moved
    return (agent, effects) if after is thread else (table.put(agent, after), effects)


def _streamed(options: Options, thread: Thread, event: Progressed) -> Moved:
    """The model said something. What is finished of it is saved, what is not goes to the journal now and then."""
    after, effects = rounds.progress(options, thread, event.batch)
    if after.store.state != "open":
        return after, effects
    after, waits = journaling.schedule(options, after)
    if len(after.log) == len(thread.log):
        return after, (*effects, *waits)
    after, saves = saving.save(options, replace(after, updated=event.now))
    return after, (*effects, *waits, *saves)


def _ended(agent: Agent, event: Ended) -> Step:
    if event.key == threads.CLOSING and agent.closing:
        return agent, (*threads.give_up(agent), Exit(EXIT_CODES[agent.closing]))
    if event.key in agent.jobs:
        return _leave(*threads.job_ended(agent, event.key, event.outcome))
    thread = table.find(agent, moves.thread_of(event.key))
    if thread is None:
        return agent, ()
    server = servers.of_job(thread, event.key)
    if server is not None:
        moved = servers.ended(agent.options, thread, server, event.outcome, event.now)
        return with_thread(agent, thread, moved, None)
    agent, effects = with_thread(agent, thread, _job_ended(agent.options, thread, event), event.now)
    return remembering.spread(agent, thread, event), effects


def _job_ended(options: Options, thread: Thread, event: Ended) -> Moved:
    over = next((do for is_it, do in _THREAD_JOBS if is_it(thread, event.key)), None)
    if over is not None:
        return over(options, thread, event)
    turn = thread.turn
    if turn is None:
        return thread, ()
    if gathering.is_of(turn, event.key):
        return gathering.ended(options, thread, turn, event.key, event.outcome)
    if event.key == turn.deadline:
        expired = not isinstance(event.outcome, Stopped)
        return (replace(thread, turn=replace(turn, expired=True)), ()) if expired else (thread, ())
    if event.key == turn.job:
        return _turn_job_ended(options, thread, turn, event.outcome)
    found = _call(turn, event.key)
    return (thread, ()) if found is None else _call_ended(options, thread, turn, *found, event)


def _rested(options: Options, thread: Thread, event: Ended) -> Moved:
    return (resting.rest(thread) if isinstance(event.outcome, Ok) else replace(thread, idle="")), ()


def _close_expired(options: Options, thread: Thread, event: Ended) -> Moved:
    closing = thread.closing
    return thread if closing is None else replace(thread, closing=replace(closing, expired=True)), ()


def _provider_made(options: Options, thread: Thread, event: Ended) -> Moved:
    asked = thread.choosing
    return (thread, ()) if asked is None else choosing.ended(options, thread, asked, event.outcome)


# The jobs of a thread that are none of its turn: whether a key is that of one, and what its end means.
_THREAD_JOBS: Final[
    tuple[tuple[Callable[[Thread, Key], bool], Callable[[Options, Thread, Ended], Moved]], ...]
] = (
    (
        lambda thread, key: thread.choosing is not None and key == thread.job,
        _provider_made,
    ),
    (
        lambda thread, key: key == thread.job,
        lambda options, thread, event: opening.job_ended(options, thread, event.outcome),
    ),
    (
        lambda thread, key: key == thread.title.job,
        lambda options, thread, event: naming.ended(thread, event.outcome),
    ),
    (lambda thread, key: key == thread.idle, _rested),
    (remembering.is_of, remembering.ended),
    (
        lambda thread, key: key == thread.trust.job,
        lambda options, thread, event: (trusting.kept(thread, event.outcome), ()),
    ),
    (
        lambda thread, key: key == thread.store.pause,
        lambda options, thread, _: saving.paused(options, thread),
    ),
    (lambda thread, key: thread.closing is not None and key == thread.closing.bound, _close_expired),
    (journaling.is_due, lambda options, thread, _: journaling.write(thread)),
    (
        lambda thread, key: any(owed.bound == key for owed in thread.owed),
        lambda options, thread, event: (owing.expire(thread, event.key), ()),
    ),
)


def _turn_job_ended(options: Options, thread: Thread, turn: Turn, outcome: JobOutcome) -> Moved:
    if turn.phase == "compact":
        return compacting.ended(options, thread, turn, outcome)
    if turn.phase == "command":
        return slash_answers.provider_made(options, thread, turn, outcome)
    if turn.phase == "retry":
        if turn.stopping:
            return replace(thread, turn=replace(turn, job="")), ()
        return rounds.start(options, thread, turn)
    if isinstance(outcome, Failed):
        return rounds.ended(
            options, thread, turn, Broke(outcome.fault, outcome.retryable, outcome.retry_after)
        )
    return rounds.ended(options, thread, turn, None)


def _call(turn: Turn, key: Key) -> tuple[Call, Link] | None:
    """The call that a job belongs to, and the machine's word for it; a pending redraw has the word LIVE."""
    for call in turn.calls:
        if key == call.live_due:
            return call, Link(LIVE, key)
        link = next((link for link in (*call.jobs, *call.asks) if link.key == key), None)
        if link is not None:
            return call, link
    return None


LIVE: Final = "live"


def _call_ended(options: Options, thread: Thread, turn: Turn, call: Call, link: Link, event: Ended) -> Moved:
    if link.tag != LIVE:
        return pump.got(options, thread, turn, call, link, event.outcome)
    return calls.redraw(thread, turn, call, event.now) if isinstance(event.outcome, Ok) else (thread, ())


def _asked(agent: Agent, event: Asked) -> Step:
    """Code of others asks. Only servers and logins do so far; a job that is over asks nothing."""
    if event.key in agent.jobs:
        return logins.asked(agent, event)
    thread = table.find(agent, moves.thread_of(event.key))
    server = None if thread is None else servers.of_job(thread, event.key)
    if thread is None or server is None or event.kind != "elicit":
        return agent, ()
    return with_thread(agent, thread, inquiries.asked(thread, server, event), None)


# Answers of the user -------------------------------------------------------------------------------


def _answered(agent: Agent, event: Answered) -> Step:
    login = logins.of_ask(agent, event.key)
    if login:
        return logins.answered(agent, login, event)
    thread = table.find(agent, moves.thread_of(event.key))
    inquiry = None if thread is None else inquiries.of_key(thread, event.key)
    if thread is not None and inquiry is not None:
        return with_thread(agent, thread, inquiries.answered(thread, inquiry, event.value), event.now)
    turn = None if thread is None else thread.turn
    if thread is None or turn is None:
        return agent, ()
    asking = trusting.of_key(turn, event.key)
    if asking is not None:
        moved = deciding.trust_decided(agent.options, thread, turn, asking, event.value)
        return with_thread(agent, thread, moved, event.now)
    if gathering.is_of(turn, event.key):
        return with_thread(agent, thread, gathering.answered(thread, turn, event.key, event.value), event.now)
    asked = next((known for known in turn.calls if known.ask == event.key), None)
    if asked is None:
        found = _call(turn, event.key)
        if found is None:
            return agent, ()
        moved = pump.got(agent.options, thread, turn, *found, event.value)
        return with_thread(agent, thread, moved, event.now)
    options = offered(asked.offered is not None, asked.lasting)
    decision = read_answer(options, event.value)
    call = replace(asked, ask="")
    thread_now = moves.with_call(thread, turn, call)
    return with_thread(agent, thread, deciding.decided(agent.options, thread_now, call, decision), event.now)


# The store -----------------------------------------------------------------------------------------


def _stored(agent: Agent, event: Saved | SaveFailed | Conflict) -> Step:
    thread = table.find(agent, moves.thread_of(event.key))
    if thread is None:
        return agent, ()
    return with_thread(agent, thread, _STORE[type(event)](agent.options, thread, event), event.now)


# Any: each function takes the event type of its key, which a dict type cannot say.
_STORE: Final[Mapping[type, Callable[[Options, Thread, Any], Moved]]] = MappingProxyType(
    {Saved: saving.saved, SaveFailed: saving.save_failed, Conflict: saving.conflict}
)


# The connection ------------------------------------------------------------------------------------


def _closed(agent: Agent, event: Closed) -> Step:
    if agent.closing:
        return agent, ()
    agent, effects = threads.close_all(replace(agent, closing=event.reason))
    return _leave(agent, effects)


# Any: each handler takes the event type of its key, which a dict type cannot say.
_HANDLERS: Final[Mapping[type, Callable[[Agent, Any], Step]]] = MappingProxyType(
    {
        Progressed: _progressed,
        Asked: _asked,
        Ended: _ended,
        Answered: _answered,
        Saved: _stored,
        SaveFailed: _stored,
        Conflict: _stored,
        Closed: _closed,
        ModelsChanged: new_models.changed,
    }
)


# Requests: `now` is when they came -----------------------------------------------------------------


def open_thread(agent: Agent, setup: Setup, now: float) -> Step:
    """A new thread; the request is answered when its folders have been looked at."""
    agent, thread = opening.make(agent, None, setup, now)
    return with_thread(agent, None, (thread, ()), now)


def reopen(agent: Agent, session: str, setup: Setup, now: float) -> Step:
    """A thread is opened again: one that is open keeps its turn, one that is stored is read."""
    agent = _owned(agent, setup.ticket, session)
    thread = table.find(agent, session)
    if thread is not None:
        return with_thread(agent, thread, (lanes.enter(thread, setup), ()), now)
    agent, thread = opening.make(agent, session, setup, now)
    return with_thread(agent, None, (thread, ()), now)


def list_threads(agent: Agent, asked: Listing) -> Step:
    """A page of the list of threads, stored or open."""
    return listing.list_threads(agent, asked)


def delete(agent: Agent, session: str, ticket: int, now: float) -> Step:
    """A stored thread is deleted; an open one is ended first."""
    thread = table.find(agent, session)
    if thread is None:
        return listing.delete(agent, ticket, session)
    return with_thread(agent, thread, turns.delete(agent.options, thread, ticket), now)


def prompt(agent: Agent, thread: Thread, asked: Prompt, now: float) -> Step:
    """A prompt: it runs now, or waits behind the running one."""
    agent = _owned(agent, asked.ticket, thread.id)
    return with_thread(agent, thread, (lanes.enter(thread, asked), ()), now)


def _owned(agent: Agent, ticket: int, session: str) -> Agent:
    return replace(agent, owners=buckets.put(agent.owners, ticket, session))


def cancel(agent: Agent, thread: Thread, now: float) -> Step:
    """Cancel the running turn and all that is queued."""
    return with_thread(agent, thread, turns.cancel(agent.options, thread), now)


def close(agent: Agent, thread: Thread, ticket: int, now: float) -> Step:
    """End a thread: its turn is cancelled, all that it holds is freed, then the ticket is answered."""
    return with_thread(agent, thread, turns.close(agent.options, thread, ticket), now)


def withdraw(agent: Agent, ticket: int, now: float) -> Step:
    """The request behind a ticket is no longer wanted; unknown and ended ones change nothing."""
    owner = agent.owners.get(ticket)
    thread = None if owner is None else table.find(agent, owner)
    if thread is None:
        return logins.withdraw(agent, ticket)
    return with_thread(agent, thread, turns.withdraw(agent.options, thread, ticket), now)


def set_option(agent: Agent, thread: Thread, asked: Choosing, now: float) -> Step:
    """Set an option of a thread; in force from the next model call, also during a turn."""
    agent = _owned(agent, asked.ticket, thread.id)
    return with_thread(agent, thread, (lanes.enter(thread, asked), ()), now)
