"""What a client sends in a prompt -> what it is shown of it, for the replay law."""

import re
from typing import Any

from zidane_core.convert.hints import DEEPEST

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
    kept = {name: KEPT.get(name, as_it_is)(value) for name, value in block.items()}
    return {name: value for name, value in kept.items() if value is not None}


def as_it_is(value: Any) -> Any:
    return value


def annotations(given: Any) -> dict[str, Any] | None:
    """Annotations of which a malformed field costs only itself, and an unknown role only its place."""
    if not isinstance(given, dict):
        return None
    audience = given.get("audience")
    known = {
        "audience": [role for role in audience if role in ROLES] if isinstance(audience, list) else None,
        "lastModified": given.get("lastModified") if isinstance(given.get("lastModified"), str) else None,
        "priority": given.get("priority") if isinstance(given.get("priority"), int | float) else None,
        "_meta": meta(given.get("_meta")),
    }
    return {name: value for name, value in known.items() if value is not None}


def meta(given: Any) -> dict[str, Any] | None:
    """An object that is not nested too deeply; all else counts as absent."""
    return given if isinstance(given, dict) and levels(given) <= DEEPEST else None


def levels(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max((levels(item) for item in inner), default=0)


ROLES = ("user", "assistant")
KEPT = {"annotations": annotations, "_meta": meta}


def matches(shown: list[dict[str, Any]], sent: list[dict[str, Any]]) -> bool:
    """Whether these contents are what is to be shown of a prompt."""
    return len(shown) == len(sent) and all(
        (one["type"] == "text") if wanted is ANY_TEXT else one == wanted
        for one, wanted in zip(shown, sent, strict=True)
    )
