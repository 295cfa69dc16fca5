"""Logging in and out (ring 2): the job, its questions to the user, and what each request is answered."""

from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core.agent import pending
from zidane_core.agent.effects import Answer, AskPeer, ClosePage, DropPeer, Effect, EmptyAnswer, Reply, Stop
from zidane_core.agent.events import Answered, Asked, Failed, JobOutcome, Key, Ok
from zidane_core.agent.peer import AskPage, Filled
from zidane_core.agent.state import Agent, LoggingIn, LoggingOut
from zidane_core.agent.work import LogIn, LogOut
from zidane_core.faults import ErrorCode, Fault
from zidane_core.fp import assoc, dissoc
from zidane_core.text import clean, decode_json_as

Moved = tuple[Agent, tuple[Effect, ...]]

WITHDRAWN: Final = Fault(ErrorCode.REQUEST_CANCELLED, "The login was cancelled")


def log_in(agent: Agent, ticket: int, method: str) -> Moved:
    """Begin to log in by one of the agent's own methods."""
    return pending.begin(agent, LoggingIn(ticket=ticket), LogIn(method, agent.abilities.pages))


def log_out(agent: Agent, ticket: int) -> Moved:
    """Begin to forget what logins have kept."""
    return pending.begin(agent, LoggingOut(ticket), LogOut())


# Questions of a login ------------------------------------------------------------------------------


class _Page(msgspec.Struct, frozen=True, gc=False):
    mode: str
    url: str
    message: str = ""


def asked(agent: Agent, event: Asked) -> Moved:
    """A login wants a page to be opened. Forms are for nothing secret, so that there are none here."""
    login = agent.jobs[event.key]
    if not isinstance(login, LoggingIn):
        return agent, ()
    page = decode_json_as(event.question, _Page).value_or(None)
    if page is None or page.mode != "url" or not agent.abilities.pages or agent.closing:
        return agent, (_reply(event.key, event.ask, "cancel"),)
    agent, key = pending.fresh(agent)
    shown = AskPage(clean(page.message), page.url, key, ticket=login.ticket)
    agent = _put(agent, event.key, replace(login, asks=(*login.asks, (key, event.ask))))
    return agent, (AskPeer(key, "", shown),)


def of_ask(agent: Agent, key: Key) -> Key:
    """The key of the login whose open question has this key; '' when it is a question of something else."""
    return next(
        (
            job
            for job, login in agent.jobs.items()
            if isinstance(login, LoggingIn) and any(known == key for known, _ in login.asks)
        ),
        "",
    )


def answered(agent: Agent, job: Key, event: Answered) -> Moved:
    """Whether the user opens the page of a login; any word but accept and decline counts as cancel."""
    login = agent.jobs[job]
    if not isinstance(login, LoggingIn):
        return agent, ()
    number = next(number for key, number in login.asks if key == event.key)
    action = event.value.action if isinstance(event.value, Filled) else "cancel"
    action = action if action in {"accept", "decline"} else "cancel"
    pages = (*login.pages, event.key) if action == "accept" else login.pages
    asks = tuple(known for known in login.asks if known[0] != event.key)
    agent = _put(agent, job, replace(login, asks=asks, pages=pages))
    return agent, (_reply(job, number, action),)


def _reply(job: Key, number: int, action: str) -> Effect:
    return Reply(job, number, f'{{"action":"{action}"}}')


def _put(agent: Agent, job: Key, login: LoggingIn) -> Agent:
    return replace(agent, jobs=assoc(agent.jobs, job, login))


# The end -------------------------------------------------------------------------------------------


def ended(agent: Agent, key: Key, request: LoggingIn | LoggingOut, outcome: JobOutcome) -> Moved:
    """The job is over: the pages are closed, then the request has its answer."""
    agent = replace(agent, jobs=dissoc(agent.jobs, key))
    left: tuple[Effect, ...] = ()
    if isinstance(request, LoggingIn):
        left = (*_closed(request, isinstance(outcome, Ok)), *(DropPeer(ask) for ask, _ in request.asks))
    if isinstance(outcome, Ok):
        return agent, (*left, Answer(request.ticket, EmptyAnswer()))
    if isinstance(outcome, Failed):
        return agent, (*left, Answer(request.ticket, outcome.fault))
    withdrawn = isinstance(request, LoggingIn) and request.withdrawn
    return agent, (*left, Answer(request.ticket, WITHDRAWN if withdrawn else pending.STOPPED))


def _closed(login: LoggingIn, done: bool) -> tuple[Effect, ...]:
    """A page on which the key was given is done, even if the client has not said yet that it was opened."""
    return tuple(ClosePage(page) for page in (*login.pages, *(key for key, _ in login.asks))) if done else ()


def withdraw(agent: Agent, ticket: int) -> Moved:
    """The request to log in is no longer wanted; any other ticket changes nothing. A logout is done all the same."""
    for key, login in agent.jobs.items():
        if isinstance(login, LoggingIn) and login.ticket == ticket:
            return _put(agent, key, replace(login, withdrawn=True)), (Stop(key),)
    return agent, ()


def stop_all(agent: Agent) -> tuple[Effect, ...]:
    """The connection ends: nobody waits for the user any more."""
    return tuple(Stop(key) for key, login in agent.jobs.items() if isinstance(login, LoggingIn))
