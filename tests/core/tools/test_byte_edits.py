"""Edits change only the bytes they name; cutting never splits a character."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from zidane_core.bounded import Keep, bounded
from zidane_core.edits import Decoded, Replacement, decode, encode, replace, replace_each, written


@pytest.mark.parametrize(
    ("data", "old", "new", "result"),
    [
        (b"a\nb\n", "b", "c", b"a\nc\n"),
        (b"a\nb", "b", "c", b"a\nc"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "A\nB", b"A\r\nB\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b\r\n", "", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "b\nnew", b"a\r\nb\r\nnew\r\n"),
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nB\nc\nd", b"a\r\nB\nc\r\nd\n"),
        (b"a\r\nb\nc\r\nd\n", "b\nc", "b\nx\nc", b"a\r\nb\nx\nc\r\nd\n"),
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "A\nb\nC\nD", b"A\r\nb\nC\r\nD\n"),
        (b"a\rb\r", "a\nb", "x\ny", b"x\ry\r"),
        (b"\xef\xbb\xbfa\r\n", "a", "\u00fc", b"\xef\xbb\xbf\xc3\xbc\r\n"),
        (b"caf\xe9\nx\n", "x", "\u00fc", b"caf\xe9\n\xfc\n"),
        ("\ufeffaß\r\n".encode("utf-16-le"), "ß", "€", "\ufeffa€\r\n".encode("utf-16-le")),
        (b"foo\r\nbar", "foo\n\nbar", "x", None),
        (b"a.b", ".", "*", b"a*b"),
        (b"a\\1b", "b", "\\1\\g<0>", b"a\\1\\1\\g<0>"),
    ],
)
def test_replace(data: bytes, old: str, new: str, result: bytes | None) -> None:
    assert replace(data, old, new).value_or(None) == result


def test_replace_all() -> None:
    assert replace(b"x\r\ny\nx\n", "x\n", "z\n", everywhere=True) == Success(b"z\r\ny\nz\n")


@pytest.mark.parametrize(
    ("data", "old", "new", "sentence"),
    [
        (b"a", "", "b", "old_string is empty"),
        (b"a", "a", "a", "are the same"),
        (b"a\r\n", "a\n", "a\r\n", "are the same"),
        (b"one\ntwo\n", "three", "b", "old_string was not found in the file."),
        (b"one\n    two words\n", "two words\nmore", "b", "Line 2 has its first line"),
        (
            b"one\ndef function(a, b):\n",
            "def function(a, c):",
            "b",
            "The nearest line is 2: def function(a, b):",
        ),
        (b"x y x y x", "x", "z", "old_string was found 3 times"),
        (b"aaa", "aa", "z", "old_string was found 2 times"),
        (b"caf\xe9", "caf", "\u20ac", "encoded as latin-1, which has no character U+20AC"),
        (b"a\x00b", "a", "b", "binary"),
    ],
)
def test_refusals(data: bytes, old: str, new: str, sentence: str) -> None:
    result = replace(data, old, new)
    assert isinstance(result, Failure)
    assert sentence in result.failure()


def test_several_replacements_are_all_or_none() -> None:
    assert replace_each(b"a b", (Replacement("a", "b c"), Replacement("c", "d"))) == Success(b"b d b")
    failed = replace_each(b"a b", (Replacement("a", "c"), Replacement("a", "d")))
    assert failed.failure().startswith("Edit 2: old_string was not found")


LINES = st.lists(
    st.tuples(st.text("abé", max_size=3), st.sampled_from(["\n", "\r\n", "\r"])), min_size=1, max_size=8
)


@given(st.binary() | st.text().map(str.encode))
def test_decoding_loses_nothing(data: bytes) -> None:
    decoded = decode(data)
    if isinstance(decoded, Success):
        assert encode(decoded.unwrap()) == Success(data)
    else:
        assert b"\0" in data


@given(
    LINES, LINES, st.sampled_from(["", "\n", "\r\n"]), st.sampled_from([b"", b"\xef\xbb\xbf"]), st.booleans()
)
def test_all_other_bytes_stay(
    before: list[tuple[str, str]], after: list[tuple[str, str]], end: str, mark: bytes, latin: bool
) -> None:
    head, tail = "".join(map("".join, before)), "".join(map("".join, after)) + end
    encoding = "latin-1" if latin and not mark else "utf-8"
    data = mark + (head + "[OLD]" + tail).encode(encoding)
    if isinstance(decode(data), Success) and decode(data).unwrap().encoding != encoding:
        return  # all ASCII: the same bytes either way
    for new in ("", "x", "one\ntwo\nthree"):
        changed = replace(data, "[OLD]", new).unwrap()
        assert changed.startswith(mark + head.encode(encoding))
        assert changed.endswith(tail.encode(encoding))
        middle = changed[len(mark + head.encode(encoding)) : len(changed) - len(tail.encode(encoding))]
        assert middle.replace(b"\r\n", b"\n").replace(b"\r", b"\n") == new.encode()


@given(LINES, st.data())
def test_kept_lines_keep_their_endings(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    """Editing one line inside a longer old_string leaves the endings of all lines as they are."""
    numbered = [(f"{index}{text}", ending) for index, (text, ending) in enumerate(lines)]
    index = data.draw(st.integers(0, len(lines) - 1))
    changed = [(f"new{text}" if at == index else text, end) for at, (text, end) in enumerate(numbered)]
    old = "\n".join(text for text, _ in numbered)
    new = "\n".join(text for text, _ in changed)
    # A carriage return before an empty next line would join with its line feed, but no line is empty here.
    source = "".join(map("".join, numbered)).encode()
    assert replace(source, old, new) == Success("".join(map("".join, changed)).encode())


@pytest.mark.parametrize(
    ("previous", "content", "result"),
    [
        (None, "a\r\nb\n", b"a\r\nb\n"),
        (b"x\ny\n", "a\nb\n", b"a\nb\n"),
        (b"x\r\ny\r\n", "a\nb\nc", b"a\r\nb\r\nc"),
        (b"x\r\ny\r\n", "a\r\nb\n", b"a\r\nb\n"),
        (b"\xef\xbb\xbfx", "a", b"\xef\xbb\xbfa"),
        (b"caf\xe9", "th\u00e9", b"th\xe9"),
        (b"caf\xe9", "\u20ac", b"\xe2\x82\xac"),
        (b"\x00", "a", b"a"),
        (b"", "a\n", b"a\n"),
    ],
)
def test_written(previous: bytes | None, content: str, result: bytes) -> None:
    assert written(previous, content) == Success(result)


def test_lone_surrogates_cannot_be_written() -> None:
    assert isinstance(encode(Decoded("\ud800")), Failure)


NOTE = re.compile(r"\n?\[([\d,]+) bytes?(?: with [\d,]+ line ends?)? left out here\]\n?")


@given(st.text(), st.integers(0, 40), st.sampled_from(["head", "tail", "both"]))
def test_bounded(text: str, limit: int, keep: Keep) -> None:
    cut = bounded(text, limit, keep)
    size = len(text.encode())
    if size <= limit:
        assert cut == text
        return
    note = NOTE.search(cut)
    assert note is not None
    head, tail = cut[: note.start()], cut[note.end() :]
    kept = len(head.encode()) + len(tail.encode())
    assert text.startswith(head)
    assert text.endswith(tail)
    assert limit - 8 < kept <= limit
    assert int(note[1].replace(",", "")) == size - kept
    assert (keep == "head") <= (tail == "")
    assert (keep == "tail") <= (head == "")


@pytest.mark.parametrize(
    ("text", "limit", "keep", "cut"),
    [
        ("abc", 3, "head", "abc"),
        ("aé\nbc", 2, "head", "a\n[5 bytes with 1 line end left out here]"),
        ("abcé", 2, "tail", "[3 bytes left out here]\né"),
        ("ab\ncd\nef", 4, "both", "ab\n[4 bytes with 2 line ends left out here]\nef"),
        ("ab", 0, "head", "[2 bytes left out here]"),
        ("a" * 2000 + "b", 2000, "head", "a" * 2000 + "\n[1 byte left out here]"),
    ],
)
def test_bounded_examples(text: str, limit: int, keep: Keep, cut: str) -> None:
    assert bounded(text, limit, keep) == cut
