"""How large a picture is, and what is said of one that is larger than a model takes (ring 1). Sizes are in bytes."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.data.content import Text
from zidane_core.data.models import IMAGE_BYTES

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


def too_large(media_type: str, size: int, most: int) -> Text:
    """What a model gets instead of a picture that is larger than it takes."""
    return Text(
        f"[image not shown to you: {media_type}, {at_least(size)}, "
        f"larger than the {at_most(most)} that the model takes]"
    )


def _said(size: int, rounded: Callable[[float], int]) -> str:
    unit, name = (_MIB, "MiB") if size >= _MIB else (1024, "KiB")
    return f"{rounded(size * 100 / unit) / 100:g} {name}"
