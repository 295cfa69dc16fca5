"""How the offline model reads quoted words, and quotes text itself (ring 1)."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """The command cannot be understood: what is wrong, in half a sentence."""

    problem: str


_WORD: Final = re.compile(
    r"""(?P<gap>\s+)|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'|(?P<open>["'])|(?P<bare>(?:\\[\s"']|[^\s"'])+)""",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES: Final[Mapping[str, str]] = MappingProxyType(
    {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def unescape(text: str) -> str:
    """C-style escapes; an unknown one stands for its character."""

    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else _ESCAPES.get(match[3], match[3])

    return _SURROGATE.sub("\ufffd", _ESCAPE.sub(character, text))


def words(text: str) -> tuple[str, ...] | Malformed:
    """The words of a line, as a shell reads them.

    "double quotes" take C-style escapes, 'single quotes' and bare words take everything as it stands, but a
    backslash before a space or a quote. A bare backslash stays, so that Windows paths need no quotes.
    """
    found: list[list[str]] = []
    glued = False
    for match in _WORD.finditer(text):
        if match["open"]:
            return Malformed(f"the quote at {quoted(text[match.start() :], 20)} is not closed")
        if match["gap"]:
            glued = False
            continue
        if not glued:
            found.append([])
        found[-1].append(_piece(match))
        glued = True
    return tuple("".join(pieces) for pieces in found)


def _piece(match: re.Match[str]) -> str:
    if match["double"] is not None:
        return unescape(match["double"])
    if match["single"] is not None:
        return match["single"]
    return re.sub(r"\\([\s\"'])", r"\1", match["bare"])


def unquoted(rest: str) -> str:
    """The rest of a line as it stands, without the quotes around the whole of it."""
    rest = rest.strip()
    quote = rest[:1]
    if len(rest) > 1 and quote in {"'", '"'} and rest.endswith(quote) and quote not in rest[1:-1]:
        return rest[1:-1]
    return rest


def quoted(text: str, limit: int = 80) -> str:
    """The first line of a text as a code span, cut at `limit` characters."""
    line = text.strip().split("\n", 1)[0]
    short = line if len(line) <= limit else line[: limit - 1] + "…"
    return f"`` {short} ``" if "`" in short else f"`{short}`"
