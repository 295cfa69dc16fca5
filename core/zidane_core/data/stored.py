"""What goes between the machine and a store (ring 0). A store knows rows and texts; what they mean is the machine's."""

from typing import Literal, TypeAlias

import msgspec


class StoredRow(msgspec.Struct, frozen=True, gc=False):
    """A stored session without its entries: `updated` in seconds since 1970, `head` is JSON text."""

    session: str
    cwd: str
    updated: float
    head: str


class JournalRow(msgspec.Struct, frozen=True, gc=False):
    """A piece of a message that was being streamed: its message, its place in it, and JSON text."""

    message: str
    part: int
    body: str


class Piece(msgspec.Struct, frozen=True, gc=False):
    """Some entries of a session, in order, as JSON texts; '' stands for one that is missing or not readable.

    The `last` piece also has the rows of the journal, as they were at the same moment.
    """

    entries: tuple[str, ...]
    last: bool = False
    journal: tuple[JournalRow, ...] = ()


class Place(msgspec.Struct, frozen=True, gc=False):
    """A place in the list of sessions, which is ordered by `updated` and then `session`, the greatest first."""

    updated: float
    session: str


RefusalReason: TypeAlias = Literal["disk", "locked", "in_use", "gone"]
"""Why a save was refused: for good, for now, another program works in the session, it was deleted."""


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """A save that was not done; nothing of it is stored. `detail` is a sentence for the user, or ''."""

    reason: RefusalReason
    detail: str = ""


class Behind(msgspec.Struct, frozen=True, gc=False):
    """A save that was not done, since others have stored more: their entries behind the expected ones, and the
    journal as it is now."""

    entries: tuple[str, ...] = ()
    journal: tuple[JournalRow, ...] = ()
