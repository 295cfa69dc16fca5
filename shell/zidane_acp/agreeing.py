"""A question on the terminal that only a yes answers; without a terminal nobody agrees."""

import sys
from collections.abc import Callable


def agreed(question: str, ask: Callable[[str], str] | None = None) -> bool:
    """Whether the user says yes. `ask` stands for the terminal."""
    if ask is None and not sys.stdin.isatty():
        return False
    try:
        answer = (ask or input)(question)
    except (EOFError, KeyboardInterrupt):
        return False
    return answer.strip().lower() in ("y", "yes")
