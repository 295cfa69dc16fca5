"""Pictures of a prompt that are too large: what the model is given, what that may cost, and what the user is told."""

import base64
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow
from support.attaching import MIB, encoded, linked, one, opened, packed, png, read

from zidane_acp.tools import attachments, shrinking
from zidane_acp.tools.attachments import read_attachments
from zidane_acp.tools.shrinking import Picture
from zidane_core.agent.events import Attachment
from zidane_core.agent.work import ReadAttachments
from zidane_core.data.content import Image, Link, Text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


def test_a_picture_that_fits_is_given_as_it_is(root: Path) -> None:
    data = png(4, 4)
    (root / "a.png").write_bytes(data)
    found = one(root, "a.png", image_bytes=len(data), images=((9, Image("image/png", packed(data))),))
    assert found == Attachment(position=1, part=Image("image/png", packed(data), f"file://{root}/a.png"))


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_large_photo_becomes_a_jpeg(root: Path, mode: str) -> None:
    (root / "a.png").write_bytes(png(1000, 800, mode=mode))
    found = one(root, "a.png", image_bytes=100_000)
    picture = opened(found.part)
    assert found.notice == ""
    assert picture.format == "JPEG"
    assert isinstance(found.part, Image)
    assert found.part.media_type == "image/jpeg"
    assert 10_000 < len(base64.b64decode(found.part.data)) <= 100_000
    assert picture.width / picture.height == pytest.approx(1.25, rel=0.02)


def test_few_colours_and_transparency_stay_png() -> None:
    flat = encoded(Pillow.new("RGB", (3000, 2000), "red"), compress_level=0)
    clear = encoded(Pillow.new("RGBA", (3000, 2000), (255, 0, 0, 9)), compress_level=0)
    opaque = png(1000, 1000, mode="RGB")
    opaque = encoded(Pillow.open(io.BytesIO(opaque)).convert("RGBA"))
    given = tuple((n, Image("image/png", packed(data))) for n, data in enumerate((flat, clear, opaque)))
    first, second, third = read(Path("/project"), images=given, image_bytes=MIB)
    assert [opened(one.part).format for one in (first, second, third)] == ["PNG", "PNG", "JPEG"]
    assert opened(first.part).size == (3000, 2000)
    assert opened(second.part).has_transparency_data


def test_transparency_that_does_not_fit_goes_white() -> None:
    data = bytearray(os.urandom(800 * 800 * 4))
    data[3::4] = bytes(800 * 800)  # nothing is to be seen of the noise
    given = ((0, Image("image/png", packed(encoded(Pillow.frombytes("RGBA", (800, 800), bytes(data)))))),)
    (found,) = read(Path("/project"), images=given, image_bytes=20_000)
    picture = opened(found.part)
    assert (picture.format, picture.getpixel((9, 9))) == ("JPEG", (255, 255, 255))


def test_a_photo_is_turned_as_its_camera_says() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6  # a quarter turn
    photo = Pillow.frombytes("RGB", (600, 300), os.urandom(600 * 300 * 3))
    given = ((0, Image("image/jpeg", packed(encoded(photo, "JPEG", quality=95, exif=exif)))),)
    (found,) = read(Path("/project"), images=given, image_bytes=30_000)
    picture = opened(found.part)
    assert picture.height > picture.width
    assert not picture.getexif()


def test_no_side_is_longer_than_providers_take() -> None:
    given = ((0, Image("image/png", packed(encoded(Pillow.new("RGB", (9000, 90)), compress_level=0)))),)
    (found,) = read(Path("/project"), images=given, image_bytes=MIB)
    assert opened(found.part).size == (8000, 80)


def test_a_picture_of_few_bytes_and_long_sides_is_made_smaller(root: Path) -> None:
    long = encoded(Pillow.new("RGB", (600, 12000)))
    (root / "a.png").write_bytes(long)
    (root / "b.png").write_bytes(encoded(Pillow.new("RGB", (6, 8000))))
    linked, whole, given = read(root, "a.png", "b.png", images=((9, Image("image/jpg", packed(long))),))
    assert [opened(one.part).size for one in (linked, whole, given)] == [(400, 8000), (6, 8000), (400, 8000)]
    assert not any(one.notice for one in (linked, whole, given))


@pytest.mark.usefixtures("no_pillow")
def test_without_pillow_long_sides_are_named(root: Path) -> None:
    long = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2" + (8001).to_bytes(4, "big")
    (root / "a.png").write_bytes(long)
    linked, given = read(root, "a.png", images=((2, Image("image/jpeg", packed(long))),))
    too_long = "(2 x 8001 pixels) is larger than the model takes (8000 pixels a side), so it"
    assert linked.notice.startswith(f'The file "a.png" in your message {too_long} got only its name; ')
    assert given.notice.startswith(f"The picture in your message {too_long} only got a note; ")
    assert given.part == Text(
        "[image not shown to you: image/png, 2 x 8001 pixels, larger than the 8000 pixels a side that the model takes]"
    )


@pytest.mark.parametrize("options", [{}, {"transparency": 300}])
def test_greys_of_16_bits_stay_greys(options: dict[str, Any]) -> None:
    steps = b"".join((grey * 257).to_bytes(2, "little") for grey in range(256))
    deep = encoded(Pillow.frombytes("I;16", (256, 99), steps * 99), compress_level=0, **options)
    (found,) = read(Path("/project"), images=((0, Image("image/png", packed(deep))),), image_bytes=20_000)
    picture = opened(found.part).convert("L")
    assert [picture.getpixel((x, 9)) for x in range(256)] == list(range(256))


MODES = ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"]


@pytest.mark.parametrize("mode", MODES)
def test_a_picture_of_any_mode_is_reduced_and_looks_the_same(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shrinking, "_KEPT_PIXELS", 2000)
    halves = Pillow.new("L", (100, 80), 255)
    halves.paste(0, (0, 0, 50, 80))
    deep = halves.convert("I").point(lambda grey: grey * 257).convert("I;16")
    picture = deep if mode == "I;16" else halves.convert(mode)
    data = packed(encoded(picture, compress_level=0))
    (found,) = read(Path("/project"), images=((0, Image("image/png", data)),), image_bytes=900)
    smaller = opened(found.part).convert("L")
    assert smaller.size == (50, 40)
    assert [smaller.getpixel((x, 20)) for x in (5, 44)] == [0, 255]


def test_a_phones_picture_with_previews_is_no_animation() -> None:
    pictures = [Pillow.frombytes("RGB", (600, 300), os.urandom(600 * 300 * 3)) for _ in range(2)]
    data = encoded(pictures[0], "MPO", save_all=True, append_images=pictures[1:], quality=95)
    (found,) = read(Path("/project"), images=((0, Image("image/jpeg", packed(data))),), image_bytes=30_000)
    assert isinstance(found.part, Image)


def animated(kind: str) -> bytes:
    frames = [Pillow.new("RGB", (300, 300), colour) for colour in ("red", "blue")]
    return encoded(frames[0], kind, save_all=True, append_images=frames[1:])


BROKEN = {
    "animated gif": ("image/gif", lambda: animated("GIF")),
    "animated png": ("image/png", lambda: animated("PNG")),
    "animated webp": ("image/webp", lambda: animated("WEBP")),
    "cut": ("image/png", lambda: png(300, 300)[:5000]),
    "no picture": ("image/png", lambda: b"\x89PNG\r\n\x1a\n" + bytes(5000)),
    "another format": ("image/png", lambda: encoded(Pillow.new("RGB", (90, 90)), "BMP")),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_shrunk_becomes_a_note(case: str) -> None:
    media_type, make = BROKEN[case]
    data = make()
    assert len(data) > 200
    (found,) = read(Path("/project"), images=((4, Image(media_type, packed(data))),), image_bytes=200)
    assert found.position == 4
    assert isinstance(found.part, Text)
    assert found.part.text.startswith(f"[image not shown to you: {media_type}, ")
    assert found.part.text.endswith(" KiB, larger than the 0.19 KiB that the model takes]")
    assert found.notice.startswith("The picture in your message (")
    assert found.notice.endswith("so it only got a note; send a smaller one.")


def test_bombs_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    data = png(300, 300)
    given = ((0, Image("image/png", packed(data))),)
    (before,) = read(Path("/project"), images=given, image_bytes=9000)
    assert isinstance(before.part, Image)
    for bound in (300 * 300 - 1, 100):  # a warning of Pillow, and its error
        monkeypatch.setattr(Pillow, "MAX_IMAGE_PIXELS", bound)
        (after,) = read(Path("/project"), images=given, image_bytes=9000)
        assert isinstance(after.part, Text)


def test_a_picture_of_too_many_pixels_is_never_unpacked(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.png").write_bytes(encoded(Pillow.new("1", (9400, 9400))))  # 11 kB
    looked_at: list[object] = []
    monkeypatch.setattr(Pillow, "open", lambda *given, **_: looked_at.append(given))
    assert "is larger than the model takes (0.97 KiB)" in one(root, "a.png", image_bytes=1000).notice
    assert not looked_at


def test_a_photo_of_more_pixels_is_unpacked_to_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    photo = Pillow.frombytes("RGB", (600, 400), os.urandom(600 * 400 * 3))
    monkeypatch.setattr(shrinking, "MOST_PIXELS", 150_000)
    monkeypatch.setattr(shrinking, "_KEPT_PIXELS", 70_000)
    found = {
        kind: shrinking.shrunk(encoded(photo, kind), 30_000) for kind in ("JPEG", "PNG")
    }  # a PNG is all or nothing
    assert isinstance(found["JPEG"], Picture)
    assert found["PNG"] == "cannot"


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The widths that were tried."""
    widths: list[int] = []
    encode = shrinking._encoded

    def counted(picture: Pillow.Image, *given: Any) -> Any:
        for found in encode(picture, *given):
            widths.append(picture.width)
            yield found

    monkeypatch.setattr(shrinking, "_encoded", counted)
    return widths


def test_all_pictures_of_a_prompt_share_their_time(root: Path, tries: list[int]) -> None:
    large = png(300, 300)
    for name in "abcd":
        (root / name).write_bytes(large)
    what = ReadAttachments(
        cwd=str(root),
        roots=(str(root),),
        links=linked(root, *"abcd"),
        images=((9, Image("image/png", packed(large))),),
        image_bytes=60_000,
    )
    alone = one(root, "a", image_bytes=60_000)
    each = len(tries)
    assert each > 1
    tries.clear()
    # Each try takes so long that they are enough for two pictures.
    found = read_attachments(what, clock=lambda: len(tries) * shrinking.SECONDS / (2 * each + 1)).attachments
    assert len(tries) == 2 * each + 1  # the one that was begun was ended
    assert [one.position for one in found] == [1, 2, 3, 4, 9]
    assert isinstance(alone.part, Image)
    assert [one.notice for one in found[:2]] == ["", ""]
    for late in found[2:4]:
        assert isinstance(late.part, Link)
        assert late.notice.endswith("send smaller or fewer ones, since there was no time left to shrink it.")
    assert isinstance(found[4].part, Text)
    assert "so it only got a note; send smaller or fewer ones" in found[4].notice


def test_what_is_stopped_ends_with_the_next_try(root: Path, tries: list[int]) -> None:
    (root / "a").write_bytes(png(300, 300))
    what = ReadAttachments(cwd=str(root), roots=(str(root),), links=linked(root, "a", "a"), image_bytes=9000)
    read_attachments(what, lambda: len(tries) >= 1)
    assert tries == [300]


def test_data_that_is_no_base64() -> None:
    (found,) = read(Path("/project"), images=((0, Image("image/png", "é" * 900)),), image_bytes=200)
    assert isinstance(found.part, Text)


@pytest.fixture
def no_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)


@pytest.mark.usefixtures("no_pillow")
def test_without_pillow_the_user_hears_of_it(root: Path) -> None:
    data = b"\x89PNG\r\n\x1a\n".ljust(7549747, b"x")
    (root / "a.png").write_bytes(data)
    linked, given = read(root, "a.png", images=((2, Image("image/png", packed(data))),))
    assert given == Attachment(
        position=2,
        part=Text("[image not shown to you: image/png, 7.2 MiB, larger than the 5 MiB that the model takes]"),
        notice="The picture in your message (7.2 MiB) is larger than the model takes (5 MiB), so it only got a "
        "note; send a smaller one, or install zidane-acp[images] to have it shrunk.",
    )
    assert linked.part == Link(f"file://{root}/a.png", "a.png")
    assert linked.notice == (
        'The file "a.png" in your message (7.2 MiB) is larger than the model takes (5 MiB), so it got only its '
        "name; send a smaller one, or install zidane-acp[images] to have it shrunk."
    )


def test_pillow_is_imported_only_for_a_picture_that_is_too_large(root: Path, no_pillow: None) -> None:
    (root / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n fake")
    assert isinstance(one(root, "a.png").part, Image)


def test_a_picture_out_of_reach(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "IMAGE_REACH", 9000)
    (root / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n".ljust(9001))
    found = one(root, "a.png", image_bytes=100)
    assert "is a picture of more than 8.78 KiB, so the model got only its name" in found.notice


@pytest.mark.parametrize(
    "fields", [{"images_taken": False}, {"images": ((0, Image("image/heic", "AAAA" * 900)),)}]
)
def test_pictures_of_no_use_to_the_model_are_left_to_the_codec(fields: dict[str, Any]) -> None:
    large = ((0, Image("image/png", packed(png(300, 300)))),)
    assert read(Path("/project"), **{"images": large, "image_bytes": 200, **fields}) == ()
