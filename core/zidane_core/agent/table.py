"""The threads of an agent (ring 2)."""

from collections.abc import Iterator

from msgspec.structs import replace

from zidane_core import buckets
from zidane_core.agent.state import Agent, Thread


def find(agent: Agent, thread_id: str) -> Thread | None:
    """The thread of this id, or None."""
    return agent.threads.get(thread_id)


def put(agent: Agent, thread: Thread) -> Agent:
    """The agent with this state of the thread; the same agent when nothing changed."""
    threads = buckets.put(agent.threads, thread.id, thread)
    return agent if threads is agent.threads else replace(agent, threads=threads)


def drop(agent: Agent, thread_id: str) -> Agent:
    """The agent without this thread."""
    threads = buckets.drop(agent.threads, thread_id)
    return agent if threads is agent.threads else replace(agent, threads=threads)


def commanded(agent: Agent) -> Agent:
    """A command has run: the folders of other threads may be the same, so it counts for all of them."""
    for thread in tuple(every(agent)):
        agent = put(agent, replace(thread, commanded=True))
    return replace(agent, commanded=True)


def every(agent: Agent) -> Iterator[Thread]:
    """All threads, in a stable order."""
    return agent.threads.values()
