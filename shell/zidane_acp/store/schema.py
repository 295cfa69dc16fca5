"""The tables, and how a file of an older version becomes one of this version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3

APPLICATION: Final = 0x7A616370
"""What `PRAGMA application_id` says of our files: "zacp"."""

MIGRATIONS: Final[Mapping[int, tuple[str, ...]]] = {
    0: (
        "CREATE TABLE sessions (id TEXT NOT NULL PRIMARY KEY, cwd TEXT NOT NULL, updated REAL NOT NULL,"
        " head TEXT NOT NULL, seq INTEGER NOT NULL)",
        "CREATE INDEX sessions_by_time ON sessions (updated, id) WHERE seq > 0",
        "CREATE INDEX sessions_by_folder ON sessions (cwd, updated, id) WHERE seq > 0",
        "CREATE INDEX sessions_without_entries ON sessions (updated) WHERE seq = 0",
        "CREATE TABLE entries (session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL,"
        " PRIMARY KEY (session, seq)) WITHOUT ROWID",
        # `place` keeps the order of writing: overwriting a row does not change it.
        "CREATE TABLE journal (place INTEGER PRIMARY KEY, session TEXT NOT NULL, message TEXT NOT NULL, part INTEGER NOT NULL,"
        " body TEXT NOT NULL, UNIQUE (session, message, part))",
        "CREATE TABLE leases (session TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, renewed REAL NOT NULL)"
        " WITHOUT ROWID",
        "CREATE INDEX leases_by_owner ON leases (owner)",
    ),
}
"""From a version to what makes it the next one. What has been released is never changed."""

VERSION: Final = max(MIGRATIONS) + 1


def number(connection: sqlite3.Connection, pragma: str) -> int:
    """The number that a pragma says."""
    row = connection.execute(f"PRAGMA {pragma}").fetchone()
    return row[0] if row and isinstance(row[0], int) else 0


def migrate(connection: sqlite3.Connection, steps: Mapping[int, tuple[str, ...]] = MIGRATIONS) -> None:
    """Bring the file to the version behind the last step, whole or not at all; nothing to do is no failure.

    Raises sqlite3.Error. Of two processes that begin at once the second finds nothing to do.
    """
    target = max(steps) + 1
    if number(connection, "user_version") >= target:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = number(connection, "user_version")
        for step in range(version, target):
            for statement in steps[step]:
                connection.execute(statement)
        if version < target:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {target}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    # So that the header of the main file says the version to programs that only look.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
