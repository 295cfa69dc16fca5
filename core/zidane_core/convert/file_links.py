"""`file:` URIs -> the path and the lines that they name."""

import re
from typing import Final
from urllib.parse import unquote

import msgspec

_LOCAL: Final = frozenset({"", "localhost"})
_DRIVE: Final = re.compile(r"/*([A-Za-z])[:|](/.*)")
_LINES: Final = re.compile(r"L?([0-9]{1,9})(?:[C,][0-9]+)?(?:[-:]L?([0-9]{1,9})(?:[C,][0-9]+)?)?")


class FileLink(msgspec.Struct, frozen=True, gc=False):
    """An absolute path, and the lines that were asked for, from 1 (None: all).

    Bytes of the path that are not UTF-8 are lone surrogates, as in file names of Python.
    """

    path: str
    first: int | None = None
    last: int | None = None


def file_link(uri: str, windows: bool = False) -> FileLink | None:
    """What a URI names on this machine; None when it is no file URI, has no absolute path, or names another host.

    Percent signs are decoded once, and a query is left out. With `windows` a path begins with a drive.
    """
    scheme, colon, rest = uri.strip().partition(":")
    if not colon or scheme.lower() != "file":
        return None
    rest, _, fragment = rest.partition("#")
    rest = rest.partition("?")[0]
    if rest.startswith("//"):
        host, slash, behind = rest[2:].partition("/")
        if windows and _DRIVE.fullmatch(unquote(rest[2:])):  # file://C:/a, which is wrong but common
            behind = rest[2:]
        elif host.lower() not in _LOCAL:
            return None
        rest = slash + behind
    path = _drive(unquote(rest, errors="surrogateescape")) if windows else _decoded(rest)
    return FileLink(path, *_lines(unquote(fragment))) if path else None


def _decoded(path: str) -> str:
    decoded = unquote(path, errors="surrogateescape")
    return decoded if decoded.startswith("/") else ""


def _drive(path: str) -> str:
    """`/c:/a` as `c:/a`; '' for what has no drive, since two slashes would lead to another host."""
    match = _DRIVE.fullmatch(path.replace("\\", "/"))
    return f"{match[1]}:{match[2]}" if match else ""


def _lines(fragment: str) -> tuple[int | None, int | None]:
    match = _LINES.fullmatch(fragment)
    if match is None:
        return None, None
    first = max(int(match[1]), 1)
    last = first if match[2] is None else max(int(match[2]), 1)
    return min(first, last), max(first, last)
