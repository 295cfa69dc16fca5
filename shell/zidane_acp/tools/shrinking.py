"""A picture made smaller, with Pillow where it is installed (the extra `images`). It takes its time: for a thread."""

import math
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST_SIDE: Final = 8000
"""Pixels of a side; providers refuse more."""

_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
_MOVING: Final = ("PNG", "GIF", "WEBP")
_FEW_COLOURS: Final = 256
_SHARP_SIDE: Final = 1568
"""Pixels of a side below which a PNG gives way to a JPEG that keeps more of them; models see hardly more."""

_SMALLEST_SIDE: Final = 64
_QUALITIES: Final = (85, 70)


class Picture(NamedTuple):
    """An encoded picture."""

    media_type: str
    data: bytes


NotShrunk: TypeAlias = Literal["no pillow", "cannot"]
"""Why a picture is as large as it was: Pillow is not installed; or it is broken, animated, or a bomb."""


def shrunk(data: bytes, most: int) -> Picture | NotShrunk:
    """The picture in at most `most` bytes, turned as its EXIF data says, which is left out then."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        return "no pillow"
    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as opened:
            bound = Image.MAX_IMAGE_PIXELS
            # The further pictures of a JPEG (MPO, as phones make it) are depths and previews, no animation.
            moves = opened.format in _MOVING and getattr(opened, "is_animated", False)
            if moves or (bound and opened.width * opened.height > bound):
                return "cannot"
            fitting = _fitting(ImageOps.exif_transpose(opened), most)
        return fitting or "cannot"
    except (
        Exception
    ):  # the data come from anywhere, and Pillow has no one exception for what is wrong with them
        return "cannot"


def _fitting(picture: "Image", most: int) -> Picture | None:
    alpha = picture.has_transparency_data
    plain = picture.convert("RGBA" if alpha else "RGB")
    if alpha and plain.getchannel("A").getextrema() == (255, 255):  # screenshots have one, of nothing
        alpha, plain = False, plain.convert("RGB")
    if alpha or plain.getcolors(_FEW_COLOURS) is not None:
        found = next(_tries(plain, most, min(_SHARP_SIDE, max(plain.size)), None), None)
        if found is not None:
            return found
    flat = _flat(plain) if alpha else plain
    return next(_tries(flat, most, _SMALLEST_SIDE, _QUALITIES), None)


def _flat(picture: "Image") -> "Image":
    """Without transparency, on white."""
    from PIL import Image

    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def _tries(
    picture: "Image", most: int, least_side: int, qualities: tuple[int, ...] | None
) -> Iterator[Picture]:
    """What fits, the largest first; as PNG, or as JPEG in these qualities."""
    side = min(max(picture.size), LARGEST_SIDE)
    while True:
        scaled = _scaled(picture, side)
        smallest = 0
        for encoded in _encoded(scaled, qualities):
            if len(encoded.data) <= most:
                yield encoded
            smallest = len(encoded.data)
        if side <= least_side:
            return
        # Bytes go about with the area; a bit less, so that the next one fits.
        side = max(int(side * min(0.9, 0.95 * math.sqrt(most / smallest))), least_side)


def _scaled(picture: "Image", side: int) -> "Image":
    factor = side / max(picture.size)
    if factor >= 1:
        return picture
    width, height = (max(1, round(length * factor)) for length in picture.size)
    # Its type speaks of numpy, which need not be there.
    return picture.resize((width, height), reducing_gap=3.0)  # pyright: ignore[reportUnknownMemberType]


def _encoded(picture: "Image", qualities: tuple[int, ...] | None) -> Iterator[Picture]:
    for quality in qualities or (None,):
        target = BytesIO()
        if quality is None:
            picture.save(target, "PNG", optimize=True)
        else:
            picture.save(target, "JPEG", quality=quality, optimize=True)
        yield Picture("image/png" if quality is None else "image/jpeg", target.getvalue())
