"""The line above the prompt: how the session stands, as much of it as fits."""

from collections.abc import Iterator
from typing import Final

from prompt_toolkit.utils import get_cwidth

from zidane_acp.chat.safe_text import clip, line
from zidane_acp.chat.standing import Standing, mode_name, named_value, option_name
from zidane_acp.chat.told import UsageTold

BETWEEN: Final = " · "
NAME: Final = 32
"""Characters of a name that are shown at most."""
KEPT: Final = ("mode", "context", "model", "cost", "thinking")
"""What stays longest when the line gets narrow comes first."""
LARGE: Final = ((1_000_000, "M"), (1_000, "k"))
CENT: Final = 0.01


def status_line(standing: Standing, columns: int) -> str:
    """At most `columns` wide; empty when the agent told nothing."""
    parts = dict(_parts(standing))
    for name in reversed(KEPT[1:]):
        if get_cwidth(BETWEEN.join(parts.values())) <= columns:
            break
        parts.pop(name, None)
    return _cut(BETWEEN.join(parts.values()), columns)


def _parts(standing: Standing) -> Iterator[tuple[str, str]]:
    usage = standing.usage
    shown = (
        ("mode", mode_name(standing)),
        ("model", option_name(standing, "model")),
        ("thinking", named_value(standing, "thought_level")),
        ("context", "" if usage is None else f"{usage.used / usage.size:.0%} of {_tokens(usage.size)}"),
        ("cost", "" if usage is None else _cost(usage)),
    )
    return ((name, clip(line(words), NAME)) for name, words in shown if words)


def _tokens(number: float) -> str:
    for unit, letter in LARGE:
        if number >= unit:
            return f"{number / unit:.1f}".removesuffix(".0") + letter
    return f"{number:.0f}"


def _cost(usage: UsageTold) -> str:
    if usage.cost is None:
        return ""
    # Much costs less than a cent.
    amount = f"{usage.cost:.4f}" if 0 < usage.cost < CENT else f"{usage.cost:.2f}"
    return f"${amount}" if usage.currency == "USD" else f"{amount} {usage.currency}".strip()


def _cut(words: str, columns: int) -> str:
    while get_cwidth(words) > columns:
        words = words[:-1]
    return words
