"""The list of sessions, and deleting one (ring 2): what is stored, and what is open and not stored."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from zidane_core.agent import pending, records, table
from zidane_core.agent.effects import Answer, Effect, EmptyAnswer, ListAnswer, ListedThread
from zidane_core.agent.events import Deleted, Failed, JobOutcome, Key, Listed, Ok
from zidane_core.agent.state import Agent, Deleting, Listing, Thread
from zidane_core.agent.work import DeleteThread, ListThreads
from zidane_core.data.stored import Place, StoredRow
from zidane_core.fp import dissoc

PAGE: Final = 50
"""Sessions in one answer."""


def list_threads(agent: Agent, listing: Listing) -> tuple[Agent, tuple[Effect, ...]]:
    """Begin to answer a request for the list."""
    away = len(tuple(_unstored(agent, listing)))
    # One more than a page shows whether there is a next one; a stored row may be hidden by each open session.
    return pending.begin(agent, listing, ListThreads(listing.cwd, listing.after, PAGE + 1 + away))


def delete(agent: Agent, ticket: int, session: str) -> tuple[Agent, tuple[Effect, ...]]:
    """Delete a session that is not open."""
    return pending.begin(agent, Deleting(ticket), DeleteThread(session))


def ended(
    agent: Agent, key: Key, request: Listing | Deleting, outcome: JobOutcome
) -> tuple[Agent, tuple[Effect, ...]]:
    """The store has answered."""
    agent = replace(agent, jobs=dissoc(agent.jobs, key))
    value = outcome.value if isinstance(outcome, Ok) else None
    if isinstance(request, Listing) and isinstance(value, Listed):
        return agent, (Answer(request.ticket, _page(agent, request, value.rows)),)
    if isinstance(request, Deleting) and isinstance(value, Deleted):
        return agent, (Answer(request.ticket, EmptyAnswer()),)
    fault = outcome.fault if isinstance(outcome, Failed) else pending.STOPPED
    return agent, (Answer(request.ticket, fault),)


def _page(agent: Agent, listing: Listing, rows: tuple[StoredRow, ...]) -> ListAnswer:
    open_ones = tuple(_unstored(agent, listing))
    hidden = {thread.id for thread in open_ones}
    listed = [_of_row(row) for row in rows if row.session not in hidden]
    listed += [_of_thread(thread) for thread in open_ones if _is_behind(thread, listing.after)]
    listed.sort(key=lambda one: (one.updated, one.thread), reverse=True)
    page = tuple(listed[:PAGE])
    return ListAnswer(page, Place(page[-1].updated, page[-1].thread) if len(listed) > PAGE else None)


def _unstored(agent: Agent, listing: Listing) -> Iterator[Thread]:
    """The open threads that the store has nothing of, or not all."""
    for thread in table.every(agent):
        kept = thread.store.state == "open" and thread.store.seq > 0
        if thread.phase == "open" and thread.outlet and not kept and listing.cwd in (None, thread.cwd):
            yield thread


def _is_behind(thread: Thread, place: Place | None) -> bool:
    return place is None or (thread.updated, thread.id) < (place.updated, place.session)


def _of_row(row: StoredRow) -> ListedThread:
    head = records.head_of(row.head)
    return ListedThread(row.session, row.cwd, head.roots, head.title, row.updated)


def _of_thread(thread: Thread) -> ListedThread:
    return ListedThread(thread.id, thread.cwd, thread.roots[1:], thread.title.text, thread.updated)
