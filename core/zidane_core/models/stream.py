"""The part of decoding that all families share (ring 1): bytes to data, broken text, how a stream ends."""

import re
from typing import Final, Protocol, TypeVar

import msgspec

from zidane_core.data.models import (
    BlockEnded,
    Broke,
    Called,
    Finished,
    ForeignBlock,
    ModelEvent,
    Opaque,
    TextDelta,
    ThoughtDelta,
)
from zidane_core.models import errors
from zidane_core.models.codec import Endpoint
from zidane_core.models.sse import Sse
from zidane_core.models.sse import feed as split_events
from zidane_core.models.sse import finish as last_events
from zidane_core.text import repair_json

T = TypeVar("T")

Events = tuple[ModelEvent, ...]


class Reader(Protocol):
    """What a family brings: takes the data of events, and says what is left when no more come.

    `take` gives the next reader, the events, and whether marks of lone surrogates may be in them. `close` gives
    () where the provider said no end.
    """

    def take(self, data: tuple[bytes, ...]) -> "tuple[Reader, list[ModelEvent], bool]": ...

    def close(self) -> list[ModelEvent]: ...


class State(msgspec.Struct, frozen=True, gc=False):
    """A stream as far as it was read. `held` is the first half of a surrogate pair that an event ended with."""

    endpoint: Endpoint
    reader: Reader
    sse: Sse = Sse()
    content: bool = False
    done: bool = False
    marked: bool = False
    held: str = ""

    def feed(self, data: bytes) -> "tuple[State, Events]":
        """Take bytes as they come; after the end nothing more is said."""
        if self.done:
            return self, ()
        split, datas = split_events(self.sse, data)
        if split.overflowed:
            limit = f"a single event of more than {split.limit // (1024 * 1024)} MiB"
            return self._broken(errors.unreadable(self.endpoint, limit))
        if not datas:
            return msgspec.structs.replace(self, sse=split), ()
        return self._take(split, datas)

    def end(self) -> Events:
        """The bytes are at their end: what is left, and a fault where the provider said no end."""
        if self.done:
            return ()
        rest = last_events(self.sse)
        state, events = self._take(Sse(), rest) if rest else (self, ())
        if state.done:
            return events
        last, held = state._mend(state.reader.close())
        last = [*last, TextDelta(unmark(held))] if held else last
        closing = (
            () if last and isinstance(last[-1], Finished) else (errors.cut(self.endpoint, state._said(last)),)
        )
        return (*events, *last, *closing)

    def _said(self, events: list[ModelEvent]) -> bool:
        return self.content or any(type(event) in _CONTENT for event in events)

    def _broken(self, broke: Broke) -> "tuple[State, Events]":
        return msgspec.structs.replace(self, done=True, sse=Sse()), (broke,)

    def _take(self, split: Sse, datas: tuple[bytes, ...]) -> "tuple[State, Events]":
        reader, events, marked = self.reader.take(datas)
        held = self.held
        if marked or self.marked:
            events, held = msgspec.structs.replace(self, marked=True)._mend(events)
        done = bool(events) and type(events[-1]) in _LAST
        content = self.content or self._said(events)
        next_state = State(self.endpoint, reader, split, content, done, marked or self.marked, held)
        return next_state, tuple(events)

    def _mend(self, events: list[ModelEvent]) -> tuple[list[ModelEvent], str]:
        """Join the two halves of pairs that were cut over two events; replace what stays alone."""
        if not self.marked:
            return events, ""
        held = self.held
        mended: list[ModelEvent] = []
        kind: type[TextDelta | ThoughtDelta] = TextDelta
        for event in events:
            if isinstance(event, TextDelta | ThoughtDelta):
                text = held + event.text
                held = text[-1:] if _HIGH.fullmatch(text[-1:]) else ""
                kind = type(event)
                if text[: len(text) - len(held)]:
                    mended.append(kind(unmark(text[: len(text) - len(held)])))
                continue
            if held:
                mended.append(kind(unmark(held)))
                held = ""
            mended.append(_unmark_event(event))
        return mended, held


_LAST: Final = frozenset({Finished, Broke})
_CONTENT: Final = frozenset({TextDelta, ThoughtDelta, Called, ForeignBlock, BlockEnded})


# Data that is no clean JSON ------------------------------------------------------------------------

# msgspec refuses lone surrogate escapes. They are read as marks in the last private use area, so that the two
# halves of a pair that was cut over two events can still be joined.
_MARKS: Final = 0x10F800
_HIGH: Final = re.compile(f"[{chr(_MARKS)}-{chr(_MARKS + 0x3FF)}]")
_MARKED: Final = re.compile(f"[{chr(_MARKS)}-{chr(_MARKS + 0x7FF)}]")
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)",
    re.DOTALL,
)
_NUMBERS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b', re.DOTALL)


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> tuple[T, bool] | None:
    """Data of one event, and whether marks are in it; None when it cannot be read or is something else.

    The straight way first; broken UTF-8, lone surrogates and NaN are repaired only after it failed.
    """
    try:
        return decoder.decode(data), False
    except msgspec.ValidationError:
        return None
    except (msgspec.DecodeError, RecursionError):
        pass
    text = data.decode("utf-8", "replace").encode()
    text = _NUMBERS.sub(lambda found: found.group() if found.group()[:1] == b'"' else b"null", text)
    marked = _ESCAPE.sub(_mark, text)
    try:
        return decoder.decode(marked), marked != text
    except (msgspec.DecodeError, RecursionError):
        return None


class _Typed(msgspec.Struct, frozen=True, gc=False):
    type: str = ""


_TYPED: Final = msgspec.json.Decoder(_Typed)


def event_type(data: bytes) -> str:
    """The `type` of data that did not fit its record; '' when it is no JSON object at all."""
    found = decode(data, _TYPED)
    return found[0].type if found else ""


def _mark(found: re.Match[bytes]) -> bytes:
    escape = found.group()
    if len(escape) != len(rb"\ud800"):
        return escape
    return chr(_MARKS + int(escape[2:], 16) - 0xD800).encode()


def unmark(text: str) -> str:
    """Marks back to what they stand for: pairs joined, halves replaced by U+FFFD."""
    halves = _MARKED.sub(lambda found: chr(ord(found.group()) - _MARKS + 0xD800), text)
    return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _unmark_opaque(opaque: Opaque | None) -> Opaque | None:
    return None if opaque is None else Opaque(opaque.family, unmark(opaque.data))


def _unmark_event(event: ModelEvent) -> ModelEvent:
    if isinstance(event, Called):
        return Called(
            unmark(event.id), unmark(event.name), unmark(event.arguments), _unmark_opaque(event.opaque)
        )
    if isinstance(event, Finished):
        return Finished(event.reason, unmark(event.refusal))
    if isinstance(event, BlockEnded):
        return BlockEnded(_unmark_opaque(event.opaque))
    if isinstance(event, ForeignBlock):
        return ForeignBlock(Opaque(event.opaque.family, unmark(event.opaque.data)))
    return event


def arguments(text: str) -> str:
    """The JSON text of a call's arguments: nothing means none, and lone surrogates are replaced."""
    if not text.strip() or text.strip() == "null":
        return "{}"
    return repair_json(text.encode("utf-8", "replace")).decode() if "\\u" in text else text
