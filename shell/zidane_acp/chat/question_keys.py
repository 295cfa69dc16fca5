"""Which key picks which option of a permission question."""

from collections.abc import Mapping, Sequence
from typing import Final

from zidane_acp.chat.safe_text import line
from zidane_acp.chat.updates import Option

BY_KIND: Final[Mapping[str, str]] = {
    "allow_once": "a",
    "allow_always": "A",
    "reject_once": "r",
    "reject_always": "R",
}
ALSO: Final[Mapping[str, str]] = {"y": "allow_once", "n": "reject_once"}


def keys(options: Sequence[Option]) -> dict[str, Option]:
    """A key for every option, in their order: by kind where it is free, else a digit."""
    chosen: dict[str, Option] = {}
    for number, option in enumerate(options, 1):
        key = BY_KIND.get(option.kind, "")
        chosen[key if key and key not in chosen else str(number)] = option
    return chosen


def hint(chosen: Mapping[str, Option]) -> str:
    """The line that shows the keys."""
    return "  " + "   ".join(f"[{key}] {line(option.name)}" for key, option in chosen.items())


def pick(chosen: Mapping[str, Option], key: str) -> Option | None:
    """The option of a key. y and n work too; nothing else is ever taken as an answer."""
    if key in chosen:
        return chosen[key]
    kind = ALSO.get(key.lower(), "")
    return next((option for option in chosen.values() if kind and option.kind == kind), None)
