"""JSON-RPC 2.0 over a pair of byte streams, for programs that want no more than that.

Works on asyncio and trio. The meaning of frames is in `zidane_core.acp.jsonrpc`; here are tasks and queues.
"""

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeAlias

import anyio
import msgspec
from anyio import CancelScope
from anyio.abc import TaskGroup, TaskStatus

from zidane_acp.where import where
from zidane_core.acp.decode import decode_cancel_request
from zidane_core.acp.frames import MAX_FRAME, Framing, Item, encode, splitter
from zidane_core.acp.jsonrpc import (
    Invalid,
    Notification,
    Request,
    Response,
    decode_frame,
    encode_error,
    encode_invalid,
    encode_notification,
    encode_request,
    encode_result,
    id_key,
    refuse,
)
from zidane_core.acp.wire.envelope import JsonRpcErrorObject
from zidane_core.acp.wire.record import RequestId
from zidane_core.faults import ErrorCode, Fault
from zidane_core.fp import fold
from zidane_core.text import decode_json

GRACE: Final = 2.0
"""Seconds that running handlers get after the input ended, and the last frames to get out."""

_HIGH_WATER: Final = 1 << 20
_CANCEL: Final = "$/cancel_request"
_log: Final = logging.getLogger("zidane_acp.connection")

OnRequest: TypeAlias = Callable[[str, object], Awaitable[object]]
"""Takes method and params (None when absent), gives the result: records, dicts, lists, scalars."""

OnNotification: TypeAlias = Callable[[str, object], Awaitable[None]]
"""Takes method and params. Awaited before the next frame is read, which keeps the order: do not wait in it
for an answer of the same connection."""


class JsonRpcError(Exception):
    """Raised by a handler to answer with this code, message and data."""

    def __init__(self, code: int, message: str, data: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class RemoteError(Exception):
    """The other side answered a request with an error; its code, message and data (None when absent)."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class ConnectionClosed(ConnectionError):
    """The connection ended before the answer came."""


class ByteSource(Protocol):
    """Where bytes come from: b"" or `anyio.EndOfStream` is the end."""

    async def receive(self) -> bytes: ...


class ByteSink(Protocol):
    """Where bytes go to."""

    async def send(self, item: bytes, /) -> None: ...


class JsonRpcPeer(Protocol):
    """The other side of a connection."""

    async def request(self, method: str, params: object = None) -> object: ...

    async def notify(self, method: str, params: object = None) -> None: ...


class _Pending:
    """A request of ours that waits for its answer."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.response: Response | None = None


class JsonRpcConnection:
    """A peer bound to a pair of byte streams. Nothing is read before `run` or `start`.

    The streams stay the caller's to close.
    """

    def __init__(
        self,
        source: ByteSource,
        sink: ByteSink,
        on_request: OnRequest,
        on_notification: OnNotification | None,
        framing: Framing,
        max_frame: int,
    ) -> None:
        self._source = source
        self._sink = sink
        self._on_request = on_request
        self._on_notification = on_notification
        self._framing: Framing = framing
        self._splitter = splitter(framing, max_frame)
        self._pending: dict[int, _Pending] = {}
        self._last_id = 0
        self._running: dict[tuple[str, RequestId], CancelScope] = {}
        self._serving: CancelScope | None = None
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._wake: anyio.Event | None = None
        self._space: anyio.Event | None = None
        self._finishing = False
        self._started = False
        self._deaf = False
        self._closed = False

    # The peer ------------------------------------------------------------------------------------

    async def request(self, method: str, params: object = None) -> object:
        """The other side's result. Raises `RemoteError` or `ConnectionClosed`.

        When the caller is cancelled, the other side is told so.
        """
        if self._deaf:
            raise ConnectionClosed("the connection is closed")
        self._last_id += 1
        number, pending = self._last_id, _Pending()
        self._pending[number] = pending
        try:
            self._put(encode_request(number, method, _given(params)))
            await pending.answered.wait()
        except anyio.get_cancelled_exc_class():
            if number in self._pending:
                self._put(encode_notification(_CANCEL, {"requestId": number}))
            raise
        finally:
            self._pending.pop(number, None)
        return _value(pending.response)

    async def notify(self, method: str, params: object = None) -> None:
        """Send a notification; waits while much is still to be written. Raises `ConnectionClosed`."""
        if self._closed:
            raise ConnectionClosed("the connection is closed")
        self._put(encode_notification(method, _given(params)))
        while self._queued > _HIGH_WATER and not self._closed:
            self._space = self._space or anyio.Event()
            await self._space.wait()

    # Its life ------------------------------------------------------------------------------------

    def start(self, tasks: TaskGroup) -> None:
        """Begin reading in a task of this group."""
        tasks.start_soon(self.run)

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Read and serve until the input ends or `close` is called.

        Then running handlers get `GRACE` seconds, requests of ours fail, and what is queued goes out.
        """
        if self._started:
            raise RuntimeError("the connection was started before")
        self._started = True
        try:
            async with anyio.create_task_group() as outer:
                outer.start_soon(self._write)
                task_status.started()
                if not self._closed:
                    await self._serve_all()
                self._end()
                self._finish_writing()
                outer.cancel_scope.deadline = anyio.current_time() + GRACE
        finally:
            self._end()

    def close(self) -> None:
        """Stop: handlers are cancelled, waiting requests fail; `run` returns once the last frames are out."""
        self._end()
        if self._serving is not None:
            self._serving.cancel()

    async def _serve_all(self) -> None:
        async with anyio.create_task_group() as handlers:
            self._serving = handlers.cancel_scope
            await self._read(handlers)
            self._stop_waiting()
            handlers.cancel_scope.deadline = anyio.current_time() + GRACE

    def _stop_waiting(self) -> None:
        """Nothing comes in any more: requests of ours fail."""
        self._deaf = True
        waiting, self._pending = self._pending, {}
        for pending in waiting.values():
            pending.answered.set()

    def _end(self) -> None:
        self._stop_waiting()
        self._closed = True
        self._make_space()

    # In ------------------------------------------------------------------------------------------

    async def _read(self, handlers: TaskGroup) -> None:
        while data := await self._receive():
            for item in self._splitter.feed(data):
                await self._take(item, handlers)
        for item in self._splitter.end():
            await self._take(item, handlers)

    async def _receive(self) -> bytes:
        try:
            return await self._source.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return b""

    async def _take(self, item: Item, handlers: TaskGroup) -> None:
        frame = decode_frame(item) if isinstance(item, bytes) else refuse(item)
        if isinstance(frame, Request):
            self._begin(frame, handlers)
        elif isinstance(frame, Notification):
            await self._notified(frame)
        elif isinstance(frame, Response):
            self._answered(frame)
        else:
            self._refused(frame)

    def _begin(self, request: Request, handlers: TaskGroup) -> None:
        key = id_key(request.id)
        if key in self._running:
            fault = Fault(
                ErrorCode.INVALID_REQUEST, "Invalid request: a request with this id is still running"
            )
            self._put(encode_error(request.id, fault))
            return
        # Made here and not in the task, so that a cancel in the next frame finds it.
        self._running[key] = scope = CancelScope()
        handlers.start_soon(self._serve, request, scope)

    async def _serve(self, request: Request, scope: CancelScope) -> None:
        frame = encode_error(request.id, Fault(ErrorCode.REQUEST_CANCELLED, "Request cancelled"))
        try:
            with scope:
                frame = await self._result(request)
        finally:
            del self._running[id_key(request.id)]
            self._put(frame)

    async def _result(self, request: Request) -> bytes:
        try:
            return encode_result(request.id, await self._on_request(request.method, _opened(request.params)))
        except JsonRpcError as error:
            return encode_error(request.id, Fault(error.code, error.message, error.data))
        except Exception as error:
            _log.error("the handler of %s failed: %s", request.method, where(error))
            return encode_error(request.id, Fault(ErrorCode.INTERNAL_ERROR, "Internal error"))

    async def _notified(self, notification: Notification) -> None:
        if notification.method == _CANCEL:
            self._cancel(notification.params)
            return
        if self._on_notification is None:
            return
        try:
            await self._on_notification(notification.method, _opened(notification.params))
        except Exception as error:
            _log.error("the handler of %s failed: %s", notification.method, where(error))

    def _cancel(self, params: msgspec.Raw) -> None:
        key = fold(decode_cancel_request(params), lambda found: id_key(found.request_id), lambda _: None)
        scope = None if key is None else self._running.get(key)
        if scope is not None:
            scope.cancel()

    def _answered(self, response: Response) -> None:
        pending = self._pending.pop(response.id, None) if isinstance(response.id, int) else None
        if pending is None:
            _log.debug("an answer to an unknown request was dropped")
            return
        pending.response = response
        pending.answered.set()

    def _refused(self, invalid: Invalid) -> None:
        answer = encode_invalid(invalid)
        if answer is not None:
            self._put(answer)
        else:
            error = JsonRpcErrorObject(code=invalid.code, message=invalid.message)
            self._answered(Response(invalid.id, msgspec.Raw(b""), error))

    # Out -----------------------------------------------------------------------------------------

    def _put(self, frame: bytes) -> None:
        data = encode(frame, self._framing)
        self._queue.append(data)
        self._queued += len(data)
        if self._wake is not None:
            self._wake.set()

    def _finish_writing(self) -> None:
        self._finishing = True
        if self._wake is not None:
            self._wake.set()

    async def _write(self) -> None:
        try:
            while True:
                if self._queue:
                    data = b"".join(self._queue)
                    self._queue.clear()
                    self._queued = 0
                    self._make_space()
                    await self._sink.send(data)
                elif self._finishing:
                    return
                else:
                    self._wake = anyio.Event()
                    await self._wake.wait()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            self.close()

    def _make_space(self) -> None:
        if self._space is not None:
            self._space.set()
            self._space = None


def create_json_rpc_connection(
    input: ByteSource,  # noqa: A002 - the public names of the two streams
    output: ByteSink,
    *,
    on_request: OnRequest,
    on_notification: OnNotification | None = None,
    framing: Framing = "ndjson",
    max_frame: int = MAX_FRAME,
) -> JsonRpcConnection:
    """A JSON-RPC connection over a pair of byte streams; call `start` or `run` to begin reading.

    Requests of the other side are answered by `on_request`, which runs for several at once and is cancelled
    by their `$/cancel_request`; what it raises besides `JsonRpcError` is answered as an internal error without
    details. `max_frame` is in bytes; a larger frame is refused and the stream goes on.
    """
    return JsonRpcConnection(input, output, on_request, on_notification, framing, max_frame)


def _given(params: object) -> object:
    return msgspec.UNSET if params is None else params


def _opened(raw: msgspec.Raw) -> object:
    return fold(decode_json(bytes(raw)), lambda value: value, lambda _: None)


def _value(response: Response | None) -> object:
    if response is None:
        raise ConnectionClosed("the connection was closed before the answer came")
    if response.error is None:
        return _opened(response.result)
    data = None if response.error.data is msgspec.UNSET else response.error.data
    raise RemoteError(response.error.code, response.error.message, data)
