"""The tool `read_file`."""

import base64
from io import BytesIO
from typing import BinaryIO, Final, NamedTuple

from returns.result import Failure

from zidane_acp.tools.arguments import integer
from zidane_acp.tools.handles import entry, opened
from zidane_acp.tools.paths import checked, path_argument, shown
from zidane_acp.tools.results import Refused, said, why
from zidane_core import edits
from zidane_core.agent.work import RunTool
from zidane_core.data.content import Image
from zidane_core.data.tools import Location, ToolResult
from zidane_core.models.picture_head import head_of_bytes

ROOM: Final = 128 * 1024
"""Bytes of text given to the model at once."""

IMAGE_ROOM: Final = 5 * 2**20
"""Bytes of an image; providers take no more."""

EMPTY: Final = "[The file is empty.]"

SAMPLE: Final = 8192
"""Bytes of the beginning of a file, by which it is told what it is."""

_WIDE_ROOM: Final = 16 * 2**20
_STEP: Final = 65536


class Binary(Refused):
    """A file is no text that can be read."""


class Lines(NamedTuple):
    """Lines of a text file, how many they are, and the line to read on with when they were cut (else None)."""

    text: str
    lines: int
    onward: int | None

    def said(self) -> str:
        """The text, and where to read on."""
        if self.onward is None:
            return self.text
        start = self.text if self.text.endswith("\n") else self.text + "\n"
        return f"{start}[Cut here. Read on with line={self.onward}.]"


class _Taken(NamedTuple):
    """The same as bytes."""

    data: bytes
    lines: int
    onward: int | None


def read_file(call: RunTool) -> ToolResult:
    """Text from a line on, or an image."""
    path = checked(call, path_argument(call))
    place = shown(path, call.cwd)
    first, limit = integer(call, "line", 1), integer(call, "limit", 0)
    try:
        with entry(path, call.roots) as found, opened(found, path.given) as file:
            head = file.read(SAMPLE)
            media_type = head_of_bytes(head).media_type
            if media_type is not None:
                result = _image(file, head, media_type, path.given)
            else:
                result = _text(file, head, first, limit, path.given)
    except OSError as error:
        raise Refused(why(error, path.given)) from None
    line = first if "line" in call.arguments else None
    return ToolResult(content=result.content, raw=result.raw, locations=(Location(place, line),))


def _image(file: BinaryIO, head: bytes, media_type: str, given: str) -> ToolResult:
    data = head + file.read(IMAGE_ROOM)
    if len(data) > IMAGE_ROOM:
        raise Refused(f"{given} is an image of more than {IMAGE_ROOM // 2**20} MiB; make it smaller first.")
    return ToolResult(
        content=(Image(media_type, base64.b64encode(data).decode()),),
        raw={"mediaType": media_type, "bytes": len(data)},
    )


def _text(file: BinaryIO, head: bytes, first: int, limit: int, given: str) -> ToolResult:
    if not head:
        return said(EMPTY, raw={"line": 1, "lines": 0, "truncated": False})
    lines = text_lines(file, head, first, limit, given)
    return said(
        lines.said(), raw={"line": first, "lines": lines.lines, "truncated": lines.onward is not None}
    )


def text_lines(file: BinaryIO, head: bytes, first: int, limit: int, given: str, room: int = ROOM) -> Lines:
    """Lines of a file that begins with `head`, from `first` on: `limit` of them (0: all), in `room` bytes.

    Raises `Refused` when there is no such line, and `Binary`.
    """
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        file = _narrow(head + file.read(_WIDE_ROOM), given)
    elif b"\0" in head:
        raise Binary(f"{given} is binary, not text.")
    file.seek(0)
    taken = _take(file, first, limit, given, room)
    decoded = edits.decode(taken.data)
    if isinstance(decoded, Failure):
        raise Binary(f"{given} is binary, not text.")
    return Lines(decoded.unwrap().text, taken.lines, taken.onward)


def _narrow(data: bytes, given: str) -> BinaryIO:
    """A UTF-16 file as UTF-8, so that its lines can be found."""
    decoded = edits.decode(data)
    if isinstance(decoded, Failure) or len(data) > _WIDE_ROOM:
        raise Binary(f"{given} is binary or too large, not text that can be read.")
    return BytesIO(decoded.unwrap().text.encode())


def _take(file: BinaryIO, first: int, limit: int, given: str, room: int) -> _Taken:
    number = 1
    piece = b""
    while number < first:
        last, piece = piece, file.readline(_STEP)
        if not piece:
            lines = number - 1 + (last != b"" and not last.endswith(b"\n"))
            raise Refused(f"{given} has only {lines} line{'s' if lines != 1 else ''}.")
        number += piece.endswith(b"\n")
    taken: list[bytes] = []
    size = 0
    while not limit or len(taken) < limit:
        piece = file.readline(room - size + 1)
        if not piece:
            break
        if size + len(piece) > room:
            return _cut(taken, piece, number)
        taken.append(piece)
        size += len(piece)
    if not taken and first > 1:
        raise Refused(f"{given} has only {number - 1} line{'s' if number != 2 else ''}.")
    return _Taken(b"".join(taken), len(taken), None)


def _cut(taken: list[bytes], piece: bytes, number: int) -> _Taken:
    """What fits. A single line that is longer than all room is cut at a character."""
    if taken:
        return _Taken(b"".join(taken), len(taken), number + len(taken))
    end = len(piece) - 1
    while end > len(piece) - 5 and piece[end] & 0xC0 == 0x80:
        end -= 1
    return _Taken(piece[:end], 1, number + 1)
