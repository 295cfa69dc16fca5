"""A picture made smaller, with Pillow where it is installed (the extra `images`). It takes its time: for a thread.

What one picture can cost is bounded by its pixels, which its head says before Pillow sees it; what all pictures of a
prompt can cost by time, which is looked at between the steps.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from zidane_core.models.picture_head import head_of_bytes
from zidane_core.models.picture_size import LARGEST_SIDE

if TYPE_CHECKING:
    from PIL.Image import Image, ImagePointTransform

SECONDS: Final = 10.0
"""What all pictures of a prompt may take together; a step that has begun is ended."""

MOST_PIXELS: Final = 40_000_000
"""Pixels that are unpacked."""

_DRAFTED_PIXELS: Final = 2 * MOST_PIXELS
"""Pixels of a JPEG, which can be unpacked to a half of its sides or less. Pillow warns of a bomb a bit above that."""

_KEPT_PIXELS: Final = 12_000_000
"""Pixels above which a picture is reduced before anything else is done to it; models see far less."""

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


NotShrunk: TypeAlias = Literal["no pillow", "cannot", "late"]
"""Why a picture is as large as it was.

Pillow is not installed; or the picture is broken, animated, too large to be unpacked or of an unknown kind; or the
time is over.
"""


class _Halted(Exception):
    """There is no time left."""


class Shrinker:
    """Shrinks pictures to `most` bytes each, all within `SECONDS` by `clock`, until `stopped`. For one thread."""

    __slots__ = ("_clock", "_left", "_most", "_stopped")

    def __init__(
        self, most: int, stopped: Callable[[], bool], clock: Callable[[], float] = monotonic
    ) -> None:
        self._most = most
        self._stopped = stopped
        self._clock = clock
        self._left = SECONDS

    def __call__(self, data: bytes) -> Picture | NotShrunk:
        """The picture, smaller; or why not."""
        begun = self._clock()

        def check() -> None:
            if self._stopped() or self._clock() - begun >= self._left:
                raise _Halted

        try:
            return shrunk(data, self._most, check)
        finally:
            self._left -= self._clock() - begun


def shrunk(data: bytes, most: int, check: Callable[[], None] = lambda: None) -> Picture | NotShrunk:
    """The picture in at most `most` bytes, turned as its EXIF data says, which is left out then.

    `check` is called between the steps and ends them by an exception (of `Shrinker`).
    """
    try:
        from PIL import Image
    except ImportError:
        return "no pillow"
    try:
        check()
        if not _in_reach(data, Image.MAX_IMAGE_PIXELS):
            return "cannot"
        with Image.open(BytesIO(data), formats=_FORMATS) as opened:
            # The further pictures of a JPEG (MPO, as phones make it) are depths and previews, no animation.
            moves = opened.format in _MOVING and getattr(opened, "is_animated", False)
            if moves or opened.mode not in _TO_8_BIT or not _drafted(opened):
                return "cannot"
            plain = _plain(opened)
        check()
        return _fitting(plain, most, check) or "cannot"
    except _Halted:
        return "late"
    except (
        Exception
    ):  # the data come from anywhere, and Pillow has no one exception for what is wrong with them
        return "cannot"


# What is unpacked ----------------------------------------------------------------------------------


def _in_reach(data: bytes, bound: int | None) -> bool:
    """Whether the head speaks of so few pixels that Pillow may see the picture; `bound` is Pillow's own."""
    media_type, sides = head_of_bytes(data)
    ours = _DRAFTED_PIXELS if media_type == "image/jpeg" else MOST_PIXELS
    return sides is not None and sides.width * sides.height <= min(ours, bound or ours)


def _drafted(picture: "Image") -> bool:
    """Whether the picture, after it was told to unpack itself to no more than is needed, has few enough pixels."""
    factor = _factor(picture)
    if factor > 1:
        picture.draft(None, (picture.width // factor, picture.height // factor))
    return picture.width * picture.height <= MOST_PIXELS


def _factor(picture: "Image") -> int:
    """By what the sides of a picture are divided, so that what is kept is enough."""
    return math.ceil(math.sqrt(picture.width * picture.height / _KEPT_PIXELS))


def _plain(picture: "Image") -> "Image":
    """RGB or RGBA, turned, and reduced before it is made either, which takes more room."""
    from PIL import ImageOps

    eight = _TO_8_BIT[picture.mode](picture)
    factor = _factor(eight)
    turned = ImageOps.exif_transpose(eight.reduce(factor) if factor > 1 else eight)
    return turned if turned.mode == "RGBA" else turned.convert("RGB")


def _as_it_is(picture: "Image") -> "Image":
    """With transparency as a channel; a colour that stands for it would be lost among its neighbours."""
    return picture.convert("RGBA") if picture.has_transparency_data else picture


def _with_colours(picture: "Image") -> "Image":
    """Colours instead of their numbers, which have no mean."""
    if picture.has_transparency_data:
        return picture.convert("RGBA")
    return picture.convert("L" if picture.mode == "1" else "RGB")


def _from_16_bits(picture: "Image") -> "Image":
    """The upper byte of each grey; `convert` alone makes white of all but the darkest."""
    wide = picture.convert("I")
    # Its type speaks of numpy, which need not be there.
    grey = wide.point(_upper_byte).convert("L")  # pyright: ignore[reportUnknownMemberType]
    grey.info.pop("transparency", None)  # a grey of 16 bits
    return grey


def _upper_byte(value: "ImagePointTransform") -> "ImagePointTransform":
    return value * (1 / 256)


_TO_8_BIT: Final[Mapping[str, Callable[["Image"], "Image"]]] = MappingProxyType(
    {
        **dict.fromkeys(("L", "LA", "RGB", "RGBA", "CMYK", "YCbCr"), _as_it_is),
        **dict.fromkeys(("1", "P", "PA"), _with_colours),
        **dict.fromkeys(("I;16", "I;16B", "I;16L", "I;16N", "I"), _from_16_bits),
    }
)
"""By Pillow's mode. Of any other (F) it is not known what is white."""


# What fits -----------------------------------------------------------------------------------------


def _fitting(plain: "Image", most: int, check: Callable[[], None]) -> Picture | None:
    alpha = plain.mode == "RGBA"
    if alpha and plain.getchannel("A").getextrema() == (255, 255):  # screenshots have one, of nothing
        alpha, plain = False, plain.convert("RGB")
    if alpha or plain.getcolors(_FEW_COLOURS) is not None:
        found = next(_tries(plain, most, min(_SHARP_SIDE, max(plain.size)), None, check), None)
        if found is not None:
            return found
    flat = _flat(plain) if alpha else plain
    return next(_tries(flat, most, _SMALLEST_SIDE, _QUALITIES, check), None)


def _flat(picture: "Image") -> "Image":
    """Without transparency, on white."""
    from PIL import Image

    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def _tries(
    picture: "Image",
    most: int,
    least_side: int,
    qualities: tuple[int, ...] | None,
    check: Callable[[], None],
) -> Iterator[Picture]:
    """What fits, the largest first; as PNG, or as JPEG in these qualities."""
    side = min(max(picture.size), LARGEST_SIDE)
    while True:
        scaled = _scaled(picture, side)
        smallest = 0
        for encoded in _encoded(scaled, qualities):
            check()
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
            picture.save(target, "PNG")  # `optimize` takes many times as long for some pictures
        else:
            picture.save(target, "JPEG", quality=quality, optimize=True)
        yield Picture("image/png" if quality is None else "image/jpeg", target.getvalue())
