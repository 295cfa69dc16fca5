"""How a server is reached, by its transport: streams to it, and what a failure means."""

import contextlib
import itertools
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import Final, Protocol

import anyio
import anyio.to_thread
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from zidane_acp.mcp.child import GRACE, Child, NoCommand, running, start_of
from zidane_acp.mcp.lines import lines_of
from zidane_acp.mcp.reasons import hidden, how_it_ended
from zidane_acp.mcp.streams import Streams, Watched
from zidane_acp.mcp.web import Web
from zidane_acp.tools.guard import Guard
from zidane_core.agent.work import RunMcpServer
from zidane_core.data.mcp import McpTransport

_NUMBERS: Final = itertools.count(1)


class Way(Protocol):
    """One attempt to reach a server.

    `open` gives its streams and raises what goes wrong. `why` gives the reason of a failure or a loss, '' when there is
    none beyond the exception; `said` is what is known while it goes on. `renewable` says whether what was lost may be
    opened anew, `failed` what it is called when it could not be opened.
    """

    renewable: bool
    failed: str

    @property
    def said(self) -> str: ...

    def open(self) -> AbstractAsyncContextManager[Streams]: ...

    async def why(self) -> str: ...


class Pipes:
    """A process (`Way`). `skipped` is told of lines that are no message."""

    renewable: bool = False
    failed: str = "could not be started"

    def __init__(
        self,
        server: RunMcpServer,
        inherited: Mapping[str, str],
        guard: Guard,
        secrets: Iterable[str],
        skipped: Callable[[], None],
    ) -> None:
        self._server = server
        self._inherited = inherited
        self._guard = guard
        self._secrets = tuple(secrets)
        self._skipped = skipped
        self._child: Child | None = None
        self._lost: anyio.Event | None = None
        self._reason = ""

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[Streams]:
        """Start the process."""
        marker = f"{self._guard.token}-mcp{next(_NUMBERS)};"
        try:
            # In a thread, since a folder on a dead network drive would hold up everything else.
            start = await anyio.to_thread.run_sync(
                start_of, self._server, self._inherited, abandon_on_cancel=True
            )
            child_of = running(start, self._guard, marker)
            async with child_of as child:
                self._child = child
                async with lines_of(child, self._skipped, self._give_up) as streams:
                    self._lost = streams.lost
                    yield streams
        except NoCommand as problem:
            self._reason = hidden(str(problem), self._secrets)
            raise

    @property
    def said(self) -> str:
        """Its last words on standard error, or why there is no process."""
        if self._child is None:
            return self._reason
        return hidden(self._child.tail(len(self._secrets[0]) if self._secrets else 0), self._secrets)

    def _give_up(self, reason: str) -> None:
        self._reason = reason

    async def why(self) -> str:
        """How it ended, and its last words; '' while it is connected."""
        if self._child is None or self._reason:
            return self._reason
        if self._lost is None or not self._lost.is_set():
            return ""
        with anyio.move_on_after(GRACE):
            await self._child.ended.wait()
        how = how_it_ended(self._child.process.returncode if self._child.ended.is_set() else None)
        return f"{how}: {self.said}" if self.said else how


class Requests:
    """Streamable HTTP (`Way`)."""

    renewable: bool = True
    failed: str = "could not be reached"

    def __init__(self, server: RunMcpServer, secrets: Iterable[str]) -> None:
        self._url = server.config.url
        self._web = Web(server.config, secrets)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[Streams]:
        """Open the client; the session begins with the first request."""
        async with (
            self._web.client() as client,
            # The end of the session is said by ourselves, within a bound.
            streamable_http_client(self._url, http_client=client, terminate_on_close=False) as (read, write),
        ):
            try:
                yield Streams(Watched(read, self._web.lost), write, self._web.lost)
            finally:
                await self._web.leave(client)

    @property
    def said(self) -> str:
        """What the last request met."""
        return self._web.trouble

    async def why(self) -> str:
        """The same."""
        return self._web.trouble


class Events:
    """The older HTTP with server-sent events (`Way`)."""

    renewable: bool = True
    failed: str = "could not be reached"

    def __init__(self, server: RunMcpServer, secrets: Iterable[str]) -> None:
        self._url = server.config.url
        self._web = Web(server.config, secrets, fragile=True)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncGenerator[Streams]:
        """Open the stream of events."""
        async with sse_client(self._url, httpx_client_factory=self._web.factory) as (read, write):
            yield Streams(Watched(read, self._web.lost), write, self._web.lost)

    @property
    def said(self) -> str:
        """What the last request met."""
        return self._web.trouble

    async def why(self) -> str:
        """The same."""
        return self._web.trouble


OVER_HTTP: Final[Mapping[McpTransport, Callable[[RunMcpServer, Iterable[str]], Way]]] = MappingProxyType(
    {"streamable-http": Requests, "sse": Events}
)
