"""What the first bytes of a picture say: as those wrote them who made the picture, and never an error."""

import base64
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from zidane_core.models.picture_head import Head, Sides, head_of_base64, head_of_bytes

WIDTH, HEIGHT = 613, 311


def encoded(kind: str, mode: str = "RGB", **options: Any) -> bytes:
    target = io.BytesIO()
    Pillow.new(mode, (WIDTH, HEIGHT)).save(target, kind, **options)
    return target.getvalue()


def segment(marker: int, size: int) -> bytes:
    return bytes([0xFF, marker]) + (size + 2).to_bytes(2, "big") + b"\xff" * size


def behind(*before: bytes) -> bytes:
    """A JPEG with more before its frame."""
    data = encoded("JPEG")
    return data[:2] + b"".join(before) + data[2:]


PICTURES = {
    "png": ("image/png", encoded("PNG")),
    "gif": ("image/gif", encoded("GIF")),
    "old gif": ("image/gif", b"GIF87a" + encoded("GIF")[6:]),
    "jpeg": ("image/jpeg", encoded("JPEG")),
    "progressive jpeg": ("image/jpeg", encoded("JPEG", progressive=True)),
    "jpeg with profiles": ("image/jpeg", behind(*[segment(0xE2, 65533)] * 9, segment(0xFE, 0))),
    "jpeg with fill bytes": ("image/jpeg", behind(b"\xff\xff\xff", segment(0xE1, 7), b"\xff\x01\xff")),
    "lossy webp": ("image/webp", encoded("WEBP")),
    "lossless webp": ("image/webp", encoded("WEBP", lossless=True)),
    "extended webp": ("image/webp", encoded("WEBP", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0")),
}


@pytest.mark.parametrize("case", PICTURES)
def test_the_kind_and_the_sides(case: str) -> None:
    media_type, data = PICTURES[case]
    assert head_of_bytes(data) == Head(media_type, Sides(WIDTH, HEIGHT))
    assert head_of_base64(base64.b64encode(data).decode()) == Head(media_type, Sides(WIDTH, HEIGHT))


@pytest.mark.parametrize("case", PICTURES)
def test_of_a_picture_that_is_cut_off_as_much_as_is_there(case: str) -> None:
    media_type, data = PICTURES[case]
    whole = Sides(WIDTH, HEIGHT)
    found = [head_of_bytes(data[:size]) for size in range(700)]
    assert {head.media_type for head in found} == {None, media_type}
    assert {head.sides for head in found} <= {None, whole}
    assert found[0] == Head()


BROKEN = {
    "no header chunk": (b"\x89PNG\r\n\x1a\n\0\0\0\4CgBI" + bytes(30), "image/png"),
    "no frame": (b"\xff\xd8\xff\xda" + bytes(30), "image/jpeg"),
    "segments without end": (b"\xff\xd8" + b"\xff\xe1\0\0" * 100_000, "image/jpeg"),
    "fill bytes without end": (b"\xff\xd8" + b"\xff" * 100_000, "image/jpeg"),
    "unknown webp": (b"RIFF\0\0\0\0WEBPVP9 " + bytes(30), "image/webp"),
    "lossy webp without its key": (b"RIFF\0\0\0\0WEBPVP8 " + bytes(30), "image/webp"),
    "other sound": (b"RIFF\0\0\0\0WAVEfmt " + bytes(30), None),
    "bitmap": (b"BM" + bytes(50), None),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_says_nothing_of_its_sides(case: str) -> None:
    data, media_type = BROKEN[case]
    assert head_of_bytes(data) == head_of_base64(base64.b64encode(data).decode()) == Head(media_type)


@given(st.sampled_from([data[:40] for _, data in PICTURES.values()]), st.integers(0, 40), st.binary())
def test_any_bytes_have_a_head(start: bytes, kept: int, rest: bytes) -> None:
    data = start[:kept] + rest
    head = head_of_bytes(data)
    assert head.sides is None or min(head.sides) >= 0
    assert head == head_of_base64(base64.b64encode(data).decode())


@given(st.text())
def test_any_text_has_a_head(text: str) -> None:
    assert isinstance(head_of_base64(text), Head)
    assert isinstance(head_of_base64("iVBORw0KGgo" + text), Head)
