"""A server of a session from the start of its job to the end: connected, lost, connected anew."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

import anyio

from zidane_acp.mcp.connection import Connection
from zidane_acp.mcp.link import Link, Unprocessed
from zidane_acp.mcp.reasons import not_connected, sentence
from zidane_acp.mcp.remarks import Remarks
from zidane_acp.mcp.secret_values import secrets_of
from zidane_acp.mcp.ways import OVER_HTTP, Pipes, Way
from zidane_acp.ports import Ask, McpProblem
from zidane_acp.tools.guard import Guard
from zidane_core.agent.events import PromptGot
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall, RunMcpServer
from zidane_core.data.mcp import McpOffer, McpPageDone
from zidane_core.data.tools import ToolOutput, ToolResult

PAUSE: Final = 0.2
"""Seconds between two attempts to connect anew."""

SHORT: Final = 5.0
"""Seconds; a connection that lived no longer counts as one that failed."""

TRIES: Final = 3
"""Connections in a row that may live so short."""

T = TypeVar("T")


class Served:
    """A server that is kept connected; `run` does that, `call` and `prompt` use it."""

    def __init__(
        self,
        server: RunMcpServer,
        inherited: Mapping[str, str],
        guard: Guard,
        report: Callable[[McpOffer | McpPageDone], None],
        ask: Ask,
    ) -> None:
        self._server = server
        self._name = server.config.name
        self._inherited = inherited
        self._guard = guard
        self._report = report
        self._ask = ask
        self._secrets = secrets_of(server.config)
        self._remarks = Remarks(self._secrets)
        self._connection: Connection | None = None
        self._link: Link | None = None
        self._renewing = False
        self._moved = anyio.Event()

    async def run(self) -> None:
        """Connect and keep the server until it is lost for good, which raises McpProblem."""
        patience, short = 0.0, 0
        try:
            while True:
                began = anyio.current_time()
                way = self._way()
                self._connection = Connection(
                    self._server, way, self._secrets, self._remarks, self._report, self._ask
                )
                try:
                    reason = await self._connection.run(self._linked)
                except McpProblem:
                    if anyio.current_time() >= patience:
                        raise
                    await anyio.sleep(PAUSE)
                    continue
                short = short + 1 if anyio.current_time() - began < SHORT else 0
                self._renewing = way.renewable and short <= TRIES
                self._move(None)
                if not self._renewing:
                    raise McpProblem(self._name, sentence(f"The MCP server {self._name} was lost: {reason}"))
                patience = anyio.current_time() + self._server.within
        finally:
            self._renewing = False
            self._move(None)

    async def call(self, call: RunMcpCall, report: Callable[[ToolOutput], None]) -> ToolResult:
        """One call; what the server refuses is a failed result. Raises McpProblem when there is no server."""
        return await self._on_a_link(lambda link: link.call(call, report))

    async def prompt(self, wanted: GetMcpPrompt) -> PromptGot:
        """One prompt. Raises McpProblem."""
        return await self._on_a_link(lambda link: link.prompt(wanted))

    async def _on_a_link(self, use: Callable[[Link], Awaitable[T]]) -> T:
        """Do something on the connection, and once more on a new one if it was refused for the old one's sake."""
        for _ in range(2):
            link = await self._live()
            try:
                return await use(link)
            except Unprocessed:
                link.lost.set()
                if self._link is link:
                    self._renewing = True
                    self._move(None)
        raise McpProblem(
            self._name, f"The MCP server {self._name} lost its session twice in a row; try again later."
        )

    async def _live(self) -> Link:
        while self._link is None:
            if not self._renewing:
                raise not_connected(self._name)
            await self._moved.wait()
        return self._link

    def _linked(self, link: Link) -> None:
        self._renewing = False
        self._move(link)

    def _move(self, link: Link | None) -> None:
        self._link = link
        self._moved.set()
        self._moved = anyio.Event()

    def _way(self) -> Way:
        over_http = OVER_HTTP.get(self._server.config.transport)
        if over_http is not None:
            return over_http(self._server, self._secrets)
        return Pipes(self._server, self._inherited, self._guard, self._secrets, self._skipped)

    def _skipped(self) -> None:
        """A line of output was no message: say so once."""
        text = (
            f"The MCP server {self._name} writes to its standard output what is no message; that was skipped."
        )
        if self._remarks.add("skipped", text) and self._connection is not None:
            self._connection.change()
