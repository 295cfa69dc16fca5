"""Splitting a stream into frames, by lines and by Content-Length."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_core.acp.frames import BadHeader, Framing, Item, Oversized, encode, splitter

LIMIT = 40


def split(framing: Framing, *pieces: bytes, limit: int = LIMIT) -> list[Item]:
    reader = splitter(framing, limit)
    found = [item for piece in pieces for item in reader.feed(piece)]
    return found + reader.end()


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b"", []),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"\r\n\n   \n\t\r\na\n", [b"a"]),
        (b"a\nlast", [b"a", b"last"]),
        (b"last\r", [b"last"]),
        (b"\xef\xbb\xbf{}\n", [b"\xef\xbb\xbf{}"]),
        (b"x" * LIMIT + b"\n", [b"x" * LIMIT]),
        (b"x" * LIMIT + b"\r\n", [b"x" * LIMIT]),
        (b"x" * (LIMIT + 1) + b"\na\n", [Oversized(LIMIT, b"x" * LIMIT), b"a"]),
        (b"a\n" + b"x" * 500 + b"\nb", [b"a", Oversized(LIMIT, b"x" * LIMIT), b"b"]),
        (b"x" * 500, [Oversized(LIMIT, b"x" * LIMIT)]),
    ],
)
def test_lines(data: bytes, frames: list[Item]) -> None:
    assert split("ndjson", data) == frames
    assert split("ndjson", *(data[i : i + 1] for i in range(len(data)))) == frames


BAD = BadHeader("a header without Content-Length")


@pytest.mark.parametrize(
    ("data", "frames"),
    [
        (b"", []),
        (b"Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n5", [b"{}", b"5"]),
        (b"content-length:2\n\n{}", [b"{}"]),
        (b"Content-Type: x; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}", [b"{}"]),
        (b"Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}", [b"{}"]),
        (b"Content-Length: 3\r\n\r\n{\n}", [b"{\n}"]),
        (b"Content-Length: two\r\n\r\n{}Content-Length: 2\r\n\r\n{}", [BAD, b"{}"]),
        (b"Content-Length: -2\r\n\r\n", [BAD]),
        (b'{"a":1}\n{"b":2}\nContent-Length: 2\r\n\r\n{}', [BAD, b"{}"]),
        (b"A: b\r\n\r\nC: d\r\n\r\nContent-Length: 2\r\n\r\n{}", [BAD, b"{}"]),
        (b"\r\n\r\nContent-Length: 2\r\n\r\n{}", [b"{}"]),
        (
            b"Content-Length: 100\r\n\r\n" + b"x" * 100 + b"Content-Length: 2\r\n\r\n{}",
            [Oversized(LIMIT, b"x" * LIMIT), b"{}"],
        ),
        (b"Content-Length: 9\r\n\r\nhalf", [b"half"]),
        (b"Content-Le", [BadHeader("the stream ended within a header")]),
        (b"j" * 8180 + b"\nContent-Length: 2\r\n\r\n{}", [BAD, b"{}"]),
        (b"j" * 20000 + b"Content-Length: 2\r\n\r\n{}", [BAD, b"{}"]),
    ],
)
def test_content_length(data: bytes, frames: list[Item]) -> None:
    assert split("content-length", data) == frames
    assert split("content-length", *(data[i : i + 1] for i in range(len(data)))) == frames


ANY_STREAM = st.lists(
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from(
            [b"\n", b"\r\n", b"\r\n\r\n", b"Content-Length: 5", b"Content-Length: 99\r\n\r\n", b"{}"]
        ),
    ),
    max_size=12,
).map(b"".join)


@given(st.sampled_from(["ndjson", "content-length"]), ANY_STREAM, st.lists(st.integers(0, 300), max_size=8))
def test_the_cuts_do_not_matter(framing: Framing, data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in itertools.pairwise(places)]
    assert split(framing, *pieces) == split(framing, data)


@given(
    st.sampled_from(["ndjson", "content-length"]), st.lists(st.lists(st.integers() | st.text(), max_size=3))
)
def test_what_is_encoded_comes_back(framing: Framing, values: list[object]) -> None:
    frames = [msgspec.json.encode(value) for value in values]
    stream = b"".join(encode(frame, framing) for frame in frames)
    assert split(framing, stream, limit=10_000) == frames


def test_beyond_the_bound_nothing_is_kept() -> None:
    for framing, start in (("ndjson", b""), ("content-length", b"Content-Length: 99999999\r\n\r\n")):
        reader = splitter(framing, LIMIT)
        reader.feed(start)
        for _ in range(50):
            reader.feed(b"x" * 1000)
        kept = sum(len(value) for value in vars(reader).values() if isinstance(value, bytearray))
        assert kept <= LIMIT
