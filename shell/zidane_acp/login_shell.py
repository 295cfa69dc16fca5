"""Asking the login shell, once and in the background, for the environment that it would have given this process."""

import contextlib
import logging
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping
from typing import Final

import anyio
import anyio.abc

from zidane_acp.environment import is_bare, joined, shell_of

LOGGER: Final = logging.getLogger("zidane_acp.login_shell")
NUL: Final = b"\0"
LIMIT: Final = 2.0
"""Seconds that the shell has, with the files of settings that it reads."""

LONGEST: Final = 1024 * 1024
"""Bytes of what it may print."""

PROGRAM: Final = (
    "import os, sys; nul = bytes([0]); mark = nul + os.fsencode(sys.argv[1]) + nul; "
    'pairs = [name + b"=" + value for name, value in os.environb.items()]; '
    "sys.stdout.buffer.write(mark + nul.join(pairs) + mark)"
)


class LoginShell:
    """The environment of this process, joined with that of the login shell once that has been asked.

    `env` is read anew each time. `hidden` are names of variables that the shell does not get: the keys of providers that
    it tells are the user's own then. Where the environment is not bare, nothing is asked.
    """

    def __init__(self, env: Mapping[str, str], hidden: Collection[str] = (), limit: float = LIMIT) -> None:
        self._env: Final = env
        self._hidden: Final = hidden
        self._limit: Final = limit
        self._done: Final = anyio.Event()
        self._shell: Final = shell_of(env) if is_bare(env) and _can_tell() else None
        self.told: Mapping[str, str] = {}

    async def ask(self) -> None:
        """Ask the shell, if there is one to ask and it was not asked yet, within the limit."""
        try:
            if self._shell is not None and not self._done.is_set():
                self.told = await _told(self._shell, self._childs(self._env), self._limit)
        finally:
            self._done.set()

    async def environment(self) -> Mapping[str, str]:
        """What child processes get, keys included. A shell that is being asked is waited for, at most its limit."""
        if self._shell is not None:
            with anyio.move_on_after(self._limit):
                await self._done.wait()
        return joined(self._env, self.told) if self.told else self._env

    def _childs(self, env: Mapping[str, str]) -> dict[str, str]:
        shown = {name: value for name, value in env.items() if name not in self._hidden}
        # A prompt for a terminal that is not there takes time, and may take the output.
        return {**shown, "TERM": "dumb"}


def _can_tell() -> bool:
    """Whether this interpreter can be named in a line of any shell."""
    return bool(sys.executable) and not hasattr(sys, "frozen") and not {"'", "\\", "\n"} & set(sys.executable)


async def _told(shell: str, env: Mapping[str, str], limit: float) -> Mapping[str, str]:
    """The environment that a shell gives its children; empty when it says nothing in time."""
    mark = secrets.token_hex(16)
    line = f"exec '{sys.executable}' -I -S -c '{PROGRAM}' {mark}"
    process: anyio.abc.Process | None = None
    data = b""
    try:
        # A start cannot be cancelled in its middle: nobody would end it.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                (shell, "-l", "-i", "-c", line),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=env,
                start_new_session=True,
            )
        if process is not None:
            with anyio.move_on_after(limit):
                data = await _output(process, mark.encode())
    except OSError as error:
        LOGGER.warning("the login shell %s could not be started: %s", shell, error.strerror)
    finally:
        if process is not None:
            await _end(process)
    told = _pairs(data, mark.encode())
    if not told:
        LOGGER.warning("the login shell %s told no environment within %g seconds", shell, limit)
    return told


async def _output(process: anyio.abc.Process, mark: bytes) -> bytes:
    data, stream = b"", process.stdout
    while stream is not None and len(data) <= LONGEST and not data.endswith(mark + NUL):
        try:
            data += await stream.receive()
        except anyio.EndOfStream:
            break
    return data


async def _end(process: anyio.abc.Process) -> None:
    """End the shell with all that it started in its group; what left the group is meant to stay."""
    with anyio.CancelScope(shield=True):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        await process.aclose()


def _pairs(data: bytes, mark: bytes) -> dict[str, str]:
    """What stands between the two marks; files of settings may print before and behind."""
    between = data.split(NUL + mark + NUL)
    if len(between) != 3:
        return {}
    found = (os.fsdecode(pair).partition("=") for pair in between[1].split(NUL))
    return {name: value for name, equals, value in found if equals}
