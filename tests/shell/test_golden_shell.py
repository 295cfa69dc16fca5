"""The transcripts of tests/golden, taken by the whole shell over a transport in memory."""

import math
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.driver import MODEL
from support.golden import GOLDEN, lines, opened, outside

from zidane_acp import perform
from zidane_acp.beginning import fresh
from zidane_acp.inbox import Inbox
from zidane_acp.serve import serve
from zidane_acp.store import MemoryStore
from zidane_acp.transports.memory import MemoryTransport, memory_pair
from zidane_core.agent.events import AttachmentsRead, FileSeen
from zidane_core.agent.work import LookAtFile, ReadAttachments, RunTool
from zidane_core.data.models import ModelEvent, ModelRequest
from zidane_core.data.tools import Preview, ToolOutput, ToolResult

FILES = sorted(GOLDEN.glob("*.txt"))


class Fed:
    """A model and tools that say what the transcript feeds them."""

    def __init__(self) -> None:
        self._streams: dict[str, tuple[Any, Any]] = {}

    def _stream(self, name: str) -> tuple[Any, Any]:
        if name not in self._streams:
            self._streams[name] = anyio.create_memory_object_stream[Any](math.inf)
        return self._streams[name]

    def put(self, name: str, value: Any) -> None:
        self._stream(name)[0].send_nowait(value)

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        while (batch := await self._stream("model")[1].receive()) is not None:
            yield batch

    async def run(self, call: RunTool, report: Callable[[ToolOutput], None]) -> ToolResult | Preview:
        while isinstance(value := await self._stream(f"{call.stage} {call.call}")[1].receive(), ToolOutput):
            report(value)
        return value

    async def look(self, what: LookAtFile) -> FileSeen:
        found: FileSeen = await self._stream(f"look {what.call.call}")[1].receive()
        return found

    async def attach(self, what: ReadAttachments) -> AttachmentsRead:
        return AttachmentsRead()

    async def aclose(self) -> None:
        for put, get in self._streams.values():
            put.close()
            get.close()


async def play(client: MemoryTransport, path: Path, fed: Fed) -> None:
    waiting = bytearray()
    for kind, text in lines(path):
        if kind == "->":
            await client.send(text.encode() + b"\n")
        elif kind == "!":
            word, call, value = outside(text)
            if word == "model":
                fed.put(word, value)
            elif call:
                fed.put(f"{word if word in {'look', 'prepare'} else 'run'} {call}", value)
        else:
            while b"\n" not in waiting:
                data = await client.receive()
                assert data, "the agent is gone"
                waiting += data
            frame, _, rest = bytes(waiting).partition(b"\n")
            waiting[:] = rest
            assert frame.decode() == text
    assert not waiting


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_the_shell_says_what_the_transcript_says(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, agent = memory_pair()
    fed = Fed()
    monkeypatch.setattr(perform, "FILES", fed)
    codes: list[int] = []
    begun = opened(path)
    store = MemoryStore() if begun.options.store else None

    async def run() -> None:
        codes.append(
            await serve(fresh(begun), agent, {MODEL.value: fed}, fed, store, inbox=Inbox(), now=lambda: 0.0)
        )

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await play(client, path, fed)
            await client.aclose()
    assert codes == [0]
    await agent.aclose()
    await fed.aclose()
