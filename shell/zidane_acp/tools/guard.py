"""A small process beside the agent that kills what commands left running when the agent itself is killed.

SIGKILL gives the agent no chance to end its children, and Linux can tie a child to its parent's thread only. So
the guard holds the other end of a pipe: it ends when the agent does, however that happens.
"""

import contextlib
import os
import secrets
import subprocess
import sys
from collections.abc import Generator, Iterable
from typing import Final

import anyio
import anyio.to_thread

from zidane_acp.tools import families
from zidane_acp.tools.families import Process

_PATIENCE: Final = 0.5


class Guard:
    """Started by the first command. `token` begins the marker of every process that it looks after."""

    def __init__(self) -> None:
        self.token: Final = secrets.token_hex(8)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the guard if it does not run. Windows and a frozen program go without one."""
        if self._process is not None and self._process.poll() is None:
            return
        if sys.platform == "win32" or not sys.executable or hasattr(sys, "frozen"):
            return
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()  # somebody killed it
        self._process = subprocess.Popen(
            (sys.executable, "-I", "-S", families.__file__, f"{self.token}-"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={},
            start_new_session=True,  # what ends the agent's own group leaves it to its work
        )
        if self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)

    @contextlib.contextmanager
    def watched(self, group: int) -> Generator[None]:
        """While a command runs in this process group; the number may belong to others afterwards."""
        self._tell(f"+{group}\n")
        try:
            yield
        finally:
            self._tell(f"-{group}\n")

    def keep(self, processes: Iterable[Process]) -> None:
        """A command has ended and left these running."""
        self._tell("".join(f"={process.pid} {process.start}\n" for process in processes))

    def _tell(self, lines: str) -> None:
        if self._process is not None and self._process.stdin is not None and lines:
            with contextlib.suppress(OSError):  # somebody killed it; the agent does its own work all the same
                self._process.stdin.write(lines.encode())

    async def aclose(self) -> None:
        """Let the guard go."""
        process, self._process = self._process, None
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(_dismiss, process)


def _dismiss(process: subprocess.Popen[bytes]) -> None:
    try:
        process.communicate(b"bye\n", timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
