"""One prompt without a conversation: `chat -p`, or a prompt on standard input."""

import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import anyio
from returns.result import Failure, Result

from zidane_acp.chat.client import Client, Decide
from zidane_acp.chat.connection import RpcError
from zidane_acp.chat.going_on import NONE_HERE, continued_line, list_command
from zidane_acp.chat.link import Launch, linked, watch_signals
from zidane_acp.chat.opening import Opened
from zidane_acp.chat.past import past_of
from zidane_acp.chat.plain import PlainView
from zidane_acp.chat.process import AgentProcess
from zidane_acp.chat.words import STOPPED, USAGE, ended_text, error_text, first_line, usage_problem

SETTLE: Final = 3.0
"""Seconds that a cancelled turn gets to end by itself."""
CODES: Final[Mapping[str, int]] = {"end_turn": 0, "cancelled": 130}


class OnePrompt:
    """Run one prompt. `run` gives the exit code: 0 end_turn, 1 error, 3 another stop, 130 cancelled."""

    def __init__(self, launch: Launch, view: PlainView, decide: Decide) -> None:
        self._launch = launch
        self._view = view
        self._client = Client(view, decide)
        self._prompting = False
        self._signals = 0
        self._code: int | None = None

    async def run(self, words: str) -> int:
        async with linked(self._launch, self._client) as (process, _), anyio.create_task_group() as tasks:
            tasks.start_soon(watch_signals, self._on_signal(tasks.cancel_scope))
            tasks.start_soon(self._leave_with_reader, tasks.cancel_scope)
            code = await self._prompt(words, process)
            self._code = code if self._code is None else self._code
            tasks.cancel_scope.cancel()
        self._view.finish()
        return 1 if self._code is None else self._code

    def _on_signal(self, scope: anyio.CancelScope) -> Callable[[int], Awaitable[None]]:
        async def on_signal(number: int) -> None:
            self._signals += 1
            self._code = 130 if number == signal.SIGINT else 128 + number
            if self._signals > 1 or not self._prompting or number != signal.SIGINT:
                scope.cancel()
                return
            scope.deadline = anyio.current_time() + SETTLE
            self._view.note("Cancelling; Ctrl-C again leaves at once.")
            await self._client.cancel()

        return on_signal

    async def _leave_with_reader(self, scope: anyio.CancelScope) -> None:
        await self._view.reader_gone.wait()
        self._code = 1
        scope.cancel()

    async def _prompt(self, words: str, process: AgentProcess) -> int:
        launch = self._launch
        opened = await self._client.open(launch.cwd, launch.wanted, list_command(launch))
        if isinstance(opened, Failure):
            return await self._failed(opened.failure(), process)
        self._view.note(first_line(opened.unwrap()))
        if launch.wanted is not None:
            self._view.note(self._taken_up(opened.unwrap()))
        self._prompting = True
        answer: Result[str, RpcError] = await self._client.prompt(words)
        self._prompting = False
        if isinstance(answer, Failure):
            return await self._failed(answer.failure(), process)
        stop = answer.unwrap()
        self._view.finish()
        if stop != "end_turn":
            self._view.note(STOPPED.get(stop, f"The turn ended: {stop or 'without a reason'}."))
        return CODES.get(stop, 3)

    def _taken_up(self, opened: Opened) -> str:
        """What goes on; the answer alone is shown, what was said before is only counted."""
        if opened.listed is None:
            return NONE_HERE
        messages = past_of(self._client.take_replayed()).messages
        return continued_line(self._launch, opened, self._client.title, messages)

    async def _failed(self, error: RpcError, process: AgentProcess) -> int:
        self._view.finish()
        if error.code == 0:
            # A moment for its exit code and its last words.
            with anyio.move_on_after(0.5):
                await process.gone()
            problem = usage_problem(self._launch.own, process.exit_code, process.last_words)
            self._view.note(problem or ended_text(process.exit_code, process.last_words))
            return USAGE if problem else 1
        self._view.note(error_text(error, self._launch.shown))
        return 1


def read_prompt() -> str:
    """The whole of standard input."""
    return sys.stdin.buffer.read().decode("utf-8", "replace").strip()
