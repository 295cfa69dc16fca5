"""The MCP servers of a connection (`ports.Mcp`), made when the first server is to be connected."""

from collections.abc import Callable
from typing import NoReturn

from zidane_acp.environment import Environment, inherited
from zidane_acp.ports import Ask, Mcp, McpProblem
from zidane_core.agent.events import PromptGot
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall, RunMcpServer
from zidane_core.data.mcp import McpOffer, McpPageDone
from zidane_core.data.tools import ToolOutput, ToolResult


class McpOnDemand:
    """`ports.Mcp` that costs nothing as long as no session has a server: the start of the agent is waited for.

    `hidden` are variables that no server inherits, beside those of known providers, `environment` is what they inherit but
    for that.
    """

    def __init__(self, hidden: tuple[str, ...] = (), environment: Environment = inherited) -> None:
        self._hidden = hidden
        self._environment = environment
        self._made: Mcp | None = None
        self._closed = False

    async def serve(
        self, server: RunMcpServer, report: Callable[[McpOffer | McpPageDone], None], ask: Ask
    ) -> NoReturn:
        """Connect a server and keep it."""
        if self._closed:
            name = server.config.name
            raise McpProblem(name, f"The MCP server {name} was not started: the connection is closed.")
        await self._servers().serve(server, report, ask)

    async def call(self, call: RunMcpCall, report: Callable[[ToolOutput], None]) -> ToolResult:
        """One call."""
        return await self._servers().call(call, report)

    async def prompt(self, wanted: GetMcpPrompt) -> PromptGot:
        """One prompt."""
        return await self._servers().prompt(wanted)

    def _servers(self) -> Mcp:
        if self._made is None:
            from zidane_acp.mcp.servers import McpServers
            from zidane_core.models.providers import HIDDEN_VARIABLES

            hidden = (*HIDDEN_VARIABLES, *self._hidden)
            self._made = McpServers(hidden_variables=hidden, environment=self._environment)
        return self._made

    async def aclose(self) -> None:
        """End every server; no other can be started."""
        self._closed = True
        if self._made is not None:
            await self._made.aclose()
