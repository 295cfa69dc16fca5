"""An agent server behind a JSON-RPC connection of the host's own (seed items 3 and 5).

The agent speaks frames; a `JsonRpcConnection` has method calls. The bridge is the transport between the two.
"""

import logging
from collections.abc import Callable
from typing import Final

import anyio
import msgspec
from anyio.abc import TaskGroup

from zidane_acp.connection import ConnectionClosed, JsonRpcError, JsonRpcPeer, RemoteError
from zidane_acp.inbox import Inbox
from zidane_acp.server import AcpServer
from zidane_core.acp import jsonrpc
from zidane_core.faults import ErrorCode, Fault
from zidane_core.fp import fold
from zidane_core.text import decode_json, is_object

LOGGER: Final = logging.getLogger("zidane_acp.bridge")
ROOM: Final = 256
"""Frames that wait for the host's connection before the agent waits."""

HIGH_WATER: Final = 1 << 20
"""Bytes that wait for the agent before the host's handlers wait."""


class AcpBridge:
    """`on_request` and `on_notification` for `create_json_rpc_connection`; `run` serves until it is cancelled.

    Both wait while the agent takes nothing, and the agent waits while the host's connection sends nothing.

    `peer` gives the connection once it is made, since each needs the other.
    """

    def __init__(self, server: AcpServer, peer: Callable[[], JsonRpcPeer]) -> None:
        self._server = server
        self._peer = peer
        self._to_agent: Inbox[bytes] = Inbox()
        self._unread = 0
        self._taken = anyio.Event()
        self._to_peer, self._frames = anyio.create_memory_object_stream[jsonrpc.Frame](ROOM)
        self._waiting: dict[int, Waiting] = {}
        self._last_id = 0

    async def on_request(self, method: str, params: object) -> object:
        """Ask the agent. Raises JsonRpcError with the agent's error."""
        await self._room()
        self._last_id += 1
        number, waiting = self._last_id, Waiting()
        self._waiting[number] = waiting
        self._put(jsonrpc.encode_request(number, method, _given(params)))
        try:
            await waiting.answered.wait()
        except anyio.get_cancelled_exc_class():
            self._put(jsonrpc.encode_notification("$/cancel_request", {"requestId": number}))
            raise
        finally:
            del self._waiting[number]
        response = waiting.response
        if response.error is not None:
            raise JsonRpcError(response.error.code, response.error.message, _data(response.error.data))
        return _value(response.result)

    async def on_notification(self, method: str, params: object) -> None:
        """Tell the agent."""
        await self._room()
        self._put(jsonrpc.encode_notification(method, _given(params)))

    async def run(self) -> None:
        """Serve until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._server.serve, self)
            with self._frames, self._to_peer:
                async for frame in self._frames:
                    await self._deliver(frame, tasks)

    async def _deliver(self, frame: jsonrpc.Frame, tasks: TaskGroup) -> None:
        if isinstance(frame, jsonrpc.Notification):
            try:
                await self._peer().notify(frame.method, _value(frame.params))
            except ConnectionClosed:
                LOGGER.debug("%s was not told: the connection is closed", frame.method)
        elif isinstance(frame, jsonrpc.Request):
            tasks.start_soon(self._ask, frame)
        elif isinstance(frame, jsonrpc.Response) and type(frame.id) is int and frame.id in self._waiting:
            self._waiting[frame.id].answer(frame)

    async def _ask(self, request: jsonrpc.Request) -> None:
        try:
            result = await self._peer().request(request.method, _value(request.params))
        except RemoteError as error:
            self._put(jsonrpc.encode_error(request.id, Fault(error.code, error.message, _data(error.data))))
        except ConnectionClosed:
            gone = Fault(ErrorCode.INTERNAL_ERROR, "The connection to the client is closed.")
            self._put(jsonrpc.encode_error(request.id, gone))
        else:
            self._put(jsonrpc.encode_result(request.id, result))

    def _put(self, frame: bytes) -> None:
        self._unread += len(frame)
        self._to_agent.put(frame + b"\n")

    async def _room(self) -> None:
        while self._unread > HIGH_WATER:
            await self._taken.wait()

    # The agent's transport ---------------------------------------------------------------------------

    async def receive(self) -> bytes:
        """What the host's connection has for the agent."""
        data = b"".join(await self._to_agent.take())
        self._unread = 0
        taken, self._taken = self._taken, anyio.Event()
        taken.set()
        return data

    async def send(self, data: bytes) -> None:
        """What the agent says, frame by frame; a write of the agent always ends with a frame."""
        for line in data.splitlines():
            await self._to_peer.send(jsonrpc.decode_frame(line))

    async def aclose(self) -> None:
        """Nothing more comes from the agent."""
        self._to_peer.close()


class Waiting:
    """A request that the agent has not answered."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.response = jsonrpc.Response(None, jsonrpc.ABSENT)

    def answer(self, response: jsonrpc.Response) -> None:
        """Here it is."""
        self.response = response
        self.answered.set()


def _data(value: object) -> dict[str, object] | None:
    return value if is_object(value) else None


def _given(params: object) -> object:
    return msgspec.UNSET if params is None else params


def _value(raw: msgspec.Raw) -> object:
    return fold(decode_json(bytes(raw)), lambda value: value, lambda _: None)
