"""The tool `shell`: a command line in its own session, with its output as it comes and an end that is certain."""

import codecs
import contextlib
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread

from zidane_acp.signals import name_of
from zidane_acp.tools.arguments import number, passable, text
from zidane_acp.tools.collected import Collected
from zidane_acp.tools.families import MARKER, Process, family
from zidane_acp.tools.guard import Guard
from zidane_acp.tools.harmless import is_harmless, reads_repository
from zidane_acp.tools.paths import checked, of_call, resolve, title
from zidane_acp.tools.processes import end_family, started
from zidane_acp.tools.repository import hardened, hardening
from zidane_acp.tools.results import Refused
from zidane_core.agent.work import RunTool
from zidane_core.convert.command_result import command_result
from zidane_core.data.tools import Location, Preview, ResolvedPath, ToolOutput, ToolResult

ROOM: Final = 48 * 1024
"""Bytes of output given to the model."""

SHOWN_ROOM: Final = 512 * 1024
"""Bytes of output shown in the card while it comes."""

TIMEOUT: Final = 120.0
GRACE: Final = 0.3
"""Seconds that output may still come after the command has ended; something in the background may hold the pipe."""

PAUSE: Final = 0.02
"""Seconds between two reads of output that is not shown any more; what never stops writing must not keep a core busy."""

_CHUNK: Final = 65536
_WIDE: Final = 2**20  # with the pause some 50 MB/s, which holds up no honest build

Report = Callable[[ToolOutput], None]
pause = anyio.sleep


def prepare_shell(call: RunTool, environment: Mapping[str, str]) -> Preview:
    """The folder the command runs in, the paths that it is known to read, and whether nothing there changes that."""
    folder = of_call(call, text(call, "cwd") or ".")
    touched = _touched(call, folder)
    away = dict.fromkeys(path.real for path in (folder, *touched) if not path.inside)
    return Preview(
        paths=(folder, *touched),
        locations=tuple(map(Location, away)),
        harmless=is_harmless(text(call, "command"), folder.real, call.roots, environment),
        title=title(call, (folder, *touched)),
        environment=tuple(hardening({}).items()) if reads_repository(text(call, "command")) else (),
    )


def _touched(call: RunTool, folder: ResolvedPath) -> tuple[ResolvedPath, ...]:
    return tuple(of_call(call, path, folder.real) for path in call.paths)


def _look_again(call: RunTool, folder: str, environment: Mapping[str, str]) -> None:
    """Refuse a command that runs without the user's word when what made it harmless holds no more."""
    away = next(
        (path for path in _touched(call, resolve(folder, call.cwd, call.roots)) if not path.inside), None
    )
    if away is not None:
        raise Refused(f"{away.given} now lies outside the workspace ({away.real}), and this was not allowed.")
    if not is_harmless(text(call, "command"), folder, call.roots, environment):
        raise Refused("What this command would do here has changed since it was looked at; try again.")


def _folder(call: RunTool) -> str:
    folder = checked(call, text(call, "cwd") or ".")
    if not os.path.isdir(folder.real):
        raise Refused(f"The folder {folder.given} to run in does not exist.")
    return folder.real


class _Output:
    """What a command writes: kept for the model, shown as it comes up to a bound."""

    def __init__(self, report: Report) -> None:
        self.kept = Collected(ROOM)
        self._report = report
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._space = SHOWN_ROOM

    def add(self, data: bytes) -> None:
        """Take bytes from the pipe."""
        self.kept.add(data)
        if self._space > 0:
            self._space -= len(data)
            self._tell(self._decoder.decode(data))
            if self._space <= 0:
                self._tell("\n[The output goes on and is not shown further.]\n")

    @property
    def full(self) -> bool:
        """Whether nothing more is shown; only the last of it is still kept."""
        return self._space <= 0

    def finish(self) -> None:
        """Show what an unfinished character left."""
        if self._space > 0:
            self._tell(self._decoder.decode(b"", final=True))

    def _tell(self, shown: str) -> None:
        if shown:
            self._report(ToolOutput(shown))


class Shell:
    """Runs commands, and remembers what they left running so that `aclose` can end it, and the guard if need be."""

    def __init__(self, environment: Callable[[], Awaitable[Mapping[str, str]]], guard: Guard) -> None:
        self._environment = environment
        self._guard = guard
        self._count = 0
        self._left: dict[str, frozenset[Process]] = {}

    async def run(self, call: RunTool, report: Report) -> ToolResult:
        """Run one command; a nonzero exit code is a failed result with the output."""
        line, seconds = text(call, "command"), number(call, "timeout", TIMEOUT)
        passable(line, "command")
        folder = _folder(call)
        environment = await self._environment()
        if not call.granted:
            await anyio.to_thread.run_sync(_look_again, call, folder, environment)
        self._count += 1
        marker = f"{self._guard.token}-{self._count};"
        self._guard.start()
        reader, writer = os.pipe()
        output = _Output(report)
        try:
            try:
                if reads_repository(line) and not call.granted:
                    environment = hardened(environment)
                process = await _start(line, folder, {**environment, MARKER: marker}, writer)
            finally:
                os.close(writer)
            with self._guard.watched(process.pid):
                try:
                    with anyio.move_on_after(seconds) as scope:
                        await _attend(process, reader, output)
                except BaseException:
                    await self._end(process, marker)
                    raise
                if scope.cancelled_caught:
                    await self._end(process, marker)
                elif await self._leaves(marker, process.pid):
                    reader = self._keep_drained(reader)
        finally:
            if reader >= 0:
                os.close(reader)
        output.finish()
        return _result(process.returncode, seconds if scope.cancelled_caught else None, output.kept)

    async def _end(self, process: anyio.abc.Process, marker: str) -> None:
        with anyio.CancelScope(shield=True):
            if sys.platform == "win32":
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            await end_family(marker, process.pid)
            with anyio.move_on_after(GRACE):
                await process.wait()

    async def _leaves(self, marker: str, leader: int) -> bool:
        """Whether a command that has ended left something running; it is remembered for `aclose`."""
        left: frozenset[Process] = frozenset()
        with anyio.CancelScope(shield=True):
            left = await anyio.to_thread.run_sync(family, marker, (leader,))
        if left:
            self._left[marker] = left
            self._guard.keep(left)
        return bool(left)

    def _keep_drained(self, reader: int) -> int:
        """Read on in the background and throw away, so that what still writes neither blocks nor breaks."""
        os.set_blocking(reader, True)
        threading.Thread(target=_drain, args=(reader,), name="shell-drain", daemon=True).start()
        return -1

    async def aclose(self) -> None:
        """End everything that commands left running."""
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:
                for marker, left in self._left.items():
                    # By mark and by name only: the number of the group may belong to others by now.
                    tasks.start_soon(end_family, marker, None, left)
        self._left = {}


async def _start(line: str, folder: str, environment: Mapping[str, str], writer: int) -> anyio.abc.Process:
    command = ("/bin/sh", "-c", line) if sys.platform != "win32" else ("cmd.exe", "/d", "/s", "/c", line)
    return await started(command, folder, environment, output=writer, errors=writer)


def _drain(reader: int) -> None:
    with contextlib.suppress(OSError):
        _widen(reader)
        while os.read(reader, _WIDE):
            time.sleep(PAUSE)
    os.close(reader)


async def _attend(process: anyio.abc.Process, reader: int, output: _Output) -> None:
    """Read until the pipe ends, or until the command has ended and the grace is over."""
    os.set_blocking(reader, sys.platform == "win32")
    async with anyio.create_task_group() as tasks:

        async def read() -> None:
            while data := await _read(reader, _WIDE if output.full else _CHUNK):
                wide = output.full
                output.add(data)
                if output.full and not wide:
                    _widen(reader)
                # A pipe that is never empty must not hold the loop, and in the end not a core either.
                await (pause(PAUSE) if output.full else anyio.lowlevel.checkpoint())
            tasks.cancel_scope.cancel()

        tasks.start_soon(read)
        await process.wait()
        with anyio.move_on_after(GRACE):
            await anyio.sleep_forever()
        tasks.cancel_scope.cancel()
    await process.wait()


def _widen(reader: int) -> None:
    """Let the pipe hold what one wide read takes; some systems cannot, or not for everyone."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, _WIDE)


async def _read(reader: int, most: int) -> bytes:
    if sys.platform == "win32":
        return await anyio.to_thread.run_sync(os.read, reader, most, abandon_on_cancel=True)
    while True:
        try:
            return os.read(reader, most)
        except BlockingIOError:
            await anyio.wait_readable(reader)


def _result(code: int | None, late_after: float | None, kept: Collected) -> ToolResult:
    name = name_of(-code) if code is not None and code < 0 else None
    return command_result(
        kept.text(), code=code, signal=name, late_after=late_after, truncated=kept.truncated
    )
