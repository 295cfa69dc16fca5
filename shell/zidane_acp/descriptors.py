"""The descriptors of the process: kept for the protocol, and away from everything else."""

import os
import sys


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
