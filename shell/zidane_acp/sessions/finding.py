"""Which session a word means, and all that is stored of it."""

from collections.abc import Iterator
from typing import Final

from returns.result import Failure, Result, Success

from zidane_acp.chat.safe_text import line
from zidane_acp.fields import text
from zidane_acp.ports import Store
from zidane_acp.sessions.beginnings import LAST, beginning_with
from zidane_core.data.stored import Piece, Place, StoredRow
from zidane_core.text import decode_json, is_object

PAGE: Final = 200
"""Rows, or entries, that are read at once."""


def rows(store: Store, cwd: str | None = None) -> Iterator[StoredRow]:
    """All sessions of a folder (None: of all), the newest first."""
    after: Place | None = None
    while page := store.page(cwd, after, PAGE):
        yield from page
        after = Place(page[-1].updated, page[-1].session)


def find(store: Store, word: str) -> Result[StoredRow, str]:
    """The session with this id, or the only one whose id begins so; `last` is the newest. The failure is a sentence."""
    found = store.find(word) if word else None
    if found is not None:
        return Success(found)
    if word == LAST:
        newest = store.page(None, None, 1)
        return Success(newest[0]) if newest else Failure("No session is stored yet.")
    step = "`zidane-acp sessions list` shows what there is"
    return beginning_with(word, rows(store), lambda row: row.session, step)


def pieces(store: Store, session: str) -> Iterator[Piece]:
    """Everything that is stored of a session, piece by piece; the last one has the journal."""
    after = 0
    while True:
        piece = store.read(session, after, PAGE)
        yield piece
        after += len(piece.entries)
        if piece.last or not piece.entries:
            return


def entries(store: Store, session: str) -> Iterator[str]:
    """All entries of a session as JSON texts, in order; '' is one that is missing or not readable."""
    return (text for piece in pieces(store, session) for text in piece.entries)


def title(row: StoredRow) -> str:
    """The session's title, '' for none."""
    head = decode_json(row.head).value_or(None)
    return line(text(head, "title")) if is_object(head) else ""
