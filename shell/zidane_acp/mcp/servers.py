"""The MCP servers of one connection (`ports.Mcp`): each session's own, by name."""

import logging
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NoReturn

import anyio
import anyio.to_thread

from zidane_acp.environment import Environment, inherited
from zidane_acp.mcp.reasons import INSTALL, not_connected
from zidane_acp.ports import Ask, McpProblem
from zidane_acp.tools.guard import Guard
from zidane_acp.where import where
from zidane_core.agent.events import PromptGot
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall, RunMcpServer
from zidane_core.data.content import Text
from zidane_core.data.mcp import McpOffer, McpPageDone
from zidane_core.data.tools import ToolOutput, ToolResult

if TYPE_CHECKING:
    from zidane_acp.mcp.served import Served

LOGGER: Final = logging.getLogger("zidane_acp.mcp")
OFF: Final = logging.CRITICAL + 1
QUIET: Final[Mapping[str, int]] = MappingProxyType(
    {"mcp": OFF, "httpx2": logging.WARNING, "httpcore2": logging.WARNING}
)
"""Loggers that tell messages, URLs and headers, which may be secret, with the level they get."""

SHARED: Final = "client"
"""A logger of the official package with a name that others may use too: there only what the package says is off."""

CLOSE_WITHIN: Final = 1.5
"""Seconds that the end of all servers may take."""


class _Run:
    """A server's job: how it is cancelled, and when it has ended."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.done = anyio.Event()


class McpServers:
    """Connects servers. `hidden_variables` are names of variables that no server inherits (provider keys), `environment` is what
    they inherit but for that."""

    def __init__(
        self, *, hidden_variables: tuple[str, ...] = (), environment: Environment = inherited
    ) -> None:
        self._hidden: Final = frozenset(hidden_variables)
        self._inherited: Final = environment
        self._guard: Final = Guard()
        self._served: dict[tuple[str, str], Served] = {}
        self._runs: set[_Run] = set()
        self._closed = False
        self._overdue = False

    async def serve(
        self, server: RunMcpServer, report: Callable[[McpOffer | McpPageDone], None], ask: Ask
    ) -> NoReturn:
        """Connect a server and keep it; raises McpProblem when it is lost."""
        name = server.config.name
        run = _Run()
        self._runs.add(run)
        if self._closed:
            run.scope.cancel()
        try:
            with run.scope:
                await self._serve(server, report, ask)
        finally:
            self._runs.discard(run)
            run.done.set()
            if self._overdue and not self._runs:
                await self._guard.aclose()
        raise McpProblem(name, f"The MCP server {name} was closed with the connection of the client.")

    async def _serve(
        self, server: RunMcpServer, report: Callable[[McpOffer | McpPageDone], None], ask: Ask
    ) -> None:
        name = server.config.name
        try:
            # In a thread, since it takes as long as the whole start of the agent.
            make = await anyio.to_thread.run_sync(_loaded, abandon_on_cancel=True)
        except ImportError as error:
            LOGGER.error("the package mcp cannot be imported: %s", where(error))
            raise McpProblem(name, f"The MCP server {name} could not be started: {INSTALL}.") from None
        environment = await self._inherited()
        shown = {name: value for name, value in environment.items() if name not in self._hidden}
        served = make(server, shown, self._guard, report, ask)
        key = server.session, name
        self._served[key] = served
        try:
            await served.run()
        finally:
            if self._served.get(key) is served:
                del self._served[key]

    async def call(self, call: RunMcpCall, report: Callable[[ToolOutput], None]) -> ToolResult:
        """One call; a failure is a failed result."""
        try:
            return await self._served_as(call.session, call.server).call(call, report)
        except McpProblem as problem:
            return ToolResult(content=(Text(str(problem)),), failed=True)

    async def prompt(self, wanted: GetMcpPrompt) -> PromptGot:
        """One prompt. Raises McpProblem."""
        return await self._served_as(wanted.session, wanted.server).prompt(wanted)

    def _served_as(self, session: str, name: str) -> "Served":
        served = self._served.get((session, name))
        if served is None:
            raise not_connected(name)
        return served

    async def aclose(self) -> None:
        """End every server at once, and let none start any more."""
        self._closed = True
        with anyio.CancelScope(shield=True):
            for run in self._runs:
                run.scope.cancel()
            with anyio.move_on_after(CLOSE_WITHIN):
                for run in tuple(self._runs):
                    await run.done.wait()
            # A server that is not over yet is still the guard's: it kills what is left should we be killed meanwhile.
            self._overdue = bool(self._runs)
            if not self._overdue:
                await self._guard.aclose()


def _loaded() -> "type[Served]":
    """What needs the official package. Raises ImportError."""
    from zidane_acp.mcp.served import Served

    for name, level in QUIET.items():
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:  # a host that has set it knows why
            logger.setLevel(level)
    logging.getLogger(SHARED).addFilter(_not_of_the_package)
    return Served


def _not_of_the_package(record: logging.LogRecord) -> bool:
    import mcp

    return not record.pathname.startswith(os.path.dirname(mcp.__file__) + os.sep)
