"""What one connection asks of the store: in the order in which it is asked, in a thread, all that is ready at once."""

import logging
from collections.abc import Callable
from typing import Any, Final, Generic, TypeAlias, TypeVar

import anyio
import anyio.to_thread

from zidane_acp.inbox import Inbox
from zidane_acp.ports import Store
from zidane_acp.where import where
from zidane_core.agent.effects import Journal, Release, Save
from zidane_core.agent.events import Conflict, Saved, SaveFailed
from zidane_core.data.stored import Behind, Refusal

LOGGER: Final = logging.getLogger("zidane_acp.store")
T = TypeVar("T")

Kept: TypeAlias = Saved | SaveFailed | Conflict
Work: TypeAlias = Callable[[Store, str], T]
"""Something to do with the store, as one of its owners."""

LEAVE_WITHIN: Final = 0.5
"""Seconds that the last call may take at the end of the connection."""


class Asked(Generic[T]):
    """Something whose result is waited for."""

    def __init__(self, work: Work[T]) -> None:
        self.work = work
        self.done = anyio.Event()
        self.values: list[T] = []
        self.problem: Exception | None = None

    def do(self, store: Store, owner: Callable[[], str]) -> None:
        """Do it; runs in the thread."""
        try:
            self.values.append(self.work(store, owner()))
        except Exception as problem:
            self.problem = problem


# Any: each asks for a result of its own type.
Item: TypeAlias = Save | Journal | Release | Asked[Any]


class Keeper:
    """One connection's door to the store. `put` gets an event for every save."""

    def __init__(self, store: Store, put: Callable[[Kept], None], now: Callable[[], float]) -> None:
        self._store = store
        self._put = put
        self._now = now
        self._queue: Inbox[Item] = Inbox()
        self._owner = ""

    def save(self, save: Save) -> None:
        """Save, in order; an event tells what came of it."""
        self._queue.put(save)

    def note(self, journal: Journal) -> None:
        """Write to the journal, in order; nobody is told."""
        self._queue.put(journal)

    def release(self, release: Release) -> None:
        """Give back a lease, in order; nobody is told."""
        self._queue.put(release)

    async def ask(self, work: Work[T]) -> T:
        """Do something in order with the saves, and wait for it. Raises StoreProblem."""
        asked = Asked(work)
        self._queue.put(asked)
        await asked.done.wait()
        if asked.problem is not None:
            raise asked.problem
        return asked.values[0]

    async def run(self) -> None:
        """Work for ever."""
        while True:
            items = _without_overwritten(await self._queue.take())
            # A thread that hangs on a dead drive is left behind at the end.
            outcomes = await anyio.to_thread.run_sync(self._do, items, abandon_on_cancel=True)
            now = self._now()
            for item, outcome in zip(items, outcomes, strict=True):
                if isinstance(item, Save):
                    self._put(_event(now, item, outcome))
                elif isinstance(item, Asked):
                    item.done.set()

    async def drained(self) -> None:
        """Wait until everything that was asked for so far is done, at most a moment."""
        if self._owner:
            with anyio.move_on_after(LEAVE_WITHIN):
                await self.ask(lambda store, owner: None)

    async def leave(self) -> None:
        """The connection is over, however it ended: what it holds is free."""
        if self._owner:
            with anyio.CancelScope(shield=True), anyio.move_on_after(LEAVE_WITHIN):
                await anyio.to_thread.run_sync(self._left, abandon_on_cancel=True)

    # In the thread -----------------------------------------------------------------------------------

    def _left(self) -> None:
        try:
            self._store.leave(self._owner)
        except Exception as error:
            LOGGER.error("the store failed: %s", where(error))

    def _do(self, items: list[Item]) -> list[Refusal | Behind | None]:
        return [self._one(item) for item in items]

    def _own(self) -> str:
        if not self._owner:
            self._owner = self._store.enter()
        return self._owner

    def _one(self, item: Item) -> Refusal | Behind | None:
        try:
            if isinstance(item, Save):
                return self._store.append(item, self._own())
            if isinstance(item, Journal):
                self._store.note(item, self._own())
            elif isinstance(item, Release):
                self._store.release(item.session, self._own())
            else:
                item.do(self._store, self._own)
        except Exception as error:
            # A bug of a store must not end the session: it goes on in memory.
            LOGGER.error("the store failed: %s", where(error))
            return Refusal("disk")
        return None


def _without_overwritten(items: list[Item]) -> list[Item]:
    """Of rows of the journal that follow each other directly, only the last one of each place."""
    kept: list[Item] = []
    for item in items:
        before = kept[-1] if kept else None
        if isinstance(item, Journal) and isinstance(before, Journal) and _place(item) == _place(before):
            kept.pop()
        kept.append(item)
    return kept


def _place(journal: Journal) -> tuple[str, str, int]:
    return journal.session, journal.message, journal.part


def _event(now: float, save: Save, outcome: Refusal | Behind | None) -> Kept:
    if outcome is None:
        return Saved(now, save.key)
    if isinstance(outcome, Refusal):
        return SaveFailed(now, save.key, outcome.reason, outcome.detail)
    return Conflict(now, save.key, outcome.entries, outcome.journal)
