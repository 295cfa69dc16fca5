"""On which line of a TOML file a key stands, which `tomllib` does not tell.

The text has been read by `tomllib` before, so that only what is valid needs to be understood. A key inside of an inline table
or of an array has the line of the key that the whole is given to.
"""

import re
from typing import Final

from zidane_acp.config.paths import Path

DEEPEST: Final = 16
"""Keys of one line that are marked: no setting is deeper, and a line of thousands takes long."""

_SKIPPED: Final = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_QUOTED: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')
# What a value is made of: strings whose brackets do not count, brackets, and the end of a line.
_PIECE: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[{]|[\]}]|\n|[^\[\]{}"\'#\n]+',
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_SHORT: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class Places:
    """The lines of all keys of a text that `tomllib` takes."""

    def __init__(self, text: str) -> None:
        self._lines: dict[Path, int] = {}
        self._counts: dict[Path, int] = {}
        self._text = text.removeprefix("\ufeff")
        self._at = 0
        # Lines are counted from where the last key stood: counting from the beginning each time takes too long.
        self._line, self._counted = 1, 0
        self._scan()

    def line(self, path: Path) -> int:
        """The line of a key, from 1; of what stands inside of it, or 1 for the whole file."""
        for length in range(len(path), 0, -1):
            found = self._lines.get(path[:length])
            if found is not None:
                return found
        return 1

    def _scan(self) -> None:
        table: Path = ()
        while self._skip() < len(self._text):
            line = self._here()
            if self._text.startswith("[[", self._at):
                table = self._array(self._header(2))
                self._mark(table, line)
            elif self._text[self._at] == "[":
                table = self._latest(self._header(1))
                self._mark(table, line)
            else:
                self._mark(table + self._key(), line, len(table))
                self._value()

    def _skip(self) -> int:
        match = _SKIPPED.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._at

    def _here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _mark(self, path: Path, line: int, above: int = 0) -> None:
        for length in range(above + 1, min(len(path), above + DEEPEST) + 1):
            self._lines.setdefault(path[:length], line)

    def _header(self, brackets: int) -> tuple[str, ...]:
        self._at += brackets
        keys = self._key()
        self._at += brackets
        return keys

    def _key(self) -> tuple[str, ...]:
        """A key with dots; what ends it is left behind, but for the sign of a pair."""
        keys: list[str] = []
        while self._at < len(self._text):
            self._blank()
            match = _QUOTED.match(self._text, self._at) or _BARE.match(self._text, self._at)
            if match is None:
                break
            keys.append(_unquoted(match.group()))
            self._at = match.end()
            self._blank()
            if not self._text.startswith(".", self._at):
                break
            self._at += 1
        return tuple(keys)

    def _blank(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in " \t":
            self._at += 1

    def _value(self) -> None:
        depth = 0
        while match := _PIECE.match(self._text, self._at):
            piece = match.group()
            if piece == "\n" and depth == 0:
                return
            self._at = match.end()
            depth += (piece in ("[", "{")) - (piece in ("]", "}"))

    def _array(self, keys: tuple[str, ...]) -> Path:
        path = (*self._latest(keys[:-1]), *keys[-1:])
        number = self._counts.get(path, -1) + 1
        self._counts[path] = number
        return (*path, number)

    def _latest(self, keys: tuple[str, ...]) -> Path:
        """The keys of a header, with the number of the newest entry behind each array of tables."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            if path in self._counts:
                path = (*path, self._counts[path])
        return path


def split_key(text: str) -> tuple[str, ...] | None:
    """The keys of a dotted key such as `mcp."my files".command`; None where it is none."""
    keys: list[str] = []
    at = 0
    while match := _QUOTED.match(text, at) or _BARE.match(text, at):
        keys.append(_unquoted(match.group()))
        at = match.end()
        if at == len(text):
            return tuple(keys)
        if text[at] != ".":
            return None
        at += 1
    return None


def _unquoted(key: str) -> str:
    if key[0] == "'":
        return key[1:-1]
    return _ESCAPE.sub(_escaped, key[1:-1]) if key[0] == '"' else key


def _escaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _SHORT.get(match[3], match[3])
