"""What the first bytes of a picture say: its kind, and its width and height in pixels (ring 1).

Total on any bytes. Only what the format needs is looked at: some thirty bytes, and of a JPEG the heads of its segments,
since previews and colour profiles of any size may stand before its frame. So base64 is decoded a few bytes at a time.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

Read: TypeAlias = Callable[[int, int], bytes]
"""Bytes of a picture: from where on, and how many. At its end there are fewer, or none."""


class Sides(NamedTuple):
    """Pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width} x {self.height} pixels"


class Head(NamedTuple):
    """The media type of a picture, None when it is none that is known, and its sides as far as they can be told."""

    media_type: str | None = None
    sides: Sides | None = None


def head_of_bytes(data: bytes) -> Head:
    """What a picture is; of a picture that is cut off as much as is there."""
    return _head(lambda start, count: data[start : start + count])


def head_of_base64(data: str) -> Head:
    """The same of a picture in base64; text that is no base64 is no picture."""

    def read(start: int, count: int) -> bytes:
        first, skipped = divmod(start, 3)
        last = -(-(start + count) // 3)
        try:
            return base64.b64decode(data[first * 4 : last * 4])[skipped : skipped + count]
        except (binascii.Error, ValueError):  # ValueError: what is not ASCII
            return b""

    return _head(read)


def _head(read: Read) -> Head:
    start = read(0, _LONGEST_MARK)
    for kind in _FORMATS:
        if all(start.startswith(mark, at) for at, mark in kind.marks):
            return Head(kind.media_type, kind.sides(read))
    return Head()


# Formats -------------------------------------------------------------------------------------------


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _png(read: Read) -> Sides | None:
    chunk = read(12, 12)
    whole = len(chunk) == 12 and chunk.startswith(b"IHDR")
    return Sides(_big(chunk[4:8]), _big(chunk[8:])) if whole else None


def _gif(read: Read) -> Sides | None:
    screen = read(6, 4)
    return Sides(_little(screen[:2]), _little(screen[2:])) if len(screen) == 4 else None


_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG's frame; the three between them are tables and a reserved one."""

_BARE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers of a JPEG that have no segment behind them."""

_ENDS: Final = frozenset({0xD9, 0xDA})
"""Markers of a JPEG behind which no frame begins any more."""

_MOST_SEGMENTS: Final = 4096
"""Steps through a JPEG; a real one has less than a hundred."""


def _jpeg(read: Read) -> Sides | None:
    at = 2
    for _ in range(_MOST_SEGMENTS):
        segment = read(at, 9)
        marker = segment[1] if len(segment) > 3 and segment[0] == 0xFF else 0xD9
        if marker in _FRAMES:
            return Sides(_big(segment[7:9]), _big(segment[5:7])) if len(segment) == 9 else None
        if marker in _ENDS:
            return None
        # A marker may have any number of 0xFF before it.
        at += 1 if marker == 0xFF else 2 if marker in _BARE else 2 + _big(segment[2:4])
    return None


def _webp(read: Read) -> Sides | None:
    sides = _WEBPS.get(read(12, 4))
    start = read(20, 10)
    return sides(start) if sides is not None and len(start) == 10 else None


def _lossy(start: bytes) -> Sides | None:
    key = start[3:6] == b"\x9d\x01\x2a"
    return Sides(_little(start[6:8]) & 0x3FFF, _little(start[8:10]) & 0x3FFF) if key else None


def _lossless(start: bytes) -> Sides | None:
    packed = _little(start[1:5])
    return Sides((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1) if start[0] == 0x2F else None


def _extended(start: bytes) -> Sides | None:
    return Sides(_little(start[4:7]) + 1, _little(start[7:10]) + 1)


_WEBPS: Final[Mapping[bytes, Callable[[bytes], Sides | None]]] = MappingProxyType(
    {b"VP8 ": _lossy, b"VP8L": _lossless, b"VP8X": _extended}
)


class _Format(NamedTuple):
    """A kind of picture: the bytes it has, by where they stand, and how its sides are found."""

    media_type: str
    marks: tuple[tuple[int, bytes], ...]
    sides: Callable[[Read], Sides | None]


_LONGEST_MARK: Final = 12
_FORMATS: Final = (
    _Format("image/png", ((0, b"\x89PNG\r\n\x1a\n"),), _png),
    _Format("image/jpeg", ((0, b"\xff\xd8\xff"),), _jpeg),
    _Format("image/gif", ((0, b"GIF87a"),), _gif),
    _Format("image/gif", ((0, b"GIF89a"),), _gif),
    _Format("image/webp", ((0, b"RIFF"), (8, b"WEBP")), _webp),
)
