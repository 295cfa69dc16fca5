"""Command files: front matter of a few lines, and what is none."""

import pytest

from zidane_core.convert.command_file import FRONT_LINES, WIDTH, CommandText, command_text

CASES: dict[str, tuple[str, CommandText]] = {
    "no front matter": ("# Fix it\n\nFix $1.\n", CommandText("# Fix it\n\nFix $1.", "Fix it")),
    "both keys": (
        "---\ndescription: Fix an issue\nargument-hint: [number]\n---\n\nFix $ARGUMENTS.\n",
        CommandText("Fix $ARGUMENTS.", "Fix an issue", "[number]"),
    ),
    "quoted": ("---\ndescription: \"a: b\"\nargument-hint: 'x y'\n---\nz", CommandText("z", "a: b", "x y")),
    "other keys and noise": (
        "---\nmodel: x\n- a\n  nested: [\ndescription: d\n\n---\nz",
        CommandText("z", "d"),
    ),
    "a key twice": ("---\ndescription: a\ndescription: b\n---\nz", CommandText("z", "b")),
    "case of keys": ("---\nDescription : a\n---\nz", CommandText("z", "a")),
    "never closed": ("---\ndescription: a\n", CommandText("---\ndescription: a", "")),
    "closed too late": (
        "---\n" + "a: b\n" * FRONT_LINES + "---\nz",
        CommandText("---\n" + "a: b\n" * FRONT_LINES + "---\nz", ""),
    ),
    "a line in the middle": (
        "Do.\n---\ndescription: a\n---\n",
        CommandText("Do.\n---\ndescription: a\n---", "Do."),
    ),
    "nothing": ("", CommandText("")),
    "only front matter": ("---\ndescription: a\n---\n", CommandText("", "a")),
    "control characters": (
        "---\ndescription: a\x1b[31mb\u202e\n---\nz",
        CommandText("z", "a\u241b[31mb\ufffd"),
    ),
    "a long line": ("x" * 999, CommandText("x" * 999, "x" * (WIDTH - 1) + "…")),
}


@pytest.mark.parametrize("name", CASES)
def test_the_parts_of_a_command_file(name: str) -> None:
    text, parts = CASES[name]
    assert command_text(text) == parts
