"""The executors of the built-in tools behind the port `Tools`."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from threading import Event
from typing import Final, NamedTuple, TypeAlias

import anyio.from_thread
import anyio.to_thread

from zidane_acp.environment import Environment, inherited
from zidane_acp.tools.guard import Guard
from zidane_acp.tools.paths import prepare_path
from zidane_acp.tools.results import Refused, said
from zidane_acp.tools.shell import Shell, prepare_shell
from zidane_core.agent.work import RunTool
from zidane_core.data.tools import Preview, ToolOutput, ToolResult

Report: TypeAlias = Callable[[ToolOutput], None]
Prepare: TypeAlias = Callable[[RunTool], Preview]
Run: TypeAlias = Callable[[RunTool, Report], Awaitable[ToolResult]]


class Executor(NamedTuple):
    """How a tool is prepared (in a worker thread) and run."""

    prepare: Prepare
    run: Run


def _nothing(_: RunTool) -> Preview:
    return Preview()


def _reads(work: Callable[[RunTool], ToolResult]) -> Run:
    """A tool that only reads: when it is cancelled nobody waits for its thread."""

    async def run(call: RunTool, _: Report) -> ToolResult:
        return await anyio.to_thread.run_sync(work, call, abandon_on_cancel=True)

    return run


def _walks(work: Callable[[RunTool, Callable[[], bool]], ToolResult]) -> Run:
    """The same for a tool that walks folders; its thread ends soon after."""

    async def run(call: RunTool, _: Report) -> ToolResult:
        stop = Event()
        try:
            return await anyio.to_thread.run_sync(work, call, stop.is_set, abandon_on_cancel=True)
        finally:
            stop.set()

    return run


def _changes(work: Callable[[RunTool], ToolResult]) -> Run:
    """A tool that changes files: a change that has begun is waited for, so that what is told is true."""

    async def run(call: RunTool, _: Report) -> ToolResult:
        return await anyio.to_thread.run_sync(work, call)

    return run


class LocalTools:
    """Runs the built-in tools on this machine.

    `hidden_variables` are names of environment variables that no child process gets (provider keys).
    `allow_private` lets `fetch` go to addresses that are not public. `ripgrep` False searches without it. `environment` is
    what they get but for that.
    """

    def __init__(
        self,
        *,
        hidden_variables: tuple[str, ...] = (),
        allow_private: bool = False,
        ripgrep: bool = True,
        environment: Environment = inherited,
    ) -> None:
        self._inherited: Final = environment
        self._hidden: Final = frozenset(hidden_variables)
        self._allow_private: Final = allow_private
        self._ripgrep: Final = ripgrep
        self._guard: Final = Guard()
        self._shell: Final = Shell(self._environment, self._guard)
        self._table: Final[Mapping[str, Executor]] = self._executors()

    def _executors(self) -> dict[str, Executor]:
        from zidane_acp.tools import listing, reading, writing

        changes = {
            "write_file": writing.write_change,
            "edit": writing.edit_change,
            "multi_edit": writing.multi_edit_change,
        }
        table = {
            name: Executor(
                partial(writing.prepare_change, change=change),
                _changes(partial(writing.run_change, change=change)),
            )
            for name, change in changes.items()
        }
        return {
            **table,
            "read_file": Executor(prepare_path, _reads(reading.read_file)),
            "list_files": Executor(prepare_path, _walks(listing.list_files)),
            "glob": Executor(prepare_path, _walks(listing.find_files)),
            "search": Executor(prepare_path, self._search),
            "shell": Executor(self._prepare_shell, self._shell.run),
            "fetch": Executor(_nothing, self._fetch),
        }

    async def _environment(self) -> dict[str, str]:
        return {name: value for name, value in (await self._inherited()).items() if name not in self._hidden}

    def _prepare_shell(self, call: RunTool) -> Preview:
        """In a worker thread."""
        return prepare_shell(call, anyio.from_thread.run(self._environment))

    async def _search(self, call: RunTool, _: Report) -> ToolResult:
        from zidane_acp.tools.search import search

        return await search(call, await self._environment(), self._ripgrep, self._guard)

    async def _fetch(self, call: RunTool, _: Report) -> ToolResult:
        from zidane_acp.tools.fetch import fetch

        return await fetch(call, self._allow_private)

    async def run(self, call: RunTool, report: Report) -> ToolResult | Preview:
        """One stage of one call. Whatever the world does becomes a failed result; an exception is a bug."""
        executor = self._table.get(call.name)
        if executor is None:
            return said(f"There is no tool named {call.name}.", failed=True)
        try:
            if call.stage == "prepare":
                return await anyio.to_thread.run_sync(executor.prepare, call, abandon_on_cancel=True)
            return await executor.run(call, report)
        except Refused as refusal:
            return said(str(refusal), failed=True)
        except OSError as error:
            return said(f"{call.name} failed: {error.strerror or error}.", failed=True)

    async def aclose(self) -> None:
        """End every process that a call left running."""
        await self._shell.aclose()
        await self._guard.aclose()
