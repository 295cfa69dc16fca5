"""Another program that works in the file of the sessions: the agent's saves have to wait, and its answers with them."""

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

LOCKED: Final = 0.08
FREE: Final = 0.08
"""Seconds in turn; both are well under what the agent waits for a locked file."""


@contextlib.contextmanager
def busy(file: Path, really: bool) -> Iterator[None]:
    """Lock the file again and again, where it is there."""
    if not really or not file.exists():
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_work, args=(file, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _work(file: Path, over: threading.Event) -> None:
    connection = sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=5)
    try:
        while not over.wait(FREE):
            connection.execute("BEGIN IMMEDIATE")
            over.wait(LOCKED)
            connection.execute("ROLLBACK")
    finally:
        connection.close()
