"""A store as plain data, for drivers that share it: rows, entries, journals. Leases are for the tests of the stores."""

from typing import Any

from zidane_core.agent.effects import Journal, Save
from zidane_core.agent.events import Deleted, EntriesRead, Found, Listed, Loaded
from zidane_core.agent.work import DeleteThread, FindThread, ListThreads, LoadThread
from zidane_core.data.stored import JournalRow, StoredRow

PAGE = 3
"""Entries in a piece: small, so that most sessions come in several."""


class Disk:
    def __init__(self) -> None:
        self.rows: dict[str, StoredRow] = {}
        self.entries: dict[str, list[str]] = {}
        self.journals: dict[str, dict[tuple[str, int], str]] = {}

    def has_all_before(self, save: Save) -> bool:
        return len(self.entries.get(save.session, ())) == save.expected_seq

    def knows_the_journal(self, save: Save) -> bool:
        kept = self.journals.get(save.session, {})
        return save.lease != "take" or sum(map(len, kept.values())) == save.journal

    def append(self, save: Save) -> None:
        assert self.has_all_before(save) and self.knows_the_journal(save), save
        self.entries.setdefault(save.session, []).extend(save.entries)
        self.rows[save.session] = StoredRow(save.session, save.cwd, save.updated, save.head)
        kept = self.journals.get(save.session, {})
        self.journals[save.session] = {k: body for k, body in kept.items() if k[0] not in save.clears}

    def note(self, journal: Journal) -> None:
        self.journals.setdefault(journal.session, {})[journal.message, journal.part] = journal.body

    def journal(self, session: str) -> tuple[JournalRow, ...]:
        kept = self.journals.get(session, {})
        return tuple(JournalRow(message, part, body) for (message, part), body in kept.items())

    def pieces(self, what: LoadThread) -> list[EntriesRead]:
        entries = self.entries.get(what.session, [])
        return [EntriesRead(tuple(entries[at : at + PAGE])) for at in range(0, len(entries), PAGE)]

    def value(self, what: Any) -> Any:
        """What a job of the store ends with."""
        if isinstance(what, FindThread):
            return Found(self.rows.get(what.session))
        if isinstance(what, LoadThread):
            return Loaded(self.journal(what.session))
        if isinstance(what, DeleteThread):
            for kept in (self.rows, self.entries, self.journals):
                kept.pop(what.session, None)
            return Deleted()
        assert isinstance(what, ListThreads)
        rows = sorted(self.rows.values(), key=lambda row: (row.updated, row.session), reverse=True)
        after = what.after
        rows = [
            row
            for row in rows
            if self.entries.get(row.session) != []  # only opened so far
            and what.cwd in (None, row.cwd)
            and (after is None or (row.updated, row.session) < (after.updated, after.session))
        ]
        return Listed(tuple(rows[: what.limit]))
