"""The HTTP driver against a server on the loopback interface: streams, cancel, errors, cuts, keys."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from zidane_acp.log import CHATTY
from zidane_acp.models.http import HttpModel
from zidane_core.data.content import Audio, Text
from zidane_core.data.models import (
    BlockEnded,
    Broke,
    Finished,
    ModelEvent,
    ModelRequest,
    TextDelta,
    UserMessage,
    Warned,
)
from zidane_core.faults import ErrorCode
from zidane_core.models.providers import endpoint, models

pytestmark = pytest.mark.anyio

KEY = "sk-test-0123456789abcdef"
Stream = anyio.abc.SocketStream
Script = Callable[[Stream], Awaitable[None]]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


class Server:
    """Plays one script for each request and keeps what it was sent."""

    def __init__(self, script: Script, listener: Any) -> None:
        self.script = script
        self.heads: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.connections = 0
        self.closed = anyio.Event()
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        self.url = f"http://127.0.0.1:{port}/v1"

    async def handle(self, stream: Stream) -> None:
        self.connections += 1
        buffered = BufferedByteReceiveStream(stream)
        async with stream:
            try:
                while True:
                    head = (await buffered.receive_until(b"\r\n\r\n", 65536)).decode()
                    length = next(
                        int(line.split(":")[1])
                        for line in head.splitlines()
                        if line.lower().startswith("content-length:")
                    )
                    self.heads.append(head)
                    self.bodies.append(json.loads(await buffered.receive_exactly(length)))
                    await self.script(stream)
            except (
                anyio.IncompleteRead,
                anyio.EndOfStream,
                anyio.BrokenResourceError,
                anyio.ClosedResourceError,
            ):
                self.closed.set()


@asynccontextmanager
async def serving(script: Script) -> AsyncIterator[Server]:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    server = Server(script, listener)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.handle)
        yield server
        tasks.cancel_scope.cancel()


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def piece(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def head(
    status: str = "200 OK", kind: str = "text/event-stream", more: str = "transfer-encoding: chunked\r\n"
) -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{more}\r\n".encode()


def whole(status: str, kind: str, body: bytes, *headers: str) -> Script:
    async def script(stream: Stream) -> None:
        more = "".join(f"{header}\r\n" for header in (*headers, f"content-length: {len(body)}"))
        await stream.send(head(status, kind, more) + body)

    return script


ANSWER = event({"content": "Hel"}) + event({"content": "lo"}, "stop") + b"data: [DONE]\n\n"


async def answer(stream: Stream) -> None:
    await stream.send(head() + piece(ANSWER) + b"0\r\n\r\n")


def request(*parts: Any) -> ModelRequest:
    return ModelRequest(
        model=models("openai")[0], system="Be brief.", messages=(UserMessage(parts or (Text("hi"),)),)
    )


@asynccontextmanager
async def model_at(
    url: str, key: str | None = KEY, provider: str = "openai", **options: Any
) -> AsyncIterator[HttpModel]:
    model = HttpModel(endpoint(provider, {}, url).unwrap(), key, **options)
    try:
        yield model
    finally:
        await model.aclose()


async def collect(model: HttpModel, asked: ModelRequest | None = None) -> list[ModelEvent]:
    with anyio.fail_after(20):
        return [event async for batch in model.stream(asked or request(), "s") for event in batch]


async def ask(script: Script, **options: Any) -> list[ModelEvent]:
    async with serving(script) as server, model_at(server.url, **options) as model:
        return await collect(model)


def broke(events: list[ModelEvent]) -> Broke:
    assert isinstance(events[-1], Broke)
    assert events[-1].fault.data
    assert KEY not in events[-1].fault.message
    return events[-1]


HELLO: list[ModelEvent] = [TextDelta("Hel"), TextDelta("lo"), BlockEnded(), Finished("stop")]


async def test_a_stream_comes_in_batches_and_carries_the_key() -> None:
    async with serving(answer) as server, model_at(server.url) as model:
        with anyio.fail_after(20):
            batches = [batch async for batch in model.stream(request(), "s")]
        assert [event for batch in batches for event in batch] == HELLO
        assert len(batches) == 1
        lines = server.heads[0].lower().splitlines()
        assert lines[0] == "post /v1/chat/completions http/1.1"
        assert f"authorization: bearer {KEY}" in lines
        assert [line for line in lines if line.startswith("user-agent:")] == ["user-agent: zidane-acp/0.1.0"]
        assert server.bodies[0]["messages"][0]["content"] == "Be brief."


async def test_anthropic_gets_its_key_in_its_own_header() -> None:
    async with serving(whole("200 OK", "text/event-stream", b"")) as server:
        async with model_at(server.url, provider="anthropic") as model:
            await collect(model)
        lines = server.heads[0].lower().splitlines()
        assert f"x-api-key: {KEY}" in lines
        assert not [line for line in lines if line.startswith("authorization")]


async def test_further_headers_go_along_and_are_as_secret_as_the_key() -> None:
    more = {"X-Team": "team-swordfish", "X-Odd": "abc"}
    async with serving(answer) as server, model_at(server.url, more_headers=more) as model:
        assert await collect(model) == HELLO
        lines = server.heads[0].lower().splitlines()
        assert {"x-team: team-swordfish", "x-odd: abc", f"authorization: bearer {KEY}"} <= set(lines)
    body = json.dumps({"error": {"message": f"no team team-swordfish with {KEY} in abc"}}).encode()
    found = (await ask(whole("403 Forbidden", "application/json", body), more_headers=more))[-1]
    assert isinstance(found, Broke) and "swordfish" not in repr(found) and KEY not in repr(found)
    assert "no team [key] with [key]" in found.fault.message


async def test_one_connection_serves_all_rounds() -> None:
    async with serving(answer) as server, model_at(server.url) as model:
        for _ in range(3):
            assert await collect(model) == HELLO
        assert (server.connections, len(server.heads)) == (1, 3)


async def test_a_server_that_keeps_the_body_open_does_not_hold_up_the_end() -> None:
    async def script(stream: Stream) -> None:
        await stream.send(head() + piece(ANSWER))
        await anyio.sleep_forever()

    assert await ask(script) == HELLO


async def test_deltas_arrive_before_the_answer_is_complete() -> None:
    seen = anyio.Event()

    async def script(stream: Stream) -> None:
        await stream.send(head() + piece(event({"content": "Hel"})))
        await seen.wait()
        await stream.send(piece(event({"content": "lo"}, "stop") + b"data: [DONE]\n\n") + b"0\r\n\r\n")

    async with serving(script) as server, model_at(server.url) as model:
        events: list[ModelEvent] = []
        with anyio.fail_after(20):
            async for batch in model.stream(request(), "s"):
                events.extend(batch)
                seen.set()
        assert events == HELLO


async def test_cancel_closes_the_connection() -> None:
    async def script(stream: Stream) -> None:
        await stream.send(head() + piece(event({"content": "Hel"})))
        await stream.receive()  # nothing more is asked: this ends when the connection is closed

    async with serving(script) as server, model_at(server.url) as model:
        started = anyio.Event()

        async def read() -> None:
            async for _ in model.stream(request(), "s"):
                started.set()

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                await started.wait()
                tasks.cancel_scope.cancel()
            await server.closed.wait()


async def test_cancel_before_the_first_byte_closes_the_connection() -> None:
    arrived = anyio.Event()

    async def script(stream: Stream) -> None:
        arrived.set()
        await stream.receive()

    async with serving(script) as server, model_at(server.url) as model:

        async def read() -> None:
            await collect(model)

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                await arrived.wait()
                tasks.cancel_scope.cancel()
            await server.closed.wait()


ERRORS = [
    ("401 Unauthorized", (), "auth", False, None),
    ("429 Too Many Requests", ("Retry-After: 7",), "rate_limit", True, 7.0),
    ("500 Oops", (), "server", True, None),
    ("404 Not Found", (), "invalid_request", False, None),
    ("307 Temporary Redirect", ("Location: /elsewhere",), "bad_response", False, None),
]


@pytest.mark.parametrize(("status", "headers", "kind", "retryable", "wait"), ERRORS)
async def test_http_errors(
    status: str, headers: tuple[str, ...], kind: str, retryable: bool, wait: float | None
) -> None:
    body = json.dumps({"error": {"message": f"no, {KEY} and Bearer {KEY} are wrong"}}).encode()
    found = broke(await ask(whole(status, "application/json", body, *headers, "X-Request-Id: r1")))
    assert found.fault.data
    assert (found.fault.data["kind"], found.fault.data["status"]) == (kind, int(status[:3]))
    assert (found.retryable, found.retry_after, found.fault.data["requestId"]) == (retryable, wait, "r1")
    assert (found.fault.code == ErrorCode.AUTH_REQUIRED) == (kind == "auth")


async def test_a_key_that_looks_like_no_key_is_never_shown() -> None:
    key = "plainword"
    body = json.dumps({"error": {"message": f"unknown user {key}"}}).encode()
    for script in (
        whole("401 Unauthorized", "application/json", body),
        whole("200 OK", "text/event-stream", b"data: " + body + b"\n\n"),
    ):
        found = (await ask(script, key=key))[-1]
        assert isinstance(found, Broke)
        assert key not in repr(found)
        assert "[key]" in found.fault.message


async def test_a_web_page_with_200_is_no_answer() -> None:
    found = broke(await ask(whole("200 OK", "text/html", b"<!doctype html><p>Please sign in</p>")))
    assert found.fault.data
    assert found.fault.data["kind"] == "bad_response"
    assert "web page" in found.fault.message
    assert not found.retryable


async def test_a_huge_error_body_is_bounded() -> None:
    async def script(stream: Stream) -> None:
        await stream.send(head("500 Oops", "text/plain"))
        for _ in range(64):
            await stream.send(piece(b"x" * 65536))
        await anyio.sleep_forever()

    assert len(broke(await ask(script)).fault.message) < 600


async def test_a_cut_stream_keeps_what_came() -> None:
    async def script(stream: Stream) -> None:
        await stream.send(head() + piece(event({"content": "Hel"})))
        await stream.aclose()

    events = await ask(script)
    assert events[0] == TextDelta("Hel")
    found = broke(events)
    assert found.fault.data
    assert found.fault.data["kind"] == "network"
    assert "middle of its answer" in found.fault.message


async def test_a_connection_that_breaks_before_content_may_be_tried_again() -> None:
    async def headers_only(stream: Stream) -> None:
        await stream.send(head())
        await stream.aclose()

    async def nothing(stream: Stream) -> None:
        await stream.aclose()

    async def empty(stream: Stream) -> None:
        await stream.send(head() + b"0\r\n\r\n")

    for script in (headers_only, nothing, empty):
        found = broke(await ask(script))
        assert found.fault.data
        assert (found.fault.data["kind"], found.retryable) == ("network", True)


async def test_an_end_without_its_mark_is_an_end() -> None:
    async def script(stream: Stream) -> None:
        await stream.send(head() + piece(event({"content": "Hel"}) + event({"content": "lo"}, "stop")))
        await stream.aclose()

    assert await ask(script) == HELLO


async def test_a_server_that_says_nothing_is_left() -> None:
    async def script(stream: Stream) -> None:
        await anyio.sleep_forever()

    found = broke(await ask(script, idle_seconds=0.2))
    assert "nothing came for 0.2 seconds" in found.fault.message
    assert found.retryable


async def test_a_refused_connection() -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    await listener.aclose()
    async with model_at(f"http://127.0.0.1:{port}/v1") as model:
        found = broke(await collect(model))
    assert found.fault.data
    assert (found.fault.data["kind"], found.retryable) == ("network", True)
    assert "connection to OpenAI failed" in found.fault.message


async def test_a_proxy_from_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(answer) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        async with model_at("http://provider.invalid/v1") as model:
            assert await collect(model) == HELLO
        assert proxy.heads[0].startswith("POST http://provider.invalid/v1/chat/completions ")


async def test_settings_that_cannot_work_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    async with model_at("http://provider.invalid/v1") as model:
        found = broke(await collect(model))
    assert found.fault.data
    assert found.fault.data["kind"] == "network"


async def test_no_key() -> None:
    async with model_at("http://127.0.0.1:1/v1", key=None) as model:
        found = broke(await collect(model))
    assert found.fault.code == ErrorCode.AUTH_REQUIRED
    assert "OPENAI_API_KEY" in found.fault.message
    async with (
        serving(answer) as server,
        model_at(server.url, key=None, provider="openai-compatible") as model,
    ):
        assert await collect(model) == HELLO
        assert "authorization" not in server.heads[0].lower()


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel"])
async def test_a_key_that_cannot_be_sent(key: str) -> None:
    async with model_at("http://127.0.0.1:1/v1", key=key) as model:
        found = broke(await collect(model))
    assert found.fault.code == ErrorCode.AUTH_REQUIRED
    assert key not in repr(found)


async def test_warnings_come_first() -> None:
    async with serving(answer) as server, model_at(server.url) as model:
        events = await collect(model, request(Text("hear"), Audio("audio/wav", "AAAA")))
        assert isinstance(events[0], Warned)
        assert "audio" in events[0].text
        assert events[1:] == HELLO


async def test_the_key_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    for name in CHATTY:  # a test of MCP servers may have quietened them
        caplog.set_level(logging.DEBUG, logger=name)
    with caplog.at_level(logging.DEBUG):
        assert await ask(answer) == HELLO
    assert caplog.records  # the libraries do log at this level
    assert KEY not in caplog.text
