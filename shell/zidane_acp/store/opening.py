"""Opening the file of the sessions: what is looked at before, how it is made, and how it is let go of."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from zidane_acp.store import header, problems, schema
from zidane_acp.store.problems import StoreFailure

if TYPE_CHECKING:
    import sqlite3

BUSY: Final = 0.25
"""Seconds that a call waits for another program's; the machine tries a locked save again by itself."""

PATIENCE: Final = 0.5
"""Seconds after which opening a locked file is no longer tried again."""

_PAUSE: Final = 0.01

Identity: TypeAlias = tuple[int, int]
"""What tells a file apart from another one that has its name now: device and number on it."""

OPENING: Final = threading.Lock()
"""Held while a file is opened or looked at: no two threads make it at once, and none reads the header of one
that this process has open, which would free SQLite's locks on it."""

_HELD: Final[Counter[Identity]] = Counter()


class Opened(NamedTuple):
    """A connection, and which file it has open."""

    connection: sqlite3.Connection
    identity: Identity


def identity_of(path: Path) -> Identity | None:
    """Which file has this name now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_held(path: Path) -> bool:
    """Whether this process has the file open."""
    identity = identity_of(path)
    return identity is not None and _HELD[identity] > 0


def open_file(path: Path, make: bool) -> Opened | None:
    """Open the file, bring it to this version, and None for one that is not there, unless it is to be made.

    Raises StoreFailure, sqlite3.Error and OSError; what is not ours or newer is not touched.
    """
    import sqlite3

    until = time.monotonic() + PATIENCE
    while True:
        try:
            with OPENING:
                return _open(path, make)
        except sqlite3.Error as error:
            # Of two that turn the log on at once SQLite fails one without waiting.
            if not problems.is_busy(error) or time.monotonic() > until:
                raise
        time.sleep(_PAUSE)


def free(opened: Opened, path: Path) -> None:
    """Close a connection; what fails then is of no use to anybody."""
    import sqlite3

    with OPENING:
        with contextlib.suppress(sqlite3.Error):
            if identity_of(path) is None:
                # SQLite does not do this by itself for a file that was moved away, whose log has the old name.
                opened.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with contextlib.suppress(sqlite3.Error):
            opened.connection.close()
        _HELD[opened.identity] -= 1


def connect(path: Path, words: str) -> sqlite3.Connection:
    """A connection without a transaction of its own; `words` say how, as in an SQLite URI. Makes no file."""
    import sqlite3

    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{words}",
        uri=True,
        timeout=BUSY,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = _text
    return connection


def _text(data: bytes) -> str:
    """A stored text; one that is damaged reads as none at all."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _open(path: Path, make: bool) -> Opened | None:
    if not is_held(path):
        kind = header.kind_of(path)
        if kind == "newer":
            raise StoreFailure("disk", problems.newer(path))
        if kind == "foreign":
            raise StoreFailure("disk", problems.foreign(path))
        if kind in ("none", "empty") and not make:
            return None
        if kind == "none":
            _make(path)
    connection = connect(path, "mode=rw")
    identity = identity_of(path)
    try:
        if identity is None:
            raise FileNotFoundError(f"{path} was moved away")
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    _HELD[identity] += 1
    return Opened(connection, identity)


def _make(path: Path) -> None:
    """An empty private file; SQLite gives the files beside it the same mode."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


_SETTINGS: Final = (
    "secure_delete = ON",
    "synchronous = NORMAL",
    "temp_store = MEMORY",  # so that no temporary file has a trace of a removed session
    "cache_size = -512",  # KiB: entries are read once, in order, and the system keeps the file at hand
)


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}").fetchall()
    check(connection, path)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    schema.migrate(connection)
    check(connection, path)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreFailure if the file is not ours, or another program has made it newer since."""
    version = schema.number(connection, "user_version")
    application = schema.number(connection, "application_id")
    if application not in (0, schema.APPLICATION):
        raise StoreFailure("disk", problems.foreign(path))
    if version > schema.VERSION:
        raise StoreFailure("disk", problems.newer(path))
