"""What servers take of the agent's process: descriptors, its turn in the loop, its loggers, its guard."""

import logging
import os
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import mcp.client.session
import pytest
from support.mcp_bench import Bench, command
from support.mcp_raw import __file__ as RAW
from support.process import alive

from zidane_acp.mcp import servers
from zidane_acp.mcp.child import Child, NoCommand, Start, running
from zidane_acp.mcp.servers import McpServers
from zidane_acp.ports import McpProblem
from zidane_acp.tools.guard import Guard
from zidane_core.agent.work import RunMcpServer
from zidane_core.data.mcp import McpServerConfig

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc and reads /dev/zero"),
]


async def test_what_left_group_and_environment_is_ended_with_its_parent(bench: Bench) -> None:
    script = (
        "env -i setsid sh -c 'echo $$ > pid; exec sleep 600' </dev/null >/dev/null 2>&1 &\n"
        'exec "$0" -S "$1" plain'
    )
    await bench.connect(
        McpServerConfig(name="raw", transport="stdio", command="sh", args=("-c", script, sys.executable, RAW))
    )
    file = bench.root / "pid"
    with anyio.fail_after(10):
        while not (file.exists() and file.read_text().strip()):
            await anyio.lowlevel.checkpoint()
    pid = int(file.read_text())
    assert alive(pid)
    await bench.stop("raw")
    assert not alive(pid)


@pytest.mark.parametrize("good", range(3))
async def test_no_pipe_is_left_when_there_are_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, anyio_backend: object, good: int
) -> None:
    guard = Guard()
    guard.start()
    await anyio.lowlevel.checkpoint()
    inner, made = os.pipe, 0

    def pipe() -> tuple[int, int]:
        nonlocal made
        made += 1
        if made > good:
            raise OSError(24, "Too many open files")
        return inner()

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "pipe", pipe)
    try:
        with pytest.raises(NoCommand, match="server: Too many open files"):
            async with running(Start(("server",), str(tmp_path), {}), guard, "x;"):
                pass
    finally:
        monkeypatch.undo()
    assert len(os.listdir("/proc/self/fd")) == before
    await guard.aclose()


async def test_a_pipe_that_is_never_empty_lets_others_have_their_turn(anyio_backend: object) -> None:
    full = os.open("/dev/zero", os.O_RDONLY)
    child = Child(None, -1, full, full, lambda: None)  # type: ignore[arg-type]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(child.drain)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    os.close(full)


def test_only_what_the_package_logs_is_off() -> None:
    servers._loaded()
    logger = logging.getLogger(servers.SHARED)

    def passes(path: str) -> bool:
        record = logging.LogRecord(logger.name, logging.ERROR, path, 1, "text", None, None)
        return logger.isEnabledFor(logging.ERROR) and bool(logger.filter(record))

    assert passes("/a/host/client.py")
    assert not passes(mcp.client.session.__file__)


class Held:
    """A server whose end takes longer than it may."""

    release: anyio.Event

    def __init__(self, *_: object) -> None: ...

    async def run(self) -> None:
        with anyio.CancelScope(shield=True):
            await Held.release.wait()


async def test_the_guard_stays_until_the_last_server_is_over(
    monkeypatch: pytest.MonkeyPatch, anyio_backend: object
) -> None:
    dismissed = anyio.Event()

    class Watching(Guard):
        async def aclose(self) -> None:
            dismissed.set()

    Held.release = anyio.Event()
    monkeypatch.setattr(servers, "_loaded", lambda: Held)
    monkeypatch.setattr(servers, "Guard", Watching)
    monkeypatch.setattr(servers, "CLOSE_WITHIN", 0)
    made = McpServers()
    work = RunMcpServer(session="s", config=command("stdio"), cwd="/", roots=(), within=1)

    async def serve() -> None:
        with pytest.raises(McpProblem):
            await made.serve(work, print, None)  # type: ignore[arg-type]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        with anyio.fail_after(10):
            while ("s", "tests") not in made._served:
                await anyio.lowlevel.checkpoint()
        await made.aclose()
        assert not dismissed.is_set()
        Held.release.set()
    assert dismissed.is_set()


async def test_a_call_to_a_server_that_is_known_to_be_lost_was_not_sent(bench: Bench) -> None:
    await bench.connect(
        McpServerConfig(name="raw", transport="stdio", command=sys.executable, args=(RAW, "plain"))
    )
    link = bench.servers._served["s", "raw"]._link
    assert link is not None
    link.lost.set()
    result = await bench.call("t", server="raw")
    assert str(result.content[0]).count(
        "The MCP server raw is not connected; it is tried again with the next message."
    )
