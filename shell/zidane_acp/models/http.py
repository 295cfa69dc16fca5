"""The provider behind HTTP: drives a codec of the core with httpx2. It knows nothing of what the bytes mean."""

import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

import anyio

from zidane_core.data.models import Broke, ModelEvent, ModelRequest, Warned
from zidane_core.models import errors
from zidane_core.models.codec import Codec, Endpoint, HttpRequest
from zidane_core.models.codecs import CODECS
from zidane_core.models.settled import Settled

if TYPE_CHECKING:
    import ssl

    from httpx2 import AsyncClient, Response

CONNECT_SECONDS = 10.0
IDLE_SECONDS = 300.0
DRAIN_SECONDS = 0.25
LARGEST_ERROR = 1024 * 1024
SESSIONS_REMEMBERED = 64
_NO_STREAMS = ("text/html", "application/json", "application/problem+json")
_SHORTEST_SECRET = 4


class HttpModel:
    """A `Model` over HTTP. One pooled client serves all rounds; proxies come from the environment.

    `key` is the API key or None, `more_headers` go with every request and are as secret. `verify` is what httpx2 takes: True for the usual roots, or a context of one's own.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key: str | None,
        *,
        more_headers: Mapping[str, str] | None = None,
        connect_seconds: float = CONNECT_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
        verify: "bool | ssl.SSLContext" = True,
    ) -> None:
        self._endpoint = endpoint
        self._key = key.strip() if key else None
        self._more_headers = dict(more_headers or {})
        self._secrets = tuple(
            text for text in (self._key or "", *self._more_headers.values()) if len(text) >= _SHORTEST_SECRET
        )
        self._codec: Codec = CODECS[endpoint.family]
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._verify = verify
        self._client: AsyncClient | None = None
        self._settled: dict[str, Settled] = {}

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        """The answer as it comes, one batch for what one read gave; ends after `Finished` or `Broke`."""
        endpoint = self._endpoint
        if self._key is None and endpoint.auth != "none" and not endpoint.key_optional:
            yield (errors.missing_key(endpoint),)
            return
        if self._key is not None and not (self._key.isascii() and self._key.isprintable()):
            yield (errors.unusable_key(endpoint),)
            return
        built, warnings = self._codec.build(endpoint, request, self._settled.pop(session, None))
        if built.settled is not None:
            self._remember(session, built.settled)
        if warnings:
            yield tuple(Warned(warning) for warning in warnings)
        # Imported at the first question only: it costs more than everything else at start.
        import httpx2

        try:
            client = self._opened()
            async with client.stream(
                built.method, built.url, headers=self._headers(built), content=built.body
            ) as response:
                async for batch in self._answer(response):
                    yield batch
        except httpx2.HTTPError as error:
            yield (self._unreachable(error),)
        except httpx2.InvalidURL as error:
            yield (self._masked(errors.unreachable(endpoint, str(error))),)
        except (ImportError, ValueError) as error:
            # A proxy of a kind that is not supported, or settings for certificates that do not exist.
            yield (self._masked(errors.unreachable(endpoint, f"the connection cannot be set up: {error}")),)

    def _remember(self, session: str, settled: Settled) -> None:
        """For the next request of the session; the sessions that were quiet for longest are forgotten."""
        self._settled[session] = settled
        if len(self._settled) > SESSIONS_REMEMBERED:
            del self._settled[next(iter(self._settled))]

    async def _answer(self, response: "Response") -> AsyncIterator[tuple[ModelEvent, ...]]:
        import httpx2

        kind = response.headers.get("content-type", "").lower()
        if response.status_code != 200 or kind.startswith(_NO_STREAMS):
            body = await _read(response)
            headers = {name.lower(): value for name, value in response.headers.items()}
            broke = self._codec.fault(self._endpoint, response.status_code, headers, body, time.time())
            yield (self._masked(broke),)
            return
        state = self._codec.start(self._endpoint)
        chunks = response.aiter_bytes()
        anything = False
        try:
            async for data in chunks:
                state, events = self._codec.feed(state, data)
                if events:
                    anything = True
                    yield self._all_masked(events)
                if state.done:
                    # The end of the body is read, so that the connection can serve the next round.
                    with anyio.move_on_after(DRAIN_SECONDS):
                        async for _ in chunks:
                            pass
                    return
        except httpx2.HTTPError as error:
            if state.done:
                return
            if not anything:
                yield (self._unreachable(error),)
                return
        events = self._codec.end(state)
        if events:
            yield self._all_masked(events)

    async def aclose(self) -> None:
        """Close the pooled connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _opened(self) -> "AsyncClient":
        if self._client is None:
            import httpx2

            timeout = httpx2.Timeout(self._idle_seconds, connect=self._connect_seconds)
            self._client = httpx2.AsyncClient(timeout=timeout, verify=self._verify)
        return self._client

    def _headers(self, built: HttpRequest) -> Mapping[str, str]:
        headers = {**dict(built.headers), **self._more_headers}
        if self._key is not None:
            if self._endpoint.auth == "bearer":
                headers["authorization"] = f"Bearer {self._key}"
            elif self._endpoint.auth == "x-api-key":
                headers["x-api-key"] = self._key
        return headers

    def _unreachable(self, error: Exception) -> Broke:
        problem = _problem(error, self._connect_seconds, self._idle_seconds)
        return self._masked(errors.unreachable(self._endpoint, problem))

    def _all_masked(self, events: tuple[ModelEvent, ...]) -> tuple[ModelEvent, ...]:
        last = events[-1]
        return (*events[:-1], self._masked(last)) if isinstance(last, Broke) else events

    def _masked(self, broke: Broke) -> Broke:
        """A server may echo the key it got."""
        message = broke.fault.message
        for secret in self._secrets:
            message = message.replace(secret, "[key]")
        if message == broke.fault.message:
            return broke
        from msgspec.structs import replace

        return replace(broke, fault=replace(broke.fault, message=message))


async def _read(response: "Response") -> bytes:
    """The body of an error, up to a bound; the rest is not waited for."""
    body = b""
    with anyio.CancelScope() as scope:
        async for data in response.aiter_bytes():
            body += data[: LARGEST_ERROR - len(body)]
            if len(body) >= LARGEST_ERROR:
                scope.cancel()
    return body


def _problem(error: Exception, connect_seconds: float, idle_seconds: float) -> str:
    """What went wrong, in a few words."""
    import httpx2

    words: tuple[tuple[type[Exception], str], ...] = (
        (httpx2.ConnectTimeout, f"no connection within {connect_seconds:g} seconds"),
        (httpx2.PoolTimeout, "all connections are in use"),
        (httpx2.TimeoutException, f"nothing came for {idle_seconds:g} seconds"),
        (httpx2.ProxyError, f"the proxy refused: {error}"),
        (httpx2.ConnectError, str(error) or "no connection"),
        (httpx2.RemoteProtocolError, "the connection was closed in the middle of the answer"),
        (httpx2.ReadError, "the connection was lost"),
    )
    return next((text for kind, text in words if isinstance(error, kind)), str(error) or type(error).__name__)
