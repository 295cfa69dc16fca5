"""Real servers over each transport, and a session that uses them at the level of the port."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from zidane_acp.environment import Environment, inherited
from zidane_acp.mcp.servers import McpServers
from zidane_acp.ports import AskKind, McpProblem
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall, RunMcpServer
from zidane_core.data.content import Part, Text
from zidane_core.data.mcp import McpOffer, McpPageDone, McpServerConfig
from zidane_core.data.tools import ToolOutput, ToolResult

SCRIPT = str(Path(__file__).parent / "mcp_server.py")
PATIENCE = 20
"""Seconds that anything may take before a test fails."""


def command(how: str, *more: str, **changes: Any) -> McpServerConfig:
    """The configuration of the test server as a process."""
    fields = {"name": "tests", "transport": "stdio", "command": sys.executable, "args": (SCRIPT, how, *more)}
    return McpServerConfig(**{**fields, **changes})


def text_of(result: ToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, Text)
    return part.text


class Bench:
    """A session whose servers run in `tasks`; what they report and ask comes into lists."""

    def __init__(self, root: Path, tasks: anyio.abc.TaskGroup, servers: McpServers) -> None:
        self.root = root
        self.tasks = tasks
        self.servers = servers
        self.session = "s"
        self.offers: list[McpOffer] = []
        self.pages: list[str] = []
        self.asked: list[str] = []
        self.outputs: list[str] = []
        self.problems: list[str] = []
        self.answers: list[str] = []
        self.moved = anyio.Event()
        self.scopes: dict[str, anyio.CancelScope] = {}
        self.ended: dict[str, anyio.Event] = {}

    def _move(self) -> None:
        self.moved.set()
        self.moved = anyio.Event()

    async def until(self, holds: Callable[[], object]) -> None:
        with anyio.fail_after(PATIENCE):
            while not holds():
                await self.moved.wait()

    def _report(self, told: McpOffer | McpPageDone) -> None:
        if isinstance(told, McpOffer):
            self.offers.append(told)
        else:
            self.pages.append(told.id)
        self._move()

    def output(self, piece: ToolOutput) -> None:
        self.outputs.append(piece.text)
        self._move()

    async def _ask(self, kind: AskKind, question: str) -> str:
        assert kind == "elicit"
        self.asked.append(question)
        self._move()
        await self.until(lambda: self.answers)
        return self.answers.pop(0)

    def start(self, config: McpServerConfig, within: float = PATIENCE) -> None:
        work = RunMcpServer(
            session=self.session, config=config, cwd=str(self.root), roots=(str(self.root),), within=within
        )
        self.ended[config.name] = anyio.Event()
        self.scopes[config.name] = anyio.CancelScope()
        self.tasks.start_soon(self._serve, work)

    async def _serve(self, work: RunMcpServer) -> None:
        name = work.config.name
        try:
            with self.scopes[name]:
                await self.servers.serve(work, self._report, self._ask)
        except McpProblem as problem:
            assert problem.server == name
            self.problems.append(str(problem))
        self.ended[name].set()
        self._move()

    async def connect(self, config: McpServerConfig, within: float = PATIENCE) -> McpOffer:
        """Start a server; its first offer."""
        before = len(self.offers)
        self.start(config, within)
        await self.until(lambda: len(self.offers) > before or self.problems)
        assert not self.problems, self.problems
        return self.offers[before]

    async def problem(self, config: McpServerConfig, within: float = PATIENCE) -> str:
        """Start a server that cannot be used; why."""
        self.start(config, within)
        await self.until(lambda: self.problems)
        return self.problems.pop()

    async def stop(self, name: str = "tests") -> None:
        self.scopes[name].cancel()
        with anyio.fail_after(PATIENCE):
            await self.ended[name].wait()

    async def call(self, tool: str, server: str = "tests", **arguments: object) -> ToolResult:
        work = RunMcpCall(session=self.session, server=server, tool=tool, arguments=arguments)
        with anyio.fail_after(PATIENCE):
            return await self.servers.call(work, self.output)

    async def text(self, tool: str, **arguments: object) -> str:
        result = await self.call(tool, **arguments)
        assert not result.failed, result
        return text_of(result)

    async def failure(self, tool: str, **arguments: object) -> str:
        result = await self.call(tool, **arguments)
        assert result.failed, result
        return text_of(result)

    async def prompt(self, name: str, **arguments: str) -> tuple[Part, ...]:
        work = GetMcpPrompt(session=self.session, server="tests", prompt=name, arguments=arguments)
        with anyio.fail_after(PATIENCE):
            return (await self.servers.prompt(work)).parts


@contextlib.asynccontextmanager
async def benched(root: Path, environment: Environment = inherited) -> AsyncIterator[Bench]:
    """A session; afterwards all of its servers have been ended."""
    servers = McpServers(hidden_variables=("OPENAI_API_KEY",), environment=environment)
    async with anyio.create_task_group() as tasks:
        yield Bench(root, tasks, servers)
        with anyio.fail_after(PATIENCE):
            await servers.aclose()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class WebServer:
    """The test server over HTTP on loopback, in a process that can be started anew on its port."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.port = free_port()
        self.start()

    def start(self) -> None:
        self.child = subprocess.Popen(
            [sys.executable, SCRIPT, self.how, str(self.port)], stderr=subprocess.DEVNULL
        )
        for _ in range(400):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self.child.poll() is None, "the server did not start"
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(0.05)
        raise AssertionError("the server does not listen")

    def stop(self) -> None:
        self.child.kill()
        self.child.wait(10)

    def config(self, **changes: Any) -> McpServerConfig:
        transport = {"http": "streamable-http", "sse": "sse"}[self.how]
        path = {"http": "mcp", "sse": "sse"}[self.how]
        url = f"http://127.0.0.1:{self.port}/{path}"
        return McpServerConfig(**{"name": "tests", "transport": transport, "url": url, **changes})
