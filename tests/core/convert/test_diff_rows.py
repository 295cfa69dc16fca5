"""Changes of files -> rows of a diff."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_core.convert.diff_rows import COMPARED, MARKS, ROWS, counts, diff_rows
from zidane_core.data.tools import Diff

LINES = st.lists(st.sampled_from(["a", "b", "", "c c", "d"]), max_size=40)


def numbered(count: int, word: str = "line") -> str:
    return "".join(f"{word} {number}\n" for number in range(1, count + 1))


def shown(diff: Diff) -> list[tuple[int | None, int | None, str]]:
    return [(row.old, row.new, MARKS[row.kind] + row.text) for row in diff_rows(diff)]


def test_a_change_has_its_context_and_the_numbers_of_both_sides() -> None:
    old = numbered(9)
    assert shown(Diff("/project/a", old, old.replace("line 6\n", "six\nand more\n"))) == [
        (None, None, "@@ -3,7 +3,8 @@"),
        (3, 3, " line 3"),
        (4, 4, " line 4"),
        (5, 5, " line 5"),
        (6, None, "-line 6"),
        (None, 6, "+six"),
        (None, 7, "+and more"),
        (7, 8, " line 7"),
        (8, 9, " line 8"),
        (9, 10, " line 9"),
    ]


@pytest.mark.parametrize(
    ("diff", "wanted"),
    [
        (Diff("/project/a", None, "x\ny\n"), [(None, 1, "+x"), (None, 2, "+y")]),
        (Diff("/project/a", "x\n", ""), [(1, None, "-x")]),
        (Diff("/project/a", "x\n", "x\n"), []),
        (Diff("/project/a", "", ""), []),
        (Diff("/project/a", "x", "x\u2028y\x0cz"), [(1, None, "-x"), (None, 1, "+x\u2028y␌z")]),
    ],
)
def test_new_empty_and_equal_files(diff: Diff, wanted: list[tuple[int | None, int | None, str]]) -> None:
    assert shown(diff) == wanted


def test_changes_far_apart_have_hunks_of_their_own() -> None:
    old = numbered(40)
    rows = diff_rows(Diff("/project/a", old, old.replace("line 5\n", "").replace("line 30\n", "thirty\n")))
    assert [row.text for row in rows if row.kind == "hunk"] == ["@@ -2,7 +2,6 @@", "@@ -27,7 +26,7 @@"]
    assert counts(rows) == (1, 2)


def test_what_is_too_large_to_compare_is_old_and_then_new() -> None:
    old, new = numbered(COMPARED, "old"), numbered(10, "new")
    rows = diff_rows(Diff("/project/a", f"same\n{old}end\n", f"same\n{new}end\n"))
    assert len(rows) == ROWS + 1 and rows[-1].kind == "cut"
    assert [row.kind for row in rows[:3]] == ["same", "gone", "gone"]


@given(LINES, LINES)
def test_the_rows_are_those_of_a_unified_diff(old: list[str], new: list[str]) -> None:
    text_of = "".join
    before, after = [f"{line}\n" for line in old], [f"{line}\n" for line in new]
    rows = diff_rows(Diff("/project/a", text_of(before), text_of(after)))
    gone = {row.old: row.text for row in rows if row.kind in ("same", "gone")}
    came = {row.new: row.text for row in rows if row.kind in ("same", "new")}
    assert all(old[number - 1] == text for number, text in gone.items() if number)
    assert all(new[number - 1] == text for number, text in came.items() if number)
    # Undoing the rows in the old text gives the new one.
    kept = [
        line for number, line in enumerate(old, 1) if number not in {r.old for r in rows if r.kind == "gone"}
    ]
    also = [
        line for number, line in enumerate(new, 1) if number not in {r.new for r in rows if r.kind == "new"}
    ]
    assert kept == also
    assert bool(rows) == bool(list(difflib.unified_diff(before, after)))
