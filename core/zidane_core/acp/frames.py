"""Bytes to frames: lines (NDJSON, the default) or Content-Length headers, with a bound on the size.

The two splitters are the one place of the core that keeps pieces in an object it changes: a frame of 64 MiB
that comes in reads of 64 KiB would cost the square of its size as bytes in a frozen record. They still do no
I/O, and what they give depends only on the bytes fed so far, not on how these were cut.
"""

import re
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

Framing: TypeAlias = Literal["ndjson", "content-length"]
"""How frames are told apart on the stream."""

MAX_FRAME: Final = 64 * 1024 * 1024
"""The default bound of a frame, in bytes."""

_HEAD: Final = 512
_HEADER_BOUND: Final = 8192
_HEADER_KEPT: Final = 64
_HEADER_END: Final = re.compile(rb"\r?\n\r?\n")
_LENGTH: Final = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*(?=\r?\n)", re.IGNORECASE)
_HEADER: Final = re.compile(rb"(?:[^\s:\"{}\[\]]+[ \t]*:[^\r\n]*\r?\n)+\r?\n")
_BLANK: Final = re.compile(rb"[ \t\r]*")


class Oversized(msgspec.Struct, frozen=True, gc=False):
    """A frame beyond `limit` bytes that was skipped. `head` is its beginning, to find its id in."""

    limit: int
    head: bytes


class BadHeader(msgspec.Struct, frozen=True, gc=False):
    """A stretch without a usable Content-Length; reading goes on at the next one."""

    problem: str


Item: TypeAlias = bytes | Oversized | BadHeader
"""What a splitter gives: a frame, or why there is none."""


class Splitter(Protocol):
    """Takes bytes as they come and gives the frames that are complete."""

    def feed(self, data: bytes) -> list[Item]: ...

    def end(self) -> list[Item]: ...


class LineSplitter:
    """One frame a line. Blank lines and carriage returns before the newline do not count.

    A line beyond the bound gives one `Oversized` and is skipped without being kept.
    """

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[Item]:
        """The frames that end in `data`."""
        found: list[Item] = []
        start = 0
        end = data.find(b"\n")
        while end >= 0:
            self._finish(data[start:end], found)
            start = end + 1
            end = data.find(b"\n", start)
        self._keep(data[start:], found)
        return found

    def end(self) -> list[Item]:
        """The last line, when the stream ended without a newline."""
        found: list[Item] = []
        self._finish(b"", found)
        return found

    def _keep(self, piece: bytes, found: list[Item]) -> None:
        if self._skipping or not piece:
            return
        self._kept += piece
        # The carriage return of a CRLF is not part of the frame, hence one byte of grace.
        if len(self._kept) > self._limit + 1:
            found.append(Oversized(self._limit, bytes(self._kept[: _head_size(self._limit)])))
            self._kept.clear()
            self._skipping = True

    def _finish(self, piece: bytes, found: list[Item]) -> None:
        if self._skipping:
            self._skipping = False
            return
        if self._kept:
            self._kept += piece
            line = bytes(self._kept)
            self._kept.clear()
        else:
            line = piece
        frame = line[:-1] if line.endswith(b"\r") else line
        if len(frame) > self._limit:
            found.append(Oversized(self._limit, frame[: _head_size(self._limit)]))
        elif not _BLANK.fullmatch(frame):
            found.append(frame)


class ContentLengthSplitter:
    """Frames with a Content-Length header, as the Language Server Protocol has them.

    A header without a usable length gives one `BadHeader`; reading goes on at the next usable one. A body
    beyond the bound gives one `Oversized` and is skipped by its count; an empty body gives nothing.
    """

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._header = bytearray()
        self._lost = False
        self._body = bytearray()
        self._seen = 0
        self._wanted = 0

    def feed(self, data: bytes) -> list[Item]:
        """The frames that end in `data`."""
        found: list[Item] = []
        rest = data
        while rest:
            rest = self._read_body(rest, found) if self._wanted else self._read_header(rest, found)
        return found

    def end(self) -> list[Item]:
        """What is left at the end of the stream: half a body, or a header that never ended."""
        found: list[Item] = []
        if self._wanted:
            self._finish(found)
        elif self._header.strip() and not self._lost:
            found.append(BadHeader("the stream ended within a header"))
        self._header.clear()
        return found

    def _read_header(self, data: bytes, found: list[Item]) -> bytes:
        self._header += data
        while True:
            end = _HEADER_END.search(self._header, 0, _HEADER_BOUND)
            if end is None and len(self._header) < _HEADER_BOUND:
                return b""
            stop = _HEADER_BOUND if end is None else end.end()
            block = bytes(self._header[:stop])
            lengths = _LENGTH.findall(block) if end is not None else []
            if block.strip() and not self._lost and not (lengths and _HEADER.fullmatch(block)):
                found.append(BadHeader("a header without Content-Length"))
            self._lost = not lengths and (self._lost or bool(block.strip()))
            if lengths:
                rest = bytes(self._header[stop:])
                self._header.clear()
                self._wanted = int(lengths[-1])
                return rest
            # A length may begin right before the bound, so a little is kept.
            del self._header[: stop if end is not None else stop - _HEADER_KEPT]

    def _read_body(self, data: bytes, found: list[Item]) -> bytes:
        part = data[: self._wanted - self._seen]
        bound = self._wanted if self._wanted <= self._limit else _head_size(self._limit)
        self._body += part[: bound - len(self._body)]
        self._seen += len(part)
        if self._seen == self._wanted:
            self._finish(found)
        return data[len(part) :]

    def _finish(self, found: list[Item]) -> None:
        body = bytes(self._body)
        found.append(Oversized(self._limit, body) if self._wanted > self._limit else body)
        self._body.clear()
        self._seen = self._wanted = 0


def _head_size(limit: int) -> int:
    return min(_HEAD, limit)


def splitter(framing: Framing, limit: int = MAX_FRAME) -> Splitter:
    """A fresh splitter for a stream."""
    return LineSplitter(limit) if framing == "ndjson" else ContentLengthSplitter(limit)


def encode(frame: bytes, framing: Framing = "ndjson") -> bytes:
    """The frame as it goes out."""
    if framing == "ndjson":
        return frame + b"\n"
    return b"Content-Length: %d\r\n\r\n%b" % (len(frame), frame)
