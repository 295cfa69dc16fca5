"""Requests that a job of no thread works on (ring 2): begun, and answered when the connection ends."""

from typing import Final

from msgspec.structs import replace

from zidane_core.agent.effects import Answer, Effect, Start
from zidane_core.agent.state import Agent, Pending
from zidane_core.agent.work import What
from zidane_core.faults import ErrorCode, Fault
from zidane_core.fp import assoc

STOPPED: Final = Fault(ErrorCode.REQUEST_CANCELLED, "The agent ended before this was done")


def begin(agent: Agent, pending: Pending, what: What) -> tuple[Agent, tuple[Effect, ...]]:
    """Start the job of a request."""
    agent, key = fresh(agent)
    return replace(agent, jobs=assoc(agent.jobs, key, pending)), (Start(key, what),)


def fresh(agent: Agent) -> tuple[Agent, str]:
    """A key of no thread that was never used."""
    number = agent.keys + 1
    return replace(agent, keys=number), f"agent/{number}"


def give_up(agent: Agent) -> tuple[Effect, ...]:
    """The connection ends: what is not done is answered all the same."""
    return tuple(Answer(pending.ticket, STOPPED) for pending in agent.jobs.values())
