"""A connection to a server from its start to its loss: initialize, list, keep, list again."""

import logging
import math
from collections.abc import Callable, Iterable
from typing import Final

import anyio
import mcp_types as types
from httpx2 import InvalidURL, UnsupportedProtocol
from mcp import MCPError
from mcp.client.session import ClientRequestContext, IncomingMessage
from pydantic import ValidationError

from zidane_acp.mcp.link import Link, Session
from zidane_acp.mcp.offers import offer_of
from zidane_acp.mcp.questions import answer_of, question_of, roots_of
from zidane_acp.mcp.reasons import FOREIGN, UNREADABLE, leaf, said, sentence
from zidane_acp.mcp.remarks import Remarks
from zidane_acp.mcp.sieve import Sieve
from zidane_acp.mcp.streams import Streams
from zidane_acp.mcp.ways import Way
from zidane_acp.ports import Ask, McpProblem
from zidane_acp.where import where
from zidane_core import __version__
from zidane_core.agent.work import RunMcpServer
from zidane_core.data.mcp import McpOffer, McpPageDone

LOGGER: Final = logging.getLogger("zidane_acp.mcp")

PAUSE: Final = 0.5
"""Seconds between two listings; a server may say without end that something has changed."""


class Connection:
    """One connection. `remarks` go with its offers."""

    def __init__(
        self,
        server: RunMcpServer,
        way: Way,
        secrets: Iterable[str],
        remarks: Remarks,
        report: Callable[[McpOffer | McpPageDone], None],
        ask: Ask,
    ) -> None:
        self._server = server
        self._name = server.config.name
        self._way = way
        self._secrets = tuple(secrets)
        self._remarks = remarks
        self._report = report
        self._ask = ask
        self._changed = anyio.Event()
        self._listed = -math.inf
        self._linked = False
        self._reason = ""

    def change(self) -> None:
        """List again, since the offer is another one or there is a remark."""
        self._changed.set()

    async def run(self, linked: Callable[[Link], None]) -> str:
        """Connect, tell of the link, and keep it until it is lost; gives the reason. Raises McpProblem when it could
        not be connected, in time or at all."""
        scope = anyio.CancelScope(deadline=anyio.current_time() + self._server.within)
        failure: Exception | None = None
        try:
            with scope:
                async with self._way.open() as streams, self._session(streams) as session:
                    await self._keep(session, streams.lost, linked, scope)
        except Exception as error:
            failure = error
            LOGGER.debug("the connection to an MCP server failed: %s", where(leaf(error)))
        if scope.cancelled_caught:
            known = f" ({self._way.said})" if self._way.said else ""
            text = f"The MCP server {self._name} did not answer within {self._server.within:g} s{known}"
            raise McpProblem(self._name, sentence(text))
        reason = self._reason or await self._why(failure)
        if not self._linked:
            raise McpProblem(
                self._name, sentence(f"The MCP server {self._name} {self._way.failed}: {reason}")
            )
        return reason

    def _session(self, streams: Streams) -> Session:
        self._sieve = Sieve(streams.incoming, streams.outgoing)
        return Session(
            dispatcher=self._sieve,
            elicitation_callback=self._elicitation,
            list_roots_callback=self._roots,
            message_handler=self._heard,
            client_info=types.Implementation(name="zidane-acp", title="Zidane", version=__version__),
        )

    async def _keep(
        self, session: Session, lost: anyio.Event, linked: Callable[[Link], None], scope: anyio.CancelScope
    ) -> None:
        try:
            await _begin(session)
            offer = await self._offer(session)
        except Exception as error:
            self._reason = await self._why(error)
            raise
        scope.deadline = math.inf
        self._linked = True
        linked(Link(self._name, session, lost, self._secrets, self._elicit, self._way.renewable))
        self._report(offer)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._list_again, session)
            await lost.wait()
            self._reason = await self._why(None)
            tasks.cancel_scope.cancel()

    async def _offer(self, session: Session) -> McpOffer:
        self._changed = anyio.Event()
        self._listed = anyio.current_time()
        return await offer_of(session, self._sieve, self._name, self._remarks)

    async def _list_again(self, session: Session) -> None:
        while True:
            await self._changed.wait()
            # What changes meanwhile is seen by the listing that follows.
            await anyio.sleep_until(self._listed + PAUSE)
            try:
                self._report(await self._offer(session))
            except (MCPError, ValueError, RuntimeError):
                # What was offered before still stands; a loss is seen elsewhere.
                continue

    async def _why(self, failure: Exception | None) -> str:
        why = await self._way.why()
        error = None if failure is None else leaf(failure)
        if isinstance(error, InvalidURL | UnsupportedProtocol):
            return "its URL cannot be used"
        if isinstance(error, MCPError) and error.code != types.CONNECTION_CLOSED:
            return why if self._way.renewable and why else said(error.message, "", self._secrets)
        if isinstance(error, ValidationError):
            return FOREIGN
        if isinstance(error, ValueError):
            return UNREADABLE
        if isinstance(error, RuntimeError):
            return "it speaks no version of the protocol that is known here"
        return why or ("it was closed" if error is None else f"something unforeseen ({type(error).__name__})")

    # What the server says and asks --------------------------------------------------------------------

    async def _heard(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification | types.PromptListChangedNotification):
            self.change()
        elif isinstance(message, types.ElicitCompleteNotification):
            self._report(McpPageDone(message.params.elicitation_id))

    async def _elicitation(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        return await self._elicit(params)

    async def _elicit(self, params: types.ElicitRequestParams) -> types.ElicitResult:
        return answer_of(await self._ask("elicit", question_of(params)), params)

    async def _roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        return roots_of(self._server.roots)


async def _begin(session: Session) -> None:
    """Initialize a session; a server that refuses the handshake speaks only 2026-07-28 or later. Raises MCPError."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
            raise
        await session.discover()
