"""Finding and ending everything that a command started, also what left its process group or session.

Three traces lead to a process: the group of the command, the chain of parents (gathered before anything is
killed), and a marker variable in the environment, which children inherit and which stays when a parent dies.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import anyio
import anyio.abc

from zidane_acp.tools.results import Refused

MARKER: Final = "ZIDANE_ACP_CALL"
"""The environment variable that marks every process of a call."""

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


class Process(NamedTuple):
    """A process, told apart from a later one with the same number by its start time (any text)."""

    pid: int
    start: str


class _Row(NamedTuple):
    process: Process
    parent: int
    group: int
    marked: bool


def _linux_row(pid: int, marker: bytes) -> _Row | None:
    """One process from /proc; None for one that is gone, dead but not yet reaped, or not readable."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        if fields[0] in (b"Z", b"X"):
            return None
        marked = False
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            marked = marker in file.read()
    except OSError:
        return None
    return _Row(Process(pid, fields[19].decode()), int(fields[1]), int(fields[2]), marked)


def _linux_table(marker: str) -> list[_Row]:
    wanted = f"{MARKER}={marker}".encode()
    rows = (_linux_row(int(name), wanted) for name in os.listdir("/proc") if name.isdigit())
    return [row for row in rows if row is not None]


def _ps(*columns: str) -> list[str]:
    done = subprocess.run(
        ("ps", *columns), stdin=subprocess.DEVNULL, capture_output=True, timeout=1, check=False
    )
    return done.stdout.decode("utf-8", "replace").splitlines()


def _ps_table(marker: str) -> list[_Row]:
    """The same from `ps`, for systems without /proc (macOS)."""
    wanted = f"{MARKER}={marker}"
    marked = {line.split(None, 1)[0] for line in _ps("-axEww", "-o", "pid=,command=") if wanted in line}
    rows: list[_Row] = []
    for line in _ps("-axo", "pid=,ppid=,pgid=,stat=,lstart="):
        pid, parent, group, state, *start = line.split()
        if not state.startswith("Z"):
            rows.append(_Row(Process(int(pid), " ".join(start)), int(parent), int(group), pid in marked))
    return rows


def _table(marker: str) -> list[_Row]:
    if os.path.exists("/proc/self/stat"):
        return _linux_table(marker)
    return [] if sys.platform == "win32" else _ps_table(marker)


def family(marker: str, leader: int | None, known: frozenset[Process] = frozenset()) -> frozenset[Process]:
    """The living processes of a call: its group, their children, all that are marked, and `known` ones alive."""
    rows = _table(marker)
    own = os.getpid()
    members = {row.process for row in rows if row.marked or row.process in known or row.group == leader}
    children: dict[int, list[Process]] = {}
    for row in rows:
        children.setdefault(row.parent, []).append(row.process)
    pending = list(members)
    while pending:
        below = [child for child in children.get(pending.pop().pid, []) if child not in members]
        members.update(below)
        pending.extend(below)
    return frozenset(member for member in members if member.pid != own)


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
    return await anyio.to_thread.run_sync(family, marker, leader, known)
