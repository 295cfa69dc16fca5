"""What a client sends in a prompt -> what it is shown of it, for the replay law."""

import re
from typing import Any

KNOWN = {"text", "image", "audio", "resource_link", "resource"}
ANY_TEXT = {"type": "text"}
"""Stands for a block that cannot be shown as it came: a sentence takes its place."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def as_shown(block: dict[str, Any]) -> dict[str, Any]:
    """A block as it has to be shown again: as it was sent, or any text where it is none that can be."""
    kind = block["type"]
    data = block.get("resource", {}).get("blob") if kind == "resource" else block.get("data")
    if kind not in KNOWN or data == "":
        return ANY_TEXT
    if kind == "text":
        block = {**block, "text": _SURROGATE.sub("\ufffd", block["text"])}
    return {name: value for name, value in block.items() if not is_malformed(name, value)}


def is_malformed(name: str, value: Any) -> bool:
    """Hints that are none count as absent."""
    return name in {"annotations", "_meta"} and not isinstance(value, dict)


def matches(shown: list[dict[str, Any]], sent: list[dict[str, Any]]) -> bool:
    """Whether these contents are what is to be shown of a prompt."""
    return len(shown) == len(sent) and all(
        (one["type"] == "text") if wanted is ANY_TEXT else one == wanted
        for one, wanted in zip(shown, sent, strict=True)
    )
