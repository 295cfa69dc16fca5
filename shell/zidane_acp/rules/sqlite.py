"""The rules in one small SQLite file, which several programs may use.

It is read once a session and written once in a long while, so that each call opens the file and closes it again, and nothing
is held in between.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from zidane_acp.rules import problems
from zidane_acp.store.header import LENGTH, MAGIC, marks
from zidane_acp.store.schema import number
from zidane_core.data.rules import Grant

if TYPE_CHECKING:
    import sqlite3

APPLICATION: Final = 0x7A616372
"""What `PRAGMA application_id` says of our files: "zacr"."""

VERSION: Final = 1

PATIENCE: Final = 5.0
"""Seconds that a call waits for another program's."""

_MAKE: Final = (
    # Numbers are never used twice: one that was shown cannot come to mean another rule.
    "CREATE TABLE rules (number INTEGER PRIMARY KEY AUTOINCREMENT, folder TEXT NOT NULL, kind TEXT NOT NULL,"
    " what TEXT NOT NULL, since REAL NOT NULL, UNIQUE (folder, kind, what))",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Grant)

Kind: TypeAlias = Literal["grant", "trust"]


class KeptRule(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A rule as it is stored: `since` is in seconds since 1970, `grant` None for trust in the folder."""

    number: int
    folder: str
    grant: Grant | None
    since: float


class SqliteRules:
    """`Rules` in the file of this path, which is made by the first rule."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        self._path: Final = path
        self._now: Final = now

    def grants(self, folder: str) -> tuple[Grant, ...]:
        return tuple(rule.grant for rule in self.kept() if rule.folder == folder and rule.grant is not None)

    def keep_grant(self, folder: str, grant: Grant) -> None:
        self._keep("grant", ((folder, _ENCODER.encode(grant).decode()),))

    def trusted(self, folders: tuple[str, ...]) -> frozenset[str]:
        return frozenset(rule.folder for rule in self.kept() if rule.grant is None and rule.folder in folders)

    def keep_trust(self, folders: tuple[str, ...]) -> None:
        self._keep("trust", tuple((folder, "") for folder in folders))

    def kept(self) -> tuple[KeptRule, ...]:
        """Every rule, by folder and then the oldest first. One that cannot be read, of another version, is left out."""
        with self._working("BEGIN") as connection:
            if connection is None:
                return ()
            rows = connection.execute(
                "SELECT number, folder, kind, what, since FROM rules ORDER BY folder, number"
            ).fetchall()
        return tuple(rule for rule in map(_rule, rows) if rule is not None)

    def forget(self, numbers: Iterable[int]) -> int:
        """Remove rules by their numbers; gives how many there were."""
        with self._working("BEGIN IMMEDIATE") as connection:
            if connection is None:
                return 0
            rows = [(one,) for one in numbers]
            return connection.executemany("DELETE FROM rules WHERE number = ?", rows).rowcount

    def _keep(self, kind: Kind, rules: tuple[tuple[str, str], ...]) -> None:
        rows = [(folder, kind, what, self._now()) for folder, what in rules]
        with self._working("BEGIN IMMEDIATE", make=True) as connection:
            if connection is not None:
                connection.executemany(
                    "INSERT OR IGNORE INTO rules (folder, kind, what, since) VALUES (?, ?, ?, ?)", rows
                )

    @contextlib.contextmanager
    def _working(self, begin: str, make: bool = False) -> Generator[sqlite3.Connection | None]:
        """A transaction; None when there is no file, unless it is to be made. Raises StoreProblem, and then nothing was
        done."""
        import sqlite3

        try:
            if not self._is_there(make):
                yield None
                return
            address = f"{self._path.absolute().as_uri()}?mode={'ro' if begin == 'BEGIN' else 'rw'}"
            connection = sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)
            with contextlib.closing(connection):
                connection.execute(begin)
                self._prepare(connection, make)
                yield connection
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise problems.problem_of(self._path, error) from error

    def _is_there(self, make: bool) -> bool:
        """Whether there is a file to open. Its bytes are looked at first: what is not ours is not touched."""
        try:
            with self._path.open("rb") as file:
                head = file.read(LENGTH)
        except (FileNotFoundError, NotADirectoryError):
            if make:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            return make
        if not head:
            return make  # a program ended right after it made the file
        if len(head) < LENGTH or not head.startswith(MAGIC):
            raise problems.foreign(self._path)
        if marks(head)[1] != APPLICATION:
            raise problems.foreign(self._path)
        return True

    def _prepare(self, connection: sqlite3.Connection, make: bool) -> None:
        """Make the table of an empty file. Of two programs that begin at once the second finds it made."""
        version = number(connection, "user_version")
        if version > VERSION:
            raise problems.newer(self._path)
        if version == 0 and make:
            for statement in _MAKE:
                connection.execute(statement)


def _rule(row: tuple[object, ...]) -> KeptRule | None:
    position, folder, kind, what, since = row
    if not (isinstance(position, int) and isinstance(folder, str) and isinstance(since, float)):
        return None
    if kind == "trust":
        return KeptRule(number=position, folder=folder, grant=None, since=since)
    if kind != "grant" or not isinstance(what, str):
        return None
    try:
        return KeptRule(number=position, folder=folder, grant=_DECODER.decode(what), since=since)
    except msgspec.MsgspecError:
        return None
