"""The queue behind the loop: one ordered writer that drains all that is ready into one write."""

from collections.abc import Callable

import anyio

from zidane_acp.inbox import Inbox
from zidane_acp.ports import Transport

HIGH_WATER = 4 * 1024 * 1024
"""Bytes that may wait before the jobs' readers pause."""


class Outbox:
    """Frames in order. `room` waits while too much waits; `drained` waits until all is written."""

    def __init__(self, transport: Transport, broken: Callable[[], None]) -> None:
        self._transport = transport
        self._broken = broken
        self._queue: Inbox[bytes] = Inbox()
        self._waiting = 0
        self._is_broken = False
        self._moved = anyio.Event()

    def put(self, data: bytes) -> None:
        """Enqueue encoded bytes; dropped once the peer no longer reads."""
        if self._is_broken:
            return
        self._waiting += len(data)
        self._queue.put(data)

    async def room(self) -> None:
        """Wait until less than the high-water mark waits."""
        while self._waiting > HIGH_WATER:
            await self._moved.wait()

    async def drained(self) -> None:
        """Wait until everything is written, or nobody reads any more."""
        while self._waiting:
            await self._moved.wait()

    async def run(self) -> None:
        """Write for ever."""
        while True:
            data = b"".join(await self._queue.take())
            if not self._is_broken:
                try:
                    await self._transport.send(data)
                except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    self._is_broken = True
                    self._broken()
            self._waiting -= len(data)
            moved, self._moved = self._moved, anyio.Event()
            moved.set()
