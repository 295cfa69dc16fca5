"""What a file is, told from its bytes before SQLite opens it: opening changes files, and files of others stay as they are.

The first page holds the marks. Its newest version may still be in the write-ahead log beside the file.
"""

import os
import stat
import struct
from pathlib import Path
from typing import Final, Literal, TypeAlias

from zidane_acp.store import problems
from zidane_acp.store.problems import StoreFailure
from zidane_acp.store.schema import APPLICATION, VERSION

Kind: TypeAlias = Literal["none", "empty", "ours", "newer", "foreign"]
"""`empty` is a database without marks and tables: what is left when a process died while it made the file."""

MAGIC: Final = b"SQLite format 3\x00"
LENGTH: Final = 100

_MARKS: Final = struct.Struct(">60xI4xI28x")
_LOG_HEAD: Final = struct.Struct(">IIII8s8x")
_FRAME: Final = struct.Struct(">II8s8x")
_LOG_MAGIC: Final = (0x377F0682, 0x377F0683)


def beside(path: Path, ending: str) -> Path:
    """The file that SQLite keeps beside the main one: `-wal` or `-shm`."""
    return path.with_name(path.name + ending)


def kind_of(path: Path) -> Kind:
    """What the file is. Raises OSError, and StoreFailure where no file can be.

    It opens and closes the file, which frees the locks that this process has on it; so it must have none.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "none"
    if not stat.S_ISREG(mode):
        raise StoreFailure("disk", problems.no_file(path))
    with path.open("rb") as file:
        head = file.read(LENGTH)
    if not head:
        return "none"
    if len(head) < LENGTH or not head.startswith(MAGIC):
        return "foreign"
    logged = newest_in_log(beside(path, "-wal"))
    version, application = marks(logged or head)
    if application == APPLICATION:
        return "newer" if version > VERSION else "ours"
    # Our own first transaction in the log writes the marks, so that a log without them is somebody else's.
    if application or version or logged or _has_tables(path):
        return "foreign"
    return "empty"


def marks(head: bytes) -> tuple[int, int]:
    """`user_version` and `application_id` of a header."""
    version, application = _MARKS.unpack_from(head)
    return int(version), int(application)


def newest_in_log(log: Path) -> bytes | None:
    """The header of the newest first page that was committed to a write-ahead log, None without one.

    The checksums are not looked at: a frame counts when it has the salt of the log and a commit behind it.
    """
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return None
    with file:
        whole = os.fstat(file.fileno()).st_size
        head = file.read(_LOG_HEAD.size)
        if len(head) < _LOG_HEAD.size:
            return None
        magic, _, size, _, salt = _LOG_HEAD.unpack(head)
        if magic not in _LOG_MAGIC:
            return None
        waiting: bytes | None = None
        found: bytes | None = None
        while len(frame := file.read(_FRAME.size)) == _FRAME.size:
            page, commit, own = _FRAME.unpack(frame)
            if own != salt:
                break
            if page == 1:
                waiting = file.read(LENGTH)
                file.seek(size - LENGTH, 1)
            else:
                file.seek(size, 1)
            if file.tell() > whole:
                break
            if commit:
                found = waiting or found
        return found if found and len(found) == LENGTH else None


def _has_tables(path: Path) -> bool:
    """Whether the main file has tables; one that cannot be read counts as having them."""
    import sqlite3

    # `immutable` makes no file, takes no lock and leaves every byte.
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    except sqlite3.Error:
        return True
    try:
        return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    except sqlite3.Error:
        return True
    finally:
        connection.close()
