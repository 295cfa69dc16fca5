"""The queue behind the loop: one ordered writer that drains all that is ready into one write."""

from collections.abc import Callable

import anyio

from zidane_acp.inbox import Inbox
from zidane_acp.ports import Transport

HIGH_WATER = 4 * 1024 * 1024
"""Bytes that may wait before the jobs' readers pause."""

HARD_BOUND = 64 * 1024 * 1024
"""Bytes that may wait before the peer's input is not read either: it asks and does not listen."""


class Outbox:
    """Frames in order. `room` waits while too much waits; `drained` waits until all is written.

    `broken` is called once, when nobody reads any more; `moved` after each write.
    """

    def __init__(self, transport: Transport, broken: Callable[[], None], moved: Callable[[], None]) -> None:
        self._transport = transport
        self._broken = broken
        self._told = moved
        self._queue: Inbox[bytes] = Inbox()
        self._waiting = 0
        self._is_broken = False
        self._moved = anyio.Event()

    @property
    def waiting(self) -> int:
        """Bytes that are not written yet; those of a write that is under way count in full."""
        return self._waiting

    def put(self, data: bytes) -> None:
        """Enqueue encoded bytes; dropped once the peer no longer reads."""
        if self._is_broken:
            return
        self._waiting += len(data)
        self._queue.put(data)

    async def room(self) -> None:
        """Wait until less than the high-water mark waits."""
        await self._below(HIGH_WATER)

    async def heard(self) -> None:
        """Wait until less than the hard bound waits."""
        await self._below(HARD_BOUND)

    async def drained(self) -> None:
        """Wait until everything is written, or nobody reads any more."""
        await self._below(0)

    async def _below(self, bound: int) -> None:
        while self._waiting > bound:
            await self._moved.wait()

    async def run(self) -> None:
        """Write for ever."""
        while True:
            data = b"".join(await self._queue.take())
            if not self._is_broken:
                try:
                    await self._transport.send(data)
                    self._told()
                except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    self._is_broken = True
                    self._broken()
            self._waiting -= len(data)
            moved, self._moved = self._moved, anyio.Event()
            moved.set()
