"""The event loop of the agent as a process: its transport, and the signals that end it."""

import signal
import time
from collections.abc import Callable
from typing import Literal

import anyio

from zidane_acp.beginning import Beginning, Watch
from zidane_acp.inbox import Inbox
from zidane_acp.options import StdioOptions
from zidane_acp.server import AcpServer
from zidane_acp.transports.stdio import StdioTransport
from zidane_core.acp.connection import ConnectionEvent
from zidane_core.agent.events import Closed


def serve_process(
    beginning: Beginning, source: int, sink: int, options: StdioOptions, watch: Watch | None
) -> int:
    """Serve a connection that has begun until the client is gone; gives the exit code."""
    return anyio.run(_serve, beginning, AcpServer(options.server), StdioTransport(source, sink), watch)


async def _serve(
    beginning: Beginning, server: AcpServer, transport: StdioTransport, watch: Watch | None
) -> int:
    inbox: Inbox[ConnectionEvent] = Inbox()
    code = 0
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_signals, inbox.put)
            code = await server.carry_on(beginning, transport, inbox, watch)
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await server.aclose()
            await transport.aclose()
    return code


async def _signals(put: Callable[[ConnectionEvent], None]) -> None:
    reasons: dict[signal.Signals, Literal["terminated", "hung_up"]] = {signal.SIGTERM: "terminated"}
    if hasattr(signal, "SIGHUP"):
        reasons[signal.SIGHUP] = "hung_up"
    with anyio.open_signal_receiver(*reasons) as received:
        async for number in received:
            put(Closed(time.monotonic(), reasons[number]))
