"""Jobs by key: every `Start` gets exactly one `Ended`, however the job ends."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import anyio
from anyio.abc import TaskGroup

from zidane_acp.where import where
from zidane_core.agent.events import (
    Ended,
    Failed,
    Interrupted,
    JobOutcome,
    JobValue,
    Key,
    Ok,
    Progress,
    Progressed,
    Stopped,
)
from zidane_core.agent.work import What
from zidane_core.faults import ErrorCode, Fault

LOGGER: Final = logging.getLogger("zidane_acp.jobs")

Report: TypeAlias = Callable[[tuple[Progress, ...]], None]
Runner: TypeAlias = Callable[[What, Report], Awaitable[JobValue | JobOutcome]]


class Jobs:
    """Runs jobs in a task group, each in a cancel scope of its own."""

    def __init__(
        self,
        tasks: TaskGroup,
        runner: Runner,
        now: Callable[[], float],
        put: Callable[[Progressed | Ended], None],
    ) -> None:
        self._tasks = tasks
        self._runner = runner
        self._now = now
        self._put = put
        self._scopes: dict[Key, anyio.CancelScope] = {}

    def start(self, key: Key, what: What) -> None:
        """Start a job."""
        # Made here, not in the task: a Stop may come before the task has run at all.
        self._scopes[key] = anyio.CancelScope()
        self._tasks.start_soon(self._run, key, what)

    def stop(self, key: Key) -> None:
        """Cancel a job; unknown and ended keys are ignored."""
        scope = self._scopes.get(key)
        if scope is not None:
            scope.cancel()

    async def _run(self, key: Key, what: What) -> None:
        outcome: JobOutcome = Stopped()
        with self._scopes[key]:
            outcome = await self._outcome(key, what)
        del self._scopes[key]
        self._put(Ended(self._now(), key, outcome))

    async def _outcome(self, key: Key, what: What) -> JobOutcome:
        def report(batch: tuple[Progress, ...]) -> None:
            self._put(Progressed(self._now(), key, batch))

        try:
            value = await self._runner(what, report)
        except Exception as error:
            # A bug or an unforeseen failure of the outside world: the turn must still end.
            kind = type(error).__name__
            LOGGER.error("job %s failed: %s", type(what).__name__, where(error))
            return Failed(
                Fault(ErrorCode.INTERNAL_ERROR, f"An internal error ({kind}) stopped the work; see the log.")
            )
        return value if isinstance(value, Ok | Failed | Stopped | Interrupted) else Ok(value)
