"""The store of sessions in one SQLite file, which several programs may have open."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zidane_acp.ports import StoreProblem
from zidane_acp.store import opening, owners, problems, rows
from zidane_acp.store.opening import Opened
from zidane_acp.store.problems import StoreFailure
from zidane_acp.store.verdict import verdict
from zidane_core.agent.effects import Journal, Save
from zidane_core.data.stored import Behind, Piece, Place, Refusal, StoredRow

if TYPE_CHECKING:
    import sqlite3

LOG: Final = logging.getLogger("zidane_acp.store")

WIPE: Final = (
    "PRAGMA temp_store = FILE",  # or else the whole file would be in memory for a moment
    "VACUUM",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA wal_checkpoint(TRUNCATE)",
)
"""`secure_delete` clears what is deleted, but not the copies that SQLite leaves behind in the gap of a page when it
moves rows to another one. So the file is written anew, and the log is emptied into it."""

LARGEST: Final = 256_000_000
"""Bytes of a file that is still written anew: that takes about 7 ms for a megabyte, in which other programs cannot
save, and after 3 s the machine gives a locked store up. Losing what they save would be worse than such copies."""

BUSY: Final = 1
"""What a checkpoint says that others hold up."""

EMPTY_KEPT: Final = 7 * 24 * 3600.0
"""Seconds after which a session that was opened and never used is forgotten."""

END_WITHIN: Final = 0.5
"""Seconds that leaving and closing wait for a thread that is inside."""


class SqliteStore:
    """A `Store` in the file of this path.

    The file is opened by the first call that needs it and made by the first save. After `close` the next call opens
    it again. A file that was moved away is let go of.
    """

    def __init__(self, path: Path) -> None:
        self._path: Final = path
        self._lock: Final = threading.RLock()
        self._opened: Opened | None = None
        self._takers: Final[set[str]] = set()
        """Owners who took a lease; others need not open the file to leave."""
        self._left: Final[set[str]] = set()
        """Owners who are gone, whose leases may still be in the file."""
        self._released: Final[set[tuple[str, str]]] = set()
        """Leases that were given back and may still be in the file."""
        self._wiping: tuple[str, ...] = ()
        """What is still to be done so that no file holds what was removed."""

    def enter(self) -> str:
        return owners.enter()

    def leave(self, owner: str) -> None:
        owners.leave(owner)
        if owner in self._takers:
            self._takers.discard(owner)
            self._left.add(owner)
            self._at_end(self._tidy)

    def append(self, save: Save, owner: str) -> Refusal | Behind | None:
        with self._lock:
            if save.lease == "take":  # what is taken anew is not given back any more
                self._released.discard((save.session, owner))
            self._give_back()
        try:
            with self._working("BEGIN IMMEDIATE", make=True) as connection:
                if save.lease == "take":
                    self._takers.add(owner)
                # Making the file is part of this, so that there is a connection.
                return None if connection is None else _append(connection, save, owner)
        except StoreFailure as failure:
            return Refusal(failure.reason, str(failure))

    def note(self, journal: Journal, owner: str) -> None:
        try:
            with self._working("BEGIN IMMEDIATE") as connection:
                if connection is None or not rows.renew(connection, journal.session, owner, time.time()):
                    return
                if rows.count(connection, journal.session) is not None:
                    rows.note(connection, journal.session, journal.message, journal.part, journal.body)
        except StoreFailure as failure:
            LOG.debug("a row of the journal was not written: %s", failure)

    def release(self, session: str, owner: str) -> None:
        with self._lock:
            self._released.add((session, owner))
            self._give_back()

    def find(self, session: str) -> StoredRow | None:
        with self._working("BEGIN") as connection:
            return None if connection is None else rows.find(connection, session)

    def read(self, session: str, after: int, limit: int) -> Piece:
        with self._working("BEGIN") as connection:
            count = None if connection is None else rows.count(connection, session)
            if connection is None or count is None:
                return Piece((), last=True)
            begin = max(after, 0)
            end = min(begin + max(limit, 0), count)
            last = end >= count
            entries = rows.entries(connection, session, begin, end)
            return Piece(entries, last, rows.journal(connection, session) if last else ())

    def page(self, cwd: str | None, after: Place | None, limit: int) -> tuple[StoredRow, ...]:
        with self._working("BEGIN") as connection:
            return () if connection is None else rows.page(connection, cwd, after, limit)

    def remove(self, session: str) -> None:
        with self._lock:
            with self._working("BEGIN IMMEDIATE") as connection:
                if connection is None:
                    return
                removed = rows.remove(connection, session)
                small = self._path.stat().st_size <= LARGEST
            if removed:
                self._wiping = WIPE if small else WIPE[-1:]
            self._tidy()

    def close(self) -> None:
        self._at_end(self._tidy, self._let_go)

    def _at_end(self, *works: Callable[[], None]) -> None:
        """Do this, but do not wait for long for a call that hangs inside."""
        if not self._lock.acquire(timeout=END_WITHIN):
            LOG.debug("the store was left as it is, since a call still runs")
            return
        try:
            for work in works:
                work()
        finally:
            self._lock.release()

    # Transactions ----------------------------------------------------------------------------------

    @contextmanager
    def _working(self, begin: str, make: bool = False) -> Generator[sqlite3.Connection | None, None, None]:
        """A transaction; None when there is no file. Raises StoreFailure, and then nothing of it was done."""
        import sqlite3

        with self._lock:
            try:
                connection = self._connection(make)
                if connection is None:
                    yield None
                    return
                connection.execute(begin)
                opening.check(connection, self._path)
                yield connection
                connection.execute("COMMIT")
            except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
                self._roll_back()
                if problems.spoils(error):
                    self._let_go()
                raise problems.failure_of(self._path, error) from error
            except BaseException:
                self._roll_back()
                raise

    def _connection(self, make: bool) -> sqlite3.Connection | None:
        if self._opened is not None and opening.identity_of(self._path) != self._opened.identity:
            self._let_go()
        if self._opened is None:
            self._opened = opening.open_file(self._path, make)
        return None if self._opened is None else self._opened.connection

    def _roll_back(self) -> None:
        import sqlite3

        if self._opened is not None and self._opened.connection.in_transaction:
            try:
                self._opened.connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._let_go()

    def _let_go(self) -> None:
        if self._opened is not None:
            opened, self._opened = self._opened, None
            opening.free(opened, self._path)

    def _give_back(self) -> None:
        released = tuple(self._released)
        if not released:
            return
        with suppress(StoreProblem):
            with self._working("BEGIN IMMEDIATE") as connection:
                if connection is not None:
                    for session, owner in released:
                        rows.drop(connection, session, owner)
            self._released.difference_update(released)

    def _tidy(self) -> None:
        """Forget the leases of those who left, and what was removed; what fails is tried again the next time."""
        self._give_back()
        left = tuple(self._left)
        if left:
            with suppress(StoreProblem):
                with self._working("BEGIN IMMEDIATE") as connection:
                    if connection is not None:
                        for owner in left:
                            rows.drop_all(connection, owner)
                self._left.difference_update(left)
        while self._wiping and self._opened is not None:
            import sqlite3  # here, since a process that saved nothing ends without it

            statement, *rest = self._wiping
            try:
                row = self._opened.connection.execute(statement).fetchone()
            except sqlite3.Error as error:
                LOG.debug("what was removed may still be in %s: %s", self._path, error)
                return
            if row and row[0] == BUSY:
                return
            self._wiping = tuple(rest)


def _append(connection: sqlite3.Connection, save: Save, owner: str) -> Refusal | Behind | None:
    now = time.time()
    session = save.session
    stored = rows.count(connection, session)
    lease = rows.lease(connection, session)
    taken = lease is not None and lease[0] != owner and owners.is_there(lease[0], lease[1], now)
    journal = rows.journal(connection, session) if save.lease == "take" else ()
    judged = verdict(save, stored, taken, journal)
    if isinstance(judged, Refusal):
        return judged
    if judged == "behind":
        missing = rows.entries(connection, session, save.expected_seq, stored or 0)
        return Behind(missing, rows.journal(connection, session))
    if stored is None and not save.entries:
        rows.forget_empty(connection, save.updated - EMPTY_KEPT)
    rows.append(connection, save)
    if save.lease == "take":
        rows.take(connection, session, owner, now)
    elif save.lease == "drop":
        rows.drop(connection, session, owner)
    else:
        rows.renew(connection, session, owner, now)
    return None
