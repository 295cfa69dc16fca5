"""The text of a command file -> what of it the agent uses: a description, a hint about arguments, the template.

The front matter is a few lines `key: value` between two lines `---`; nothing else of YAML is read.
"""

import re
from typing import Final

import msgspec

from zidane_core.convert.visible import clip, line

FRONT_LINES: Final = 50
"""Lines that the front matter may have; where it does not end by then, there is none."""

WIDTH: Final = 200
"""Characters of a description or a hint."""

_PAIR: Final = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*)")
_QUOTED: Final = re.compile(r"(['\"])(.*)\1")
_MARKUP: Final = "#>*- \t"


class CommandText(msgspec.Struct, frozen=True, gc=False):
    """What a command file says; `template` is '' when it says nothing."""

    template: str
    description: str = ""
    hint: str = ""


def command_text(text: str) -> CommandText:
    """The parts of a command file, whose line ends are \\n. Without a description it is the first line of the template."""
    lines = text.split("\n")
    end = _end_of_front(lines)
    pairs = dict(_pair(one) for one in lines[1:end] if _PAIR.fullmatch(one.strip()))
    template = "\n".join(lines[end + 1 if end else 0 :]).strip("\n").rstrip()
    first = next((one.strip().lstrip(_MARKUP) for one in template.split("\n") if one.strip()), "")
    return CommandText(
        template, _one_line(pairs.get("description", "") or first), _one_line(pairs.get("argument-hint", ""))
    )


def _end_of_front(lines: list[str]) -> int:
    """The number of the line that ends the front matter, from 0; 0 where there is none."""
    if lines[0].rstrip() != "---":
        return 0
    return next((at for at, one in enumerate(lines[1:FRONT_LINES], 1) if one.rstrip() == "---"), 0)


def _pair(one: str) -> tuple[str, str]:
    key, _, value = one.strip().partition(":")
    quoted = _QUOTED.fullmatch(value.strip())
    return key.strip().lower(), value.strip() if quoted is None else quoted[2]


def _one_line(text: str) -> str:
    return clip(line(text), WIDTH)
