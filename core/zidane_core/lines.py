"""Some lines of a text for the model: from a line on, so many, within a bound of bytes."""

import msgspec
from returns.result import Failure, Result, Success

ROOM = 128 * 1024
"""Bytes of text given to the model at once."""


class Cut(msgspec.Struct, frozen=True, gc=False):
    """The lines asked for, how many they are, and the line to read on with when they were cut (else None)."""

    text: str
    lines: int
    onward: int | None = None


def cut(text: str, first: int = 1, limit: int = 0, room: int = ROOM) -> Result[Cut, int]:
    """`limit` lines (0: all) from line `first`, counted from 1. The failure is how many lines there are, too few.

    A single line that is longer than all room is cut at a character.
    """
    data = text.encode("utf-8", "surrogatepass")
    start, passed = 0, 0
    while passed < first - 1:
        end = data.find(b"\n", start)
        if end < 0:
            return Failure(passed + (start < len(data)))
        start, passed = end + 1, passed + 1
    if start >= len(data) and first > 1:
        return Failure(passed)
    at, lines = start, 0
    while at < len(data) and not (limit and lines >= limit):
        end = data.find(b"\n", at) + 1 or len(data)
        if end - start > room:
            return Success(_within(data, start, at, first, lines, room))
        at, lines = end, lines + 1
    return Success(Cut(_text(data[start:at]), lines))


def _within(data: bytes, start: int, at: int, first: int, lines: int, room: int) -> Cut:
    if lines:
        return Cut(_text(data[start:at]), lines, first + lines)
    end = start + room
    while end > start and data[end] & 0xC0 == 0x80:
        end -= 1
    return Cut(_text(data[start:end]), 1, first + 1)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def too_few(path: str, lines: int) -> str:
    """The sentence for a line that is not there."""
    return f"{path} has only {lines} line{'s' if lines != 1 else ''}."


def marked(found: Cut) -> str:
    """The text, with where to read on when it was cut."""
    if found.onward is None:
        return found.text
    start = found.text if found.text.endswith("\n") else found.text + "\n"
    return f"{start}[Cut here. Read on with line={found.onward}.]"
