"""A conversation -> one Markdown document. The agent's Markdown stays Markdown; everything else is escaped.

Whether a tamed text really keeps to its place only a parser can say, and the core has none: `stands_alone` is given.
A text that does not is shown as its source.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from zidane_core.convert.diff_rows import MARKS, diff_rows
from zidane_core.convert.markdown_text import code, fenced, plain, quoted, tame
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
from zidane_core.convert.wording import (
    CARD_MARKS,
    UNREADABLE,
    ending,
    heading,
    name_of_part,
    place,
    pretty_json,
    spoken,
    text_of,
)
from zidane_core.data.content import Part, Text
from zidane_core.data.tools import Diff

StandsAlone: TypeAlias = Callable[[str], bool]
"""Whether Markdown holds no HTML, no picture, only links of the web, and nothing that is still open at its end."""

BOXES: Final[Mapping[str, str]] = MappingProxyType(
    {"completed": "[x]", "in_progress": "[ ]", "pending": "[ ]"}
)


def markdown_page(about: About, shown: Iterable[Shown], stands_alone: StandsAlone) -> str:
    """The whole conversation. Pictures are named and not embedded; nothing is loaded from anywhere."""
    facts = (("Session", code(about.session)), ("Folder", code(about.cwd)), ("Date", plain(about.when)))
    head = "\n".join(f"- {name}: {value}" for name, value in facts if value)
    blocks = [f"# {plain(heading(about))}", head]
    blocks.extend(block for item in shown for block in _SHOW[type(item)](item, stands_alone))
    return "\n\n".join(blocks) + "\n"


def _said(text: str, stands_alone: StandsAlone) -> str:
    tamed = tame(text)
    return tamed if stands_alone(tamed) else fenced(text, "markdown")


def _prompt(item: Prompt, stands_alone: StandsAlone) -> Iterator[str]:
    yield "## You"
    yield quoted("\n\n".join(_part(part, stands_alone) for part in item.parts))


def _part(part: Part, stands_alone: StandsAlone) -> str:
    """A part of a prompt: text as Markdown, a file as a block of code, anything else by its name."""
    if isinstance(part, Text):
        return _said(part.text, stands_alone)
    text = text_of(part)
    return plain(name_of_part(part)) + ("" if text is None else "\n\n" + fenced(text))


def _answer(item: Answer, stands_alone: StandsAlone) -> Iterator[str]:
    yield _said(item.text, stands_alone)


def _thought(item: Thought, stands_alone: StandsAlone) -> Iterator[str]:
    yield quoted("*Thought*\n\n" + _said(item.text, stands_alone))


def _card(item: Card, stands_alone: StandsAlone) -> Iterator[str]:
    state = "" if item.status == "completed" else f", {item.status}"
    yield f"**{CARD_MARKS[item.status]} {plain(item.title) or 'Tool call'}** ({item.kind}{state})"
    if item.locations:
        yield "\n".join(f"- {code(place(location))}" for location in item.locations)
    if item.raw and not item.diffs:
        yield fenced(pretty_json(item.raw), "json")
    for diff in item.diffs:
        yield from _diff(diff)
    for part in item.output:
        yield plain(name_of_part(part)) if text_of(part) is None else fenced(spoken(part))
    if item.raw_output and not item.output and not item.diffs:
        yield fenced(pretty_json(item.raw_output), "json")


def _diff(diff: Diff) -> Iterator[str]:
    yield ("New file " if diff.old is None else "") + code(diff.path)
    yield fenced("\n".join(MARKS[row.kind] + row.text for row in diff_rows(diff)), "diff")


def _plan(item: Plan, stands_alone: StandsAlone) -> Iterator[str]:
    yield "**Plan**"
    steps = (
        f"- {BOXES[step.status]} {plain(step.content)}" + (" (now)" if step.status == "in_progress" else "")
        for step in item.steps
    )
    yield "\n".join(steps)


def _notice(item: Notice, stands_alone: StandsAlone) -> Iterator[str]:
    yield quoted(f"**{item.severity}**: {plain(item.text)}")


def _end(item: End, stands_alone: StandsAlone) -> Iterator[str]:
    words = ending(item)
    yield f"*{plain(words)}*\n\n---" if words else "---"


def _damaged(item: Damaged, stands_alone: StandsAlone) -> Iterator[str]:
    yield f"*{UNREADABLE}*"


# Any: each function takes the type of its key, which a dict type cannot say.
_SHOW: Final[Mapping[type[Shown], Callable[[Any, StandsAlone], Iterator[str]]]] = MappingProxyType(
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
