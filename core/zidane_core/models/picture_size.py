"""How large a picture is, and what is said of one that is larger than a model takes (ring 1).

Sizes are in bytes, sides in pixels.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from zidane_core.data.content import Image, Text
from zidane_core.data.models import IMAGE_BYTES
from zidane_core.models.picture_head import Sides, head_of_base64

LARGEST_SIDE: Final = 8000
"""Pixels of a side; providers refuse more."""

_MIB: Final = 2**20

# Before base64, which makes 4 bytes of 3.
_KNOWN: Final[Mapping[str, int]] = MappingProxyType(
    {
        "anthropic": 15 * _MIB // 4,  # "image exceeds 5 MB maximum: ... > 5242880 bytes" is about the base64
        "openai": 20 * _MIB,  # 50 MB a request, which two of these fit
        "openai-responses": 20 * _MIB,
        "openrouter": 15 * _MIB // 4,  # the least of the providers behind it
        "groq": 5 * _MIB // 2,  # 4 MB for the whole request once pictures are in it
        "mistral": 7 * _MIB,  # 10 MB a picture, taken for one in base64
        "xai": 14 * _MIB,  # 20 MiB a picture, taken for one in base64
        "ollama": 20 * _MIB,  # no limit of its own
    }
)


def image_bytes(provider: str) -> int:
    """What a provider takes of one picture."""
    return _KNOWN.get(provider, IMAGE_BYTES)


def decoded_size(data: str) -> int:
    """The bytes that base64 stands for, without decoding it."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def at_least(size: int) -> str:
    """A size, rounded up: what is larger than a limit never reads like the limit."""
    return _said(size, math.ceil)


def at_most(size: int) -> str:
    """A limit, rounded down."""
    return _said(size, math.floor)


class Excess(NamedTuple):
    """How large a picture is, and what a model takes at most; in words."""

    size: str
    most: str


def excess(size: int, sides: Sides | None, most: int) -> Excess | None:
    """What a picture of `size` bytes has too much when a model takes `most` bytes; None when nothing."""
    if size > most:
        return Excess(at_least(size), at_most(most))
    if sides is not None and max(sides) > LARGEST_SIDE:
        return Excess(str(sides), f"{LARGEST_SIDE} pixels a side")
    return None


def excess_of(picture: Image, most: int) -> Excess | None:
    """The same of a picture in a message; of an address alone nothing is known."""
    return excess(decoded_size(picture.data), head_of_base64(picture.data).sides, most)


def too_large(media_type: str, over: Excess) -> Text:
    """What a model gets instead of a picture that is larger than it takes."""
    return Text(
        f"[image not shown to you: {media_type}, {over.size}, larger than the {over.most} that the model takes]"
    )


def _said(size: int, rounded: Callable[[float], int]) -> str:
    unit, name = (_MIB, "MiB") if size >= _MIB else (1024, "KiB")
    return f"{rounded(size * 100 / unit) / 100:g} {name}"
