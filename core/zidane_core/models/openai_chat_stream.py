"""The stream of OpenAI Chat Completions and everything compatible with it (ring 1)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from zidane_core.data.models import (
    BlockEnded,
    Finished,
    ForeignBlock,
    ModelEvent,
    Opaque,
    TextDelta,
    ThoughtDelta,
    Used,
)
from zidane_core.data.outcome import FinishReason, Usage
from zidane_core.models import errors
from zidane_core.models.codec import Endpoint
from zidane_core.models.openai_chat_calls import CallPiece, FunctionPiece, OpenCall, add, called
from zidane_core.models.openai_chat_request import DETAILS_FAMILY
from zidane_core.models.stream import State, decode
from zidane_core.text import encode_json

DONE: Final = b"[DONE]"

_REASONS: Final[Mapping[str, FinishReason]] = MappingProxyType(
    {
        "stop": "stop",
        "end_turn": "stop",
        "eos": "stop",
        "stop_sequence": "stop",
        "length": "length",
        "max_tokens": "length",
        "model_length": "length",
        "tool_calls": "tool-calls",
        "function_call": "tool-calls",
        "content_filter": "content-filter",
    }
)


# The wire, only what is used ------------------------------------------------------------------------


class _InputDetails(msgspec.Struct, frozen=True, gc=False):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(msgspec.Struct, frozen=True, gc=False):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True, gc=False):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    prompt_cache_hit_tokens: int | None = None


class _Groq(msgspec.Struct, frozen=True, gc=False):
    usage: _Usage | None = None
    error: object = None


class _Piece(msgspec.Struct, frozen=True, gc=False):
    type: str = ""
    text: str | None = None
    thinking: list[dict[str, object]] | str | None = None


class _Delta(msgspec.Struct, frozen=True, gc=False):
    content: str | list[_Piece] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, object]] | None = None
    tool_calls: list[CallPiece] | None = None
    function_call: FunctionPiece | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct, frozen=True, gc=False):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, frozen=True, gc=False):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    x_groq: _Groq | None = None
    error: object = None


_CHUNKS: Final = msgspec.json.Decoder(_Chunk)

# The reader ----------------------------------------------------------------------------------------


class Reader(msgspec.Struct, frozen=True, gc=False):
    """The answer as far as it was read. `details` are OpenRouter's, merged by kind and index."""

    endpoint: Endpoint
    open: Literal["", "text", "thought"] = ""
    calls: tuple[OpenCall, ...] = ()
    details: tuple[dict[str, object], ...] = ()
    refusal: str = ""
    reason: str = ""
    usage: Usage | None = None

    def take(self, data: tuple[bytes, ...]) -> "tuple[Reader, list[ModelEvent], bool]":
        """Take the data of some events."""
        reader: Reader = self
        events: list[ModelEvent] = []
        marked = False
        for one in data:
            if one.strip() == DONE:
                events.extend(_finish(reader))
                break
            found = decode(one, _CHUNKS)
            if found is None:
                events.append(errors.unreadable(self.endpoint, "an event that is no chunk of an answer"))
                break
            chunk, marks = found
            marked = marked or marks
            if chunk.choices:
                choice = chunk.choices[0]
                delta = choice.delta
                if delta is not None:
                    content = delta.content
                    # The hot path: text that goes on.
                    if content and reader.open == "text" and isinstance(content, str):
                        events.append(TextDelta(content))
                        content = None
                    if _more(delta, content):
                        reader = _delta(reader, delta, content, events)
                if choice.finish_reason:
                    reader = replace(reader, reason=choice.finish_reason)
            error = chunk.error or (chunk.x_groq.error if chunk.x_groq else None)
            if error:
                events.append(errors.event_fault(self.endpoint, error))
                break
            usage = chunk.usage or (chunk.x_groq.usage if chunk.x_groq else None)
            if usage is not None:
                reader = replace(reader, usage=_usage(usage))
        return reader, events, marked

    def close(self) -> list[ModelEvent]:
        """Some servers leave out [DONE]."""
        return _finish(self) if self.reason else []


def start(endpoint: Endpoint) -> State:
    """The state before the first byte."""
    return State(endpoint, Reader(endpoint))


def _more(delta: _Delta, content: object) -> bool:
    return bool(
        content
        or delta.reasoning_content
        or delta.reasoning
        or delta.tool_calls
        or delta.reasoning_details
        or delta.refusal
        or delta.function_call
    )


def _delta(
    reader: Reader, delta: _Delta, content: str | list[_Piece] | None, events: list[ModelEvent]
) -> Reader:
    """Everything a delta can hold, thoughts first; events are appended to the caller's list."""
    if delta.reasoning_details:
        reader = replace(reader, details=_merged(reader.details, delta.reasoning_details))
    reader = _say(reader, "thought", delta.reasoning_content or delta.reasoning or "", events)
    if isinstance(content, str):
        reader = _say(reader, "text", content, events)
    elif content:
        for piece in content:
            kind: Literal["text", "thought"] = "thought" if piece.type == "thinking" else "text"
            reader = _say(reader, kind, _piece_text(piece), events)
    if delta.refusal:
        reader = replace(reader, refusal=reader.refusal + delta.refusal)
    for call in delta.tool_calls or ():
        reader = replace(reader, calls=add(reader.calls, call))
    if delta.function_call is not None:
        reader = replace(reader, calls=add(reader.calls, CallPiece(0, None, delta.function_call)))
    return reader


def _say(reader: Reader, kind: Literal["text", "thought"], text: str, events: list[ModelEvent]) -> Reader:
    if not text:
        return reader
    if reader.open and reader.open != kind:
        events.append(BlockEnded())
    events.append(TextDelta(text) if kind == "text" else ThoughtDelta(text))
    return reader if reader.open == kind else replace(reader, open=kind)


def _piece_text(piece: _Piece) -> str:
    if isinstance(piece.thinking, list):
        texts = (item.get("text") for item in piece.thinking)
        return "".join(text for text in texts if isinstance(text, str))
    return piece.thinking or piece.text or ""


def _merged(
    details: tuple[dict[str, object], ...], pieces: list[dict[str, object]]
) -> tuple[dict[str, object], ...]:
    """Reasoning details come in pieces too: texts of one kind and index are joined."""
    merged = list(details)
    for piece in pieces:
        last = merged[-1] if merged else None
        same = last is not None and (last.get("type"), last.get("index")) == (
            piece.get("type"),
            piece.get("index"),
        )
        if last is None or not same or piece.get("type") == "reasoning.encrypted":
            merged.append(dict(piece))
            continue
        grown = dict(last)
        for key, value in piece.items():
            before = grown.get(key)
            if key in ("text", "summary") and isinstance(before, str) and isinstance(value, str):
                grown[key] = before + value
            elif value not in (None, ""):
                grown[key] = value
        merged[-1] = grown
    return tuple(merged)


def _finish(reader: Reader) -> list[ModelEvent]:
    """Everything that only counts when the answer is complete, and its end."""
    events: list[ModelEvent] = [BlockEnded()] if reader.open else []
    if reader.details:
        events.append(ForeignBlock(Opaque(DETAILS_FAMILY, encode_json(reader.details).decode())))
    events.extend(called(reader.calls))
    if reader.usage is not None:
        events.append(Used(reader.usage))
    if reader.reason == "insufficient_system_resource":
        return [
            *events,
            errors.event_fault(reader.endpoint, {"message": "no capacity left", "type": "server_error"}),
        ]
    if reader.reason == "error":
        return [
            *events,
            errors.event_fault(reader.endpoint, {"message": "the model failed", "type": "server_error"}),
        ]
    return [*events, _finished(reader)]


def _finished(reader: Reader) -> Finished:
    if reader.refusal:
        return Finished("content-filter", reader.refusal)
    reason = _REASONS.get(reader.reason, "other") if reader.reason else "stop"
    # Several servers say "stop" although they called tools.
    return Finished("tool-calls" if reader.calls and reason in ("stop", "other") else reason)


def _usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details
    output = usage.completion_tokens_details
    cached = (
        details.cached_tokens
        if details and details.cached_tokens is not None
        else usage.prompt_cache_hit_tokens
    )
    return Usage(
        input=usage.prompt_tokens or 0,
        output=usage.completion_tokens or 0,
        cached_read=cached or 0,
        cached_write=(details.cache_write_tokens or 0) if details else 0,
        thought=(output.reasoning_tokens or 0) if output else 0,
    )
