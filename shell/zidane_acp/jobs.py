"""Jobs by key: every `Start` gets exactly one `Ended`, however the job ends."""

import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import anyio
from anyio.abc import TaskGroup

from zidane_acp.ports import AskKind
from zidane_acp.where import where
from zidane_core.agent.effects import Reply
from zidane_core.agent.events import (
    Asked,
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


class Report:
    """A job's way to the loop. Called, it tells of progress; `ask` asks something and waits for the answer."""

    def __init__(
        self, tell: Callable[[tuple[Progress, ...]], None], ask: Callable[[AskKind, str], Awaitable[str]]
    ) -> None:
        self._tell = tell
        self.ask = ask

    def __call__(self, batch: tuple[Progress, ...]) -> None:
        self._tell(batch)


class Question:
    """A question of a job that waits for its answer."""

    def __init__(self) -> None:
        self.answered = anyio.Event()
        self.answer = ""


Runner: TypeAlias = Callable[[What, Report], Awaitable[JobValue | JobOutcome]]


class Jobs:
    """Runs jobs in a task group, each in a cancel scope of its own."""

    def __init__(
        self,
        tasks: TaskGroup,
        runner: Runner,
        now: Callable[[], float],
        put: Callable[[Progressed | Asked | Ended], None],
    ) -> None:
        self._tasks = tasks
        self._runner = runner
        self._now = now
        self._put = put
        self._scopes: dict[Key, anyio.CancelScope] = {}
        self._questions: dict[tuple[Key, int], Question] = {}

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

    def reply(self, reply: Reply) -> None:
        """Answer a question of a job; the first answer counts. Dropped when nobody waits for it any more."""
        question = self._questions.get((reply.key, reply.ask))
        if question is not None and not question.answered.is_set():
            question.answer = reply.answer
            question.answered.set()

    async def _run(self, key: Key, what: What) -> None:
        outcome: JobOutcome = Stopped()
        with self._scopes[key]:
            outcome = await self._outcome(key, what)
        del self._scopes[key]
        self._put(Ended(self._now(), key, outcome))

    async def _outcome(self, key: Key, what: What) -> JobOutcome:
        try:
            value = await self._runner(what, self._report(key))
        except Exception as error:
            # A bug or an unforeseen failure of the outside world: the turn must still end.
            kind = type(error).__name__
            LOGGER.error("job %s failed: %s", type(what).__name__, where(error))
            return Failed(
                Fault(ErrorCode.INTERNAL_ERROR, f"An internal error ({kind}) stopped the work; see the log.")
            )
        return value if isinstance(value, Ok | Failed | Stopped | Interrupted) else Ok(value)

    def _report(self, key: Key) -> Report:
        asks = itertools.count(1)

        def tell(batch: tuple[Progress, ...]) -> None:
            self._put(Progressed(self._now(), key, batch))

        async def ask(kind: AskKind, text: str) -> str:
            number, question = next(asks), Question()
            self._questions[key, number] = question
            try:
                self._put(Asked(self._now(), key, number, text, kind))
                await question.answered.wait()
            finally:
                del self._questions[key, number]
            return question.answer

        return Report(tell, ask)
