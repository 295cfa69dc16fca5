"""JSON-RPC 2.0 envelopes: bytes to messages and back. Total: no bytes make `decode_frame` raise.

Whatever is no message becomes `Invalid`, with the error to answer, unless it must not be answered.
"""

import re
from typing import Final, Literal, TypeAlias

import msgspec

from zidane_core.acp.frames import BadHeader, Oversized
from zidane_core.acp.wire.envelope import (
    JsonRpcErrorObject,
    JsonRpcFailure,
    JsonRpcMessage,
    JsonRpcNotification,
    JsonRpcRequest,
    JsonRpcSuccess,
)
from zidane_core.acp.wire.record import INT64, RequestId
from zidane_core.faults import ErrorCode, Fault
from zidane_core.fp import fold
from zidane_core.text import clean_values, decode_json, repair_json

ABSENT: Final = msgspec.Raw(b"")
"""Params that were left out or null."""

_NULL: Final = msgspec.Raw(b"null")
_BOM: Final = b"\xef\xbb\xbf"
_UTF8_STEP: Final = 1 << 20
_ENCODER: Final = msgspec.json.Encoder()


class Request(msgspec.Struct, frozen=True, gc=False):
    """A request. `params` is JSON text of an object or array, or empty."""

    id: RequestId
    method: str
    params: msgspec.Raw


class Notification(msgspec.Struct, frozen=True, gc=False):
    """A notification; never answered. `params` as above."""

    method: str
    params: msgspec.Raw


class Response(msgspec.Struct, frozen=True, gc=False):
    """An answer to a request of ours: `error`, or else `result` as JSON text."""

    id: RequestId
    result: msgspec.Raw
    error: JsonRpcErrorObject | None = None


class Invalid(msgspec.Struct, frozen=True, gc=False):
    """No message. With `answer` the error goes out under `id`.

    Without it nothing may be sent: it was a malformed answer (to our request `id`, if that is known) or a
    malformed notification.
    """

    code: int
    message: str
    id: RequestId = None
    answer: bool = True


Frame: TypeAlias = Request | Notification | Response | Invalid


class _Envelope(msgspec.Struct, frozen=True, gc=False):
    jsonrpc: Literal["2.0"]
    id: int | str | msgspec.UnsetType | None = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw = ABSENT
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_SYNTAX: Final = msgspec.json.Decoder(msgspec.Raw)
_ID: Final = msgspec.json.Decoder(int | str | None)
_STRING: Final = msgspec.json.Decoder(str)
_ERROR: Final = msgspec.json.Decoder(JsonRpcErrorObject)
_MALFORMED_ERROR: Final = JsonRpcErrorObject(
    code=ErrorCode.INTERNAL_ERROR, message="The other side answered with an error that cannot be read"
)


def id_key(request_id: RequestId) -> tuple[str, RequestId]:
    """A key that keeps 1 and "1" (and True) apart."""
    return type(request_id).__name__, request_id


def decode_frame(data: bytes) -> Frame:
    """The message in a frame. `params`, `result` and error data are valid JSON but not yet looked at."""
    frame = data[len(_BOM) :] if data.startswith(_BOM) else data
    if not _is_utf8(frame):
        return _broken("the bytes are not valid UTF-8")
    found = _read(frame)
    if not isinstance(found, Invalid) or found.code != ErrorCode.PARSE_ERROR:
        return found
    # A lone surrogate is the one fault that can be mended.
    repaired = repair_json(frame)
    return found if repaired == frame else _read(repaired)


def _read(frame: bytes) -> Frame:
    try:
        return _of_envelope(_ENVELOPE.decode(frame))
    except msgspec.ValidationError:
        return _of_text(frame)
    except msgspec.DecodeError as error:
        return _broken(str(error))
    except RecursionError:
        return _broken("it is nested too deeply")


def _is_utf8(data: bytes) -> bool:
    """Looked at by steps, since a whole decoded copy of a large frame may take four times its size."""
    if data.isascii():
        return True
    start = 0
    while start < len(data):
        stop = min(start + _UTF8_STEP, len(data))
        # Step back to the beginning of a character, at most three bytes.
        for _ in range(3):
            if stop < len(data) and stop - start > 3 and data[stop] & 0xC0 == 0x80:
                stop -= 1
        try:
            data[start:stop].decode("utf-8")
        except UnicodeDecodeError:
            return False
        start = stop
    return True


def _of_envelope(envelope: _Envelope) -> Frame:
    known = None if envelope.id is msgspec.UNSET else envelope.id
    if isinstance(known, int) and known not in INT64:
        return _not_a_message("id: an integer must fit 64 bits", answer=envelope.method is not msgspec.UNSET)
    if envelope.method is msgspec.UNSET:
        return _answer(envelope, known)
    params, shape = envelope.params, _first_byte(envelope.params)
    if shape == b"n":
        params = ABSENT
    elif shape not in (b"{", b"[", b""):
        problem = "params must be an object or an array"
        return _not_a_message(problem, known, answer=envelope.id is not msgspec.UNSET)
    if envelope.id is msgspec.UNSET:
        return Notification(envelope.method, params)
    return Request(known, envelope.method, params)


def _answer(envelope: _Envelope, known: RequestId) -> Frame:
    result, error = envelope.result, envelope.error
    if envelope.id is msgspec.UNSET:
        answer = result is msgspec.UNSET and error is msgspec.UNSET
        return _not_a_message("there is neither a method nor an id", answer=answer)
    # Old programs send the member that does not count as null.
    failed = error is not msgspec.UNSET and _first_byte(error) != b"n"
    if isinstance(error, msgspec.Raw) and failed and (result is msgspec.UNSET or _first_byte(result) == b"n"):
        return Response(known, ABSENT, _error_of(error))
    if isinstance(result, msgspec.Raw) and not failed:
        return Response(known, result)
    return _not_a_message("an answer needs either a result or an error", known, answer=False)


def _error_of(raw: msgspec.Raw) -> JsonRpcErrorObject:
    try:
        return _ERROR.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return _MALFORMED_ERROR


def _of_text(frame: bytes) -> Invalid:
    """Why a text is no message: it is no JSON, no object, or a member is wrong."""
    try:
        _SYNTAX.decode(frame)
        return _of_members(_MEMBERS.decode(frame))
    except msgspec.ValidationError:
        array = frame.lstrip(b" \t\r\n").startswith(b"[")
        return _not_a_message("batches are not supported" if array else "a message must be a JSON object")
    except msgspec.DecodeError as error:
        return _broken(str(error))
    except RecursionError:
        return _broken("it is nested too deeply")


def _of_members(members: dict[str, msgspec.Raw]) -> Invalid:
    usable, known = _id_of(members.get("id", _NULL))
    if "method" not in members and ("result" in members or "error" in members):
        return _not_a_message("an answer that cannot be read", known, answer=False)
    if not _is_text(members.get("jsonrpc", _NULL), "2.0"):
        return _not_a_message('jsonrpc must be "2.0"', known)
    if not _is_text(members.get("method", _NULL)):
        return _not_a_message("method must be a string", known)
    problem = "params cannot be read" if usable else "id must be an integer, a string or null"
    return _not_a_message(problem, known)


def _id_of(raw: msgspec.Raw) -> tuple[bool, RequestId]:
    try:
        found = _ID.decode(raw)
    except msgspec.DecodeError:
        return False, None
    return (False, None) if isinstance(found, int) and found not in INT64 else (True, found)


def _is_text(raw: msgspec.Raw, wanted: str | None = None) -> bool:
    try:
        found = _STRING.decode(raw)
    except msgspec.DecodeError:
        return False
    return wanted is None or found == wanted


def _first_byte(raw: msgspec.Raw) -> bytes:
    return memoryview(raw)[:1].tobytes()


def _broken(problem: str) -> Invalid:
    return Invalid(ErrorCode.PARSE_ERROR, f"Parse error: {problem}")


def _not_a_message(problem: str, known: RequestId = None, *, answer: bool = True) -> Invalid:
    return Invalid(ErrorCode.INVALID_REQUEST, f"Invalid request: {problem}", known, answer)


# What the splitter could not give ------------------------------------------------------------------

_SPACE: Final = r"[ \t\r\n]*"
_SCALAR: Final = r'"(?:[^"\\]|\\.)*"|-?\d+(?![\d.eE])|true|false|null'
_LEADING: Final = re.compile(rf"{_SPACE}[{{,]{_SPACE}(\"(?:[^\"\\]|\\.)*\"){_SPACE}:{_SPACE}".encode())
_VALUE: Final = re.compile(rf"(?:{_SCALAR})(?={_SPACE}[,}}])".encode())


def refuse(item: Oversized | BadHeader) -> Invalid:
    """The error for what the splitter skipped. The id is found when it stands before the large member."""
    if isinstance(item, BadHeader):
        return Invalid(ErrorCode.PARSE_ERROR, f"Parse error: {item.problem}")
    members = _leading_members(item.head.removeprefix(_BOM))
    known = _id_of(msgspec.Raw(members.get(b'"id"', b"null")))[1]
    answer = b'"method"' in members or not (b'"result"' in members or b'"error"' in members)
    return _not_a_message(f"a message may have at most {item.limit} bytes", known, answer=answer)


def _leading_members(head: bytes) -> dict[bytes, bytes]:
    """The members at the beginning of an object up to the first that is no scalar or is cut, by raw key."""
    found: dict[bytes, bytes] = {}
    key = _LEADING.match(head)
    while key is not None:
        value = _VALUE.match(head, key.end())
        found[key.group(1)] = b"" if value is None else value.group()
        key = None if value is None else _LEADING.match(head, value.end())
    return found


# Out -----------------------------------------------------------------------------------------------


def encode_request(request_id: RequestId, method: str, params: object) -> bytes:
    """A request. `params`: wire records, dicts, lists and scalars with text keys."""
    return _encode(JsonRpcRequest(id=request_id, method=method, params=params))


def encode_notification(method: str, params: object) -> bytes:
    """A notification."""
    return _encode(JsonRpcNotification(method=method, params=params))


def encode_result(request_id: RequestId, result: object) -> bytes:
    """The answer to a request that succeeded."""
    return _encode(JsonRpcSuccess(id=request_id, result=result))


def encode_error(request_id: RequestId, fault: Fault) -> bytes:
    """The answer to a request that failed."""
    data = msgspec.UNSET if fault.data is None else fault.data
    error = JsonRpcErrorObject(code=int(fault.code), message=fault.message, data=data)
    return _encode(JsonRpcFailure(id=request_id, error=error))


def unreadable(problem: str) -> JsonRpcErrorObject:
    """The error that stands for an answer which could not be read."""
    return JsonRpcErrorObject(code=int(ErrorCode.INTERNAL_ERROR), message=problem)


def encode_invalid(invalid: Invalid) -> bytes | None:
    """The answer to what is no message, or None when it must not be answered."""
    return encode_error(invalid.id, Fault(invalid.code, invalid.message)) if invalid.answer else None


def _encode(message: JsonRpcMessage) -> bytes:
    """One line of strict JSON in UTF-8: lone surrogates become U+FFFD; NaN and infinities become null."""
    try:
        frame = _ENCODER.encode(message)
    except UnicodeEncodeError:
        frame = _ENCODER.encode(clean_values(message))
    # The encoder itself writes neither; raw JSON inside of the value may.
    if b"\n" in frame or b"\\ud" in frame or b"\\uD" in frame:
        return fold(decode_json(frame), _ENCODER.encode, lambda _: frame)
    return frame
