"""Processes of servers: gone with everything they started, however the end comes, and soon."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from support.mcp_bench import PATIENCE, SCRIPT, Bench, command
from support.process import Process as Agent
from support.process import alive

from zidane_acp import server as server_module
from zidane_acp.environment import Environment
from zidane_acp.mcp.on_demand import McpOnDemand
from zidane_acp.options import AcpServerOptions
from zidane_acp.server import AcpServer
from zidane_acp.transports.memory import memory_pair
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see that processes are gone")


def until(holds: Any) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        os.sched_yield()


async def spawned(bench: Bench) -> list[int]:
    """A server with two more processes, one of them in a session of its own, both deaf to SIGTERM."""
    await bench.connect(command("stdio"))
    pids = bench.root / "pids"
    await bench.text("spawn", pids=str(pids))
    until(lambda: len(pids.read_text().split()) == 3)
    found = [int(pid) for pid in pids.read_text().split()]
    assert all(map(alive, found))
    return found


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["stop", "aclose"])
async def test_nothing_is_left(bench: Bench, how: str) -> None:
    running = await spawned(bench)
    with anyio.fail_after(PATIENCE):
        await (bench.stop() if how == "stop" else bench.servers.aclose())
    assert not any(map(alive, running))
    await bench.ended["tests"].wait()
    said = "" if how == "stop" else "The MCP server tests was closed with the connection of the client."
    assert "".join(bench.problems) == said


@pytest.mark.anyio
async def test_nothing_is_left_of_a_server_that_dies(bench: Bench) -> None:
    running = await spawned(bench)
    assert await bench.call("leave", code=1)
    await bench.until(lambda: bench.problems)
    assert not any(map(alive, running))


@pytest.mark.anyio
async def test_many_end_at_once(bench: Bench) -> None:
    for number in range(4):
        bench.start(command("stdio", name=f"server-{number}"))
    await bench.until(lambda: len(bench.offers) >= 4)
    with anyio.fail_after(PATIENCE):
        await bench.servers.aclose()
    assert len(bench.problems) == 4


@pytest.mark.anyio
async def test_a_server_that_ends_with_its_input_gets_the_time(bench: Bench) -> None:
    script = (
        "import sys,pathlib\n"
        "pathlib.Path('begun').write_text('')\n"
        "for line in sys.stdin: pass\n"
        "pathlib.Path('farewell').write_text('done')\n"
    )
    bench.start(command("stdio", args=("-c", script)))
    await anyio.to_thread.run_sync(until, (bench.root / "begun").exists)
    await bench.stop()
    assert (bench.root / "farewell").read_text() == "done"


AGENT = """
import anyio, sys
from zidane_acp.mcp.servers import McpServers
from zidane_core.agent.work import RunMcpCall, RunMcpServer
from zidane_core.data.mcp import McpServerConfig

async def main(script, root):
    servers, offered = McpServers(), anyio.Event()
    config = McpServerConfig(name="tests", transport="stdio", command=sys.executable, args=(script, "stdio"))
    work = RunMcpServer(session="s", config=config, cwd=root, roots=(root,), within=20)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(servers.serve, work, lambda told: offered.set(), None)
        await offered.wait()
        call = RunMcpCall(session="s", server="tests", tool="spawn", arguments={"pids": root + "/pids"})
        await servers.call(call, print)
        print("ready", flush=True)

anyio.run(main, *sys.argv[1:])
"""


def test_nothing_is_left_of_a_killed_agent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", AGENT, SCRIPT, str(tmp_path)], stdout=subprocess.PIPE
    ) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"ready\n"
        pids = tmp_path / "pids"
        until(lambda: len(pids.read_text().split()) == 3)
        running = [int(pid) for pid in pids.read_text().split()]
        assert all(map(alive, running))
        agent.send_signal(signal.SIGKILL)
        until(lambda: not any(map(alive, running)))


# The agent as a process -----------------------------------------------------------------------------------

STARTING = """
import sys
import zidane_acp.serve as serve
from zidane_core.agent.work import RunMcpServer
from zidane_core.data.mcp import McpServerConfig

inner = serve.performers


def performers(send, jobs, keeper):
    config = McpServerConfig(name="tests", transport="stdio", command=sys.executable, args=("-c", SCRIPT))
    jobs.start("a job of the test", RunMcpServer(session="s", config=config, cwd=ROOT, roots=(ROOT,), within=60))
    return inner(send, jobs, keeper)


serve.performers = performers
"""
"""Connects a server as soon as the loop runs; the core knows nothing of that job."""

FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(15, signal.SIG_IGN)
sleeper = "import os, time; print(os.getpid(), file=open('pids', 'a'), flush=True); time.sleep(600)"
for own in (False, True):
    subprocess.Popen([sys.executable, "-S", "-c", sleeper], start_new_session=own)
print(os.getpid(), file=open("pids", "a"), flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("end", ["eof", "terminated", "killed"])
def test_nothing_is_left_of_an_agent(tmp_path: Path, end: str) -> None:
    before = f"ROOT, SCRIPT = {str(tmp_path)!r}, {FAMILY!r}\n{STARTING}"
    with Agent("--provider", "offline", before=before) as agent:
        agent.session(tmp_path)  # it is answered, whatever the server does
        pids = tmp_path / "pids"
        until(lambda: pids.exists() and len(pids.read_text().split()) == 3)
        running = [int(pid) for pid in pids.read_text().split()]
        if end == "eof":
            assert agent.close() == 0
        else:
            agent.child.send_signal(signal.SIGTERM if end == "terminated" else signal.SIGKILL)
            agent.child.wait(10)
        until(lambda: not any(map(alive, running)))
        assert agent.child.stderr is not None
        assert b"still hangs" not in agent.child.stderr.read(), "it had to be left behind"


# The connection of a client -----------------------------------------------------------------------------


class Recorder(McpOnDemand):
    """Remembers that it was closed."""

    made: "list[Recorder]" = []

    def __init__(self, hidden: tuple[str, ...], environment: Environment) -> None:
        super().__init__(hidden, environment)
        self.closed = 0
        Recorder.made.append(self)

    async def aclose(self) -> None:
        self.closed += 1
        await super().aclose()


@pytest.mark.anyio
async def test_the_end_of_a_connection_ends_its_servers(
    monkeypatch: pytest.MonkeyPatch, anyio_backend: object
) -> None:
    monkeypatch.setattr(server_module, "McpOnDemand", Recorder)
    Recorder.made = []

    class Silent:
        async def aclose(self) -> None: ...

    agent = AcpServer(AcpServerOptions(provider=Silent()))  # type: ignore[arg-type]
    ours, theirs = memory_pair()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(agent.serve, theirs)
        await ours.aclose()
    await theirs.aclose()
    (made,) = Recorder.made
    assert made.closed >= 1


@pytest.mark.anyio
async def test_a_connection_without_servers_has_none(anyio_backend: object) -> None:
    lazy = McpOnDemand()
    call = RunMcpCall(session="s", server="x", tool="t", arguments={})
    assert (await lazy.call(call, print)).failed
    with pytest.raises(Exception, match="x is not connected"):
        await lazy.prompt(GetMcpPrompt(session="s", server="x", prompt="p", arguments={}))
    await lazy.aclose()


def test_the_agent_starts_without_the_package() -> None:
    code = "import sys, zidane_acp.server, zidane_acp.mcp.on_demand; print([m for m in sys.modules if m == 'mcp' or m.startswith('mcp.')])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout == "[]\n"
