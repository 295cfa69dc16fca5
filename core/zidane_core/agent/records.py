"""Stored texts and what they mean (ring 2): entries of a log, the head of a session, rows of the journal.

Every record has a version. A text is written once and never rewritten, so what a newer program put into it stays;
what this version cannot read is kept as `Unread` and takes its place in the log.
"""

from typing import Final, Literal

import msgspec

from zidane_core.data.history import Entry, TextSaid, Thinking, Unread
from zidane_core.data.stored import JournalRow
from zidane_core.fp import fold
from zidane_core.text import decode_json, decode_json_as, encode_json, is_object

VERSION: Final = 1
_PREFIX: Final = f'{{"v":{VERSION},'
_ENTRY: Final = msgspec.json.Decoder(Entry)


class _Versioned(msgspec.Struct, frozen=True, gc=False):
    v: int = VERSION


# Entries -------------------------------------------------------------------------------------------


def text_of(entry: Entry) -> str:
    """An entry as it is stored."""
    return entry.text if isinstance(entry, Unread) else _PREFIX + encode_json(entry).decode()[1:]


def entry_of(text: str) -> Entry:
    """The entry that a stored text means; one of a newer version, or no entry at all, is `Unread`."""
    if not text.startswith(_PREFIX) and _version(text) > VERSION:
        return Unread(text)
    try:
        return _ENTRY.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return Unread(text)


def _version(text: str) -> int:
    return fold(decode_json_as(text, _Versioned), lambda found: found.v, lambda _: VERSION)


# The head ------------------------------------------------------------------------------------------


class Head(msgspec.Struct, frozen=True, gc=False):
    """What the list shows of a session without reading its log. `created` is in seconds since 1970."""

    title: str = ""
    roots: tuple[str, ...] = ()
    created: float = 0.0


def head_of(text: str) -> Head:
    """A stored head; what is damaged in it is as if it were not there."""
    whole = decode_json_as(text, Head)
    return fold(whole, lambda head: head, lambda _: Head())


def head_text(head: Head, before: str) -> str:
    """A head as it is stored; what another version put into the one before it stays."""
    old = fold(decode_json(before or "{}"), lambda value: value, lambda _: None)
    known = {"v": VERSION, "title": head.title, "roots": head.roots, "created": head.created}
    return encode_json({**(old if is_object(old) else {}), **known}).decode()


# The journal ---------------------------------------------------------------------------------------


class _Piece(msgspec.Struct, frozen=True, gc=False):
    kind: Literal["agent", "thought"]
    text: str
    v: int = VERSION


def piece_text(kind: Literal["agent", "thought"], text: str) -> str:
    """A piece of a message that is being streamed, as the journal has it."""
    return encode_json(_Piece(kind, text)).decode()


def streamed(rows: tuple[JournalRow, ...]) -> tuple[TextSaid | Thinking, ...]:
    """The messages of a journal, in the order in which they began; rows that cannot be read are left out."""
    kinds: dict[str, Literal["agent", "thought"]] = {}
    parts: dict[str, dict[int, str]] = {}
    for row in rows:
        piece = fold(decode_json_as(row.body, _Piece), _optional, lambda _: None)
        if piece is not None and piece.v <= VERSION:
            kinds.setdefault(row.message, piece.kind)
            parts.setdefault(row.message, {})[row.part] = piece.text
    return tuple(
        (TextSaid if kind == "agent" else Thinking)(
            message, "".join(text for _, text in sorted(parts[message].items()))
        )
        for message, kind in kinds.items()
    )


def _optional(piece: _Piece) -> _Piece | None:
    return piece
