"""The threads of an agent: a bucketed table, cheap to change at ten thousand open threads (ring 2)."""

from collections.abc import Iterator

from msgspec.structs import replace

from zidane_core.agent.state import Agent, Thread

BUCKETS = 61  # a prime, since the ids end in digits


def _bucket(thread_id: str) -> int:
    # Never hash(): it is salted per process, and a replay must bucket the same way.
    return int.from_bytes(thread_id.encode("utf-8", "replace")[-8:], "big") % BUCKETS


def empty() -> tuple[dict[str, Thread], ...]:
    """A table with no threads."""
    bucket: dict[str, Thread] = {}
    return (bucket,) * BUCKETS


def find(agent: Agent, thread_id: str) -> Thread | None:
    """The thread of this id, or None."""
    return agent.threads[_bucket(thread_id)].get(thread_id)


def put(agent: Agent, thread: Thread) -> Agent:
    """The agent with this state of the thread; the same agent when nothing changed."""
    at = _bucket(thread.id)
    bucket = agent.threads[at]
    if bucket.get(thread.id) is thread:
        return agent
    return _with_bucket(agent, at, {**bucket, thread.id: thread})


def drop(agent: Agent, thread_id: str) -> Agent:
    """The agent without this thread."""
    at = _bucket(thread_id)
    rest = {known: thread for known, thread in agent.threads[at].items() if known != thread_id}
    return _with_bucket(agent, at, rest)


def every(agent: Agent) -> Iterator[Thread]:
    """All threads, in the order of the buckets and of opening within one."""
    for bucket in agent.threads:
        yield from bucket.values()


def _with_bucket(agent: Agent, at: int, bucket: dict[str, Thread]) -> Agent:
    threads = (*agent.threads[:at], bucket, *agent.threads[at + 1 :])
    return replace(agent, threads=threads)
