"""Streamed Markdown: which blocks are finished, and which tail may still change."""

from functools import cache

from markdown_it import MarkdownIt


@cache
def _parser() -> MarkdownIt:
    # The same dialect that rich renders.
    return MarkdownIt().enable("strikethrough").enable("table")


def split(text: str) -> tuple[str, str]:
    """The finished blocks, and the last block that more text could still change. Joined they are the text."""
    starts = [token.map[0] for token in _parser().parse(text) if token.level == 0 and token.nesting >= 0 and token.map]
    if len(starts) < 2:
        return "", text
    lines = text.splitlines(keepends=True)
    cut = sum(map(len, lines[: starts[-1]]))
    return text[:cut], text[cut:]
