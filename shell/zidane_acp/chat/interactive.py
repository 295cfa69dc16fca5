"""The conversation on a terminal."""

import signal
from collections.abc import Awaitable, Callable
from typing import Protocol

import anyio
from returns.result import Failure, Result

from zidane_acp.chat.client import Client, Decide
from zidane_acp.chat.connection import GONE, RpcError
from zidane_acp.chat.going_on import NONE_HERE, continued_line, farewell, left_out_line, list_command
from zidane_acp.chat.keyboard import Keyboard
from zidane_acp.chat.link import Launch, linked, watch_signals
from zidane_acp.chat.opening import Opened
from zidane_acp.chat.past import TURNS, past_of
from zidane_acp.chat.process import AgentProcess
from zidane_acp.chat.retelling import retell
from zidane_acp.chat.screen import Screen
from zidane_acp.chat.words import STOPPED, USAGE, ended_text, error_text, first_line, usage_problem

LEAVE = frozenset({"/exit", "/quit"})
HUNG_UP = 129


class Input(Protocol):
    """Where prompts come from; None ends the conversation."""

    async def read(self, typed: str = "") -> str | None: ...

    def leave(self) -> None: ...


class Conversation:
    """One agent, one terminal. `run` gives the exit code. `past_turns` are shown of a conversation that goes on."""

    def __init__(
        self,
        launch: Launch,
        screen: Screen,
        keyboard: Keyboard,
        prompts: Input,
        decide: Decide,
        past_turns: int = TURNS,
    ) -> None:
        self._past_turns = past_turns
        self._launch = launch
        self._screen = screen
        self._keyboard = keyboard
        self._prompts = prompts
        self._client = Client(screen, decide)
        self._in_turn = False
        self._cancelled = False
        self._turns = 0
        self._code = 0

    async def run(self) -> int:
        link = linked(self._launch, self._client)
        async with link as (process, connection), anyio.create_task_group() as tasks:
            tasks.start_soon(watch_signals, self._signalled(tasks.cancel_scope))
            tasks.start_soon(self._leave_when, connection.closed)
            await self._converse(process)
            tasks.cancel_scope.cancel()
        # Said once the agent has ended, so that all is stored that the line promises.
        self._say_how_to_go_on()
        return self._code

    def _signalled(self, scope: anyio.CancelScope) -> Callable[[int], Awaitable[None]]:
        async def on_signal(number: int) -> None:
            if number == signal.SIGINT and self._in_turn and not self._cancelled:
                self._cancelled = True
                self._screen.cancelling()
                await self._client.cancel()
                return
            self._code = 128 + number
            scope.cancel()

        return on_signal

    async def _leave_when(self, closed: anyio.Event) -> None:
        await closed.wait()
        self._prompts.leave()

    async def _converse(self, process: AgentProcess) -> None:
        launch = self._launch
        opened = await self._client.open(launch.cwd, launch.wanted, list_command(launch))
        if isinstance(opened, Failure):
            await self._failed(opened.failure(), process)
            return
        self._screen.tell(first_line(opened.unwrap()), "bold")
        if launch.wanted is not None:
            self._take_up(opened.unwrap())
        closed = self._client.connection.closed
        while not closed.is_set():
            self._screen.gap()
            words = await self._prompts.read(self._keyboard.take_typed())
            if not closed.is_set() and (words is None or words.strip() in LEAVE):
                return
            if closed.is_set() and words and words.strip():
                self._screen.tell(f"Not sent: {words}", "yellow")
            elif words and words.strip():
                await self._turn(words)
        await self._failed(GONE, process)

    def _take_up(self, opened: Opened) -> None:
        """Show what was said before, and say that it goes on."""
        if opened.listed is None:
            self._screen.tell(NONE_HERE, "yellow")
            return
        self._screen.work_in(opened.cwd)
        past = past_of(self._client.take_replayed(), self._past_turns)
        retell(self._screen, past, left_out_line(self._launch, opened.id, past))
        self._screen.tell(continued_line(self._launch, opened, self._client.title, past.messages), "dim")

    def _say_how_to_go_on(self) -> None:
        opened = self._client.opened
        if opened is None or self._turns == 0 or self._code == HUNG_UP:
            return
        for words in farewell(self._launch, opened, self._client.title):
            self._screen.tell(words, "dim", to_copy=True)

    async def _turn(self, words: str) -> None:
        self._turns += 1
        self._in_turn, self._cancelled = True, False
        with self._keyboard.quiet():
            try:
                answer = await self._painted(words)
            finally:
                self._in_turn = False
                self._screen.end_turn()
        if isinstance(answer, Failure):
            if answer.failure().code != 0:
                self._screen.tell(error_text(answer.failure()), "red")
        elif answer.unwrap() != "end_turn":
            self._screen.tell(STOPPED.get(answer.unwrap(), f"The turn ended: {answer.unwrap()}."), "yellow")

    async def _painted(self, words: str) -> Result[str, RpcError]:
        answer: Result[str, RpcError] = Failure(GONE)
        async with anyio.create_task_group() as painting:
            painting.start_soon(self._screen.run_turn)
            answer = await self._client.prompt(words)
            painting.cancel_scope.cancel()
        return answer

    async def _failed(self, error: RpcError, process: AgentProcess) -> None:
        self._code = 1
        if error.code != 0:
            self._screen.tell(error_text(error), "red")
            return
        # A moment for its exit code and its last words.
        with anyio.move_on_after(0.5):
            await process.gone()
        problem = usage_problem(self._launch.own, process.exit_code, process.last_words)
        self._code = USAGE if problem else 1
        self._screen.tell(problem or ended_text(process.exit_code, process.last_words), "red")
