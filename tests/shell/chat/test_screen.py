"""What the screen prints for good, in which order, and what it leaves out."""

import io
import os

import pytest
from rich.console import Console

from zidane_acp.chat import view
from zidane_acp.chat.keyboard import Keyboard
from zidane_acp.chat.screen import Screen
from zidane_acp.chat.updates import Card, FileDiff, Notice, Option, Output, Plan, Question, Said, Step, Update

FOLDER = os.path.abspath(os.sep + "work")


def shown(*updates: Update, thoughts: bool = True) -> list[str]:
    """The lines that stay after a turn with these updates."""
    out = io.StringIO()
    screen = Screen(Console(file=out, width=80, height=24), Keyboard(-1), FOLDER, thoughts=thoughts)
    for update in updates:
        screen.show(update)
    screen.end_turn()
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]


def rendered(what: object) -> str:
    console = Console(file=io.StringIO(), width=80, height=24, record=True)
    console.print(what)
    return console.export_text()


def test_everything_stands_in_the_order_it_first_appeared() -> None:
    lines = shown(
        Said("thought", "hm", "t"),
        Said("agent", "before", "m1"),
        Card(id="c", title="cat a", status="pending"),
        Said("agent", "af", "m2"),
        Card(id="c", status="completed", content=(Output("text of a"),)),
        Said("agent", "ter", "m2"),
        Notice("warning", "slow"),
        Plan((Step("one", "completed"), Step("two", "pending"))),
    )
    assert lines == [
        "  hm",
        "before",
        "✓ cat a",
        "    text of a",
        "after",
        "! slow",
        "Plan",
        "  ✓ one",
        "  ○ two",
    ]


def test_thoughts_can_be_left_out() -> None:
    updates = (Said("thought", "hm", "t"), Said("agent", "yes", "m"), Said("thought", "well", "u"))
    assert shown(*updates, thoughts=False) == ["yes"]
    assert shown(*updates) == ["  hm", "yes", "  well"]


def test_the_user_is_not_echoed_and_the_last_plan_counts() -> None:
    plans = (Plan((Step("old", "pending"),)), Plan((Step("new", "in_progress"),)))
    assert shown(Said("user", "mine"), *plans) == ["Plan", "  ▸ new"]


def test_markdown_keeps_one_blank_line_between_blocks() -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=80, height=24), Keyboard(-1), FOLDER)
    screen.show(Said("agent", "# T\n\n```py\nx = 1\n```\n\n- a\n- b\n\nend", "m"))
    screen.end_turn()
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines == ["", "T", "", " x = 1", "", " • a", " • b", "", "end"]


@pytest.mark.parametrize(
    ("kind", "live", "kept", "first", "last"),
    [("execute", False, 12, "line 0", "line 99"), ("read", False, 4, "line 0", "line 99"),
     ("execute", True, 6, "… 94 more lines …", "line 99")],
)  # fmt: skip
def test_long_output_is_bounded(kind: str, live: bool, kept: int, first: str, last: str) -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    card = Card(id="c", title="T", kind=kind, status="completed", content=(Output(text),))
    lines = rendered(view.card(card, live=live)).splitlines()[1:]
    assert len(lines) == kept + 1
    assert (lines[0].strip(), lines[-1].strip()) == (first, last)
    assert sum("more lines" in line for line in lines) == 1


def test_a_diff_shows_the_changed_lines_and_a_short_path() -> None:
    text = rendered(
        view.diff(FileDiff(os.path.join(FOLDER, "src", "a.py"), "one\ntwo\n", "one\n2\n"), FOLDER)
    )
    lines = [line.strip() for line in text.splitlines()]
    assert lines == [os.path.join("src", "a.py"), "@@ -1,2 +1,2 @@", "one", "-two", "+2"]
    assert "new file" in rendered(view.diff(FileDiff("/x/b", None, "b")))
    assert os.path.join(FOLDER, "a") in rendered(
        view.diff(FileDiff(os.path.join(FOLDER, "a"), "x", "y"), "/w")
    )


def test_removed_lines_that_look_like_headers_are_shown() -> None:
    text = rendered(view.diff(FileDiff("/a", "-- x\nk\n", "++ y\nk\n")))
    assert "--- x" in text and "+++ y" in text


def test_a_question_shows_the_whole_call_once() -> None:
    options = (Option("y", "Yes", "allow_once"),)
    card = Card(id="c", title="make test", raw_input={"command": "make test", "cwd": "/x", "env": {"A": 1}})
    lines = [line.strip() for line in rendered(view.question(Question(card, options))).splitlines()]
    assert lines == ["? make test", "cwd: /x", 'env: {"A": 1}']


def test_hidden_characters_of_a_command_are_seen_in_the_question() -> None:
    card = Card(id="c", title="rm \u202ex\x1b[8m", raw_input={})
    text = rendered(view.question(Question(card, ())))
    assert "\u202e" not in text and "\x1b" not in text and "␛[8m" in text


def test_the_live_part_is_never_taller_than_the_screen() -> None:
    words = "\n".join(f"row {number}" for number in range(200))
    rows = rendered(view.Tail([view.thought(words)], 10)).splitlines()
    assert [row.strip() for row in rows] == [f"row {number}" for number in range(190, 200)]
