"""The process of a stdio server: found, started in a session of its own, listened to, and ended with all it started."""

import contextlib
import os
import shutil
import sys
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final, NamedTuple

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread

from zidane_acp.tools.families import MARKER, family
from zidane_acp.tools.guard import Guard
from zidane_acp.tools.processes import end_family, started
from zidane_core.agent.work import RunMcpServer

GRACE: Final = 0.3
"""Seconds that a server gets to end after its input was closed, and its last words to arrive after its end."""

TAIL: Final = 4096
"""Bytes of standard error that are kept for the reason of a failure."""

_CHUNK: Final = 65536


class NoCommand(Exception):
    """The command cannot be started; the message says why, without a full stop."""


class Start(NamedTuple):
    """What a process is started with."""

    command: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]


def start_of(server: RunMcpServer, inherited: Mapping[str, str]) -> Start:
    """Find the command of a server as the system would, in its folder and with its variables. Raises NoCommand."""
    config = server.config
    environment = {**inherited, **dict(config.env)}
    if not config.command:
        raise NoCommand("no command is given")
    if not os.path.isdir(server.cwd):
        raise NoCommand(f"there is no folder {server.cwd}")
    if any("\0" in word for word in (config.command, *config.args, *environment, *environment.values())):
        raise NoCommand("its command or a variable holds a zero byte")
    # A path is relative to the folder of the server; a name is looked up on its own PATH, on Windows with PATHEXT.
    path = os.path.join(server.cwd, config.command) if os.path.dirname(config.command) else config.command
    found = shutil.which(path, path=environment.get("PATH", os.defpath))
    if found is None:
        there = os.path.exists(path) and path != config.command
        raise NoCommand(
            f"{config.command} cannot be executed" if there else f"there is no command {config.command}"
        )
    return Start((found, *config.args), server.cwd, environment)


class Child:
    """A running server; `ended` is set when it is gone."""

    def __init__(
        self,
        process: anyio.abc.Process,
        stdin: int,
        stdout: int,
        stderr: int,
        close_input: Callable[[], None],
    ) -> None:
        self.process = process
        self._close_input = close_input
        self.ended = anyio.Event()
        self._stdin = stdin
        self._stdout = stdout
        self._stderr = stderr
        self._tail: deque[bytes] = deque()

    def tail(self, longest: int) -> str:
        """The last line of standard error that says something, with no half of a secret of `longest` characters."""
        kept = b"".join(self._tail)
        text = kept[-TAIL:].decode("utf-8", "replace")
        if len(kept) > TAIL:
            first, _, rest = text.partition("\n")
            # A line longer than all that is kept; a broken character at its start counts as up to three.
            text = rest if rest.strip() else first[longest + 3 :]
        return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")

    async def read(self) -> bytes:
        """What the server says next; b"" at the end."""
        return await _read(self._stdout)

    async def write(self, data: bytes) -> None:
        """Tell the server something; raises OSError when it listens no more."""
        rest = memoryview(data)
        while rest:
            rest = rest[await _write(self._stdin, rest) :]

    async def drain(self) -> None:
        """Read standard error for ever, so that the server never waits for a reader of it."""
        while data := await _read(self._stderr):
            self._tail.append(data)
            while len(self._tail) > 1 and sum(map(len, self._tail)) - len(self._tail[0]) > TAIL:
                self._tail.popleft()

    async def watch(self) -> None:
        """Wait for the end of the process."""
        await self.process.wait()
        self.ended.set()

    def close_input(self) -> None:
        """Say that nothing more comes, which asks the server to end."""
        self._stdin = -1
        self._close_input()


@contextlib.asynccontextmanager
async def running(start: Start, guard: Guard, marker: str) -> AsyncGenerator[Child]:
    """A server's process; afterwards it is gone, within a second, and all that it started and that can be found."""
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as talk:
        try:
            with contextlib.ExitStack() as theirs:
                guard.start()
                their_in, stdin = _pipe(theirs, talk)
                stdout, their_out = _pipe(ours, theirs)
                stderr, their_err = _pipe(ours, theirs)
                environment = {**start.environment, MARKER: marker}
                process = await started(
                    start.command,
                    start.folder,
                    environment,
                    output=their_out,
                    errors=their_err,
                    stdin=their_in,
                )
        except OSError as error:
            raise NoCommand(f"{start.command[0]}: {error.strerror or type(error).__name__}") from None
        child = Child(process, stdin, stdout, stderr, talk.close)
        for descriptor in (stdin, stdout, stderr):
            os.set_blocking(descriptor, sys.platform == "win32")
        with guard.watched(process.pid):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.drain)
                tasks.start_soon(child.watch)
                try:
                    yield child
                finally:
                    await _end(child, marker)
                    tasks.cancel_scope.cancel()


def _pipe(reads: contextlib.ExitStack, writes: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe whose ends are closed with who has them."""
    reading, writing = os.pipe()
    reads.callback(os.close, reading)
    writes.callback(os.close, writing)
    return reading, writing


async def _end(child: Child, marker: str) -> None:
    with anyio.CancelScope(shield=True):
        # Before it ends: its children, which may have left its group and environment, have it as their parent still.
        known = await anyio.to_thread.run_sync(family, marker, (child.process.pid,))
        child.close_input()
        # Not `ended`: whoever watched the process may have been cancelled.
        with anyio.move_on_after(GRACE):
            await child.process.wait()
        if sys.platform == "win32":
            with contextlib.suppress(ProcessLookupError):
                child.process.kill()
        await end_family(marker, child.process.pid, known)
        with anyio.move_on_after(GRACE):
            await child.process.wait()
            child.ended.set()


async def _read(descriptor: int) -> bytes:
    # Whoever always has something to say must not keep others from their turn.
    await anyio.lowlevel.checkpoint()
    if sys.platform == "win32":
        return await anyio.to_thread.run_sync(os.read, descriptor, _CHUNK, abandon_on_cancel=True)
    while True:
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            await anyio.wait_readable(descriptor)


async def _write(descriptor: int, data: memoryview) -> int:
    await anyio.lowlevel.checkpoint()
    if sys.platform == "win32":
        return await anyio.to_thread.run_sync(os.write, descriptor, data, abandon_on_cancel=True)
    while True:
        try:
            return os.write(descriptor, data)
        except BlockingIOError:
            await anyio.wait_writable(descriptor)
