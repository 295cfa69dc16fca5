"""A store of sessions in a dict, with the rules of the port that commands need."""

from zidane_core.agent.effects import Journal, Save
from zidane_core.data.history import TextSaid
from zidane_core.data.stored import Behind, Piece, Place, Refusal, StoredRow
from zidane_core.text import encode_json

DAY = 86400.0
"""Seconds."""


def entry(text: str) -> str:
    """The stored form of an entry that says this."""
    return encode_json(TextSaid("m", text)).decode()


class FakeStore:
    """`refusal` is what the next append gives; `owners` are those who entered and did not leave."""

    def __init__(self) -> None:
        self.rows: dict[str, StoredRow] = {}
        self.entries: dict[str, tuple[str, ...]] = {}
        self.owners: list[str] = []
        self.saves: list[Save] = []
        self.refusal: Refusal | None = None
        self.closed = False

    def put(
        self, session: str, *entries: str, cwd: str = "/project", updated: float = 0.0, head: str = "{}"
    ) -> None:
        self.rows[session] = StoredRow(session, cwd, updated, head)
        self.entries[session] = entries

    def enter(self) -> str:
        self.owners.append("owner")
        return "owner"

    def leave(self, owner: str) -> None:
        self.owners.remove(owner)

    def append(self, save: Save, owner: str) -> Refusal | Behind | None:
        assert owner in self.owners
        self.saves.append(save)
        if self.refusal is not None:
            return self.refusal
        have = self.entries.get(save.session, ())
        if len(have) != save.expected_seq:
            return Behind(have[save.expected_seq :])
        self.put(save.session, *have, *save.entries, cwd=save.cwd, updated=save.updated, head=save.head)
        return None

    def note(self, journal: Journal, owner: str) -> None:
        raise AssertionError("no command writes the journal")

    def find(self, session: str) -> StoredRow | None:
        return self.rows.get(session)

    def read(self, session: str, after: int, limit: int) -> Piece:
        have = self.entries.get(session, ())
        return Piece(have[after : after + limit], last=after + limit >= len(have))

    def page(self, cwd: str | None, after: Place | None, limit: int) -> tuple[StoredRow, ...]:
        fitting = [row for row in self.rows.values() if cwd in (None, row.cwd)]
        if after is not None:
            fitting = [row for row in fitting if (row.updated, row.session) < (after.updated, after.session)]
        return tuple(sorted(fitting, key=lambda row: (row.updated, row.session), reverse=True)[:limit])

    def remove(self, session: str) -> None:
        self.rows.pop(session, None)
        self.entries.pop(session, None)

    def close(self) -> None:
        self.closed = True
