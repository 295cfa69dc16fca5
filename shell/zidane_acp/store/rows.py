"""The statements of the SQLite store, and records from its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from zidane_core.data.stored import JournalRow, Place, StoredRow

if TYPE_CHECKING:
    import sqlite3

    from zidane_core.agent.effects import Save

_REMOVE: Final = (
    "DELETE FROM entries WHERE session = ?",
    "DELETE FROM journal WHERE session = ?",
    "DELETE FROM leases WHERE session = ?",
    "DELETE FROM sessions WHERE id = ?",
)
_PUT: Final = (
    "INSERT INTO sessions (id, cwd, updated, head, seq) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
    " cwd = excluded.cwd, updated = excluded.updated, head = excluded.head, seq = excluded.seq"
)
_TAKE: Final = (
    "INSERT INTO leases (session, owner, renewed) VALUES (?, ?, ?) ON CONFLICT (session) DO UPDATE SET"
    " owner = excluded.owner, renewed = excluded.renewed"
)
_NOTE: Final = (
    "INSERT INTO journal (session, message, part, body) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (session, message, part) DO UPDATE SET body = excluded.body"
)


def count(connection: sqlite3.Connection, session: str) -> int | None:
    """How many entries a session has, None for one that is not stored. Raises ValueError if it is damaged."""
    row = connection.execute("SELECT seq FROM sessions WHERE id = ?", (session,)).fetchone()
    if row is None:
        return None
    if not isinstance(row[0], int):
        raise ValueError("the number of entries is damaged")
    return row[0]


def entries(connection: sqlite3.Connection, session: str, begin: int, end: int) -> tuple[str, ...]:
    """The entries from `begin` to before `end`; '' for one that is missing or no text."""
    bodies = [""] * max(end - begin, 0)
    query = "SELECT seq, body FROM entries WHERE session = ? AND seq >= ? AND seq < ?"
    for seq, body in connection.execute(query, (session, begin, end)):
        bodies[seq - begin] = _text(body)
    return tuple(bodies)


def journal(connection: sqlite3.Connection, session: str) -> tuple[JournalRow, ...]:
    """The rows of the journal, in the order of their first writing."""
    query = "SELECT message, part, body FROM journal WHERE session = ? ORDER BY place"
    found = connection.execute(query, (session,))
    return tuple(
        JournalRow(_text(message), int(_number(part) or 0), _text(body)) for message, part, body in found
    )


def find(connection: sqlite3.Connection, session: str) -> StoredRow | None:
    """The row of a session."""
    query = "SELECT id, cwd, updated, head FROM sessions WHERE id = ?"
    row = connection.execute(query, (session,)).fetchone()
    if row is None:
        return None
    return _stored(row) or StoredRow(session, _text(row[1]), 0.0, _text(row[3]))


def page_query(cwd: str | None, after: Place | None) -> tuple[str, tuple[str | float, ...]]:
    """The list of sessions, the newest first; each of its four forms walks along one index."""
    conditions = ["seq > 0"]
    values: list[str | float] = []
    if cwd is not None:
        conditions.append("cwd = ?")
        values.append(cwd)
    if after is not None:
        conditions.append("(updated, id) < (?, ?)")
        values.extend((after.updated, after.session))
    where = " AND ".join(conditions)
    query = f"SELECT id, cwd, updated, head FROM sessions WHERE {where} ORDER BY updated DESC, id DESC"
    return query, tuple(values)


def page(
    connection: sqlite3.Connection, cwd: str | None, after: Place | None, limit: int
) -> tuple[StoredRow, ...]:
    """At most `limit` rows; those whose id or time is damaged are left out, since no place can be told by them."""
    rows: list[StoredRow] = []
    query, values = page_query(cwd, after)
    cursor = connection.execute(query, values)
    while len(rows) < limit and (found := cursor.fetchone()) is not None:
        row = _stored(found)
        if row is not None:
            rows.append(row)
    cursor.close()
    return tuple(rows)


def remove(connection: sqlite3.Connection, session: str) -> bool:
    """Remove all that is known of a session; whether there was anything."""
    return sum([connection.execute(statement, (session,)).rowcount for statement in _REMOVE]) > 0


def forget_empty(connection: sqlite3.Connection, before: float) -> None:
    """Remove the sessions that were opened before this time and never used."""
    connection.execute("DELETE FROM sessions WHERE seq = 0 AND updated < ?", (before,))


def append(connection: sqlite3.Connection, save: Save) -> None:
    """The entries, the row and the journal of a save; not its lease."""
    begin = save.expected_seq
    connection.executemany(
        "INSERT INTO entries (session, seq, body) VALUES (?, ?, ?)",
        ((save.session, begin + index, body) for index, body in enumerate(save.entries)),
    )
    connection.execute(_PUT, (save.session, save.cwd, save.updated, save.head, begin + len(save.entries)))
    connection.executemany(
        "DELETE FROM journal WHERE session = ? AND message = ?",
        ((save.session, message) for message in save.clears),
    )


def note(connection: sqlite3.Connection, session: str, message: str, part: int, body: str) -> None:
    connection.execute(_NOTE, (session, message, part, body))


# Leases --------------------------------------------------------------------------------------------


def lease(connection: sqlite3.Connection, session: str) -> tuple[str, float] | None:
    """Who has the lease, and when it was last renewed."""
    row = connection.execute("SELECT owner, renewed FROM leases WHERE session = ?", (session,)).fetchone()
    return None if row is None else (_text(row[0]), _number(row[1]) or 0.0)


def take(connection: sqlite3.Connection, session: str, owner: str, now: float) -> None:
    connection.execute(_TAKE, (session, owner, now))


def renew(connection: sqlite3.Connection, session: str, owner: str, now: float) -> bool:
    """Renew the lease if it is this owner's; whether it is."""
    query = "UPDATE leases SET renewed = ? WHERE session = ? AND owner = ?"
    return connection.execute(query, (now, session, owner)).rowcount > 0


def drop(connection: sqlite3.Connection, session: str, owner: str) -> None:
    connection.execute("DELETE FROM leases WHERE session = ? AND owner = ?", (session, owner))


def drop_all(connection: sqlite3.Connection, owner: str) -> None:
    connection.execute("DELETE FROM leases WHERE owner = ?", (owner,))


# Values --------------------------------------------------------------------------------------------


def _stored(row: tuple[object, ...]) -> StoredRow | None:
    session, cwd, updated, head = row
    when = _number(updated)
    if not isinstance(session, str) or not session or when is None:
        return None
    return StoredRow(session, _text(cwd), when, _text(head))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
