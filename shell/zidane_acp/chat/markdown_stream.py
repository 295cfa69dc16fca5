"""Streamed Markdown: which blocks are finished, and which tail may still change."""

import re
from functools import cache
from itertools import pairwise
from typing import Final

from markdown_it import MarkdownIt

LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


@cache
def _parser() -> MarkdownIt:
    # The same dialect that rich renders.
    return MarkdownIt().enable("strikethrough").enable("table")


def blocks(text: str) -> tuple[str, ...]:
    """The top-level blocks with what stands between them. Joined they are the text."""
    tokens = _parser().parse(text)
    starts = [token.map[0] for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
    # Only "\n" ends a line here, as in the parser's own count; str.splitlines knows more line ends.
    lines = LINE.findall(text)
    return tuple("".join(lines[begin:end]) for begin, end in pairwise([0, *starts[1:], len(lines)]))


def split(text: str) -> tuple[tuple[str, ...], str]:
    """The finished blocks, and the last block, which more text could still change."""
    found = blocks(text)
    return found[:-1], found[-1] if found else ""
