"""The agent's process: started in a session of its own, read by lines, ended by closing its input."""

import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import anyio
import anyio.abc

GRACE: Final = 2.0
"""Seconds that the agent gets after its input closed, and again after SIGTERM."""
STDERR_LINES: Final = 20


class NoSuchProgram(Exception):
    """The agent's program cannot be started; the message is for the user."""


class AgentProcess:
    """A running agent."""

    def __init__(self, process: anyio.abc.Process, pass_stderr: bool) -> None:
        self._process = process
        self._pass_stderr = pass_stderr
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)

    @property
    def exit_code(self) -> int | None:
        return self._process.returncode

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines of its stderr."""
        return tuple(self._stderr)

    async def gone(self) -> None:
        """Wait for its end."""
        await self._process.wait()

    async def write(self, data: bytes) -> None:
        stdin = self._process.stdin
        if stdin is not None:
            await stdin.send(data)

    async def lines(self) -> AsyncIterator[bytes]:
        """The lines of its stdout, the last one also without a line end."""
        stdout = self._process.stdout
        if stdout is None:
            return
        pieces: list[bytes] = []
        async for chunk in stdout:
            *whole, rest = chunk.split(b"\n")
            for part in whole:
                yield b"".join((*pieces, part))
                pieces.clear()
            if rest:
                pieces.append(rest)
        if pieces:
            yield b"".join(pieces)

    async def read_stderr(self) -> None:
        """Keep the last lines; pass all on at debug level."""
        stderr = self._process.stderr
        if stderr is None:
            return
        rest = ""
        async for chunk in stderr:
            *whole, rest = (rest + chunk.decode("utf-8", "replace")).split("\n")
            for line in whole:
                self._heard(line)
        if rest:
            self._heard(rest)

    def _heard(self, line: str) -> None:
        self._stderr.append(line)
        if self._pass_stderr:
            print(line, file=sys.stderr)

    async def end(self) -> None:
        """Close its input, wait, then terminate, then kill."""
        process = self._process
        with anyio.CancelScope(shield=True):
            if process.stdin is not None:
                await process.stdin.aclose()
            for step in (None, process.terminate, process.kill):
                if step is not None:
                    try:
                        step()
                    except ProcessLookupError:
                        return
                with anyio.move_on_after(GRACE):
                    await process.wait()
                    return


@asynccontextmanager
async def started(command: Sequence[str], cwd: str, pass_stderr: bool) -> AsyncGenerator[AgentProcess, None]:
    """Run the agent while the block runs. Raises NoSuchProgram."""
    try:
        # A session of its own: Ctrl-C on the terminal is for the client alone.
        process = await anyio.open_process(
            list(command),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=hasattr(signal, "SIGHUP"),
        )
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise NoSuchProgram(
            f"The agent {command[0]!r} cannot be started: {why}. Check the command after --."
        ) from None
    agent = AgentProcess(process, pass_stderr)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(agent.read_stderr)
            try:
                yield agent
            finally:
                await agent.end()
                # A grandchild may hold the pipe open for ever; a moment is enough for the last words.
                tasks.cancel_scope.deadline = anyio.current_time() + 0.2
    finally:
        await process.aclose()
