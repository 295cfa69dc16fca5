"""Finding everything that a command started, also what left its process group or session.

Three traces lead to a process: the group of the command, the chain of parents (gathered before anything is
killed), and a marker variable in the environment, which children inherit and which stays when a parent dies.

Only the standard library, so that it starts fast when it is run as a program: it then waits beside the agent and
kills what the agent's commands left running when the agent itself was killed. Argument: the start of the marker.
Standard input, a line each: `+GROUP` runs, `-GROUP` has ended, `=PID START` runs on, `bye` all is well; its end
without a `bye` is the agent's death.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import BinaryIO, Final, NamedTuple

MARKER: Final = "ZIDANE_ACP_CALL"
"""The environment variable that marks every process of a call."""

_ROUNDS: Final = 60
_STEP: Final = 0.02


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


def family(
    marker: str, leaders: Iterable[int], known: frozenset[Process] = frozenset()
) -> frozenset[Process]:
    """The living processes of a call: its groups, their children, all that are marked, and `known` ones alive.

    A process is marked when the variable begins with `marker`.
    """
    rows = _table(marker)
    own, groups = os.getpid(), frozenset(leaders)
    members = {row.process for row in rows if row.marked or row.process in known or row.group in groups}
    children: dict[int, list[Process]] = {}
    for row in rows:
        children.setdefault(row.parent, []).append(row.process)
    pending = list(members)
    while pending:
        below = [child for child in children.get(pending.pop().pid, []) if child not in members]
        members.update(below)
        pending.extend(below)
    return frozenset(member for member in members if member.pid != own)


def told(lines: BinaryIO) -> tuple[frozenset[int], frozenset[Process]] | None:
    """Listen until the agent is gone: the groups and processes that it left; None when it said goodbye."""
    groups: set[int] = set()
    known: set[Process] = set()
    for line in lines:
        sign, rest = line[:1], line[1:].decode("ascii", "replace").strip()
        if sign == b"+":
            groups.add(int(rest))
        elif sign == b"-":
            groups.discard(int(rest))
        elif sign == b"=":
            pid, _, start = rest.partition(" ")
            known.add(Process(int(pid), start))
        else:
            return None
    return frozenset(groups), frozenset(known)


def main() -> int:
    """Wait beside the agent as the module's text says."""
    left = told(sys.stdin.buffer)
    if left is None:
        return 0
    groups, known = left
    for _ in range(_ROUNDS):  # what is being started right now is found in a later round
        known = family(sys.argv[1], groups, known)
        if not known:
            break
        for process in known:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(_STEP)
    return 0


if __name__ == "__main__":
    sys.exit(main())
