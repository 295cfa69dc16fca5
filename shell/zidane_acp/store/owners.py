"""Owners of leases, as texts that other processes can read, and whether an owner is still there.

A process is told apart from a later one with the same number by its start time, and processes of one boot from those
of another by the boot. What cannot be looked at from here (another machine, another container) counts as there until
its lease was not renewed for an hour.
"""

import itertools
import os
import platform
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

UNHEARD: Final = 3600.0
"""Seconds after which the lease of an owner that cannot be looked at counts as free."""

_NUMBERS: Final = itertools.count(1)
_HERE: Final[set[str]] = set()
"""The owners of this process that are there."""


class Owner(msgspec.Struct, frozen=True, gc=False):
    """A connection of a process; '' stands for what the system does not tell.

    `start` is compared as a text, `space` names what gives the process its number (a container has its own).
    """

    pid: int
    start: str
    host: str
    boot: str
    space: str
    number: int = 0


def enter() -> str:
    """A new owner, who is there until `leave`."""
    here = _this(os.getpid())
    owner = msgspec.json.encode(msgspec.structs.replace(here, number=next(_NUMBERS))).decode()
    _HERE.add(owner)
    return owner


def leave(owner: str) -> None:
    """The owner is gone; one that was not there is no failure."""
    _HERE.discard(owner)


def is_there(owner: str, renewed: float, now: float) -> bool:
    """Whether the owner of a lease is still there; `renewed` and `now` in seconds since 1970."""
    if owner in _HERE:
        return True
    recent = abs(now - renewed) <= UNHEARD
    try:
        told = msgspec.json.decode(owner, type=Owner)
    except msgspec.DecodeError:
        return recent
    here = _this(os.getpid())
    if told.boot != here.boot and told.host == here.host:
        return False
    if (told.boot, told.space) != (here.boot, here.space) or (not here.boot and told.host != here.host):
        return recent
    if (told.pid, told.start) == (here.pid, here.start):
        return False
    start = started(told.pid)
    if start is None:
        return False
    return start == told.start if start and told.start else recent


def started(pid: int) -> str | None:
    """When a process was started, as a text; None for one that is gone (a zombie, too), '' if that cannot be told."""
    if os.path.exists("/proc/self/stat"):
        return _started_by_proc(pid)
    return "" if sys.platform == "win32" else _started_by_ps(pid)


def _started_by_proc(pid: int) -> str | None:
    try:
        # The name in brackets may itself hold brackets and spaces.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return None if fields[0] in (b"Z", b"X") else fields[19].decode()
    except (FileNotFoundError, ProcessLookupError):
        return None
    except (OSError, IndexError):
        return ""


def _started_by_ps(pid: int) -> str | None:
    # The same words whatever the language and the time zone of who asks.
    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
    said = _said(("ps", "-o", "stat=,lstart=", "-p", str(pid)), environment)
    if said is None:
        return ""
    state, _, start = said.strip().partition(" ")
    return None if not state or state.startswith("Z") else " ".join(start.split())


@lru_cache(maxsize=4)
def _this(pid: int) -> Owner:
    """This process, whose number is given so that a fork is another one."""
    return Owner(pid, started(pid) or "", platform.node(), _boot(), _space())


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, UnicodeError):
        pass
    if sys.platform == "darwin":
        return (_said(("sysctl", "-n", "kern.bootsessionuuid"), dict(os.environ)) or "").strip()
    return ""


def _space() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _said(words: tuple[str, ...], environment: dict[str, str]) -> str | None:
    """What a program of the system prints; None if it cannot be asked."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=1, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace")
