"""What waits is bounded, and what a host does wrong ends nothing else."""

import json
import os
import re
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from support.driver import MODEL

from zidane_acp import outbox
from zidane_acp.background import Background
from zidane_acp.beginning import answer_first, fresh
from zidane_acp.bridge import HIGH_WATER, AcpBridge
from zidane_acp.connection import ConnectionClosed
from zidane_acp.descriptors import read_ready
from zidane_acp.ending import FLUSH_WITHIN, STALLED, Ending, flush
from zidane_acp.inbox import Inbox
from zidane_acp.jobs import Jobs
from zidane_acp.options import AcpServerOptions, opened_of
from zidane_acp.providers import Lazy
from zidane_acp.serve import serve
from zidane_acp.server import create_acp_server
from zidane_acp.store.memory import MemoryStore
from zidane_acp.transports.memory import ROOM, memory_pair
from zidane_core.agent.events import Ended, Failed, Progressed
from zidane_core.agent.work import Wait
from zidane_core.data.models import Broke, Finished, ModelEvent, ModelRequest


class Silent:
    """A host's model that cannot be hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self) -> None:
        self.closed = 0

    def __eq__(self, other: object) -> bool:
        return self is other

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        yield (Finished("stop"),)

    async def aclose(self) -> None:
        self.closed += 1


class Deaf:
    """A transport whose peer asks for ever and reads nothing."""

    def __init__(self) -> None:
        self.reads = 0

    async def receive(self) -> bytes:
        self.reads += 1
        await anyio.lowlevel.checkpoint()
        return b"{bad\n" * 100

    async def send(self, data: bytes) -> None:
        await anyio.sleep_forever()

    async def aclose(self) -> None: ...


@pytest.mark.anyio
async def test_a_peer_that_asks_and_does_not_read_is_not_read_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "HARD_BOUND", 200_000)
    transport, inbox = Deaf(), Inbox[object]()
    opened = opened_of(AcpServerOptions(provider=Silent()), 0.0)
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                await serve(
                    fresh(opened), transport, {}, NoTools(), MemoryStore(), inbox=inbox, now=lambda: 0.0
                )  # type: ignore[arg-type]

            tasks.start_soon(run)
            # Returns only when nobody moves any more: the reader has stopped.
            await anyio.wait_all_tasks_blocked()
            assert 1 < transport.reads < 100
            tasks.cancel_scope.cancel()


class NoTools:
    async def run(self, call: object, report: object) -> object:
        raise AssertionError("nothing here calls a tool")

    async def aclose(self) -> None: ...


class Hanging(Silent):
    """A model that does not let itself be cancelled, until what tools left running has been ended."""

    def __init__(self) -> None:
        super().__init__()
        self.hangs = anyio.Event()
        self.released = anyio.Event()

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        self.hangs.set()
        with anyio.CancelScope(shield=True):
            await self.released.wait()
        yield (Finished("stop"),)

    async def release(self) -> None:
        self.released.set()


@pytest.mark.anyio
async def test_what_tools_left_running_is_ended_while_a_model_still_hangs() -> None:
    near, far = memory_pair()
    model, inbox = Hanging(), Inbox[Any]()
    opened = opened_of(AcpServerOptions(provider=model), 0.0)
    codes: list[int] = []

    async def run() -> None:
        served = serve(
            fresh(opened),
            far,
            {"default": model},
            NoTools(),
            MemoryStore(),
            inbox=inbox,
            now=time.monotonic,
            release=model.release,
        )  # type: ignore[arg-type]
        codes.append(await served)

    async def ask(number: int, method: str, **params: object) -> None:
        frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        await near.send(json.dumps(frame).encode() + b"\n")

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await ask(0, "initialize", protocolVersion=1)
            await ask(1, "session/new", cwd="/", mcpServers=[])
            while (found := re.search(rb'"sessionId":"([^"]+)"', await near.receive())) is None:
                pass
            await ask(2, "session/prompt", sessionId=found[1].decode(), prompt="go")
            await model.hangs.wait()
            await near.aclose()
    assert codes == [0]
    await far.aclose()


class Reading:
    """A transport that takes everything."""

    async def receive(self) -> bytes:
        return b""

    async def send(self, data: bytes) -> None: ...

    async def aclose(self) -> None: ...


@pytest.mark.anyio
async def test_a_flush_that_is_done_gives_no_more_time() -> None:
    clock = [0.0]
    ending = Ending(lambda: clock[0])
    ending.closed("eof")
    async with anyio.create_task_group() as tasks:
        queue = outbox.Outbox(Reading(), lambda: None, ending.moved)
        clock[0] += FLUSH_WITHIN - 0.1
        queue.put(b"the last frame")
        tasks.start_soon(queue.run)
        await flush(queue, Inbox(), ending)
        tasks.cancel_scope.cancel()
    assert 0 < ending.left() < STALLED / 2


@pytest.mark.anyio
async def test_a_sender_in_memory_waits_for_the_other_end() -> None:
    near, far = memory_pair()
    sent = 0

    async def send() -> None:
        nonlocal sent
        while True:
            await near.send(b"x")
            sent += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        await anyio.wait_all_tasks_blocked()
        assert sent == ROOM
        assert await far.receive() == b"x"
        await anyio.wait_all_tasks_blocked()
        assert sent == ROOM + 1
        tasks.cancel_scope.cancel()
    await near.aclose()
    await far.aclose()


class Gone:
    """A peer whose connection is closed."""

    async def request(self, method: str, params: object = None) -> object:
        raise ConnectionClosed("gone")

    async def notify(self, method: str, params: object = None) -> None:
        raise ConnectionClosed("gone")


@pytest.mark.anyio
async def test_a_closed_connection_does_not_end_the_bridge() -> None:
    from zidane_core.acp import jsonrpc

    bridge = AcpBridge(create_acp_server(AcpServerOptions(provider=Silent())), Gone)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bridge.run)
        await bridge.send(jsonrpc.encode_notification("session/update", {}) + b"\n")
        await bridge.send(jsonrpc.encode_request(77, "session/request_permission", {}) + b"\n")
        await anyio.wait_all_tasks_blocked()
        # Still served.
        answer = await bridge.on_request("initialize", {"protocolVersion": 1})
        assert isinstance(answer, dict) and answer["protocolVersion"] == 1
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_host_waits_while_the_agent_takes_nothing() -> None:
    bridge = AcpBridge(create_acp_server(AcpServerOptions(provider=Silent())), Gone)
    told = 0

    async def tell() -> None:
        nonlocal told
        while True:
            await bridge.on_notification("x/y", {"text": "x" * (HIGH_WATER // 4)})
            await anyio.lowlevel.checkpoint()
            told += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tell)
        await anyio.wait_all_tasks_blocked()
        before = told
        assert 1 < before < 8
        assert await bridge.receive()
        await anyio.wait_all_tasks_blocked()
        assert told > before
        tasks.cancel_scope.cancel()
    bridge._frames.close()
    await bridge.aclose()


@pytest.mark.anyio
async def test_models_that_cannot_be_hashed_are_closed_once() -> None:
    model = Silent()
    await create_acp_server(AcpServerOptions(provider=model)).aclose()
    assert model.closed == 1


@pytest.mark.anyio
async def test_a_provider_that_cannot_be_made_is_told_and_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tries = 0

    def make() -> Silent:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ValueError("the key is swordfish")
        return Silent()

    lazy = Lazy(make)
    request = ModelRequest(
        model=msgspec.structs.replace(MODEL, name="Big", provider="acme"), system="", messages=()
    )
    [(broke,)] = [batch async for batch in lazy.stream(request, "s")]
    assert isinstance(broke, Broke) and not broke.retryable
    assert (
        broke.fault.message
        == "The provider of Big could not be made (ValueError). Check its settings, then try again."
    )
    assert broke.fault.data == {"kind": "server", "provider": "acme"}
    assert "ValueError" in caplog.text and "swordfish" not in caplog.text
    assert [batch async for batch in lazy.stream(request, "s")] == [(Finished("stop"),)]


@pytest.mark.anyio
async def test_the_text_of_an_unforeseen_failure_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    events: list[Progressed | Ended] = []

    async def fail(what: object, report: object) -> None:
        raise ValueError("the prompt and the key")

    async with anyio.create_task_group() as tasks:
        Jobs(tasks, fail, lambda: 0.0, events.append).start("k", Wait(1.0))  # type: ignore[arg-type]
    assert isinstance(events[0], Ended) and isinstance(events[0].outcome, Failed)
    assert "ValueError at " in caplog.text and "the key" not in caplog.text


# The beginning, and the writer in the background -----------------------------------------------------


def test_the_rest_of_a_frame_is_kept_and_not_the_frame(tmp_path: Path) -> None:
    # The id comes back in the answer, which is larger than a pipe.
    number = "x" * 100_000
    frames = tmp_path / "frames"
    frames.write_bytes(f'{{"jsonrpc":"2.0","id":"{number}","method":"nope"}}\n{{bad\n'.encode())
    source = os.open(frames, os.O_RDONLY)
    take, sink = os.pipe()
    os.set_blocking(sink, False)
    begun = answer_first(
        fresh(opened_of(AcpServerOptions(provider=Silent()), 0.0)), source, sink, lambda: 0.0
    )
    whole = os.read(take, 1 << 20) + begun.unsent
    assert begun.unsent and whole.endswith(b"\n")
    assert json.loads(whole)["id"] == number
    for descriptor in (source, take, sink):
        os.close(descriptor)


def test_a_read_tells_nothing_yet_from_the_end() -> None:
    source, give = os.pipe()
    os.set_blocking(source, False)
    assert read_ready(source, 9) is None
    os.write(give, b"some")
    assert read_ready(source, 9) == b"some"
    os.close(give)
    assert read_ready(source, 9) == b""
    os.close(source)
    assert read_ready(source, 9) == b""


def test_a_descriptor_that_has_nothing_yet_is_left_to_the_loop() -> None:
    source, give = os.pipe()
    os.set_blocking(source, False)
    beginning = fresh(opened_of(AcpServerOptions(provider=Silent()), 0.0))
    assert answer_first(beginning, source, give, lambda: 0.0).connection is beginning.connection
    os.close(source)
    os.close(give)


def test_what_does_not_fit_is_counted_and_nobody_waits() -> None:
    written, go = list[tuple[str, int]](), threading.Event()

    def write(item: str, lost: int) -> None:
        assert go.wait(20)
        written.append((item, lost))

    lines = Background(write, 10)
    for item in ("first", "other", "third", "again"):
        lines.put(item, 5)
    assert not lines.flush(0)
    go.set()
    assert lines.flush(20)
    lines.put("after", 5)
    assert lines.flush(20)
    assert [item for item, _ in written] == ["first", "other", "after"]
    assert sum(lost for _, lost in written) == 2
