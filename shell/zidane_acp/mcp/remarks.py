"""What the user is told about a server that works, such as what of its lists is left out."""

from collections.abc import Iterable, Sequence
from typing import Final

from zidane_acp.mcp.reasons import hidden
from zidane_core.convert.visible import clip, line

NAMED: Final = 5
"""Names in one sentence; of the others only the number is told."""

WIDTH: Final = 60
"""Characters of one name."""


class Remarks:
    """Sentences that go with the next offer. Each kind is said once a server, whatever it does again and again."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(secrets)
        self._kinds: set[str] = set()
        self._waiting: list[str] = []

    def add(self, kind: str, text: str) -> bool:
        """Say this with the next offer; False when something of the kind was said before."""
        if kind in self._kinds:
            return False
        self._kinds.add(kind)
        self._waiting.append(hidden(text, self._secrets))
        return True

    def taken(self) -> tuple[str, ...]:
        """What is to be said now."""
        said, self._waiting = tuple(self._waiting), []
        return said


def names_of(names: Sequence[str]) -> str:
    """Names that others have made, as a part of a sentence."""
    shown = ", ".join(clip(line(name), WIDTH) or "one without a name" for name in names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"
