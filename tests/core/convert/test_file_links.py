"""`file:` URIs: each form that clients write, and what is none of this machine's files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_core.convert.file_links import FileLink, file_link

PATHS = [
    ("file:///project/a.py", "/project/a.py"),
    ("file://localhost/project/a.py", "/project/a.py"),
    ("file://LocalHost/project/a.py", "/project/a.py"),
    ("file:/project/a.py", "/project/a.py"),
    ("FILE:///project/a.py", "/project/a.py"),
    (" file:///project/a.py\n", "/project/a.py"),
    ("file:///project/gr%C3%B6%C3%9Fe%20(1).txt", "/project/größe (1).txt"),
    ("file:///project/größe.txt", "/project/größe.txt"),
    ("file:///project/100%2525.txt", "/project/100%25.txt"),
    ("file:///project/100%", "/project/100%"),
    ("file:///project/a+b;c", "/project/a+b;c"),
    ("file:///project/a%23L1%3F", "/project/a#L1?"),
    ("file:///project/%FF.txt", "/project/\udcff.txt"),
    ("file:///project/a.py?symbol=main", "/project/a.py"),
    ("file:///project/..%2Fb", "/project/../b"),
    ("file:///C:/a.py", "/C:/a.py"),
    ("file:///[a]", "/[a]"),
]


@pytest.mark.parametrize(("uri", "path"), PATHS)
def test_paths(uri: str, path: str) -> None:
    assert file_link(uri) == FileLink(path)


LINES = [
    ("#L10", 10, 10),
    ("#L10-L20", 10, 20),
    ("#L10-20", 10, 20),
    ("#L10:20", 10, 20),
    ("#10-20", 10, 20),
    ("#10", 10, 10),
    ("#L10C3-L20C4", 10, 20),
    ("#L10,3", 10, 10),
    ("#L20-L10", 10, 20),
    ("#L0", 1, 1),
    ("?symbol=main#L10:20", 10, 20),
    ("#L10%2DL20", 10, 20),
    ("#", None, None),
    ("#installing", None, None),
    ("#L", None, None),
    ("#L-5", None, None),
    ("#L1-", None, None),
    ("#L1-2-3", None, None),
    ("#L\u0661", None, None),
    ("#L99999999999999999999", None, None),
]


@pytest.mark.parametrize(("end", "first", "last"), LINES)
def test_lines(end: str, first: int | None, last: int | None) -> None:
    assert file_link(f"file:///project/a.py{end}") == FileLink("/project/a.py", first, last)


NONE = [
    "",
    "file",
    "file:",
    "file://",
    "file://localhost",
    "file:a.py",
    "file:./a.py",
    "file:?/a",
    "file://server/share/a.py",
    "file://127.0.0.1/a.py",
    "file://user@localhost/a.py",
    "https://example.org/a.py",
    "zed:///agent/thread",
    "/project/a.py",
    "C:/a.py",
    "files:///project/a.py",
]


@pytest.mark.parametrize("uri", NONE)
def test_what_is_no_file_of_this_machine(uri: str) -> None:
    assert file_link(uri) is None


WINDOWS = [
    ("file:///C:/a%20b.py", "C:/a b.py"),
    ("file:///c%3A/a.py", "c:/a.py"),
    ("file:///C|/a.py", "C:/a.py"),
    ("file:/C:/a.py", "C:/a.py"),
    ("file://localhost/C:/a.py", "C:/a.py"),
    ("file://C:/a.py", "C:/a.py"),
    ("file:///C:%5Ca.py", "C:/a.py"),
    ("file:///a.py", None),
    ("file://server/share/a.py", None),
    ("file:////server/share/a.py", None),
    ("file:///%5C%5Cserver/share", None),
    ("file:///C:", None),
]


@pytest.mark.parametrize(("uri", "path"), WINDOWS)
def test_windows(uri: str, path: str | None) -> None:
    assert file_link(uri, windows=True) == (None if path is None else FileLink(path))


@given(st.text(), st.booleans())
def test_nothing_makes_it_fail(text: str, windows: bool) -> None:
    for uri in (text, f"file://{text}", f"file:///{text}"):
        found = file_link(uri, windows)
        assert found is None or found.path
