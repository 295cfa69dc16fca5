"""JSON-RPC over lines, the client's side: requests with their answers, and what the agent asks."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import anyio
import anyio.abc
import msgspec
from returns.result import Failure, Result, Success

from zidane_acp.fields import JsonObject, child, text
from zidane_core.text import is_object

RequestHandler: TypeAlias = Callable[[str, JsonObject], Awaitable[JsonObject]]
NotificationHandler: TypeAlias = Callable[[str, JsonObject], None]


class RpcError(msgspec.Struct, frozen=True, gc=False):
    """An error answer. `code` 0 means that the agent is gone and will never answer."""

    code: int
    message: str
    data: JsonObject = {}


class Refused(Exception):
    """Raised by a request handler: the error to answer with."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Waiting:
    """A request that has no answer yet."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.answer: Result[JsonObject, RpcError] | None = None

    def set(self, answer: Result[JsonObject, RpcError]) -> None:
        if self.answer is None:
            self.answer = answer
            self.answered.set()


class Connection:
    """One agent. `serve` must run for anything to be answered; it ends with the agent's output.

    Notifications are handled in arrival order before the answer that follows them. `stray` takes lines
    that are no JSON-RPC.
    """

    def __init__(
        self,
        lines: AsyncIterator[bytes],
        write: Callable[[bytes], Awaitable[None]],
        on_notification: NotificationHandler,
        on_request: RequestHandler,
        stray: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        self._lines = lines
        self._write = write
        self._on_notification = on_notification
        self._on_request = on_request
        self._stray = stray
        self._waiting: dict[int, _Waiting] = {}
        self._scopes: dict[int | str, anyio.CancelScope] = {}
        self._last = 0
        self._sending = anyio.Lock()
        self.closed = anyio.Event()

    async def request(self, method: str, params: JsonObject) -> Result[JsonObject, RpcError]:
        """Ask and wait for the answer; also answers when the agent goes away."""
        if self.closed.is_set():
            return Failure(GONE)
        self._last += 1
        number, waiting = self._last, _Waiting()
        self._waiting[number] = waiting
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            await waiting.answered.wait()
        finally:
            del self._waiting[number]
        return waiting.answer or Failure(GONE)

    async def notify(self, method: str, params: JsonObject) -> None:
        """Tell without an answer."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def serve(self) -> None:
        """Read until the agent's output ends, then fail what is still open."""
        try:
            async with anyio.create_task_group() as tasks:
                async for line in self._lines:
                    if line.strip():
                        self._take(line, tasks)
                tasks.cancel_scope.cancel()
        finally:
            self.closed.set()
            for waiting in list(self._waiting.values()):
                waiting.set(Failure(GONE))

    async def _send(self, frame: JsonObject) -> None:
        data = msgspec.json.encode(frame) + b"\n"
        async with self._sending:
            try:
                await self._write(data)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                # The reader sees the end too and settles the open requests.
                return

    def _take(self, line: bytes, tasks: anyio.abc.TaskGroup) -> None:
        try:
            frame: object = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            frame = None
        if not is_object(frame):
            self._stray(line)
            return
        method, number = text(frame, "method"), frame.get("id")
        if not method:
            self._settle(frame)
        elif isinstance(number, (int, str)):
            scope = self._scopes[number] = anyio.CancelScope()
            tasks.start_soon(self._answer, number, method, child(frame, "params"), scope)
        elif method == "$/cancel_request":
            self._withdraw(child(frame, "params").get("requestId"))
        else:
            self._on_notification(method, child(frame, "params"))

    def _settle(self, frame: JsonObject) -> None:
        number = frame.get("id")
        waiting = self._waiting.get(number) if isinstance(number, int) else None
        if waiting is None:
            return
        if is_object(frame.get("error")):
            error = child(frame, "error")
            code = error.get("code")
            waiting.set(
                Failure(
                    RpcError(
                        code if isinstance(code, int) else -32603,
                        text(error, "message"),
                        child(error, "data"),
                    )
                )
            )
        else:
            waiting.set(Success(child(frame, "result")))

    def _withdraw(self, number: object) -> None:
        if isinstance(number, (int, str)) and number in self._scopes:
            self._scopes[number].cancel()

    async def _answer(
        self, number: int | str, method: str, params: JsonObject, scope: anyio.CancelScope
    ) -> None:
        answer: JsonObject = {"error": {"code": -32800, "message": "Request cancelled"}}
        try:
            with scope:
                answer = {"result": await self._on_request(method, params)}
        except Refused as refused:
            answer = {"error": {"code": refused.code, "message": str(refused)}}
        finally:
            del self._scopes[number]
        await self._send({"jsonrpc": "2.0", "id": number, **answer})


GONE = RpcError(0, "The agent has ended.")
