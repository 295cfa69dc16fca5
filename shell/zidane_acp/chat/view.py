"""How updates look: rich renderables for text, tool cards, diffs, plans and questions."""

import difflib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import ClassVar, Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from zidane_acp.chat.markdown_stream import blocks
from zidane_acp.chat.safe_text import clip, line, neutral, output
from zidane_acp.chat.updates import (
    Card,
    Changed,
    Compaction,
    FileDiff,
    Notice,
    Output,
    Plan,
    Question,
)
from zidane_acp.chat.words import compaction_text
from zidane_acp.fields import JsonObject
from zidane_core.text import is_array

OUTPUT_LINES: Final = 12
OUTPUT_LINES_OF: Final[Mapping[str, int]] = {"read": 4, "think": 0}
"""By kind of tool: what was read is in the file, and a plan is shown as the plan."""
LIVE_LINES: Final = 6
PROMPT_LINES: Final = 12
DIFF_LINES: Final = 60
SUMMARY_LINES: Final = 6
ARGUMENT: Final = 2000
LISTED: Final = 100
"""Values of a list that are shown one a line, at most."""
LINE_WIDTH: Final = 400
PLANNING: Final = "switch_mode"
"""The kind of the call that asks to begin with a plan."""
MARKS: Final[Mapping[str | None, tuple[str, str]]] = {
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "in_progress": ("●", "cyan"),
}
STEP_MARKS: Final[Mapping[str, tuple[str, str, str]]] = {
    "completed": ("✓", "green", "dim"),
    "in_progress": ("▸", "cyan", "bold"),
}
SEVERITIES: Final[Mapping[str, tuple[str, str]]] = {
    "warning": ("!", "yellow"),
    "error": ("✗", "red"),
}


class LeftHeading(Heading):
    """A heading that stays at the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class ChatMarkdown(Markdown):
    """Markdown whose links show their address instead of hiding it in an escape sequence."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": LeftHeading}

    def __init__(self, text: str) -> None:
        super().__init__(neutral(text), hyperlinks=False, code_theme="ansi_dark")


class Trimmed:
    """What it wraps, without the blank lines around it."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = console.render_lines(self._inner, options.update(height=None), pad=False)
        full = [number for number, row in enumerate(rows) if any(part.text.strip() for part in row)]
        for row in rows[full[0] : full[-1] + 1] if full else ():
            yield from row
            yield Segment.line()


def said(text: str) -> RenderableType:
    """Finished or live Markdown of the answer, one block or several with a blank line between them."""
    rendered = [Trimmed(ChatMarkdown(block)) for block in blocks(text) if block.strip()]
    return Group(*(part for one in rendered for part in (Text(""), one)) if len(rendered) > 1 else rendered)


def prompt(text: str) -> RenderableType:
    """What the user said earlier, behind the sign of the prompt line; the middle of a long one is left out."""
    lines = neutral(text.strip()).split("\n")
    if len(lines) > PROMPT_LINES:
        missing = f"… {len(lines) - PROMPT_LINES} more lines …"
        lines = [*lines[: PROMPT_LINES - 4], missing, *lines[-4:]]
    grid = Table.grid()
    shown = "\n".join(clip(one, LINE_WIDTH) for one in lines)
    grid.add_row(Text("› ", "bold cyan"), Text(shown, "bold", overflow="fold"))
    return grid


def thought(text: str) -> RenderableType:
    """Thinking, dimmed."""
    return Padding(Text(neutral(text.strip()), style="dim italic"), (0, 0, 0, 2))


def notice(item: Notice) -> RenderableType:
    """A notice on a line of its own."""
    mark, style = SEVERITIES.get(item.severity, ("·", "blue"))
    return Text.assemble((f"{mark} ", style), (neutral(item.text), style))


def changed(item: Changed) -> RenderableType:
    """What is set to something else, on one line."""
    return Text("· " + " · ".join(line(words) for words in item.words), style="dim")


def compaction(item: Compaction) -> RenderableType:
    """That the conversation was shortened, and the beginning and the end of what is left of it."""
    told = Text(f"· {compaction_text(item)}", style="yellow" if item.status == "failed" else "dim")
    return (
        Group(told, shown_output(Output(item.summary), SUMMARY_LINES, live=False)) if item.summary else told
    )


def plan(item: Plan) -> RenderableType:
    """The plan with its marks."""
    rows = [Text("Plan", style="bold")]
    for step in item.steps:
        mark, colour, style = STEP_MARKS.get(step.status, ("○", "dim", ""))
        rows.append(Text.assemble(("  " + mark + " ", colour), (line(step.content), style)))
    return Group(*rows)


def card(item: Card, folder: str = "", *, diffs: bool = True, live: bool = False) -> RenderableType:
    """A tool call: title, what it changes, what it gave. Paths below `folder` are shown relative to it."""
    mark, colour = MARKS.get(item.status, ("○", "yellow"))
    parts: list[RenderableType] = [
        Text.assemble((f"{mark} ", colour), (neutral(item.title or "Tool call"), "bold"), overflow="fold")
    ]
    for content in item.content or ():
        if isinstance(content, FileDiff):
            if diffs:
                parts.append(diff(content, folder))
        elif item.kind == PLANNING:
            parts.append(Padding(Trimmed(said(content.text)), (1, 0, 1, 4)))
        else:
            limit = LIVE_LINES if live else OUTPUT_LINES_OF.get(item.kind or "", OUTPUT_LINES)
            parts.append(shown_output(content, limit, live))
    return Group(*parts)


def shown_output(content: Output, limit: int, live: bool) -> RenderableType:
    """At most `limit` lines: the last ones of a running call, the first and last ones of a finished call."""
    lines = output(content.text).strip("\n").split("\n")
    if lines == [""] or limit == 0:
        return Group()
    if len(lines) > limit:
        missing = f"… {len(lines) - limit} more lines …"
        keep = limit - limit // 3 if not live else 0
        lines = [*lines[:keep], missing, *lines[len(lines) - (limit - keep) :]]
    text = "\n".join(clip(one, LINE_WIDTH) for one in lines)
    return Padding(Text(text, style="dim", overflow="fold"), (0, 0, 0, 4))


def diff(change: FileDiff, folder: str = "") -> RenderableType:
    """The changed lines with three lines around them."""
    name = change.path.removeprefix(folder.rstrip(os.sep) + os.sep) if folder else change.path
    rows = [Text(("new file " if change.old is None else "") + line(name), style="dim")]
    rows.extend(_diff_rows(change.old or "", change.new))
    if len(rows) > DIFF_LINES:
        rows = [*rows[:DIFF_LINES], Text(f"… {len(rows) - DIFF_LINES} more lines …", style="dim")]
    return Padding(Group(*rows), (0, 0, 0, 4))


def _diff_rows(old: str, new: str) -> Iterator[Text]:
    before, after = neutral(old).splitlines(), neutral(new).splitlines()
    # The first two rows name the files, which the title does already.
    for row in islice(difflib.unified_diff(before, after, n=3, lineterm=""), 2, None):
        style = "green" if row.startswith("+") else "red" if row.startswith("-") else ""
        style = "cyan dim" if row.startswith("@@") else style
        yield Text(row, style=style, overflow="ellipsis", no_wrap=True)


def question(item: Question, folder: str = "") -> RenderableType:
    """What is asked: the whole call, with its change, its plan or its arguments."""
    plans = plans_of(item.card)
    parts: list[RenderableType] = [Padding(Trimmed(said(one.text)), (0, 0, 1, 2)) for one in plans]
    parts.append(
        Text.assemble(
            ("? ", "bold yellow"), (neutral(item.card.title or "Tool call"), "bold"), overflow="fold"
        )
    )
    changes = [content for content in item.card.content or () if isinstance(content, FileDiff)]
    parts.extend(diff(change, folder) for change in changes)
    # A command is its own title, and a plan stands above; saying it twice hides what else there is.
    seen = (item.card.title, *(one.text for one in plans))
    given = (item.card.raw_input or {}).items()
    told = {name: value for name, value in given if value not in seen and value != []}
    if told and not changes:
        parts.append(Padding(Text("\n".join(arguments(told)), style="dim"), (0, 0, 0, 4)))
    return Group(*parts)


def plans_of(item: Card) -> tuple[Output, ...]:
    """The texts of a plan that is asked about."""
    planning = item.kind == PLANNING
    return tuple(content for content in item.content or () if planning and isinstance(content, Output))


def arguments(raw: JsonObject) -> Iterable[str]:
    """The arguments of a call, one a line, long ones clipped; a list of words is a line for each."""
    for name, value in raw.items():
        words = _words(value)
        if len(words) == 1:
            yield f"{line(name)}: {clip(neutral(words[0]), ARGUMENT)}"
            continue
        yield f"{line(name)}:"
        yield from (f"  {clip(line(word), ARGUMENT)}" for word in words[:LISTED])
        if len(words) > LISTED:
            yield f"  … {len(words) - LISTED} more …"


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    words = tuple(word for word in value if isinstance(word, str)) if is_array(value) else ()
    whole = is_array(value) and len(words) == len(value) > 0
    return words if whole else (json.dumps(value, ensure_ascii=False),)


class Tail:
    """The last `height` lines of what it wraps: what is live must never be taller than the screen."""

    def __init__(self, parts: Iterable[RenderableType], height: int) -> None:
        self._parts = tuple(parts)
        self._height = height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        free = options.update(height=None)
        lines = console.render_lines(Group(*self._parts), free, pad=False)
        for row in lines[-self._height :]:
            yield from row
            yield Segment.line()
