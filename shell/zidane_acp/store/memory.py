"""A store that lives as long as its process."""

import heapq
import threading
from typing import Final

from zidane_acp.store import owners
from zidane_acp.store.verdict import verdict
from zidane_core.agent.effects import Journal, Save
from zidane_core.data.stored import Behind, JournalRow, Piece, Place, Refusal, StoredRow


class _Session:
    """What is kept of one session; `owner` is '' when nobody has the lease."""

    def __init__(self) -> None:
        self.row = StoredRow("", "", 0.0, "")
        self.entries: list[str] = []
        self.journal: dict[tuple[str, int], str] = {}
        self.owner = ""
        self.renewed = 0.0

    def rows(self) -> tuple[JournalRow, ...]:
        return tuple(JournalRow(message, part, body) for (message, part), body in self.journal.items())


class MemoryStore:
    """A `Store` without a disk, for tests and for hosts that keep nothing."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._sessions: Final[dict[str, _Session]] = {}

    def enter(self) -> str:
        return owners.enter()

    def leave(self, owner: str) -> None:
        owners.leave(owner)
        with self._lock:
            for session in self._sessions.values():
                if session.owner == owner:
                    session.owner = ""

    def append(self, save: Save, owner: str) -> Refusal | Behind | None:
        with self._lock:
            found = self._sessions.get(save.session)
            session = _Session() if found is None else found
            # All owners are of this process, so that no clock is needed.
            taken = session.owner not in ("", owner) and owners.is_there(session.owner, 0.0, 0.0)
            stored = None if found is None else len(session.entries)
            judged = verdict(save, stored, taken, session.rows())
            if isinstance(judged, Refusal):
                return judged
            if judged == "behind":
                return Behind(tuple(session.entries[save.expected_seq :]), session.rows())
            session.entries.extend(save.entries)
            session.row = StoredRow(save.session, save.cwd, save.updated, save.head)
            if save.lease == "take":
                session.owner = owner
            elif save.lease == "drop" and session.owner == owner:
                session.owner = ""
            session.journal = {
                place: body for place, body in session.journal.items() if place[0] not in save.clears
            }
            self._sessions[save.session] = session
            return None

    def note(self, journal: Journal, owner: str) -> None:
        with self._lock:
            session = self._sessions.get(journal.session)
            if session is not None and session.owner == owner:
                session.journal[journal.message, journal.part] = journal.body

    def release(self, session: str, owner: str) -> None:
        with self._lock:
            found = self._sessions.get(session)
            if found is not None and found.owner == owner:
                found.owner = ""

    def find(self, session: str) -> StoredRow | None:
        with self._lock:
            found = self._sessions.get(session)
            return None if found is None else found.row

    def read(self, session: str, after: int, limit: int) -> Piece:
        with self._lock:
            found = self._sessions.get(session)
            if found is None:
                return Piece((), last=True)
            begin = max(after, 0)
            end = begin + max(limit, 0)
            last = end >= len(found.entries)
            return Piece(tuple(found.entries[begin:end]), last, found.rows() if last else ())

    def page(self, cwd: str | None, after: Place | None, limit: int) -> tuple[StoredRow, ...]:
        with self._lock:
            listed = (session for session in self._sessions.values() if session.entries)
            rows = [session.row for session in listed if cwd in (None, session.row.cwd)]
        if after is not None:
            place = (after.updated, after.session)
            rows = [row for row in rows if _place(row) < place]
        return tuple(heapq.nlargest(limit, rows, key=_place))

    def remove(self, session: str) -> None:
        with self._lock:
            self._sessions.pop(session, None)

    def close(self) -> None:
        """Nothing is held that must be freed; what is kept stays until the store itself is gone."""


def _place(row: StoredRow) -> tuple[float, str]:
    return row.updated, row.session
