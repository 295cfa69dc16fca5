"""create_json_rpc_connection, over memory streams, on asyncio and trio."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import pytest
from anyio.abc import ObjectReceiveStream, ObjectSendStream

from zidane_acp.connection import (
    ConnectionClosed,
    JsonRpcConnection,
    JsonRpcError,
    RemoteError,
    create_json_rpc_connection,
)

pytestmark = pytest.mark.anyio

BOUND = 5


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def refuse(method: str, params: object) -> object:
    raise JsonRpcError(-32601, f"Method not found: {method}", {"method": method})


@dataclass
class Outside:
    """The other side, as raw lines."""

    connection: JsonRpcConnection
    to: ObjectSendStream[bytes]
    back: ObjectReceiveStream[bytes]
    buffer: bytes = b""

    async def send(self, *frames: object) -> None:
        lines = (frame if isinstance(frame, bytes) else json.dumps(frame).encode() for frame in frames)
        await self.to.send(b"".join(line + b"\n" for line in lines))

    async def receive(self) -> dict[str, object]:
        with anyio.fail_after(BOUND):
            while b"\n" not in self.buffer:
                self.buffer += await self.back.receive()
        line, _, self.buffer = self.buffer.partition(b"\n")
        found = json.loads(line)
        assert isinstance(found, dict)
        return found


@asynccontextmanager
async def connected(
    on_request: Callable[[str, object], Awaitable[object]] = refuse,
    on_notification: Callable[[str, object], Awaitable[None]] | None = None,
    max_frame: int = 1 << 20,
) -> AsyncIterator[Outside]:
    to, source = anyio.create_memory_object_stream[bytes](100)
    sink, back = anyio.create_memory_object_stream[bytes](100)
    connection = create_json_rpc_connection(
        source, sink, on_request=on_request, on_notification=on_notification, max_frame=max_frame
    )
    with anyio.fail_after(BOUND):
        async with to, source, sink, back, anyio.create_task_group() as tasks:
            connection.start(tasks)
            yield Outside(connection, to, back)
            connection.close()


async def test_answers_and_errors_keep_the_id_with_its_type() -> None:
    async def handle(method: str, params: object) -> object:
        if method == "fail":
            raise JsonRpcError(-32002, "Resource not found", {"uri": "x"})
        return {"method": method, "params": params}

    async with connected(handle) as outside:
        await outside.send({"jsonrpc": "2.0", "id": "7", "method": "a", "params": {"é": ["\U0001f600"]}})
        assert await outside.receive() == {
            "jsonrpc": "2.0",
            "id": "7",
            "result": {"method": "a", "params": {"é": ["\U0001f600"]}},
        }
        await outside.send({"jsonrpc": "2.0", "id": 7, "method": "fail"})
        assert await outside.receive() == {
            "jsonrpc": "2.0",
            "id": 7,
            "error": {"code": -32002, "message": "Resource not found", "data": {"uri": "x"}},
        }


async def test_unexpected_exceptions_are_internal_errors_without_details(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def handle(method: str, params: object) -> object:
        if method == "strange":
            return object()
        raise ValueError("the key is sk-secret")

    async with connected(handle) as outside:
        for method in ("raise", "strange"):
            with caplog.at_level(logging.DEBUG):
                await outside.send({"jsonrpc": "2.0", "id": 1, "method": method})
                answer = await outside.receive()
            assert answer == {
                "jsonrpc": "2.0",
                "id": 1,
                "error": {"code": -32603, "message": "Internal error"},
            }
    assert "ValueError" in caplog.text
    assert "sk-secret" not in caplog.text


async def test_bad_input_is_answered_and_the_stream_survives() -> None:
    async with connected(max_frame=200) as outside:
        for line, code, known in [
            (b"{not json", -32700, None),
            (b"[]", -32600, None),
            (b'{"jsonrpc":"2.0","id":52,"method":7}', -32600, 52),
            (b'{"jsonrpc":"2.0","id":53,"method":"m","params":{"a":"' + b"x" * 300 + b'"}}', -32600, 53),
            (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":54,"method":"m"}\r', -32601, 54),
        ]:
            await outside.send(line)
            answer = await outside.receive()
            error = answer["error"]
            assert isinstance(error, dict)
            assert (error["code"], answer["id"]) == (code, known)


async def test_handlers_run_at_once() -> None:
    release = anyio.Event()

    async def handle(method: str, params: object) -> object:
        if method == "slow":
            await release.wait()
        else:
            release.set()
        return method

    async with connected(handle) as outside:
        await outside.send({"jsonrpc": "2.0", "id": 1, "method": "slow"})
        await outside.send({"jsonrpc": "2.0", "id": 2, "method": "quick"})
        assert {(await outside.receive())["result"] for _ in range(2)} == {"slow", "quick"}


async def test_cancel_request_stops_the_handler_and_is_answered_once() -> None:
    started, stopped = anyio.Event(), anyio.Event()

    async def handle(method: str, params: object) -> object:
        if method == "ping":
            return "pong"
        try:
            started.set()
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async with connected(handle) as outside:
        await outside.send({"jsonrpc": "2.0", "id": "x", "method": "hang"})
        await started.wait()
        for wrong in (1, None, True):
            await outside.send(
                {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": wrong}}
            )
        assert not stopped.is_set()
        cancel = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "x"}}
        await outside.send(cancel, cancel)
        answer = await outside.receive()
        assert answer["id"] == "x"
        assert answer["error"] == {"code": -32800, "message": "Request cancelled"}
        assert stopped.is_set()
        await outside.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
        assert (await outside.receive())["result"] == "pong"


async def test_a_cancel_in_the_same_read_finds_its_request() -> None:
    async def handle(method: str, params: object) -> object:
        await anyio.sleep_forever()

    async with connected(handle) as outside:
        await outside.send(
            {"jsonrpc": "2.0", "id": 1, "method": "hang"},
            {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}},
        )
        assert (await outside.receive())["error"] == {"code": -32800, "message": "Request cancelled"}


async def test_an_id_in_use_is_refused() -> None:
    async def handle(method: str, params: object) -> object:
        await anyio.sleep_forever()

    async with connected(handle) as outside:
        await outside.send(
            {"jsonrpc": "2.0", "id": 1, "method": "hang"}, {"jsonrpc": "2.0", "id": 1, "method": "b"}
        )
        error = (await outside.receive())["error"]
        assert isinstance(error, dict)
        assert error["code"] == -32600


async def test_own_requests_get_results_and_remote_errors() -> None:
    results: list[object] = []

    async with connected() as outside, anyio.create_task_group() as tasks:

        async def ask() -> None:
            results.append(await outside.connection.request("a", {"x": 1}))
            with pytest.raises(RemoteError) as raised:
                await outside.connection.request("b")
            results.append((raised.value.code, str(raised.value), raised.value.data))
            with pytest.raises(RemoteError) as raised:
                await outside.connection.request("c")
            results.append(raised.value.code)

        tasks.start_soon(ask)
        first = await outside.receive()
        assert first == {"jsonrpc": "2.0", "id": first["id"], "method": "a", "params": {"x": 1}}
        await outside.send(
            {"jsonrpc": "2.0", "id": 999, "result": 1},
            {"jsonrpc": "2.0", "id": str(first["id"]), "result": 2},
            {"jsonrpc": "2.0", "id": first["id"], "result": {"y": None}},
        )
        second = await outside.receive()
        assert second == {"jsonrpc": "2.0", "id": second["id"], "method": "b"}
        error = {"code": -5, "message": "no", "data": [1]}
        await outside.send({"jsonrpc": "2.0", "id": second["id"], "error": error})
        third = await outside.receive()
        await outside.send({"jsonrpc": "2.0", "id": third["id"], "result": 1, "error": error})
    assert results == [{"y": None}, (-5, "no", [1]), -32600]


async def test_a_cancelled_request_of_ours_is_withdrawn_and_its_late_answer_dropped() -> None:
    async with connected() as outside, anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def ask() -> None:
            with scope:
                await outside.connection.request("a")

        tasks.start_soon(ask)
        request = await outside.receive()
        scope.cancel()
        assert await outside.receive() == {
            "jsonrpc": "2.0",
            "method": "$/cancel_request",
            "params": {"requestId": request["id"]},
        }
        await outside.send({"jsonrpc": "2.0", "id": request["id"], "result": 1})
        await outside.send({"jsonrpc": "2.0", "id": "z", "method": "m"})
        assert (await outside.receive())["id"] == "z"


async def test_notifications_come_in_order_and_before_the_answer_after_them() -> None:
    seen: list[object] = []

    async def notified(method: str, params: object) -> None:
        await anyio.lowlevel.checkpoint()
        if method == "boom":
            raise RuntimeError("a bug of the host")
        seen.append(params)

    async with connected(on_notification=notified) as outside, anyio.create_task_group() as tasks:

        async def ask() -> None:
            seen.append(await outside.connection.request("a"))

        tasks.start_soon(ask)
        request = await outside.receive()
        await outside.send(
            {"jsonrpc": "2.0", "method": "n", "params": [1]},
            {"jsonrpc": "2.0", "method": "boom"},
            {"jsonrpc": "2.0", "method": "n", "params": 5},
            {"jsonrpc": "2.0", "method": "n", "params": [2]},
            {"jsonrpc": "2.0", "id": request["id"], "result": "end"},
        )
    assert seen == [[1], [2], "end"]


async def test_notifications_go_out_before_the_answer_that_follows_them() -> None:
    async with connected() as outside:
        connection = outside.connection

        async def handle(method: str, params: object) -> object:
            for number in range(3):
                await connection.notify("n", {"number": number})
            return "done"

        connection._on_request = handle
        await outside.send({"jsonrpc": "2.0", "id": 1, "method": "m"})
        frames = [await outside.receive() for _ in range(4)]
    assert [frame.get("params", frame.get("result")) for frame in frames] == [
        {"number": 0},
        {"number": 1},
        {"number": 2},
        "done",
    ]


async def test_close_fails_what_waits_and_ends_the_handlers() -> None:
    ended = anyio.Event()

    async def handle(method: str, params: object) -> object:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    failed = anyio.Event()
    async with connected(handle) as outside, anyio.create_task_group() as tasks:

        async def ask() -> None:
            with pytest.raises(ConnectionClosed):
                await outside.connection.request("a")
            failed.set()

        await outside.send({"jsonrpc": "2.0", "id": 1, "method": "hang"})
        tasks.start_soon(ask)
        await outside.receive()
        outside.connection.close()
        await failed.wait()
        await ended.wait()
        assert (await outside.receive())["error"] == {"code": -32800, "message": "Request cancelled"}
        with pytest.raises(ConnectionClosed):
            await outside.connection.request("late")
        with pytest.raises(ConnectionClosed):
            await outside.connection.notify("late")


async def test_end_of_input_answers_what_came_even_without_a_newline() -> None:
    async def handle(method: str, params: object) -> object:
        await connection.notify("progress")
        with pytest.raises(ConnectionClosed):
            await connection.request("cannot be answered any more")
        return method

    to, source = anyio.create_memory_object_stream[bytes](10)
    sink, back = anyio.create_memory_object_stream[bytes](10)
    connection = create_json_rpc_connection(source, sink, on_request=handle)
    async with source, sink, back:
        await to.send(b'{"jsonrpc":"2.0","id":1,"method":"last"}')
        await to.aclose()
        with anyio.fail_after(BOUND):
            await connection.run()
        await sink.aclose()
        lines = b"".join([data async for data in back]).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"jsonrpc": "2.0", "method": "progress"},
        {"jsonrpc": "2.0", "id": 1, "result": "last"},
    ]


async def test_a_broken_output_ends_the_connection() -> None:
    to, source = anyio.create_memory_object_stream[bytes](10)
    sink, back = anyio.create_memory_object_stream[bytes](10)
    connection = create_json_rpc_connection(source, sink, on_request=refuse)
    async with to, source, sink:
        await back.aclose()
        await to.send(b'{"jsonrpc":"2.0","id":1,"method":"m"}\n')
        with anyio.fail_after(BOUND):
            await connection.run()


async def test_a_full_output_holds_notifications_back() -> None:
    to, source = anyio.create_memory_object_stream[bytes](10)
    sink, back = anyio.create_memory_object_stream[bytes](0)
    connection = create_json_rpc_connection(source, sink, on_request=refuse)
    sent: list[int] = []

    async def flood() -> None:
        for number in range(8):
            await connection.notify("n", {"text": "x" * (1 << 19)})
            sent.append(number)

    async with to, source, sink, back, anyio.create_task_group() as tasks:
        connection.start(tasks)
        tasks.start_soon(flood)
        await anyio.wait_all_tasks_blocked()
        assert len(sent) < 8
        read = 0
        with anyio.fail_after(BOUND):
            while read < 8 * (1 << 19):
                read += len(await back.receive())
        connection.close()
    assert len(sent) == 8


async def test_content_length_framing() -> None:
    async def handle(method: str, params: object) -> object:
        return params

    to, source = anyio.create_memory_object_stream[bytes](10)
    sink, back = anyio.create_memory_object_stream[bytes](10)
    connection = create_json_rpc_connection(source, sink, on_request=handle, framing="content-length")
    body = '{"jsonrpc":"2.0","id":1,"method":"m","params":["é\\n"]}'.encode()
    async with source, sink, back:
        await to.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        await to.aclose()
        with anyio.fail_after(BOUND):
            await connection.run()
        answer = '{"jsonrpc":"2.0","id":1,"result":["é\\n"]}'.encode()
        assert await back.receive() == b"Content-Length: %d\r\n\r\n%b" % (len(answer), answer)


async def test_nothing_is_read_before_the_start() -> None:
    to, source = anyio.create_memory_object_stream[bytes](0)
    sink, _back = anyio.create_memory_object_stream[bytes](10)
    taken = anyio.Event()

    async def talk() -> None:
        await to.send(b'{"jsonrpc":"2.0","id":1,"method":"m"}\n')
        taken.set()

    connection = create_json_rpc_connection(source, sink, on_request=refuse)
    with anyio.fail_after(BOUND):
        async with to, source, sink, _back, anyio.create_task_group() as tasks:
            tasks.start_soon(talk)
            await anyio.wait_all_tasks_blocked()
            assert not taken.is_set()
            connection.start(tasks)
            await taken.wait()
            assert json.loads(await _back.receive())["id"] == 1
            connection.close()


async def test_two_connections_talk_and_a_second_start_is_refused() -> None:
    left, right_source = anyio.create_memory_object_stream[bytes](10)
    right, left_source = anyio.create_memory_object_stream[bytes](10)

    async def add(method: str, params: object) -> object:
        assert isinstance(params, list)
        return sum(params)

    one = create_json_rpc_connection(left_source, left, on_request=refuse)
    two = create_json_rpc_connection(right_source, right, on_request=add)
    with anyio.fail_after(BOUND):
        async with left, right, left_source, right_source, anyio.create_task_group() as tasks:
            one.start(tasks)
            two.start(tasks)
            assert await one.request("add", [1, 2]) == 3
            with pytest.raises(RemoteError) as raised:
                await two.request("add", [1])
            assert raised.value.data == {"method": "add"}
            with pytest.raises(RuntimeError):
                await one.run()
            one.close()
            two.close()
