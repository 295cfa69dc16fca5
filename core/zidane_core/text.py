"""Text and JSON that other programs broke: lone surrogates, and a text that grows by pieces.

A lone surrogate cannot be written as UTF-8 and msgspec refuses its escape, so everything that comes in
passes through here once.
"""

import re
from typing import Final, TypeGuard, TypeVar

import msgspec
from returns.result import Failure, Result, Success

T = TypeVar("T")

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BACKSLASH: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)",
    re.DOTALL,
)
_LONE_LENGTH: Final = len(rb"\ud800")
_BLOCK: Final = 8192


def clean(text: str) -> str:
    """The text with two halves of a pair joined and every other surrogate replaced by U+FFFD."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def repair_json(data: bytes) -> bytes:
    r"""JSON text with lone escapes \ud800 to \udfff rewritten to \ufffd; pairs and escaped backslashes stay."""
    if b"\\u" not in data:
        return data
    return _BACKSLASH.sub(_replace_lone, data)


def _replace_lone(match: re.Match[bytes]) -> bytes:
    escape = match.group()
    return rb"\ufffd" if len(escape) == _LONE_LENGTH else escape


def decode_json(data: bytes | str) -> Result[object, str]:
    """Any JSON value; lone surrogate escapes are repaired. The failure says what is wrong with the text.

    Nesting too deep for the decoder is a failure as well.
    """
    return decode_json_as(data, object)


def decode_json_as(data: bytes | str, kind: type[T]) -> Result[T, str]:
    """The same, checked against a type that msgspec knows."""
    raw = clean(data).encode() if isinstance(data, str) else data
    try:
        return Success(msgspec.json.decode(raw, type=kind))
    except RecursionError:
        return Failure("the JSON is nested too deeply")
    except msgspec.DecodeError as error:
        repaired = repair_json(raw)
        if repaired == raw:
            return Failure(str(error))
    try:
        return Success(msgspec.json.decode(repaired, type=kind))
    except RecursionError:
        return Failure("the JSON is nested too deeply")
    except msgspec.DecodeError as error:
        return Failure(str(error))


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether a decoded JSON value is an object; its keys are texts then."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Whether a decoded JSON value is an array."""
    return isinstance(value, list)


def encode_json(value: object) -> bytes:
    """A value as JSON; lone surrogates anywhere in it are replaced."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # rare, so that only then every text is looked at
        return msgspec.json.encode(clean_values(value))


def clean_values(value: object) -> object:
    """JSON-like values, records and raw JSON too, with every text in them cleaned."""
    if isinstance(value, msgspec.Struct):
        return clean_values(msgspec.to_builtins(value, enc_hook=_opened))
    if isinstance(value, msgspec.Raw):
        return clean_values(_opened(value))
    if isinstance(value, str):
        return clean(value)
    if is_object(value):
        return {clean(key): clean_values(item) for key, item in value.items()}
    if is_array(value) or _is_tuple(value):
        return [clean_values(item) for item in value]
    return value


def _is_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    return isinstance(value, tuple)


def _opened(value: object) -> object:
    """`to_builtins` does not know raw JSON."""
    return decode_json(bytes(value)).value_or(None) if isinstance(value, msgspec.Raw) else value


class Growing(msgspec.Struct, frozen=True, gc=False):
    """A text that grows by pieces: closed blocks and an open tail, so that a piece costs the same at any length."""

    blocks: tuple[str, ...] = ()
    tail: str = ""


def grow(text: Growing, piece: str) -> Growing:
    """The text with a piece added."""
    tail = text.tail + piece
    return Growing(text.blocks, tail) if len(tail) < _BLOCK else Growing((*text.blocks, tail), "")


def whole(text: Growing) -> str:
    """All of the text."""
    return "".join(text.blocks) + text.tail
