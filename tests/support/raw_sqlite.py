"""What the tests of the SQLite store share: another program's connection, and the bytes of all files."""

import sqlite3
from pathlib import Path


def raw(path: Path) -> sqlite3.Connection:
    """Another program's connection, which does not wait."""
    return sqlite3.connect(path, isolation_level=None, timeout=0, check_same_thread=False)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
