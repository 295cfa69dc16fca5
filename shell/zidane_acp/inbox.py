"""The queue in front of the loop: a deque and one wake-up for all that is ready.

Memory object streams cost twenty times as much for each event; see docs/architecture.md.
"""

from collections import deque
from typing import Generic, TypeVar

import anyio

T = TypeVar("T")


class Inbox(Generic[T]):
    """Items go in from any task of the loop's thread; `take` waits for at least one and gives all."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._ready = anyio.Event()

    def put(self, item: T) -> None:
        """Add an item; never blocks."""
        self._items.append(item)
        if len(self._items) == 1:
            self._ready.set()

    async def take(self) -> list[T]:
        """All items that are ready, at least one."""
        while not self._items:
            self._ready = anyio.Event()
            await self._ready.wait()
        items = list(self._items)
        self._items.clear()
        return items
