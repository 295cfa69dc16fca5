"""What a session of the official package talks over, whatever lies below."""

from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import anyio
from mcp.shared.message import SessionMessage

if TYPE_CHECKING:  # only the types, since the module is private
    from mcp.client._transport import ReadStream, WriteStream


class Streams(NamedTuple):
    """Messages in, messages out, and an event that is set when nothing can come any more."""

    incoming: "ReadStream[SessionMessage | Exception]"
    outgoing: "WriteStream[SessionMessage]"
    lost: anyio.Event


class Watched:
    """A stream of incoming messages (`ReadStream`) that sets an event at its end."""

    def __init__(self, stream: "ReadStream[SessionMessage | Exception]", lost: anyio.Event) -> None:
        self._stream = stream
        self._lost = lost

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        try:
            return await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._lost.set()
            raise

    async def aclose(self) -> None:
        """Close the stream below."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()
