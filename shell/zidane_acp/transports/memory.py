"""A transport in memory: two ends that speak to each other, for tests and for hosts with a transport of their own."""

from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

ROOM: Final = 16
"""Pieces that wait for the other end before a sender waits, too."""


class MemoryTransport:
    """One end. What one end sends the other receives, in the same pieces."""

    def __init__(
        self, send: MemoryObjectSendStream[bytes], receive: MemoryObjectReceiveStream[bytes]
    ) -> None:
        self._send = send
        self._receive = receive

    async def receive(self) -> bytes:
        """The next bytes, b"" when the other end is closed."""
        try:
            return await self._receive.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return b""

    async def send(self, data: bytes) -> None:
        """Hand bytes to the other end, which has room for a few. Raises anyio.BrokenResourceError when it is
        closed."""
        await self._send.send(data)

    async def aclose(self) -> None:
        """Close both directions."""
        await self._send.aclose()
        await self._receive.aclose()


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Two connected ends."""
    there, from_here = anyio.create_memory_object_stream[bytes](ROOM)
    back, from_there = anyio.create_memory_object_stream[bytes](ROOM)
    return MemoryTransport(there, from_there), MemoryTransport(back, from_here)
