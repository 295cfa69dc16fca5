"""The HTTP client of a server: its headers, no bound on an answer, and a look at what the requests meet."""

import contextlib
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
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

MEANINGS: Final[Mapping[int, str]] = MappingProxyType(
    {
        **dict.fromkeys((301, 302, 303, 307, 308), ", another address, which is not followed; check its URL"),
        **dict.fromkeys((401, 403, 407), "; check its headers"),
        **dict.fromkeys((404, 405, 410), "; check its URL"),
    }
)
"""What the status of an answer tells the user to do."""

EXPECTED: Final = ("application/json", "text/event-stream")
EMPTY: Final = frozenset({202, 204})
"""Answers without a body, as notifications get them."""


class Attempt:
    """One call as its HTTP request sees it; `begun` when the server may have begun with it, `trouble` is the answer
    that was none, '' if there was no such answer."""

    def __init__(self) -> None:
        self.begun = False
        self.trouble = ""


ATTEMPT: Final[ContextVar[Attempt | None]] = ContextVar("zidane_acp_mcp_attempt", default=None)
"""The call for which a request is made; the official package carries the context of the caller to it."""


class Web:
    """The requests of one session. `lost` is set when it cannot go on, `trouble` is what went wrong last.

    `fragile`: one request that fails ends the session, as the official package leaves it then.
    """

    def __init__(self, config: McpServerConfig, secrets: Iterable[str], fragile: bool = False) -> None:
        self.lost = anyio.Event()
        self.trouble = ""
        self._headers = list(config.headers)
        self._url = config.url
        self._secrets = tuple(secrets)
        self._fragile = fragile
        self._session: dict[str, str] = {}
        self._streaming = False

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
        if response.status_code < 300:
            self._streaming = self._streaming or request.method == "GET"
            self._note(request, response)
            self._look(request, response)
        elif _followed(request, response):
            return
        elif request.method == "POST" or (request.method == "GET" and (self._streaming or self._fragile)):
            # A server need not have a stream of its own, and its refusal to give one means nothing.
            await self._refused(request, response)

    def _look(self, request: httpx2.Request, response: httpx2.Response) -> None:
        """A page to log in, for example, is no answer of the protocol."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        empty = response.status_code in EMPTY or response.headers.get("content-length") == "0"
        if empty or request.method == "DELETE" or kind.startswith(EXPECTED):
            return
        # The older kind answers a request with any text, and then on its stream.
        if self._fragile and request.method == "POST":
            return
        shown = hidden(kind, self._secrets) or "something without a type"
        self._met(f"it answered with {shown}, which is none of the protocol; check its URL")

    def _met(self, trouble: str) -> None:
        self.trouble = trouble
        attempt = ATTEMPT.get()
        if attempt is not None:
            attempt.trouble = trouble

    def failed(self, request: httpx2.Request, error: httpx2.TransportError) -> None:
        """A request found no answer. What a client refuses to send may be quoted in its text."""
        known = isinstance(error, httpx2.NetworkError | httpx2.TimeoutException)
        what = (hidden(str(error), self._secrets) if known else "") or type(error).__name__
        self.trouble = f"{request.url.host} cannot be reached ({what.rstrip('.')})"
        if self._fragile and request.method == "POST":
            self.lost.set()

    def _note(self, request: httpx2.Request, response: httpx2.Response) -> None:
        for name in (SESSION, VERSION):
            value = response.headers.get(name) or request.headers.get(name)
            if value and (SESSION in self._session or name == SESSION):
                self._session[name] = value

    async def _refused(self, request: httpx2.Request, response: httpx2.Response) -> None:
        attempt = ATTEMPT.get()
        over = await self._is_over(request, response)
        if over and attempt is not None:
            attempt.begun = False
        note = MEANINGS.get(response.status_code, "")
        status = f"it answered with HTTP {response.status_code}{note}"
        self._met("its session is over" if over else status)
        # Where a call waits for this answer, the call does it when it has heard of its own failure.
        if (self._fragile and request.method == "POST") or (over and attempt is None):
            self.lost.set()

    async def _is_over(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """404 says by the book that a session is over; many servers say 400 and a sentence about the session."""
        if SESSION not in request.headers and not (self._fragile and request.method == "POST"):
            return False
        if response.status_code == 400:
            return b"session" in (await response.aread()).lower()
        return response.status_code == 404


def _followed(request: httpx2.Request, response: httpx2.Response) -> bool:
    """Whether the official package goes on by itself: it stays at the host that it was given."""
    location = response.headers.get("location")
    if location is None or not (
        response.status_code in {307, 308} or (request.method == "GET" and response.is_redirect)
    ):
        return False
    try:
        target = request.url.join(location)
    except httpx2.InvalidURL:
        return False
    here = request.url
    return (target.host, target.port) == (here.host, here.port) and target.scheme in {here.scheme, "https"}


async def _trace(step: str, _: object) -> None:
    attempt = ATTEMPT.get()
    if attempt is not None and step.endswith(_SENDING):
        attempt.begun = True


class _Client(httpx2.AsyncClient):
    """Shows each request to the `Web`. A subclass, since hooks see no failures and a transport ends the proxies."""

    def __init__(self, web: Web, *, headers: list[tuple[str, str]], timeout: httpx2.Timeout) -> None:
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
