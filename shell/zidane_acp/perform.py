"""Effects to port calls: a table from what is to be started to the port that does it."""

import os
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import anyio
import anyio.to_thread

from zidane_acp.jobs import Report
from zidane_acp.ports import Model, Tools
from zidane_core.agent.events import CheckedPaths, Failed, JobOutcome, JobValue, ModelDone, WaitDone
from zidane_core.agent.work import CheckPaths, RunModel, RunTool, Wait, What
from zidane_core.data.tools import ToolOutput
from zidane_core.faults import ErrorCode, Fault


class Performer:
    """The ports of one connection. `models` maps a model's value to its port; `room` is the back-pressure."""

    def __init__(
        self, models: Mapping[str, Model], tools: Tools, room: Callable[[], Awaitable[None]]
    ) -> None:
        self._models = models
        self._tools = tools
        self._room = room

    async def run(self, what: What, report: Report) -> JobValue | JobOutcome:
        """Do what was started, to its end."""
        performed = _PERFORM.get(type(what))
        if performed is None:
            return Failed(
                Fault(ErrorCode.INTERNAL_ERROR, f"This program cannot do {type(what).__name__} yet.")
            )
        return await performed(self, what, report)

    async def _model(self, what: RunModel, report: Report) -> JobValue | JobOutcome:
        model = self._models[what.request.model.value]
        async for batch in model.stream(what.request, what.session):
            report(batch)
            await self._room()
        return ModelDone()

    async def _tool(self, what: RunTool, report: Report) -> JobValue | JobOutcome:
        def output(piece: ToolOutput) -> None:
            report((piece,))

        return await self._tools.run(what, output)

    async def _check_paths(self, what: CheckPaths, report: Report) -> JobValue | JobOutcome:
        # In a thread, since a folder on a dead network drive would hold up everything else.
        return await anyio.to_thread.run_sync(_look_at, what.paths, abandon_on_cancel=True)

    async def _wait(self, what: Wait, report: Report) -> JobValue | JobOutcome:
        await anyio.sleep(what.seconds)
        return WaitDone()


def _look_at(paths: tuple[str, ...]) -> CheckedPaths:
    """The first path that is no folder that this process may read."""
    problems = ((position, _problem(path)) for position, path in enumerate(paths))
    return next(
        (CheckedPaths(problem, position) for position, problem in problems if problem), CheckedPaths()
    )


def _problem(path: str) -> str:
    if not os.path.isdir(path):
        return "is not a folder" if os.path.lexists(path) else "does not exist"
    return "" if os.access(path, os.R_OK | os.X_OK) else "cannot be read"


# Any: each method takes the record type of its key, which a dict type cannot say.
_PERFORM: Final[Mapping[type, Callable[[Performer, Any, Report], Awaitable[JobValue | JobOutcome]]]] = (
    MappingProxyType(
        {
            RunModel: Performer._model,
            RunTool: Performer._tool,
            CheckPaths: Performer._check_paths,
            Wait: Performer._wait,
        }
    )
)
