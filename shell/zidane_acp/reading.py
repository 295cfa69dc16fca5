"""Bytes of the peer to events: the splitter of the core, fed by the transport."""

from collections.abc import Awaitable, Callable

from zidane_acp.beginning import Watch
from zidane_acp.ports import Transport
from zidane_core.acp.connection import ConnectionEvent, Received
from zidane_core.acp.frames import Item, Splitter
from zidane_core.agent.events import Closed


async def read(
    transport: Transport,
    splitter: Splitter,
    put: Callable[[ConnectionEvent], None],
    now: Callable[[], float],
    heard: Callable[[], Awaitable[None]],
    watch: Watch | None = None,
) -> None:
    """Put an event for every frame of a transport, then one for its end.

    `heard` waits while the peer does not read what it asked for.
    """
    while data := await transport.receive():
        for item in splitter.feed(data):
            _give(item, put, now, watch)
        await heard()
    for item in splitter.end():
        _give(item, put, now, watch)
    put(Closed(now(), "eof"))


def _give(
    item: Item, put: Callable[[ConnectionEvent], None], now: Callable[[], float], watch: Watch | None
) -> None:
    if watch is not None and isinstance(item, bytes):
        watch("in", item)
    put(Received(now(), item))
