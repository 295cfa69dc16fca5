"""The HTTP client of a server: its headers, no bound on an answer, and a look at what the requests meet."""

import contextlib
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Final

import anyio
import httpx2

from zidane_acp.mcp.reasons import hidden
from zidane_core.data.mcp import McpServerConfig

CONNECT_WITHIN: Final = 10.0
LEAVE_WITHIN: Final = 0.3
"""Seconds that the end of a session may take."""

SESSION: Final = "mcp-session-id"
VERSION: Final = "mcp-protocol-version"

_SENDING: Final = "send_request_headers.started"
"""The end of the name of the step from which on a server may have seen a request."""

MEANINGS: Final = {401: "; check its headers", 403: "; check its headers", 404: "; check its URL"}


class Attempt:
    """One call as its HTTP request sees it; `begun` when the server may have begun with it."""

    def __init__(self) -> None:
        self.begun = False


ATTEMPT: Final[ContextVar[Attempt | None]] = ContextVar("zidane_acp_mcp_attempt", default=None)
"""The call for which a request is made; the official package carries the context of the caller to it."""


class Web:
    """The requests of one session. `lost` is set when it cannot go on, `trouble` is what went wrong last.

    `fragile`: one request that fails ends the session, as the official package leaves it then.
    """

    def __init__(self, config: McpServerConfig, secrets: Iterable[str], fragile: bool = False) -> None:
        self.lost = anyio.Event()
        self.trouble = ""
        self._headers = dict(config.headers)
        self._url = config.url
        self._secrets = tuple(secrets)
        self._fragile = fragile
        self._session: dict[str, str] = {}

    def client(self) -> httpx2.AsyncClient:
        """A client that tells us what happens. An answer may take for ever; the user can cancel it."""
        timeout = httpx2.Timeout(None, connect=CONNECT_WITHIN)
        return _Client(self, headers=self._headers, timeout=timeout)

    def factory(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """The same in the form that the official package asks for."""
        return self.client()

    async def leave(self, client: httpx2.AsyncClient) -> None:
        """Tell the server that its session is over, if it still listens."""
        if not self._session or self.lost.is_set():
            return
        with anyio.move_on_after(LEAVE_WITHIN, shield=True), contextlib.suppress(httpx2.HTTPError):
            await client.delete(self._url, headers=self._session)

    async def answered(self, request: httpx2.Request, response: httpx2.Response) -> None:
        """Look at an answer: which session it is, and whether it still is one."""
        if response.status_code < 400:
            for name in (SESSION, VERSION):
                value = response.headers.get(name) or request.headers.get(name)
                if value and (SESSION in self._session or name == SESSION):
                    self._session[name] = value
            return
        if request.method == "DELETE":
            return
        if (
            response.status_code != 405 or request.method != "GET"
        ):  # a server need not have a stream of its own
            note = MEANINGS.get(response.status_code, "")
            self.trouble = f"it answered with HTTP {response.status_code}{note}"
        if await self._is_over(request, response) or (self._fragile and request.method == "POST"):
            self._over(request)

    def failed(self, request: httpx2.Request, error: httpx2.TransportError) -> None:
        """A request found no answer."""
        what = hidden(str(error), self._secrets) or type(error).__name__
        self.trouble = f"{request.url.host} cannot be reached ({what.rstrip('.')})"
        if self._fragile and request.method == "POST":
            self.lost.set()

    async def _is_over(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """404 says by the book that a session is over; many servers say 400 and a sentence about the session."""
        if SESSION not in request.headers:
            return False
        if response.status_code == 400:
            return b"session" in (await response.aread()).lower()
        return response.status_code == 404

    def _over(self, request: httpx2.Request) -> None:
        attempt = ATTEMPT.get()
        if attempt is not None:
            attempt.begun = False
        self.trouble = "its session is over"
        if self._fragile or attempt is None:
            self.lost.set()  # else the call does it, when it has heard of its own failure


async def _trace(step: str, _: object) -> None:
    attempt = ATTEMPT.get()
    if attempt is not None and step.endswith(_SENDING):
        attempt.begun = True


class _Client(httpx2.AsyncClient):
    """Shows each request to the `Web`. A subclass, since hooks see no failures and a transport ends the proxies."""

    def __init__(self, web: Web, *, headers: dict[str, str], timeout: httpx2.Timeout) -> None:
        super().__init__(headers=headers, timeout=timeout)
        self._web = web

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        auth: "httpx2._types.AuthTypes | httpx2._client.UseClientDefault | None" = httpx2.USE_CLIENT_DEFAULT,
        follow_redirects: "bool | httpx2._client.UseClientDefault" = httpx2.USE_CLIENT_DEFAULT,
    ) -> httpx2.Response:
        request.extensions = {**request.extensions, "trace": _trace}
        try:
            response = await super().send(
                request, stream=stream, auth=auth, follow_redirects=follow_redirects
            )
        except httpx2.TransportError as error:
            self._web.failed(request, error)
            raise
        await self._web.answered(request, response)
        return response
