"""The event loop of the agent as a process: its transport, the signals that end it, and its end in any case."""

import logging
import os
import select
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Final, Literal

import anyio

from zidane_acp.beginning import Beginning, Watch
from zidane_acp.ending import Ending
from zidane_acp.inbox import Inbox
from zidane_acp.options import StdioOptions
from zidane_acp.ports import Transport
from zidane_acp.server import AcpServer
from zidane_acp.signals import ending as ending_signals
from zidane_acp.signals import exit_code
from zidane_core.acp.connection import ConnectionEvent
from zidane_core.agent.events import Closed

LOGGER: Final = logging.getLogger("zidane_acp")
LEAVE_AFTER: Final = 0.2
"""Seconds after the last frames in which the process must be over, else it is left."""

FLUSH_WITHIN: Final = 0.1
"""Seconds that log and trace get then."""


def serve_process(
    beginning: Beginning,
    source: int,
    sink: int,
    options: StdioOptions,
    now: Callable[[], float],
    watch: Watch | None,
    flush: Callable[[], object],
) -> int:
    """Serve a connection that has begun until the client is gone; gives the exit code.

    `now` is the clock that began it. `flush` writes what is not to be lost when the process is left while something hangs.
    """
    served = Served(source, sink, options, now, watch, flush)
    try:
        return anyio.run(served.run, beginning)
    finally:
        served.returned()


def _transport(source: int, sink: int, moved: Callable[[], None]) -> Transport:
    if hasattr(select, "poll"):
        from zidane_acp.transports.stdio import StdioTransport

        return StdioTransport(source, sink, moved)
    from zidane_acp.transports.threaded import ThreadedTransport

    return ThreadedTransport(source, sink, moved)


class Served:
    """One connection of a process, and the thread that ends the process when an outsider hangs.

    A name server, a dead network drive or a host's model can hold a thread or a task for minutes; the client is
    gone and nobody waits for them.
    """

    def __init__(
        self,
        source: int,
        sink: int,
        options: StdioOptions,
        now: Callable[[], float],
        watch: Watch | None,
        flush: Callable[[], object],
    ) -> None:
        self._now = now
        self._server = AcpServer(options.server)
        self._background = options.background
        self._ending = Ending(time.monotonic, self._begin_to_leave)
        self._transport = _transport(source, sink, self._ending.moved)
        self._watch = watch
        self._flush = flush
        self._others = frozenset(threading.enumerate())
        self._signal: int | None = None
        self._code = 0
        self._returned = False

    async def run(self, beginning: Beginning) -> int:
        """Serve, then close what was opened."""
        inbox: Inbox[ConnectionEvent] = Inbox()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._signals, inbox.put)
            try:
                if self._background is not None:
                    # Nothing is read meanwhile; what the first session must know comes before it.
                    await self._refresh(self._background.before_sessions)
                    tasks.start_soon(self._refresh, self._background.meanwhile)
                self._code = await self._server.carry_on(
                    beginning, self._transport, inbox, self._now, self._watch, self._ending
                )
            finally:
                with anyio.CancelScope(shield=True):
                    await self._server.aclose()
                    await self._transport.aclose()
            tasks.cancel_scope.cancel()
        return self._exit_code()

    def returned(self) -> None:
        """The loop has ended; only a thread of its own can still hang."""
        self._returned = True
        self._ending.closed("eof")

    def _exit_code(self) -> int:
        return self._code if self._signal is None else exit_code(self._signal)

    async def _refresh(self, found: Callable[[], Awaitable[bool]]) -> None:
        if await found():
            self._server.refresh()

    async def _signals(self, put: Callable[[ConnectionEvent], None]) -> None:
        if os.name == "nt":
            return  # loops take no signal handlers there; the default ones end the process
        with anyio.open_signal_receiver(*ending_signals()) as received:
            async for number in received:
                reason: Literal["terminated", "hung_up"] = (
                    "hung_up" if number.name == "SIGHUP" else "terminated"
                )
                self._signal = self._signal or number
                put(Closed(self._now(), reason))

    # The way out in any case -------------------------------------------------------------------------

    def _begin_to_leave(self) -> None:
        threading.Thread(target=self._leave_in_time, name="leaving", daemon=True).start()

    def _leave_in_time(self) -> None:
        while (left := self._ending.left() + LEAVE_AFTER) > 0:
            time.sleep(left)
        if self._returned and not self._held():
            return
        LOGGER.warning("the client is gone and something still hangs: it is left behind")
        # In a thread, since a handler of the host may hang, too.
        last = threading.Thread(target=self._last_words, daemon=True)
        last.start()
        last.join(FLUSH_WITHIN)
        os._exit(self._exit_code())

    def _held(self) -> bool:
        """Whether a thread that began while we served keeps the interpreter from ending."""
        return any(not thread.daemon and thread not in self._others for thread in threading.enumerate())

    def _last_words(self) -> None:
        self._flush()
        logging.shutdown()
