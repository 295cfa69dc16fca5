"""Whether a text can be a key, before it is kept. No provider is asked."""

from typing import Final

SHORTEST: Final = 8
LONGEST: Final = 1024
"""Characters of a key."""


def problem_of(text: str) -> str:
    """What is wrong with a text that was given as a key, as a sentence that does not quote it; '' when nothing is.

    Blanks around it are no problem; they are taken off before it is kept.
    """
    key = text.strip()
    if not key:
        return "No key was given."
    if not (key.isascii() and key.isprintable()) or " " in key:
        return "A key has printable ASCII characters and no blanks; copy it alone and whole."
    if not SHORTEST <= len(key) <= LONGEST:
        return (
            f"A key has {SHORTEST} to {LONGEST} characters, this one has {len(key)}; copy it alone and whole."
        )
    name, equals, _ = key.partition("=")
    if equals and name.endswith("_KEY"):
        return "Give the key alone, without the name of its variable."
    return ""
