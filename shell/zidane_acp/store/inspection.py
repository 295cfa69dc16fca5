"""A look at the file of the sessions that neither makes nor changes anything, for `zidane-acp doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from zidane_acp.store import header, opening, problems
from zidane_acp.store.problems import StoreFailure

if TYPE_CHECKING:
    import sqlite3

State: TypeAlias = Literal["none", "good", "newer", "foreign", "damaged", "locked", "unreadable"]

_UNCLEAN: Final = "was not closed; the next start puts it in order, until then its sessions are not counted"


class StoreReport(msgspec.Struct, frozen=True, gc=False):
    """What was found: `sentence` for the user, `sessions` None if not counted, `bytes` of all its files."""

    state: State
    sentence: str
    sessions: int | None = None
    bytes: int = 0


def inspect(path: Path) -> StoreReport:
    """What the file is and whether it is whole; reads all of it. Raises nothing."""
    import sqlite3

    try:
        with opening.OPENING:
            # What this process has open was looked at then, and reading it would free locks.
            kind = "ours" if opening.is_held(path) else header.kind_of(path)
        size = sum(_size(header.beside(path, ending)) for ending in ("", "-wal"))
        if kind == "newer":
            return StoreReport("newer", problems.newer(path), None, size)
        if kind == "foreign":
            return StoreReport("foreign", problems.foreign(path), None, size)
        if kind != "ours":
            return StoreReport("none", f"none in {path} yet; it is made with the first session.")
        return _whole(path, size)
    except StoreFailure as failure:
        return StoreReport("unreadable", str(failure))
    except OSError as error:
        return StoreReport("unreadable", problems.unusable(path, error))
    except sqlite3.Error as error:
        return _failed(path, error)


def _failed(path: Path, error: sqlite3.Error) -> StoreReport:
    size = _size(path)
    if problems.is_busy(error):
        return StoreReport("locked", problems.locked(path), None, size)
    if problems.is_damage(error):
        return StoreReport("damaged", problems.damaged(path), None, size)
    return StoreReport("unreadable", problems.unusable(path, error), None, size)


def _whole(path: Path, size: int) -> StoreReport:
    words = _quietly(path)
    if words is None:
        return StoreReport("good", f"{path} {_UNCLEAN}.", None, size)
    connection = opening.connect(path, words)
    try:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found is None or found[0] != "ok":
            return StoreReport("damaged", problems.damaged(path), None, size)
        count = int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])
    finally:
        connection.close()
    sessions = "1 session" if count == 1 else f"{count} sessions"
    return StoreReport("good", f"{sessions} in {path}, {size / 1e6:.1f} MB", count, size)


def _quietly(path: Path) -> str | None:
    """How to open the file so that nothing is made or written; None if that cannot be."""
    if not header.beside(path, "-wal").exists():
        return "mode=ro&immutable=1"
    if header.beside(path, "-shm").exists():
        return "mode=ro&readonly_shm=1"
    return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
