"""The stream of the OpenAI Responses API (ring 1)."""

from collections.abc import Callable, Mapping
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
from zidane_core.models.openai_responses_request import FAMILY
from zidane_core.models.stream import State, arguments, decode, event_type
from zidane_core.text import encode_json, is_array, is_object

_INCOMPLETE: Final[Mapping[str, FinishReason]] = MappingProxyType(
    {"max_output_tokens": "length", "content_filter": "content-filter"}
)


# The wire, only what is used ------------------------------------------------------------------------


class _InputDetails(msgspec.Struct, frozen=True, gc=False):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _OutputDetails(msgspec.Struct, frozen=True, gc=False):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct, frozen=True, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


class _Why(msgspec.Struct, frozen=True, gc=False):
    reason: str | None = None


class _Response(msgspec.Struct, frozen=True, gc=False):
    usage: _Usage | None = None
    incomplete_details: _Why | None = None
    error: object = None
    output: list[dict[str, object]] | None = None


class _Event(msgspec.Struct, frozen=True, gc=False):
    """`response` and `item` are decoded only where they are used: some events repeat the whole answer."""

    type: str = ""
    delta: str | None = None
    summary_index: int | None = None


class _ItemEvent(msgspec.Struct, frozen=True, gc=False):
    item: dict[str, object]


class _ResponseEvent(msgspec.Struct, frozen=True, gc=False):
    response: _Response


_EVENTS: Final = msgspec.json.Decoder(_Event)
_ITEMS: Final = msgspec.json.Decoder(_ItemEvent)
_RESPONSES: Final = msgspec.json.Decoder(_ResponseEvent)
_OBJECTS: Final = msgspec.json.Decoder(dict[str, object])


# The reader ----------------------------------------------------------------------------------------


class Reader(msgspec.Struct, frozen=True, gc=False):
    """The answer as far as it was read. `said` and `thought`: deltas came since the last item ended."""

    endpoint: Endpoint
    said: bool = False
    thought: bool = False
    refusal: str = ""
    calls: frozenset[str] = frozenset()

    def take(self, data: tuple[bytes, ...]) -> "tuple[Reader, list[ModelEvent], bool]":
        """Take the data of some events."""
        reader: Reader = self
        events: list[ModelEvent] = []
        marked = False
        for one in data:
            if one.strip() == b"[DONE]":
                continue
            found = decode(one, _EVENTS)
            if found is None:
                kind = event_type(one)
                if kind and not kind.endswith(".delta"):
                    continue
                events.append(errors.unreadable(self.endpoint, "an event that is no valid JSON"))
                break
            event, marks = found
            marked = marked or marks
            if event.type == "response.output_text.delta":
                # The hot path.
                if event.delta:
                    events.append(TextDelta(event.delta))
                    reader = reader if reader.said else replace(reader, said=True)
                continue
            change = _CHANGES.get(event.type)
            if change is None:
                continue
            reader, more, marks = change(reader, event, one)
            marked = marked or marks
            events.extend(more)
            if event.type in _ENDS:
                break
        return reader, events, marked

    def close(self) -> list[ModelEvent]:
        """Only an event can say that the answer is complete."""
        return []


def start(endpoint: Endpoint) -> State:
    """The state before the first byte."""
    return State(endpoint, Reader(endpoint))


_Moved = tuple[Reader, list[ModelEvent], bool]


def _thought(reader: Reader, event: _Event, data: bytes) -> _Moved:
    if not event.delta:
        return reader, [], False
    return replace(reader, thought=True), [ThoughtDelta(event.delta)], False


def _next_part(reader: Reader, event: _Event, data: bytes) -> _Moved:
    """The summaries of one thought are paragraphs of it."""
    return reader, [ThoughtDelta("\n\n")] if reader.thought and event.summary_index else [], False


def _refused(reader: Reader, event: _Event, data: bytes) -> _Moved:
    return replace(reader, refusal=reader.refusal + (event.delta or "")), [], False


def _item_done(reader: Reader, event: _Event, data: bytes) -> _Moved:
    found = decode(data, _ITEMS)
    if found is None:
        return reader, [errors.unreadable(reader.endpoint, "an output item that is no object")], False
    reader, events = _item(reader, found[0].item)
    return reader, events, found[1]


def _item(reader: Reader, item: Mapping[str, object]) -> tuple[Reader, list[ModelEvent]]:
    kind = item.get("type")
    if kind == "message":
        text = "" if reader.said else _texts(item.get("content"), "output_text")
        said: list[ModelEvent] = [TextDelta(text)] if text else []
        phase = item.get("phase")
        kept = _opaque({"phase": phase}) if isinstance(phase, str) else None
        ended: list[ModelEvent] = [BlockEnded(kept)] if reader.said or text else []
        return replace(reader, said=False), [*said, *ended]
    if kind == "function_call":
        call = Called(_text(item, "call_id"), _text(item, "name"), arguments(_text(item, "arguments")))
        return replace(reader, calls=reader.calls | {_text(item, "call_id")}), [call]
    if kind == "reasoning":
        kept = _opaque({key: value for key, value in item.items() if key != "status"})
        text = "" if reader.thought else _texts(item.get("summary"), "summary_text")
        thought: list[ModelEvent] = [ThoughtDelta(text)] if text else []
        shown = reader.thought or bool(text)
        return replace(reader, thought=False), [*thought, BlockEnded(kept) if shown else ForeignBlock(kept)]
    return reader, [ForeignBlock(_opaque(item))]


def _texts(content: object, kind: str) -> str:
    if not is_array(content):
        return ""
    parts = (part for part in content if is_object(part) and part.get("type") == kind)
    return "\n\n".join(text for text in (part.get("text") for part in parts) if isinstance(text, str))


def _text(item: Mapping[str, object], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _opaque(value: Mapping[str, object]) -> Opaque:
    return Opaque(FAMILY, encode_json(value).decode())


def _completed(reader: Reader, event: _Event, data: bytes) -> _Moved:
    found = decode(data, _RESPONSES)
    response = found[0].response if found else _Response()
    # Servers that send no item events give the calls only here.
    missing = [
        item
        for item in response.output or ()
        if item.get("type") == "function_call" and _text(item, "call_id") not in reader.calls
    ]
    events: list[ModelEvent] = []
    for item in missing:
        reader, more = _item(reader, item)
        events.extend(more)
    if reader.said or reader.thought:
        events.insert(0, BlockEnded())
    if response.usage is not None:
        events.append(Used(_usage(response.usage)))
    events.append(_finished(reader, response))
    return reader, events, found is not None and found[1]


def _finished(reader: Reader, response: _Response) -> Finished:
    if reader.refusal:
        return Finished("content-filter", reader.refusal)
    if response.incomplete_details is not None:
        return Finished(_INCOMPLETE.get(response.incomplete_details.reason or "", "other"))
    return Finished("tool-calls" if reader.calls else "stop")


def _failed(reader: Reader, event: _Event, data: bytes) -> _Moved:
    found = decode(data, _RESPONSES)
    error = found[0].response.error if found else None
    broke = errors.event_fault(
        reader.endpoint, error or {"message": "the model failed", "type": "server_error"}
    )
    return reader, [broke], False


def _error(reader: Reader, event: _Event, data: bytes) -> _Moved:
    found = decode(data, _OBJECTS)
    error = {**(found[0] if found else {}), "type": ""}
    return reader, [errors.event_fault(reader.endpoint, error)], False


_CHANGES: Final[Mapping[str, Callable[[Reader, _Event, bytes], _Moved]]] = MappingProxyType(
    {
        "response.reasoning_summary_text.delta": _thought,
        "response.reasoning_text.delta": _thought,
        "response.reasoning_summary_part.added": _next_part,
        "response.refusal.delta": _refused,
        "response.output_item.done": _item_done,
        "response.completed": _completed,
        "response.incomplete": _completed,
        "response.failed": _failed,
        "response.cancelled": _failed,
        "error": _error,
    }
)
_ENDS: Final = frozenset(
    {"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error"}
)


def _usage(usage: _Usage) -> Usage:
    details, output = usage.input_tokens_details, usage.output_tokens_details
    return Usage(
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        cached_read=(details.cached_tokens or 0) if details else 0,
        cached_write=(details.cache_write_tokens or 0) if details else 0,
        thought=(output.reasoning_tokens or 0) if output else 0,
    )
