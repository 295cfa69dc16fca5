"""The part of a history that will not change any more, encoded once (ring 1).

Every round sends the whole history again, so that encoding it anew makes each prompt of a long session dearer. The
turns before the last ones stay what they are: their JSON goes from one request of a session to the next.
"""

from collections.abc import Callable
from operator import is_
from typing import Final, TypeAlias

import msgspec

from zidane_core.data.models import AssistantMessage, Call, Message, Said, UserMessage
from zidane_core.text import encode_json

Json: TypeAlias = dict[str, object]
Encode: TypeAlias = Callable[[tuple[Message, ...]], tuple[list[Json], tuple[str, ...]]]
"""The wire items of some whole turns, and warnings for the user."""

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of JSON beyond which nothing is kept: it would double the memory of a session full of pictures."""


class Settled(msgspec.Struct, frozen=True, gc=False):
    """Messages and their wire items as JSON text without brackets. `key` is what else the items depend on."""

    key: tuple[object, ...]
    messages: tuple[Message, ...] = ()
    items: bytes = b""
    warnings: tuple[str, ...] = ()


def settle(
    messages: tuple[Message, ...], turns: int, key: tuple[object, ...], before: Settled | None, encode: Encode
) -> Settled:
    """Everything before the last `turns` turns; what `before` holds of it is not encoded again."""
    at = _cut(messages, turns)
    known = before if before is not None and _fits(before, key, messages, at) else Settled(key)
    if at == len(known.messages):
        return known
    new, warnings = encode(messages[len(known.messages) : at])
    items = encode_json(new)[1:-1]
    whole = b",".join(part for part in (known.items, items) if part)
    return Settled(key, messages[:at], whole, (*known.warnings, *warnings))


def _fits(before: Settled, key: tuple[object, ...], messages: tuple[Message, ...], at: int) -> bool:
    return before.key == key and len(before.messages) <= at and all(map(is_, before.messages, messages))


def _cut(messages: tuple[Message, ...], turns: int) -> int:
    """The place before the `turns`-th last user message that follows a finished answer; 0 when there is none."""
    left = turns
    for place in range(len(messages) - 1, 0, -1):
        if isinstance(messages[place], UserMessage) and _is_finished(messages[place - 1]):
            left -= 1
            if not left:
                return place
    return 0


def _is_finished(message: Message) -> bool:
    """Whether it is an answer with words and no calls. One without words may be left out, and then what stands
    before and behind it can become one message."""
    if not isinstance(message, AssistantMessage):
        return False
    said = any(isinstance(block, Said) and block.text.strip() for block in message.blocks)
    return said and not any(isinstance(block, Call) for block in message.blocks)


def joined(settled: Settled, rest: list[Json]) -> msgspec.Raw:
    """All items as one JSON array."""
    return msgspec.Raw(
        b"[" + b",".join(part for part in (settled.items, encode_json(rest)[1:-1]) if part) + b"]"
    )


def kept(settled: Settled) -> Settled | None:
    """What is worth keeping for the next request."""
    return settled if settled.messages and len(settled.items) <= LARGEST else None
