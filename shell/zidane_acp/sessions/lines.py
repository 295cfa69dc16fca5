"""The form of an exported session: JSON lines, from which the very same texts come back.

The first line is {"zidane-acp-session": 1, "session", "cwd", "updated" in seconds since 1970, "head" as JSON text};
each further line is one entry exactly as it is stored. A text that is not one line of JSON is {"damaged": text}.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from returns.result import Failure, Result, Success

from zidane_acp.fields import text
from zidane_core.data.stored import StoredRow
from zidane_core.text import decode_json, encode_json, is_object

MARK: Final = "zidane-acp-session"
FORM: Final = 1
DAMAGED: Final = "damaged"
NO_EXPORT: Final = "this is not an exported session; `zidane-acp sessions export` writes one."


class Exported(msgspec.Struct, frozen=True, gc=False):
    """A session with its entries as JSON texts, in order."""

    row: StoredRow
    entries: tuple[str, ...]


def lines_of(row: StoredRow, entries: Iterable[str]) -> Iterator[str]:
    """The lines of the file, each with its end."""
    first = {MARK: FORM, "session": row.session, "cwd": row.cwd, "updated": row.updated, "head": row.head}
    yield encode_json(first).decode() + "\n"
    for entry in entries:
        yield (entry if _is_line(entry) else encode_json({DAMAGED: entry}).decode()) + "\n"


def exported(file: str) -> Result[Exported, str]:
    """The session of a file. The failure is the end of a sentence that begins with the name of the file."""
    # Not splitlines: a line end of Unicode may stand in a text.
    lines = file.removeprefix("\ufeff").split("\n")
    head = _head(lines[0])
    if isinstance(head, Failure):
        return Failure(head.failure())
    entries: list[str] = []
    for number, entry in enumerate(lines[1:], start=2):
        # A file that went through other hands may have line ends of other systems; no entry ends so.
        entry = entry.removesuffix("\r")
        if not entry:
            if number < len(lines):
                return Failure(
                    f"line {number} is empty, so that something is missing; export the session again."
                )
            continue
        value = decode_json(entry)
        if isinstance(value, Failure):
            return Failure(f"line {number} is not JSON ({value.failure()}); export the session again.")
        entries.append(_unwrapped(value.unwrap(), entry))
    return Success(Exported(head.unwrap(), tuple(entries)))


def _head(line: str) -> Result[StoredRow, str]:
    value = decode_json(line).value_or(None)
    if not is_object(value) or MARK not in value:
        return Failure(NO_EXPORT)
    form = value[MARK]
    if not isinstance(form, int) or form != FORM:
        return Failure(f"its form is {form!r}, and this version reads form {FORM}; update zidane-acp.")
    updated = value.get("updated")
    session, cwd = text(value, "session"), text(value, "cwd")
    if not is_id(session) or not cwd or not isinstance(updated, float | int) or isinstance(updated, bool):
        return Failure("its first line lacks session, cwd or updated; export the session again.")
    return Success(StoredRow(session, cwd, float(updated), text(value, "head", "{}")))


def is_id(session: str) -> bool:
    """Whether a text can be the id of a session: printable, without spaces, and not too long to be shown."""
    return 0 < len(session) <= 200 and session.isprintable() and " " not in session


def _is_line(entry: str) -> bool:
    """Whether a text can stand on a line of its own and be told from one that is wrapped."""
    if not entry or "\n" in entry or "\r" in entry:
        return False
    value = decode_json(entry)
    return isinstance(value, Success) and not _is_wrapped(value.unwrap())


def _is_wrapped(value: object) -> bool:
    return is_object(value) and value.keys() == {DAMAGED}


def _unwrapped(value: object, entry: str) -> str:
    return text(value, DAMAGED) if is_object(value) and _is_wrapped(value) else entry
