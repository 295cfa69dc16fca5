"""Titles show the thing itself, hide nothing, and locations are absolute."""

import pytest

from zidane_core.agent.presets import (
    EDIT,
    FETCH,
    GLOB,
    LIST_FILES,
    READ_FILE,
    SEARCH,
    SHELL,
    UPDATE_PLAN,
    WRITE_FILE,
)
from zidane_core.agent.titles import TITLE_LENGTH, argument_paths, locations, outside, title
from zidane_core.data.tools import Location, ResolvedPath, ToolSpec


@pytest.mark.parametrize(
    ("spec", "arguments", "shown"),
    [
        (SHELL, {"command": "cat README.md"}, "cat README.md"),
        (SHELL, {"command": "cd x\n  make\n"}, "cd x ⏎ make"),
        (SHELL, {"command": "echo \x1b[2K\u202eabc"}, "echo \\x1b[2K\\u202eabc"),
        (SHELL, {"command": "a\u200bb"}, "a\\u200bb"),
        (SHELL, {"command": "echo {x}"}, "echo {x}"),
        (EDIT, {"path": "src/a.py"}, "Edit src/a.py"),
        (EDIT, {"path": "/w/src/a.py"}, "Edit src/a.py"),
        (EDIT, {"path": "/w2/a.py"}, "Edit /w2/a.py"),
        (EDIT, {"path": "../w2/a.py"}, "Edit ../w2/a.py"),
        (EDIT, {"path": "link/../a.py"}, "Edit link/../a.py"),
        (WRITE_FILE, {"path": "a\u202etxt"}, "Write a\\u202etxt"),
        (READ_FILE, {"path": "README.md", "line": 10, "limit": 15}, "Read README.md:10-24"),
        (READ_FILE, {"path": "README.md", "line": 10}, "Read README.md:10"),
        (READ_FILE, {"path": "README.md", "limit": 5}, "Read README.md:1-5"),
        (READ_FILE, {"path": "README.md"}, "Read README.md"),
        (LIST_FILES, {}, "List ."),
        (GLOB, {"pattern": "*.py"}, "Find *.py"),
        (SEARCH, {"pattern": "a b"}, "Search a b"),
        (FETCH, {"url": "https://example.org/x"}, "Fetch https://example.org/x"),
        (UPDATE_PLAN, {"entries": []}, "Update the plan"),
        (ToolSpec(name="mine", description="", schema={}), {}, "mine"),
        (ToolSpec(name="mine", description="", schema={}, subject="q"), {"q": 7}, "mine 7"),
        (SHELL, {"command": " "}, "shell"),
    ],
)
def test_title(spec: ToolSpec, arguments: dict[str, object], shown: str) -> None:
    assert title(spec, arguments, "/w") == shown


def test_titles_are_bounded() -> None:
    shown = title(SHELL, {"command": "x" * 5000}, "/w")
    assert len(shown) == TITLE_LENGTH
    assert shown.endswith("…")


def test_windows_paths() -> None:
    assert title(EDIT, {"path": "src/a.py"}, "C:\\w") == "Edit src\\a.py"
    assert locations(EDIT, {"path": "a.py"}, "C:\\w") == (Location("C:\\w\\a.py"),)


def test_locations() -> None:
    assert locations(READ_FILE, {"path": "a/../b.py", "line": 3}, "/w") == (Location("/w/b.py", 3),)
    assert locations(EDIT, {"path": "/x/y"}, "/w") == (Location("/x/y"),)
    assert locations(LIST_FILES, {}, "/w") == ()
    assert locations(SHELL, {"command": "ls", "cwd": "sub"}, "/w") == ()


def test_argument_paths() -> None:
    assert argument_paths(READ_FILE, {"path": "link/../x"}, "/w") == ("/w/link/../x",)
    assert argument_paths(SHELL, {"command": "ls"}, "/w") == ("/w",)
    assert argument_paths(FETCH, {"url": "u"}, "/w") == ()
    assert argument_paths(EDIT, {"path": "/x"}, "/w") == ("/x",)


def test_a_title_outside_shows_where_a_path_really_leads() -> None:
    inside = ResolvedPath("a", "/w/a", True)
    plain = ResolvedPath("/o/f", "/o/f", False)
    linked = ResolvedPath("lnk/\u202ef", "/o/\u202ef", False)
    assert outside("Read a", (inside,)) == ""
    assert outside("Read /o/f", (plain,)) == "Read /o/f (outside the workspace)"
    assert outside("Read lnk", (linked, inside, linked)) == "Read lnk (outside the workspace: /o/\\u202ef)"
    assert outside("Read …", (plain, linked)) == "Read … (outside the workspace: /o/f, /o/\\u202ef)"
    deep = ResolvedPath("x", "/o/" + "d" * 500, False)
    assert outside("Read x", (deep,)).endswith(f"{'d' * 500})"), "a real path is never cut"
