"""What a session of the official package talks over, whatever lies below."""

from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage
from pydantic import ValidationError

from zidane_acp.mcp.messages import messages_in, messages_of

if TYPE_CHECKING:  # only the types, since the module is private
    from mcp.client._transport import ReadStream, WriteStream


class Streams(NamedTuple):
    """Messages in, messages out, and an event that is set when nothing can come any more."""

    incoming: "ReadStream[SessionMessage | Exception]"
    outgoing: "WriteStream[SessionMessage]"
    lost: anyio.Event


class Watched:
    """A stream of incoming messages (`ReadStream`) that sets an event at its end, and repairs what was refused."""

    def __init__(self, stream: "ReadStream[SessionMessage | Exception]", lost: anyio.Event) -> None:
        self._stream = stream
        self._lost = lost
        self._repaired: deque[JSONRPCMessage] = deque()

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        if self._repaired:
            return SessionMessage(self._repaired.popleft())
        try:
            received = await self._stream.receive()
            if isinstance(received, ValidationError):
                self._repaired.extend(_refused(received))
                return SessionMessage(self._repaired.popleft()) if self._repaired else received
            return received
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


def _refused(error: ValidationError) -> list[JSONRPCMessage]:
    """The messages in what the package could not read: the error holds the text, or the value that was none."""
    for problem in error.errors(include_url=False, include_context=False):
        given: object = problem["input"]
        if problem["type"] == "json_invalid":
            return messages_of(given.encode("utf-8", "replace")) if isinstance(given, str) else []
        # What a message lacks is told with the whole message, and what is no object as it is.
        if (problem["type"], len(problem["loc"])) in {("missing", 2), ("model_type", 1)}:
            return list(messages_in(given))
    return []
