"""Tool call ids and names that a provider accepts, made from ours (ring 1). The same id always gives the same."""

import hashlib
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.models.codec import CallIds

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FITS: Final[Mapping[CallIds, re.Pattern[str]]] = MappingProxyType(
    {
        "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
        "openai": re.compile(r"[a-zA-Z0-9_-]{1,40}"),
        "mistral": re.compile(r"[a-zA-Z0-9]{9}"),
    }
)
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME: Final = 64


def call_id(ours: str, rule: CallIds) -> str:
    """Our call id where it fits the rule, else a digest of it that does."""
    if _FITS[rule].fullmatch(ours):
        return ours
    digest = hashlib.sha256(ours.encode("utf-8", "surrogatepass")).digest()
    if rule != "mistral":
        return "call_" + digest.hex()[:32]
    number = int.from_bytes(digest[:8], "big")
    return "".join(_ALPHABET[number // 62**place % 62] for place in range(9))


def tool_name(name: str) -> str:
    """A tool name that every provider accepts: a model may have made up one that they refuse in the history."""
    return _NOT_IN_NAMES.sub("_", name)[:_LONGEST_NAME] or "unknown"
