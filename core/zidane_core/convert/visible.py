"""Text of others in what people read, on a terminal or on a page: nothing in it acts, and nothing in it hides."""

import re
from typing import Final

SEQUENCE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC: titles, links
    r"|\x1b[PX^_][^\x1b]*\x1b\\"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"  # the short ones
)
# Bidirectional overrides can make a command read as another one.
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
OVERWRITTEN: Final = re.compile(r"[^\r\n]*\r(?=[^\n])")


def _shown(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def neutral(text: str) -> str:
    """The text with every control character made visible; line ends and tabs stay."""
    return CONTROL.sub(_shown, text.replace("\r\n", "\n"))


def line(text: str) -> str:
    """The text on one line."""
    return neutral(" ".join(text.split()))


def output(text: str) -> str:
    """Program output as it would stand on a terminal without colours: sequences go, progress bars keep their end."""
    return neutral(OVERWRITTEN.sub("", SEQUENCE.sub("", text.replace("\r\n", "\n"))))


def clip(text: str, width: int) -> str:
    """At most `width` characters, with a sign that something is missing."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"
