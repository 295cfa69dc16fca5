"""The codecs by family."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.data.models import ModelEvent
from zidane_core.models import (
    anthropic_request,
    anthropic_stream,
    errors,
    openai_chat_request,
    openai_chat_stream,
    openai_responses_request,
    openai_responses_stream,
)
from zidane_core.models.codec import Codec, Family, Stream


def feed(state: Stream, data: bytes) -> tuple[Stream, tuple[ModelEvent, ...]]:
    """Take bytes as they come: the next state and the events that are complete."""
    return state.feed(data)


def end(state: Stream) -> tuple[ModelEvent, ...]:
    """The bytes are at their end: the last events, a fault among them where the answer was cut."""
    return state.end()


CODECS: Final[Mapping[Family, Codec]] = MappingProxyType(
    {
        "anthropic": Codec(anthropic_request.build, anthropic_stream.start, feed, end, errors.fault),
        "openai-chat": Codec(openai_chat_request.build, openai_chat_stream.start, feed, end, errors.fault),
        "openai-responses": Codec(
            openai_responses_request.build, openai_responses_stream.start, feed, end, errors.fault
        ),
    }
)
