"""Texts of others inside of a Markdown document: they keep to their place and load nothing."""

import re
from collections.abc import Iterator
from typing import Final

from zidane_core.convert.visible import line, neutral

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|~]|&(?=[#A-Za-z]))")
_FENCE: Final = re.compile(r"[ >]*(?:(?:[-+*]|\d{1,9}[.)]) +)*(`{3,}|~{3,})(.*)")
_CODE_SPAN: Final = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_TAG: Final = re.compile(r"(?<!\\)<(?=[A-Za-z/!?])(?!(?:https?://|mailto:)[^\s<>]*>)")
_PICTURE: Final = re.compile(r"!(?=\[)")
_ADDRESS: Final = re.compile(r"\](?=[(:]\s*(?:$|<?(?!https?://|mailto:)[^)\s/#?]*[:&\\]))", re.IGNORECASE)
"""The end of a link's words when its address has another scheme, hides one, or stands on the next line."""
_RUN: Final = re.compile("`+")


def plain(text: str) -> str:
    """One line of text in which nothing is Markdown; for the middle of a line, where no list or heading begins."""
    return _SPECIAL.sub(r"\\\1", line(text))


def code(text: str) -> str:
    """One line of text as a code span."""
    shown = line(text)
    if not shown:
        return ""
    ticks = "`" * (max((len(run) for run in _RUN.findall(shown)), default=0) + 1)
    edge = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{ticks}{edge}{shown}{edge}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """A block of code whose fence is longer than any in the text."""
    shown = neutral(text).rstrip("\n")
    ticks = "`" * max(3, max((len(run) for run in _RUN.findall(shown)), default=0) + 1)
    return f"{ticks}{language}\n{shown}\n{ticks}"


def quoted(text: str) -> str:
    """A text as a quotation; what is left open in it ends with it."""
    return "\n".join(f"> {row}".rstrip() for row in text.split("\n"))


def tame(text: str) -> str:
    """Markdown of others with its code closed, its HTML as text, its pictures as links, and links to the web only.

    It looks at lines, not at blocks, so that texts exist which fool it; a parser must have the last word.
    """
    return "\n".join(_tamed(neutral(text).strip("\n").split("\n")))


def _tamed(rows: list[str]) -> Iterator[str]:
    fence = ""
    for row in rows:
        found = _FENCE.fullmatch(row)
        if fence:
            closes = found is not None and found.group(1).startswith(fence) and not found.group(2).strip()
            fence = "" if closes else fence
            yield row
        elif found is not None and not (found.group(1)[0] == "`" and "`" in found.group(2)):
            fence = found.group(1)
            yield row
        else:
            yield _without_html(row)
    if fence:
        yield fence


def _without_html(row: str) -> str:
    """The row with < written out, and with ! of pictures and links to no web taken away, outside of its code spans."""
    made: list[str] = []
    at = 0
    for span in _CODE_SPAN.finditer(row):
        made.extend((_defused(row[at : span.start()]), span.group()))
        at = span.end()
    return "".join((*made, _defused(row[at:])))


def _defused(text: str) -> str:
    return _PICTURE.sub("", _ADDRESS.sub(r"\\]", _TAG.sub("&lt;", text)))
