"""Messages as lines on the pipes of a server's process, in the streams that the official session takes."""

import contextlib
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import anyio
import anyio.lowlevel
from mcp.shared.message import SessionMessage

from zidane_acp.mcp.child import GRACE, Child
from zidane_acp.mcp.parsing import messages_of
from zidane_acp.mcp.streams import Streams

LONGEST: Final = 64 * 1024 * 1024
"""Bytes of one line; a server that sends a longer one is given up."""

MOST_JUNK: Final = 10_000
"""Lines in a row that are no messages, after which a server is given up."""

STEP: Final = 100
"""Lines after which others get their turn."""


@contextlib.asynccontextmanager
async def lines_of(
    child: Child, skipped: Callable[[], None], given_up: Callable[[str], None]
) -> AsyncGenerator[Streams]:
    """The streams of a process. `skipped` is told of each line that is no message; `lost` is set at its end, and
    `given_up` is told why when it is not the server's."""
    heard, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    # Without a bound: who cancels a call must not wait for a server that reads nothing.
    outgoing, to_say = anyio.create_memory_object_stream[SessionMessage](math.inf)
    lost = anyio.Event()

    async def hear() -> None:
        async with heard:
            await _hear(child, heard.send, skipped, given_up)

    async def listen() -> None:
        async with anyio.create_task_group() as listening:

            async def until_it_ends() -> None:
                await child.ended.wait()
                with anyio.move_on_after(GRACE):
                    await anyio.sleep_forever()
                # What it started may hold the pipe, but nobody answers any more.
                listening.cancel_scope.cancel()

            listening.start_soon(until_it_ends)
            await hear()
            listening.cancel_scope.cancel()
        lost.set()

    async def say() -> None:
        with contextlib.suppress(OSError):  # the end is seen where it is listened to
            async for message in to_say:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await child.write(text.encode() + b"\n")

    async with heard, incoming, outgoing, to_say, anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        tasks.start_soon(say)
        try:
            yield Streams(incoming, outgoing, lost)
        finally:
            tasks.cancel_scope.cancel()


async def _hear(
    child: Child,
    put: Callable[[SessionMessage], Awaitable[None]],
    skipped: Callable[[], None],
    given_up: Callable[[str], None],
) -> None:
    rest = bytearray()
    junk = 0
    while data := await child.read():
        rest += data
        if b"\n" not in data:
            if len(rest) > LONGEST:
                given_up(f"it sent a line of more than {LONGEST // 2**20} MiB")
                return
            await anyio.lowlevel.checkpoint()
            continue
        *lines, last = bytes(rest).split(b"\n")
        rest = bytearray(last)
        for number, line in enumerate(lines, 1):
            if number % STEP == 0:
                await anyio.lowlevel.checkpoint()
            if not line.strip():
                continue
            found = messages_of(line)
            junk = 0 if found else junk + 1
            if junk > MOST_JUNK:
                given_up("its output is no protocol")
                return
            if not found:
                skipped()
            for message in found:
                await put(SessionMessage(message))
        await anyio.lowlevel.checkpoint()
