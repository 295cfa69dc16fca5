"""The loop of one connection: inbox -> step -> perform. It knows no method and no meaning."""

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import anyio

from zidane_acp.inbox import Inbox
from zidane_acp.jobs import Jobs
from zidane_acp.outbox import Outbox
from zidane_acp.perform import Performer
from zidane_acp.ports import Model, Tools, Transport
from zidane_acp.reading import Reader, Watch
from zidane_core.acp.connection import Connection, ConnectionEvent, Opened
from zidane_core.acp.frames import MAX_FRAME, Framing, encode
from zidane_core.acp.step import begin, step
from zidane_core.agent.effects import Exit, Log, Send, Start, Stop
from zidane_core.agent.events import Closed

LOGGER: Final = logging.getLogger("zidane_acp")
LEVELS: Final[Mapping[str, int]] = MappingProxyType(
    {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
)
FLUSH_WITHIN: Final = 1.0
"""Seconds that the last frames get before the connection is given up."""


async def serve(
    opened: Opened,
    transport: Transport,
    models: Mapping[str, Model],
    tools: Tools,
    *,
    inbox: Inbox[ConnectionEvent],
    now: Callable[[], float],
    framing: Framing = "ndjson",
    max_frame: int = MAX_FRAME,
    watch: Watch | None = None,
) -> int:
    """Serve one connection until the peer is gone or `inbox` is told to close; gives the exit code."""
    outbox = Outbox(transport, lambda: inbox.put(Closed(now(), "broken_pipe")))
    performer = Performer(models, tools, outbox.room)
    reader = Reader(transport, framing, max_frame)

    def send(effect: Send) -> None:
        if watch is not None:
            watch("out", effect.frame)
        outbox.put(encode(effect.frame, framing))

    async with anyio.create_task_group() as tasks:
        jobs = Jobs(tasks, performer.run, now, inbox.put)
        tasks.start_soon(reader.run, inbox.put, now, watch)
        tasks.start_soon(outbox.run)
        code = await _loop(begin(opened), inbox, _performers(send, jobs))
        with anyio.move_on_after(FLUSH_WITHIN):
            await outbox.drained()
        tasks.cancel_scope.cancel()
    return code


async def _loop(
    connection: Connection, inbox: Inbox[ConnectionEvent], perform: Mapping[type, Callable[[Any], None]]
) -> int:
    while True:
        for event in await inbox.take():
            connection, effects = step(connection, event)
            for effect in effects:
                if type(effect) is Exit:
                    return effect.code
                perform[type(effect)](effect)
        # Gives the writer and the jobs their turn even when events never stop coming.
        await anyio.lowlevel.checkpoint()


def _performers(send: Callable[[Send], None], jobs: Jobs) -> Mapping[type, Callable[[Any], None]]:
    # Any: each function takes the effect type of its key, which a dict type cannot say.
    return MappingProxyType(
        {
            Send: send,
            Start: lambda effect: jobs.start(effect.key, effect.what),
            Stop: lambda effect: jobs.stop(effect.key),
            Log: lambda effect: LOGGER.log(LEVELS[effect.level], effect.text),
        }
    )
