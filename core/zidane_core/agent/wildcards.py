"""Names with wildcards on either side (ring 2): patterns of a rule, and words that a shell has yet to expand.

In a word of a shell line three characters of the private use area stand for what is not known: `ANY` for any text
without a slash, `ONE` for one character, `UNKNOWN` for what a variable or a command gives.
"""

import re
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

ANY: Final = "\ue000"
ONE: Final = "\ue001"
UNKNOWN: Final = "\ue002"

_OPEN: Final = frozenset({ANY, ONE, UNKNOWN})
_PATTERN: Final = re.compile(r"[*?\[]")


def is_fixed(word: str) -> bool:
    """Whether a word is just its text."""
    return _OPEN.isdisjoint(word)


def is_unknown(word: str) -> bool:
    """Whether nothing at all is known of a word."""
    return bool(word) and set(word) == {UNKNOWN}


def is_open(word: str) -> bool:
    """Whether a word has no fixed character."""
    return bool(word) and _OPEN.issuperset(word)


def coincide(pattern: str, word: str) -> bool:
    """Whether a pattern (`*`, `?`, `[...]`) may name what a word stands for; neither has a slash."""
    if is_fixed(word):
        return pattern == word or (_PATTERN.search(pattern) is not None and fnmatchcase(word, pattern))
    if _PATTERN.search(pattern) is None:
        # No shell expands a leading wildcard to a hidden name.
        hidden = pattern.startswith(".") and word[0] in (ANY, ONE)
        return not hidden and _expands_to(word, pattern)
    # With wildcards on both sides, one that has nothing else is not taken for every pattern there is.
    return fnmatchcase(word, pattern) or (not is_open(word) and _expands_to(word, pattern))


def _expands_to(word: str, text: str) -> bool:
    parts = (_REGEX.get(character) or re.escape(character) for character in word)
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


_REGEX: Final = MappingProxyType({ANY: ".*", ONE: ".", UNKNOWN: ".*"})
