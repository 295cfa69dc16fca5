"""Starting a command in a session of its own, and ending everything that it started."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final

import anyio
import anyio.abc

from zidane_acp.tools.families import Process, family
from zidane_acp.tools.results import Refused

_GRACE: Final = 0.3
_DEADLINE: Final = 0.9
_STEP: Final = 0.02


async def started(
    command: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    output: int = subprocess.PIPE,
    errors: int = subprocess.PIPE,
    stdin: int = subprocess.DEVNULL,
) -> anyio.abc.Process:
    """A child process in a session of its own. A start cannot be cancelled in its middle: nobody would end it."""
    process: anyio.abc.Process | None = None
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            command,
            stdin=stdin,
            stdout=output,
            stderr=errors,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    if process is None:
        raise Refused(f"{command[0]} could not be started.")
    return process


def _signal(processes: frozenset[Process], leader: int | None, number: int) -> None:
    if leader is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, number)
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


async def end_family(
    marker: str, leader: int | None, known: frozenset[Process] = frozenset()
) -> frozenset[Process]:
    """End all processes of a call within a second: SIGTERM, a short grace, SIGKILL. Gives what still lives.

    It must run to its end: shield it from cancellation. `leader` is the process group of a command that was
    running just now, else None; `known` are processes seen before.
    """
    if sys.platform == "win32":
        return frozenset()
    started = anyio.current_time()
    members = await _look(marker, leader, known)
    _signal(members, leader, signal.SIGTERM)
    while members and anyio.current_time() - started < _GRACE:
        await anyio.sleep(_STEP)
        members = await _look(marker, leader, members)
    while members and anyio.current_time() - started < _DEADLINE:
        _signal(members, leader, signal.SIGKILL)
        await anyio.sleep(_STEP)
        members = await _look(marker, leader, members)
    return members


async def _look(marker: str, leader: int | None, known: frozenset[Process]) -> frozenset[Process]:
    return await anyio.to_thread.run_sync(family, marker, () if leader is None else (leader,), known)
