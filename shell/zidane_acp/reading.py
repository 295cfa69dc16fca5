"""Bytes of the peer to events: the splitter of the core, fed by the transport."""

from collections.abc import Callable
from typing import TypeAlias

from zidane_acp.ports import Transport
from zidane_core.acp.connection import ConnectionEvent, Received
from zidane_core.acp.frames import MAX_FRAME, Framing, Item, splitter
from zidane_core.agent.events import Closed

Watch: TypeAlias = Callable[[str, bytes], None]
"""Sees every frame: "in" or "out", and its bytes."""


class Reader:
    """Reads a transport until its end, which is an event too."""

    def __init__(self, transport: Transport, framing: Framing = "ndjson", limit: int = MAX_FRAME) -> None:
        self._transport = transport
        self._splitter = splitter(framing, limit)

    async def run(
        self, put: Callable[[ConnectionEvent], None], now: Callable[[], float], watch: Watch | None = None
    ) -> None:
        """Put an event for every frame, then one for the end."""
        while data := await self._transport.receive():
            for item in self._splitter.feed(data):
                _give(item, put, now, watch)
        for item in self._splitter.end():
            _give(item, put, now, watch)
        put(Closed(now(), "eof"))


def _give(
    item: Item, put: Callable[[ConnectionEvent], None], now: Callable[[], float], watch: Watch | None
) -> None:
    if watch is not None and isinstance(item, bytes):
        watch("in", item)
    put(Received(now(), item))
