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
    log = header.beside(path, "-wal")
    try:
        with opening.OPENING:
            # What this process has open was looked at then, and reading it would free locks.
            kind = "ours" if opening.is_held(path) else header.kind_of(path)
        size = _size(path) + _size(log)
        if kind == "newer":
            return StoreReport("newer", problems.newer(path), None, size)
        if kind == "foreign":
            return StoreReport("foreign", problems.foreign(path), None, size)
        if kind != "ours":
            return StoreReport("none", f"none in {path} yet; it is made with the first session.")
        report = _checked(path, size, log.exists())
        # An agent that starts meanwhile makes a log and writes: then what was read may not fit together.
        return _checked(path, size, True) if report.state == "damaged" and log.exists() else report
    except StoreFailure as failure:
        return StoreReport("unreadable", str(failure))
    except OSError as error:
        return StoreReport("unreadable", problems.unusable(path, error))


def _checked(path: Path, size: int, logged: bool) -> StoreReport:
    import sqlite3

    try:
        return _whole(path, size, logged)
    except sqlite3.Error as error:
        return _failed(path, size, logged, error)


def _failed(path: Path, size: int, logged: bool, error: sqlite3.Error) -> StoreReport:
    if problems.is_busy(error):
        return StoreReport("locked", problems.locked(path), None, size)
    if problems.is_closed_off(error) and logged:
        return StoreReport("good", f"{path} {_UNCLEAN}.", None, size)
    if problems.is_damage(error):
        return StoreReport("damaged", problems.damaged(path), None, size)
    return StoreReport("unreadable", problems.unusable(path, error), None, size)


def _whole(path: Path, size: int, logged: bool) -> StoreReport:
    # Without a log nothing is missing in the main file; beside one, what is shared is not written.
    connection = opening.connect(path, f"mode=ro&{'readonly_shm' if logged else 'immutable'}=1")
    try:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found is None or found[0] != "ok":
            return StoreReport("damaged", problems.damaged(path), None, size)
        count = int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])
    finally:
        connection.close()
    sessions = "1 session" if count == 1 else f"{count} sessions"
    return StoreReport("good", f"{sessions} in {path}, {size / 1e6:.1f} MB", count, size)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
