"""Text of others on a terminal: no control sequence of theirs reaches it."""

from zidane_core.convert.visible import clip, line, neutral, output

__all__ = ("clip", "line", "neutral", "output")
