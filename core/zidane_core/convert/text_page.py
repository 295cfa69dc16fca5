"""A conversation -> plain text for a terminal or a pipe."""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from zidane_core.convert.diff_rows import MARKS, diff_rows
from zidane_core.convert.transcript import (
    About,
    Answer,
    Card,
    Damaged,
    End,
    Notice,
    Plan,
    Prompt,
    Shown,
    Thought,
)
from zidane_core.convert.visible import line, neutral
from zidane_core.convert.wording import (
    CARD_MARKS,
    STEP_MARKS,
    UNREADABLE,
    arguments,
    ending,
    heading,
    place,
    spoken,
)
from zidane_core.data.tools import Diff

OUTPUT_LINES: Final = 40
"""Of a call's longer output the first and the last lines are shown; the other forms have all of it."""
INDENT: Final = "    "


def text_page(about: About, shown: Iterable[Shown]) -> str:
    """The conversation without a control character: prompts behind ›, cards with their mark, the answer as it is."""
    under = [line(word) for word in (about.session, about.cwd, about.when) if word]
    blocks = ["\n".join([heading(about), *under])]
    blocks.extend(block for item in shown if (block := _SHOW[type(item)](item)))
    return "\n\n".join(blocks) + "\n"


def _prompt(item: Prompt) -> str:
    return _behind("› ", "\n".join(spoken(part) for part in item.parts))


def _answer(item: Answer) -> str:
    return neutral(item.text).strip("\n")


def _thought(item: Thought) -> str:
    return _behind("  ~ ", neutral(item.text).strip("\n"))


def _behind(mark: str, text: str) -> str:
    return "\n".join((mark + row).rstrip() for row in text.split("\n"))


def _card(item: Card) -> str:
    return "\n".join(_card_lines(item))


def _card_lines(item: Card) -> Iterator[str]:
    state = "" if item.status == "completed" else f", {item.status}"
    yield f"{CARD_MARKS[item.status]} {line(item.title) or 'Tool call'} ({item.kind}{state})"
    yield from (INDENT + place(location) for location in item.locations)
    if not item.diffs:
        for name, value in arguments(item.raw):
            # A command is its own title.
            if value != item.title:
                yield textwrap.indent(f"{name}: {value}", INDENT)
    for diff in item.diffs:
        yield from _diff_lines(diff)
    for part in item.output:
        yield from (INDENT + row for row in _middle_left_out(spoken(part).split("\n")))


def _diff_lines(diff: Diff) -> Iterator[str]:
    yield INDENT + ("new file " if diff.old is None else "") + line(diff.path)
    for row in diff_rows(diff):
        yield INDENT + MARKS[row.kind] + row.text


def _middle_left_out(lines: list[str]) -> list[str]:
    if len(lines) <= OUTPUT_LINES:
        return lines
    keep = OUTPUT_LINES // 2
    return [*lines[:keep], f"… {len(lines) - 2 * keep} more lines …", *lines[-keep:]]


def _plan(item: Plan) -> str:
    return "\n".join(["Plan", *(f"  {STEP_MARKS[step.status]} {line(step.content)}" for step in item.steps)])


def _notice(item: Notice) -> str:
    return f"· {item.severity}: {neutral(item.text)}"


def _end(item: End) -> str:
    words = ending(item)
    return f"— {words}" if words else ""


def _damaged(item: Damaged) -> str:
    return f"· {UNREADABLE}"


# Any: each function takes the type of its key, which a dict type cannot say.
_SHOW: Final[Mapping[type[Shown], Callable[[Any], str]]] = MappingProxyType(
    {
        Prompt: _prompt,
        Answer: _answer,
        Thought: _thought,
        Card: _card,
        Plan: _plan,
        Notice: _notice,
        End: _end,
        Damaged: _damaged,
    }
)
