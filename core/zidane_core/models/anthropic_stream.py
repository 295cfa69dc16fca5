"""The stream of the Anthropic Messages API (ring 1)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core.data.models import (
    BlockEnded,
    Called,
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
from zidane_core.models.stream import State, arguments, decode, event_type
from zidane_core.text import Growing, decode_json, encode_json, grow, is_object, whole

FAMILY: Final = "anthropic"

_REASONS: Final[Mapping[str, FinishReason]] = MappingProxyType(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool-calls",
        "refusal": "content-filter",
    }
)

# Events of other kinds may look as they like; '' is data that cannot be read.
_KNOWN: Final = frozenset({"", "error"}) | {
    f"{thing}_{moment}" for thing in ("message", "content_block") for moment in ("start", "delta", "stop")
}


# The wire, only what is used ------------------------------------------------------------------------


class _Details(msgspec.Struct, frozen=True, gc=False):
    thinking_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: _Details | None = None


class _Message(msgspec.Struct, frozen=True, gc=False):
    usage: _Usage | None = None


class _StopDetails(msgspec.Struct, frozen=True, gc=False):
    explanation: str | None = None


class _Delta(msgspec.Struct, frozen=True, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None


class _Event(msgspec.Struct, frozen=True, gc=False):
    type: str = ""
    delta: _Delta | None = None
    usage: _Usage | None = None
    message: _Message | None = None
    error: object = None


class _Start(msgspec.Struct, frozen=True, gc=False):
    content_block: dict[str, object]


class _Generic(msgspec.Struct, frozen=True, gc=False):
    delta: dict[str, object]


_EVENTS: Final = msgspec.json.Decoder(_Event)
_STARTS: Final = msgspec.json.Decoder(_Start)
_GENERICS: Final = msgspec.json.Decoder(_Generic)


# The reader ----------------------------------------------------------------------------------------


class Block(msgspec.Struct, frozen=True, gc=False):
    """The open block: as it started (JSON), what grew since, its signature, and whether any of it was shown."""

    kind: str
    start: str
    grown: Growing = Growing()
    signature: str = ""
    shown: bool = False


class Reader(msgspec.Struct, frozen=True, gc=False):
    """The answer as far as it was read."""

    endpoint: Endpoint
    block: Block | None = None
    usage: _Usage = _Usage()
    reason: str | None = None
    refusal: str = ""

    def take(self, data: tuple[bytes, ...]) -> "tuple[Reader, list[ModelEvent], bool]":
        """Take the data of some events."""
        reader: Reader = self
        events: list[ModelEvent] = []
        marked = False
        for one in data:
            found = decode(one, _EVENTS)
            if found is None:
                if event_type(one) not in _KNOWN:
                    continue
                events.append(errors.unreadable(self.endpoint, "an event that is no valid JSON"))
                break
            event, marks = found
            marked = marked or marks
            delta = event.delta
            if event.type == "content_block_delta" and delta is not None:
                # The hot path: shown text leaves at once, and the state changes once for a block.
                if delta.text is not None and delta.type == "text_delta":
                    if delta.text:
                        events.append(TextDelta(delta.text))
                elif delta.thinking is not None and delta.type == "thinking_delta":
                    if delta.thinking:
                        events.append(ThoughtDelta(delta.thinking))
                        if reader.block is not None and not reader.block.shown:
                            reader = replace(reader, block=replace(reader.block, shown=True))
                else:
                    reader, marks = _other_delta(reader, delta, one)
                    marked = marked or marks
                continue
            reader, more, marks = _structure(reader, event, one)
            marked = marked or marks
            events.extend(more)
            if event.type in ("message_stop", "error"):
                break
        return reader, events, marked

    def close(self) -> list[ModelEvent]:
        """Some servers leave out the last event."""
        return [] if self.reason is None else [_finished(self)]


def start(endpoint: Endpoint) -> State:
    """The state before the first byte."""
    return State(endpoint, Reader(endpoint))


def _other_delta(reader: Reader, delta: _Delta, data: bytes) -> tuple[Reader, bool]:
    block = reader.block
    if block is None or delta.type == "citations_delta":
        return reader, False
    if delta.type == "input_json_delta":
        return replace(reader, block=replace(block, grown=grow(block.grown, delta.partial_json or ""))), False
    if delta.type == "signature_delta":
        return replace(
            reader, block=replace(block, signature=block.signature + (delta.signature or ""))
        ), False
    found = decode(data, _GENERICS)
    if found is None:
        return reader, False
    generic, marked = found
    merged = _merge(_object(block.start), generic.delta)
    return replace(reader, block=replace(block, start=encode_json(merged).decode())), marked


def _merge(block: dict[str, object], delta: Mapping[str, object]) -> dict[str, object]:
    """A delta of a kind we do not know: texts are appended, anything else replaces what was there."""
    merged = dict(block)
    for key, value in delta.items():
        if key != "type" and value is not None:
            before = merged.get(key)
            merged[key] = before + value if isinstance(before, str) and isinstance(value, str) else value
    return merged


def _structure(reader: Reader, event: _Event, data: bytes) -> tuple[Reader, list[ModelEvent], bool]:
    match event.type:
        case "content_block_start":
            found = decode(data, _STARTS)
            return (
                (reader, [], False) if found is None else (*_opened(reader, found[0].content_block), found[1])
            )
        case "content_block_stop":
            events = [] if reader.block is None else _stopped(reader.block)
            return replace(reader, block=None), events, False
        case "message_start":
            usage = _later(reader.usage, event.message.usage if event.message else None)
            return replace(reader, usage=usage), [Used(_usage(usage))], False
        case "message_delta":
            usage = _later(reader.usage, event.usage)
            reason = event.delta.stop_reason if event.delta else None
            details = event.delta.stop_details if event.delta else None
            refusal = details.explanation or "" if details else ""
            reader = replace(
                reader, usage=usage, reason=reason or reader.reason, refusal=refusal or reader.refusal
            )
            return reader, [Used(_usage(usage))], False
        case "message_stop":
            return reader, [_finished(reader)], False
        case "error":
            return reader, [errors.event_fault(reader.endpoint, event.error)], False
        case _:
            return reader, [], False


def _opened(reader: Reader, content: dict[str, object]) -> tuple[Reader, list[ModelEvent]]:
    kind = content.get("type")
    block = Block(kind if isinstance(kind, str) else "", encode_json(content).decode())
    text, thinking, signature = (content.get(key) for key in ("text", "thinking", "signature"))
    if kind == "text" and isinstance(text, str) and text:
        return replace(reader, block=block), [TextDelta(text)]
    if kind == "thinking":
        block = replace(block, signature=signature if isinstance(signature, str) else "")
        if isinstance(thinking, str) and thinking:
            return replace(reader, block=replace(block, shown=True)), [ThoughtDelta(thinking)]
    return replace(reader, block=block), []


def _stopped(block: Block) -> list[ModelEvent]:
    if block.kind == "text":
        return [BlockEnded()]
    if block.kind == "thinking":
        if block.shown:
            signed = {"signature": block.signature}
            return [BlockEnded(_opaque(signed) if block.signature else None)]
        # A thought without text has nothing to show, but its signature must go back.
        hidden = {"type": "thinking", "thinking": "", "signature": block.signature}
        return [ForeignBlock(_opaque(hidden))] if block.signature else []
    started = _object(block.start)
    grown = whole(block.grown)
    if block.kind == "tool_use":
        given = grown or encode_json(started.get("input") or {}).decode()
        return [Called(_string(started, "id"), _string(started, "name"), arguments(given))]
    if grown:
        started["input"] = decode_json(grown).value_or(grown)
    return [ForeignBlock(_opaque(started))]


def _opaque(value: Mapping[str, object]) -> Opaque:
    return Opaque(FAMILY, encode_json(value).decode())


def _object(text: str) -> dict[str, object]:
    value: object = decode_json(text).value_or(None)
    return dict(value) if is_object(value) else {}


def _string(value: Mapping[str, object], key: str) -> str:
    item = value.get(key)
    return item if isinstance(item, str) else ""


def _finished(reader: Reader) -> Finished:
    reason = reader.reason or "end_turn"
    return Finished(_REASONS.get(reason, "other"), reader.refusal if reason == "refusal" else "")


def _later(before: _Usage, after: _Usage | None) -> _Usage:
    """The counts of a later event are cumulative; what it leaves out stays."""
    if after is None:
        return before
    return _Usage(
        before.input_tokens if after.input_tokens is None else after.input_tokens,
        before.output_tokens if after.output_tokens is None else after.output_tokens,
        before.cache_creation_input_tokens
        if after.cache_creation_input_tokens is None
        else after.cache_creation_input_tokens,
        before.cache_read_input_tokens
        if after.cache_read_input_tokens is None
        else after.cache_read_input_tokens,
        before.output_tokens_details if after.output_tokens_details is None else after.output_tokens_details,
    )


def _usage(usage: _Usage) -> Usage:
    read = usage.cache_read_input_tokens or 0
    written = usage.cache_creation_input_tokens or 0
    details = usage.output_tokens_details
    return Usage(
        input=(usage.input_tokens or 0) + read + written,
        output=usage.output_tokens or 0,
        cached_read=read,
        cached_write=written,
        thought=(details.thinking_tokens or 0) if details else 0,
    )
