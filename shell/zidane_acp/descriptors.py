"""The descriptors of the process: kept for the protocol, and away from everything else."""

import os
import sys
from typing import Final

STANDARD: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def fill_missing() -> None:
    """Put the null device where the parent left stdin, stdout or stderr closed.

    Else the next file that is opened gets the number, and the protocol would be written into it.
    """
    for number, (name, mode) in enumerate(STANDARD):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken, and that is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            stream = open(number, mode, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - it stays open
            setattr(sys, name, stream)


def take_stdout() -> int:
    """Duplicate the real stdout for the protocol and point descriptor 1 at stderr.

    After this a stray print, a library's banner or a child cannot break the stream.
    """
    sys.stdout.flush()
    real = os.dup(1)
    os.set_inheritable(real, False)
    os.dup2(2, 1)
    return real


def take_stdin() -> int:
    """Duplicate the real stdin and point descriptor 0 at the null device, so that no child can read from it."""
    real = os.dup(0)
    os.set_inheritable(real, False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return real


def open_appending(path: str) -> int:
    """A file that is appended to, made with mode 0600. Raises OSError when it cannot be opened."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)


def read_ready(source: int, size: int) -> bytes | None:
    """What one read gives: None when nothing is there yet, b"" at the end.

    A peer that reset the connection and a terminal that was closed are gone: that is the end, too.
    """
    try:
        return os.read(source, size)
    except BlockingIOError:
        return None
    except OSError:
        return b""
