"""A change of a file -> the rows of a unified diff with their line numbers."""

import difflib
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import msgspec

from zidane_core.convert.visible import neutral
from zidane_core.data.tools import Diff

RowKind: TypeAlias = Literal["same", "gone", "new", "hunk", "cut"]

CONTEXT: Final = 3
COMPARED: Final = 4000
"""Above so many differing lines nothing is compared, since that costs up to the square of them: all is old, all is new."""
ROWS: Final = 2000
"""A diff is cut behind so many rows."""

MARKS: Final[Mapping[RowKind, str]] = MappingProxyType(
    {"same": " ", "gone": "-", "new": "+", "hunk": "", "cut": ""}
)


class Row(msgspec.Struct, frozen=True, gc=False):
    """One row. `old` and `new` are line numbers from 1, None where that side has no such line."""

    kind: RowKind
    old: int | None
    new: int | None
    text: str


Opcode: TypeAlias = tuple[str, int, int, int, int]


def diff_rows(diff: Diff) -> tuple[Row, ...]:
    """The changed lines with three lines around them; a hunk row stands where lines are left out before."""
    before, after = _lines(diff.old or ""), _lines(diff.new)
    rows: list[Row] = []
    for group in _groups(before, after):
        if group[0][1] > 0 or group[0][3] > 0 or rows:
            rows.append(Row("hunk", None, None, _range(group)))
        rows.extend(_rows(group, before, after))
        if len(rows) > ROWS:
            break
    if len(rows) > ROWS:
        return (*rows[:ROWS], Row("cut", None, None, "… the rest is left out …"))
    return tuple(rows)


def counts(rows: tuple[Row, ...]) -> tuple[int, int]:
    """How many lines are new, and how many are gone."""
    return sum(row.kind == "new" for row in rows), sum(row.kind == "gone" for row in rows)


def _lines(text: str) -> list[str]:
    # Not splitlines: a form feed or U+2028 inside a line ends no line of the file.
    lines = neutral(text).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _groups(before: list[str], after: list[str]) -> Iterator[list[Opcode]]:
    """The changes with their context. What both texts begin and end with is left aside first."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    lead, tail = min(start, CONTEXT), min(end, CONTEXT)
    old_end, new_end = len(before) - end, len(after) - end
    if old_end + new_end - 2 * start > COMPARED:
        yield [
            ("equal", start - lead, start, start - lead, start),
            ("replace", start, old_end, start, new_end),
            ("equal", old_end, old_end + tail, new_end, new_end + tail),
        ]
        return
    shift = start - lead
    matcher = difflib.SequenceMatcher(None, before[shift : old_end + tail], after[shift : new_end + tail])
    for group in matcher.get_grouped_opcodes(CONTEXT):
        yield [(tag, a + shift, b + shift, c + shift, d + shift) for tag, a, b, c, d in group]


def _common(before: list[str], after: list[str]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        count += 1
    return count


def _range(group: list[Opcode]) -> str:
    first, last = group[0], group[-1]
    return f"@@ -{first[1] + 1},{last[2] - first[1]} +{first[3] + 1},{last[4] - first[3]} @@"


def _rows(group: list[Opcode], before: list[str], after: list[str]) -> Iterator[Row]:
    for tag, a, b, c, d in group:
        if tag == "equal":
            for offset in range(b - a):
                yield Row("same", a + offset + 1, c + offset + 1, before[a + offset])
            continue
        for number in range(a, b):
            yield Row("gone", number + 1, None, before[number])
        for number in range(c, d):
            yield Row("new", None, number + 1, after[number])
