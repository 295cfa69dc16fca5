"""Messages as lines on the pipes of a server's process, in the streams that the official session takes."""

import contextlib
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import anyio
import anyio.lowlevel
from mcp.shared.message import SessionMessage

from zidane_acp.mcp.child import GRACE, Child
from zidane_acp.mcp.messages import START, messages_of
from zidane_acp.mcp.streams import Streams

LONGEST: Final = 64 * 1024 * 1024
"""Bytes of one line; a server that sends a longer one is given up."""

JUNK: Final = 10_000
"""Lines in a row that may be no message; a server that writes more is given up."""

BREATH: Final = 100
"""Lines that are no message until others get their turn."""


@contextlib.asynccontextmanager
async def lines_of(
    child: Child, skipped: Callable[[], None], given_up: Callable[[str], None]
) -> AsyncGenerator[Streams]:
    """The streams of a process. `skipped` is told of each line that is no message, `given_up` why the server is no
    longer listened to although it runs; `lost` is set at the end of its output."""
    heard, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    # Without a bound: who cancels a call must not wait for a server that reads nothing.
    outgoing, to_say = anyio.create_memory_object_stream[SessionMessage](math.inf)
    lost, deaf = anyio.Event(), anyio.Event()

    async def hear() -> None:
        async with heard:
            try:
                reason = await _hear(child, heard.send, skipped)
                if reason:
                    given_up(reason)
            finally:
                lost.set()  # before the end of the stream is seen: whoever asks why finds the answer

    async def listen() -> None:
        async with anyio.create_task_group() as listening:

            async def until(ended: anyio.Event, reason: str) -> None:
                await ended.wait()
                await anyio.sleep(GRACE)
                # What it started may hold the pipe, but nobody answers any more.
                if reason and not child.ended.is_set():
                    given_up(reason)
                listening.cancel_scope.cancel()

            listening.start_soon(until, child.ended, "")
            listening.start_soon(until, deaf, "it closed its input")
            await hear()
            listening.cancel_scope.cancel()

    async def say() -> None:
        try:
            async for message in to_say:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await child.write(text.encode() + b"\n")
        except OSError:
            deaf.set()

    async with heard, incoming, outgoing, to_say, anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        tasks.start_soon(say)
        try:
            yield Streams(incoming, outgoing, lost)
        finally:
            tasks.cancel_scope.cancel()


async def _hear(
    child: Child, put: Callable[[SessionMessage], Awaitable[None]], skipped: Callable[[], None]
) -> str:
    """Put what the server says until it says no more; the reason if it is given up before, else ''."""
    rest = bytearray()
    junk = 0
    while data := await child.read():
        rest += data
        if b"\n" not in data:
            if len(rest) > LONGEST:
                return f"it sent a line of more than {LONGEST // 1024**2} MiB"
            continue
        *lines, last = bytes(rest).split(b"\n")
        rest = bytearray(last)
        for line in lines:
            maybe = START.match(line) is not None
            messages = messages_of(line) if maybe else []
            for message in messages:
                await put(SessionMessage(message))
            if messages:
                junk = 0
                continue
            junk += 1
            if line.strip():
                skipped()
            if junk > JUNK:
                return f"it wrote {JUNK} lines in a row that are no message"
            # What begins like a message took its time to refuse.
            if maybe or junk % BREATH == 0:
                await anyio.lowlevel.checkpoint()
    return ""
