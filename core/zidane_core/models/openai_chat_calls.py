"""Tool calls that come in pieces, as OpenAI and the many servers like it send them (ring 1)."""

import msgspec
from msgspec.structs import replace

from zidane_core.data.models import Called
from zidane_core.models.stream import arguments
from zidane_core.text import Growing, decode_json, encode_json, grow, is_object, whole


class FunctionPiece(msgspec.Struct, frozen=True, gc=False):
    """The function of a piece; some servers give the arguments as an object."""

    name: str | None = None
    arguments: str | dict[str, object] | None = None


class CallPiece(msgspec.Struct, frozen=True, gc=False):
    """A piece of a tool call, as it stands in a delta."""

    index: int | None = None
    id: str | None = None
    function: FunctionPiece | None = None


class OpenCall(msgspec.Struct, frozen=True, gc=False):
    """A call as far as it came."""

    index: int
    id: str
    name: str
    arguments: Growing = Growing()


def add(calls: tuple[OpenCall, ...], piece: CallPiece) -> tuple[OpenCall, ...]:
    """Take one piece: it goes to the call it belongs to, or begins a new one."""
    place = _place(calls, piece)
    function = piece.function or FunctionPiece()
    given = function.arguments
    text = encode_json(given).decode() if isinstance(given, dict) else given or ""
    if place is None:
        index = len(calls) if piece.index is None else piece.index
        return (*calls, OpenCall(index, piece.id or "", function.name or "", grow(Growing(), text)))
    call = calls[place]
    grown = replace(
        call,
        id=call.id or piece.id or "",
        name=call.name or function.name or "",
        arguments=grow(call.arguments, text),
    )
    return (*calls[:place], grown, *calls[place + 1 :])


def _place(calls: tuple[OpenCall, ...], piece: CallPiece) -> int | None:
    """Where the call of a piece is. Servers leave out the index, or the id, or give every call the index 0."""
    if not calls:
        return None
    if piece.index is None:
        found = len(calls) - 1
        if piece.id:
            found = next((place for place, call in enumerate(calls) if call.id == piece.id), -1)
    else:
        found = next(
            (place for place in reversed(range(len(calls))) if calls[place].index == piece.index), -1
        )
    if found < 0:
        return None
    call = calls[found]
    if piece.id and call.id and piece.id != call.id:
        return None
    named = piece.function is not None and piece.function.name
    again = bool(named and call.name and not piece.id)
    return None if again and _complete(call) else found


def _complete(call: OpenCall) -> bool:
    """Whether a call's arguments are a whole JSON object, so that a further name begins the next call."""
    return is_object(decode_json(whole(call.arguments)).value_or(None))


def called(calls: tuple[OpenCall, ...]) -> list[Called]:
    """The complete calls, in the order of their index."""
    ordered = sorted(calls, key=lambda call: call.index)
    return [Called(call.id, call.name, arguments(whole(call.arguments))) for call in ordered]
