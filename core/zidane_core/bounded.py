"""Cutting long output for the model and the card, with a note of what is missing."""

from typing import Literal, TypeAlias

Keep: TypeAlias = Literal["head", "tail", "both"]


def _head(data: bytes, size: int) -> bytes:
    """The longest start of UTF-8 bytes of at most `size` bytes that ends between two characters."""
    end = min(size, len(data))
    while 0 < end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]


def _tail(data: bytes, size: int) -> bytes:
    """The longest end of UTF-8 bytes of at most `size` bytes that starts between two characters."""
    start = max(len(data) - size, 0)
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def left_out(size: int, lines: int = 0) -> str:
    """The note about `size` missing bytes, which held `lines` line ends."""
    held = f" with {lines:,} line end{'s' if lines != 1 else ''}" if lines else ""
    return f"[{size:,} byte{'s' if size != 1 else ''}{held} left out here]"


def bounded(text: str, limit_bytes: int, keep: Keep = "head") -> str:
    """The text if its UTF-8 form has at most `limit_bytes` bytes, else what is kept of it and a note.

    The kept part alone stays within the limit and is never cut inside a character.
    """
    if len(text) * 4 <= limit_bytes:
        return text
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit_bytes:
        return text
    limit = max(limit_bytes, 0)
    half = limit if keep == "head" else 0 if keep == "tail" else limit // 2
    head = _head(data, half)
    tail = _tail(data, limit - half)
    missing = data[len(head) : len(data) - len(tail)]
    note = left_out(len(missing), missing.count(b"\n"))
    pieces = (head, note.encode(), tail)
    return "\n".join(piece.decode("utf-8", "surrogatepass") for piece in pieces if piece)
