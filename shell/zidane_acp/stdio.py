"""The agent on standard input and output: descriptors, signals, trace, exit code."""

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

import anyio

from zidane_acp import log
from zidane_acp.inbox import Inbox
from zidane_acp.options import StdioOptions
from zidane_acp.server import AcpServer
from zidane_acp.settings import Settings
from zidane_acp.transports.stdio import StdioTransport, take_stdin, take_stdout
from zidane_core.acp.connection import ConnectionEvent
from zidane_core.agent.events import Closed

if TYPE_CHECKING:
    from zidane_acp.trace import Trace

USAGE: Final = 2


def run(settings: Settings) -> int:
    """Serve with the settings of the command line; gives the exit code."""
    from zidane_acp.wiring import WiringProblem, options_of

    log.configure(settings.log_level, settings.log_file)
    options = options_of(settings, os.environ)
    if isinstance(options, WiringProblem):
        print(f"zidane-acp: {options.message}", file=sys.stderr)
        return USAGE
    return serve_stdio(AcpServer(options.server), options)


def serve_stdio(server: AcpServer, options: StdioOptions) -> int:
    """Serve one client on descriptors of this process, with all that belongs to being its child."""
    source = take_stdin() if options.input is None else options.input
    sink = take_stdout() if options.output is None else options.output
    trace = None if options.trace is None else _trace(options.trace)
    try:
        return anyio.run(_serve, server, StdioTransport(source, sink), options, trace)
    finally:
        if trace is not None:
            trace.close()


def _trace(path: str) -> "Trace":
    # Imported only when it is asked for: the start of the agent is waited for.
    from zidane_acp.trace import Trace

    return Trace(path)


async def _serve(
    server: AcpServer, transport: StdioTransport, options: StdioOptions, trace: "Trace | None"
) -> int:
    inbox: Inbox[ConnectionEvent] = Inbox()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_signals, inbox.put)
            code = await server.serve(
                transport,
                framing=options.framing,
                max_frame=options.max_frame,
                watch=None if trace is None else trace.frame,
                inbox=inbox,
            )
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
