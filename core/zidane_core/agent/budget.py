"""How many tokens a request has, and how many a model takes (ring 2).

Providers count tokens, we cannot: sizes here are estimates, three bytes of text for one token, which is more than most
texts need. They are set right by the counts that providers send with each answer.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from zidane_core.data import content, models
from zidane_core.data.content import Part
from zidane_core.data.models import ModelChoice, Opaque
from zidane_core.data.tools import ToolSpec
from zidane_core.models.codec import NO_LIMIT
from zidane_core.text import encode_json

BYTES: Final = 3
"""Bytes of text for one token."""

FRAME: Final = 4
"""Tokens around a message, a block of one, or a tool."""

PICTURE: Final = 1600
"""Tokens of a picture, or of a sound."""

_DATA: Final = 30
"""Characters of base64 for one token of a document, most of which is layout and pictures."""


class Counted(msgspec.Struct, frozen=True, gc=False):
    """What a provider counted: the tokens of a request and its answer, when the messages had this estimated size."""

    tokens: int
    size: int


# Sizes ----------------------------------------------------------------------------------------------


def size_of_text(text: str) -> int:
    """Estimated tokens of a text."""
    length = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-length // BYTES)


def size_of_parts(parts: tuple[Part, ...]) -> int:
    """Estimated tokens of content."""
    return sum(_PARTS[type(part)](part) for part in parts)


def _document(part: content.Document) -> int:
    if part.text is not None:
        return size_of_text(part.text)
    return max(PICTURE, len(part.data) // _DATA)


def _link(part: content.Link) -> int:
    return size_of_text(f"{part.title or part.name}{part.uri}{part.description or ''}")


# Any: each function takes the type of its key, which a mapping cannot say.
_PARTS: Final[Mapping[type, Callable[[Any], int]]] = MappingProxyType(
    {
        content.Text: lambda part: size_of_text(part.text),
        content.Image: lambda part: PICTURE,
        content.Audio: lambda part: PICTURE,
        content.Document: _document,
        content.Link: _link,
    }
)


def size_of_block(block: models.AssistantBlock) -> int:
    """Estimated tokens of a block of an answer."""
    return FRAME + _BLOCKS[type(block)](block)


def _hidden(opaque: Opaque | None) -> int:
    return 0 if opaque is None else size_of_text(opaque.data)


# Any: as above.
_BLOCKS: Final[Mapping[type, Callable[[Any], int]]] = MappingProxyType(
    {
        models.Said: lambda block: size_of_text(block.text),
        # A provider's own form of a thought goes back in the place of its text.
        models.Thought: lambda block: max(size_of_text(block.text), _hidden(block.opaque)),
        models.Call: lambda block: size_of_text(block.name) + size_of_text(block.arguments),
        models.Foreign: lambda block: _hidden(block.opaque),
    }
)


def size_of_result(result: models.CallResult) -> int:
    """Estimated tokens of the result of a call."""
    return FRAME + size_of_parts(result.content)


def size_of(message: models.Message) -> int:
    """Estimated tokens of a message: the sum of what it consists of, so that it can be kept as it grows."""
    if isinstance(message, models.UserMessage):
        return FRAME + size_of_parts(message.parts)
    if isinstance(message, models.AssistantMessage):
        return FRAME + sum(map(size_of_block, message.blocks))
    return FRAME + sum(map(size_of_result, message.results))


def size_around(system: str, tools: tuple[ToolSpec, ...]) -> int:
    """Estimated tokens of what goes with every request: the system prompt and the tools."""
    return size_of_text(system) + sum(
        FRAME + size_of_text(f"{tool.name}{tool.description}") + -(-len(encode_json(tool.schema)) // BYTES)
        for tool in tools
    )


# Tokens ---------------------------------------------------------------------------------------------


def tokens(counted: Counted | None, size: int, around: int) -> int:
    """The tokens of a request whose messages have this size: what was counted, and an estimate of what came since. Where
    messages have become shorter, the same part of what was counted."""
    if counted is None:
        return around + size
    then, more = counted.size + around, size - counted.size
    known = max(counted.tokens, round(then * _LEAST_SCALE))
    if more >= 0:
        return known + round(more * max(1.0, scale(counted, around)))
    return known * (size + around) // max(then, 1)


def scale(counted: Counted | None, around: int) -> float:
    """Real tokens for one that was estimated; bounded, since what was counted may not be the messages alone."""
    if counted is None:
        return 1.0
    return min(max(counted.tokens / max(counted.size + around, 1), _LEAST_SCALE), _MOST_SCALE)


_LEAST_SCALE: Final = 0.7
"""More than four bytes a token: a count that says so is of a part of the request only, as some providers give it."""

_MOST_SCALE: Final = 2.0


def reserve(model: ModelChoice) -> int:
    """Tokens that are kept free for the answer: as many as the model may say, but at most a quarter of its window."""
    return (
        model.max_output if model.context_window is None else min(model.max_output, model.context_window // 4)
    )


def limit(model: ModelChoice) -> int | None:
    """The tokens that a request may have; None if the window is not known."""
    return None if model.context_window is None else model.context_window - reserve(model)


def max_tokens(model: ModelChoice) -> int:
    """The tokens that an answer may have. Many providers refuse a request that leaves no room for as many, so that it is
    not more than what is kept free; a model without a limit stays without one."""
    return model.max_output if model.max_output >= NO_LIMIT else reserve(model)
