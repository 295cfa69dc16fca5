"""The card of a call on a page: how it ended, what it changed, what it gave."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.convert.diff_rows import MARKS, Row, RowKind, counts, diff_rows
from zidane_core.convert.html_parts import escaped, folded, preformatted, shown_part
from zidane_core.convert.transcript import Card, CardStatus
from zidane_core.convert.visible import line
from zidane_core.convert.wording import CARD_MARKS, arguments, place, pretty_json
from zidane_core.data.tools import Diff

STATES: Final[Mapping[CardStatus, str]] = MappingProxyType(
    {"completed": "done", "failed": "failed", "interrupted": "interrupted"}
)
CLASSES: Final[Mapping[RowKind, str]] = MappingProxyType(
    {"same": "same", "gone": "gone", "new": "new", "hunk": "hunk", "cut": "hunk"}
)
WHOLE_ROW: Final = frozenset({"hunk", "cut"})


def card_html(card: Card) -> str:
    """The card; what changed files or failed is open from the start, since it is what one looks for."""
    changes = tuple((diff, diff_rows(diff)) for diff in card.diffs)
    body = "".join(_body(card, changes))
    summary = "".join(_summary(card, changes))
    if not body:
        return f'<div class="card {card.status}"><div class="summary">{summary}</div></div>'
    return folded(
        f"card {card.status}",
        summary,
        f'<div class="body">{body}</div>',
        unfolded=bool(changes) or card.status == "failed",
    )


def _summary(card: Card, changes: tuple[tuple[Diff, tuple[Row, ...]], ...]) -> Iterator[str]:
    yield f'<span class="mark" aria-hidden="true">{CARD_MARKS[card.status]}</span>'
    yield f'<span class="kind">{escaped(card.kind)}</span>'
    yield f'<span class="title">{escaped(line(card.title)) or "Tool call"}</span>'
    if changes:
        pairs = [counts(rows) for _diff, rows in changes]
        new, gone = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
        yield f'<span class="counts"><b class="new">+{new}</b> <b class="gone">−{gone}</b></span>'
    yield f'<span class="state">{STATES[card.status]}</span>'


def _body(card: Card, changes: tuple[tuple[Diff, tuple[Row, ...]], ...]) -> Iterator[str]:
    shown_above = {diff.path for diff in card.diffs}
    places = [item for item in card.locations if item.line is not None or item.path not in shown_above]
    if places:
        yield '<ul class="places">' + "".join(f"<li>{escaped(place(item))}</li>" for item in places) + "</ul>"
    for diff, rows in changes:
        yield diff_html(diff, rows)
    yield from (shown_part(part) for part in card.output)
    if card.raw_output and not card.output and not changes:
        yield preformatted(pretty_json(card.raw_output))
    # A command is its own title; saying it twice hides what else there is.
    told = [(name, value) for name, value in arguments(card.raw) if value != card.title]
    if told:
        rows_of_input = "".join(
            f"<dt>{escaped(name)}</dt><dd>{preformatted(value)}</dd>" for name, value in told
        )
        yield folded("input", "Input", f"<dl>{rows_of_input}</dl>")


def diff_html(diff: Diff, rows: tuple[Row, ...]) -> str:
    """A unified diff as a table: line numbers of both sides, a sign, the line."""
    name = ("new file " if diff.old is None else "") + line(diff.path)
    table = "".join(map(_row, rows)) or _row(Row("cut", None, None, "no line differs"))
    return f'<figure class="diff"><figcaption>{escaped(name)}</figcaption><table>{table}</table></figure>'


def _row(row: Row) -> str:
    if row.kind in WHOLE_ROW:
        return f'<tr class="{CLASSES[row.kind]}"><td colspan="4">{escaped(row.text)}</td></tr>'
    return (
        f'<tr class="{CLASSES[row.kind]}"><td class="n">{_number(row.old)}</td><td class="n">{_number(row.new)}</td>'
        f'<td class="sign">{MARKS[row.kind]}</td><td class="code">{escaped(row.text)}</td></tr>'
    )


def _number(number: int | None) -> str:
    return "" if number is None else str(number)
