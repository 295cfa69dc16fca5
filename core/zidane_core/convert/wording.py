"""The words that every form of a shown conversation has in common: kinds, ends, parts without text."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from zidane_core.convert.transcript import About, CardStatus, End
from zidane_core.convert.visible import line, neutral, output
from zidane_core.data.content import Audio, Document, Image, Link, Part, Text
from zidane_core.data.outcome import StopReason
from zidane_core.data.tools import Location, PlanStatus
from zidane_core.text import clean_values, is_array, is_object

CARD_MARKS: Final[Mapping[CardStatus, str]] = MappingProxyType(
    {"completed": "✓", "failed": "✗", "interrupted": "◌"}
)
STEP_MARKS: Final[Mapping[PlanStatus, str]] = MappingProxyType(
    {"completed": "✓", "in_progress": "▸", "pending": "○"}
)
STOPS: Final[Mapping[StopReason, str]] = MappingProxyType(
    {
        "max_tokens": "The answer was cut at the model's token limit.",
        "max_turn_requests": "The turn reached its limit of model rounds.",
        "refusal": "The model refused to answer this.",
        "cancelled": "Cancelled.",
    }
)
UNREADABLE: Final = "An entry that this version cannot read stands here."
WEB: Final = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
"""How an address begins that a page may link to."""


def heading(about: About) -> str:
    """The title of a conversation, or its id where it has none."""
    return line(about.title) or f"Session {line(about.session)}"


def ending(end: End) -> str:
    """How a turn ended, '' for the usual way."""
    if end.fault:
        return f"The turn failed: {neutral(end.fault)}"
    return STOPS.get(end.stop, "") if end.stop else ""


def tokens(end: End) -> str:
    """What a turn cost, '' where that is not known."""
    used = end.usage
    return f"{used.input:,} tokens in, {used.output:,} out" if used.input or used.output else ""


def place(location: Location) -> str:
    """A path with its line."""
    return line(location.path) + ("" if location.line is None else f":{location.line}")


def text_of(part: Part) -> str | None:
    """The text that a part holds; None for one that is only named."""
    if isinstance(part, Text):
        return part.text
    return part.text if isinstance(part, Document) else None


def name_of_part(part: Part) -> str:
    """A part in a few words: its kind, and the name, the address and the media type as far as they are known."""
    kind = type(part).__name__.lower()
    name = (
        part.title or part.name
        if isinstance(part, Link)
        else part.name
        if isinstance(part, Document)
        else None
    )
    uri = part.uri if isinstance(part, Image | Audio | Document | Link) else None
    media_type = None if isinstance(part, Text) else part.media_type
    known = dict.fromkeys(line(word) for word in (name, uri, media_type) if word)
    return f"[{kind}: {', '.join(known)}]" if known else f"[{kind}]"


def spoken(part: Part) -> str:
    """A part as text of a program: what it holds, or what it is called."""
    text = text_of(part)
    return name_of_part(part) if text is None else output(text).strip("\n")


def pretty_json(value: object) -> str:
    """A JSON value on several lines. One that cannot be written as JSON is given as Python says it."""
    try:
        return neutral(msgspec.json.format(msgspec.json.encode(clean_values(value)), indent=2).decode())
    except (TypeError, ValueError, RecursionError):
        return neutral(repr(value))


def arguments(raw: dict[str, object]) -> tuple[tuple[str, str], ...]:
    """The input of a call as names and values; texts stay as they are, other values are JSON."""
    return tuple(
        (line(name), pretty_json(value) if is_object(value) or is_array(value) else _plain(value))
        for name, value in raw.items()
    )


def _plain(value: object) -> str:
    return neutral(value) if isinstance(value, str) else pretty_json(value)
