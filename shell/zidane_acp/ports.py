"""The doors to the outside world, as Protocols. `perform` knows only these."""

from collections.abc import AsyncIterator, Callable
from typing import Protocol

from zidane_core.agent.work import RunTool
from zidane_core.data.models import ModelEvent, ModelRequest
from zidane_core.data.tools import Preview, ToolOutput, ToolResult


class Model(Protocol):
    """A source of model answers.

    `stream` yields batches: all events that one read gave. It ends after `Finished` or `Broke`; a stream
    that ends without either was cut. It must let cancellation pass and free its connection then. Failures
    come as `Broke`; an exception is a bug.
    """

    def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]: ...

    async def aclose(self) -> None: ...


class Tools(Protocol):
    """The executors of local tools.

    `run` does one stage of one call: `prepare` gives a `Preview` and changes nothing, `run` gives a
    `ToolResult`. A tool failure is a `ToolResult` with `failed`, for prepare too. `report` takes output as
    it comes. On cancellation every process that the call started is gone before `run` ends.
    """

    async def run(self, call: RunTool, report: Callable[[ToolOutput], None]) -> ToolResult | Preview: ...

    async def aclose(self) -> None: ...


class Transport(Protocol):
    """A pair of byte streams. `receive` gives b"" at the end; `send` writes all of the bytes.

    `receive` may be cancelled at any time without losing bytes.
    """

    async def receive(self) -> bytes: ...

    async def send(self, data: bytes) -> None: ...

    async def aclose(self) -> None: ...
