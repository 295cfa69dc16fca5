"""The editor's text and the disk's: which one is true, as a table; and lines of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from zidane_core import lines
from zidane_core.agent.editor_files import MOST_SEEN, Seen, digest, judge, remembered
from zidane_core.agent.events import FileSeen
from zidane_core.data.tools import ResolvedPath


def disk(text: str | None) -> FileSeen:
    path = ResolvedPath("a", "/project/a", True)
    return FileSeen(
        path=path, shown="/project/a", kind="missing" if text is None else "text", text=text or ""
    )


def seen(editor: str, on_disk: str | None) -> Seen:
    return Seen(digest(editor), "" if on_disk is None else digest(on_disk))


@pytest.mark.parametrize(
    ("editor", "on_disk", "before", "commanded", "standing", "text"),
    [
        ("a", "a", None, False, "same", "a"),
        ("a\n", "a\r\n", None, True, "same", "a\n"),
        ("b", "a", None, False, "unsaved", "b"),
        ("b", "a", None, True, "torn", "b"),
        ("b", None, None, True, "unsaved", "b"),
        ("a", "b", ("a", "a"), False, "stale", "b"),
        ("b", "a", ("a", "a"), True, "unsaved", "b"),
        ("b", "a", ("b", "a"), True, "unsaved", "b"),
        ("b", "c", ("b", "a"), True, "torn", "b"),
        ("b", "c", ("a", "a"), True, "torn", "b"),
        ("b", None, ("a", "a"), True, "torn", "b"),
        ("a", None, ("a", "a"), True, "gone", "a"),
        ("b", None, ("b", None), True, "unsaved", "b"),
    ],
)
def test_what_was_seen_before_tells_which_text_is_true(
    editor: str,
    on_disk: str | None,
    before: tuple[str, str | None] | None,
    commanded: bool,
    standing: str,
    text: str,
) -> None:
    judged = judge(editor, disk(on_disk), None if before is None else seen(*before), commanded)
    assert (judged.standing, judged.text) == (standing, text)


def test_only_so_many_files_are_remembered_the_oldest_go() -> None:
    known: dict[str, Seen] = {}
    for number in range(MOST_SEEN + 5):
        known = remembered(known, f"/{number}", seen("a", "a"))
    known = remembered(known, "/5", seen("b", "b"))
    assert len(known) == MOST_SEEN and "/4" not in known and list(known)[-1] == "/5"


@given(st.text(max_size=60), st.integers(1, 8), st.integers(0, 5))
def test_lines_are_those_of_a_plain_split(text: str, first: int, limit: int) -> None:
    clean = text.encode("utf-8", "replace").decode()
    wanted = clean.split("\n")
    every = [line + "\n" for line in wanted[:-1]] + ([wanted[-1]] if wanted[-1] else [])
    found = lines.cut(clean, first, limit)
    if first > 1 and first > len(every):
        assert found == Failure(len(every))
        return
    chosen = every[first - 1 :][: limit or None]
    assert found == Success(lines.Cut("".join(chosen), len(chosen)))


@given(st.text(max_size=200), st.integers(1, 20))
def test_a_bound_is_kept_and_says_where_to_read_on(text: str, room: int) -> None:
    clean = text.encode("utf-8", "replace").decode()
    found = lines.cut(clean, room=room).unwrap()
    assert len(found.text.encode()) <= room
    assert clean.startswith(found.text)
    if found.onward is None:
        assert found.text == clean


def test_a_cut_text_says_so() -> None:
    found = lines.cut("12345\n1\n", room=6).unwrap()
    assert lines.marked(found) == "12345\n[Cut here. Read on with line=2.]"
    assert lines.marked(lines.cut("äää", room=3).unwrap()) == "ä\n[Cut here. Read on with line=2.]"
