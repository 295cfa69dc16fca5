"""What is left of an agent that was killed: its children at that moment, and whatever carries the mark of the round."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

MARK: Final = "CRASH_ROUND"
"""The variable that the agent and its commands inherit from the round."""

WITHIN: Final = 2.0
_STEP: Final = 0.02


def nap(mark: str) -> str:
    """A command whose argument no other process on the machine has."""
    return f"sleep 300.{mark}"


class Process(NamedTuple):
    """A process, told apart from a later one of its number by when it was started."""

    pid: int
    parent: int
    start: str
    words: str


def below(pid: int) -> set[tuple[int, str]]:
    """The living processes that a process has started, and what these have."""
    table = list(_table())
    found, pending = set[tuple[int, str]](), [pid]
    while pending:
        parent = pending.pop()
        children = [process for process in table if process.parent == parent]
        found.update((child.pid, child.start) for child in children)
        pending += [child.pid for child in children]
    return found


def left(mark: str, known: set[tuple[int, str]]) -> list[str]:
    """The command lines of what is still there when the time for going is over; then it is ended."""
    until = time.monotonic() + WITHIN
    while found := [p for p in _table() if (p.pid, p.start) in known or _is_marked(p, mark)]:
        if time.monotonic() > until:
            for process in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGKILL)
            return [f"{process.pid} {process.words}" for process in found]
        time.sleep(_STEP)
    return []


def _is_marked(process: Process, mark: str) -> bool:
    if process.words == nap(mark):
        return True
    try:
        return f"{MARK}={mark}".encode() in Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
    except OSError:  # gone, another user's, or a system without /proc, where the argument has to do
        return False


def _table() -> Iterator[Process]:
    if not os.path.exists("/proc/self/stat"):
        yield from _table_of_ps()
        return
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text(errors="replace").rpartition(")")[2].split()
            words = Path(f"/proc/{name}/cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if fields[0] not in "ZX":
            yield Process(int(name), int(fields[1]), fields[19], words.rstrip("\0").replace("\0", " "))


def _table_of_ps() -> Iterator[Process]:
    said = subprocess.run(
        ("ps", "-axww", "-o", "pid=,ppid=,stat=,command="), capture_output=True, text=True, check=True
    )
    for line in said.stdout.splitlines():
        pid, parent, state, words = line.split(None, 3)
        if not state.startswith("Z"):
            yield Process(int(pid), int(parent), "", words)
