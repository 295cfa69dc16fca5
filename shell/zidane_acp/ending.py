"""The end of a connection: how long what is left may take once the peer is gone."""

import logging
import math
from collections.abc import Callable
from typing import Final

import anyio

from zidane_acp.inbox import Inbox
from zidane_acp.outbox import Outbox
from zidane_core.acp.connection import ConnectionEvent
from zidane_core.agent.events import Closed

LOGGER: Final = logging.getLogger("zidane_acp")

FLUSH_WITHIN: Final = 1.7
"""Seconds after the peer is gone in which the last frames go out."""

STALLED: Final = 1.0
"""Seconds without a byte taken after which a reader counts as gone, when the input has ended."""


class Ending:
    """Until when the last frames may wait, in seconds of `now`.

    After a signal and after a broken pipe that is a fixed time. After the end of the input it is longer as long as
    the reader takes bytes: in `agent < frames | slow-reader` all answers arrive. `begun` is called once.
    """

    def __init__(self, now: Callable[[], float], begun: Callable[[], None] = lambda: None) -> None:
        self._now = now
        self._begun = begun
        self._until = math.inf
        self._at_least = math.inf
        self._patient = False

    def closed(self, reason: str) -> None:
        """The peer is gone, or a signal came."""
        first = self._until == math.inf
        self._patient = reason == "eof" and (first or self._patient)
        if first or reason != "eof":
            self._until = self._at_least = self._now() + FLUSH_WITHIN
        if first:
            self._begun()

    def moved(self) -> None:
        """The reader took something."""
        if self._patient:
            self._until = max(self._until, self._now() + STALLED)

    def drained(self) -> None:
        """The reader took everything; what is left to do gets no more time for its sake."""
        self._until = max(self._at_least, self._now())

    def left(self) -> float:
        """Seconds that are left; infinite before the end has begun."""
        return self._until - self._now()


async def flush(outbox: Outbox, inbox: Inbox[ConnectionEvent], ending: Ending) -> None:
    """Let the last frames out, as long as the ending allows. Of what still comes in only signals matter."""

    async def give_up() -> None:
        while (left := ending.left()) > 0:  # noqa: ASYNC110 - there is no event for time that is put off
            await anyio.sleep(left)
        LOGGER.warning("the client did not read all: up to %d bytes were not delivered", outbox.waiting)
        tasks.cancel_scope.cancel()

    async def listen() -> None:
        while True:
            for event in await inbox.take():
                if type(event) is Closed:
                    ending.closed(event.reason)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(give_up)
        tasks.start_soon(listen)
        await outbox.drained()
        ending.drained()
        tasks.cancel_scope.cancel()
