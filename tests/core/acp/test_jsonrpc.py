"""Envelopes in and out: every malformed frame has its answer, and every frame of ours is strict JSON."""

import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_core.acp import wire
from zidane_core.acp.frames import BadHeader, Oversized
from zidane_core.acp.jsonrpc import (
    Invalid,
    Notification,
    Request,
    Response,
    decode_frame,
    encode_error,
    encode_invalid,
    encode_notification,
    encode_request,
    encode_result,
    id_key,
    refuse,
)
from zidane_core.faults import ErrorCode, Fault


def plain(frame: object) -> object:
    """The frame as something to compare: raw members opened, messages left out."""
    if isinstance(frame, Request):
        return ("request", frame.id, frame.method, bytes(frame.params))
    if isinstance(frame, Notification):
        return ("notification", frame.method, bytes(frame.params))
    if isinstance(frame, Response):
        error = frame.error and (frame.error.code, frame.error.message, frame.error.data)
        return ("response", frame.id, bytes(frame.result), error)
    assert isinstance(frame, Invalid)
    return ("invalid", int(frame.code), frame.id, frame.answer)


PARSE, INVALID = -32700, -32600
DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        # requests and notifications
        (b'{"jsonrpc":"2.0","id":1,"method":"m"}', ("request", 1, "m", b"")),
        (b'{"jsonrpc":"2.0","id":"1","method":"m","params":{}}', ("request", "1", "m", b"{}")),
        (b'{"jsonrpc":"2.0","id":null,"method":"m","params":[1, 2]}', ("request", None, "m", b"[1, 2]")),
        (
            b'{"jsonrpc":"2.0","id":-9223372036854775808,"method":"m","params":null}',
            ("request", -(2**63), "m", b""),
        ),
        (b'{"jsonrpc":"2.0","method":"m","params":{"a":1}}', ("notification", "m", b'{"a":1}')),
        (
            b'\xef\xbb\xbf{"type":"x.Request","jsonrpc":"2.0","id":"s-1","method":"m"}\r',
            ("request", "s-1", "m", b""),
        ),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"m"}', ("request", 2, "m", b"")),
        (b'{"params":{},"method":"m","id":1,"jsonrpc":"2.0"}', ("request", 1, "m", b"{}")),
        # lone surrogates are mended, pairs and escaped backslashes stay
        (
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":["\\udc97","\\ud83d\\ude00","\\\\ud800"]}',
            ("request", 1, "m", b'["\\ufffd","\\ud83d\\ude00","\\\\ud800"]'),
        ),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"m"}', ("request", "\ufffd", "m", b"")),
        # answers
        (b'{"jsonrpc":"2.0","id":9,"result":null}', ("response", 9, b"null", None)),
        (b'{"jsonrpc":"2.0","id":9,"result":{},"error":null}', ("response", 9, b"{}", None)),
        (
            b'{"jsonrpc":"2.0","id":9,"error":{"code":-1,"message":"no","data":[1]}}',
            ("response", 9, b"", (-1, "no", [1])),
        ),
        (
            b'{"jsonrpc":"2.0","id":9,"result":null,"error":{"code":-1,"message":"no"}}',
            ("response", 9, b"", (-1, "no", msgspec.UNSET)),
        ),
        # answers that cannot be read are never answered
        (b'{"jsonrpc":"2.0","id":9}', ("invalid", INVALID, 9, False)),
        (
            b'{"jsonrpc":"2.0","id":9,"result":1,"error":{"code":1,"message":"x"}}',
            ("invalid", INVALID, 9, False),
        ),
        (b'{"jsonrpc":"2.0","result":1}', ("invalid", INVALID, None, False)),
        (b'{"jsonrpc":"2.0","id":1.5,"result":1}', ("invalid", INVALID, None, False)),
        (b'{"jsonrpc":"1.0","id":7,"error":{}}', ("invalid", INVALID, 7, False)),
        # no JSON
        (b"{not json", ("invalid", PARSE, None, True)),
        (b"", ("invalid", PARSE, None, True)),
        (b"[1,", ("invalid", PARSE, None, True)),
        (b'"half', ("invalid", PARSE, None, True)),
        (b'{"jsonrpc":"2.0","id":1,"method":"m"} {}', ("invalid", PARSE, None, True)),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}', ("invalid", PARSE, None, True)),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"/\xff"}}', ("invalid", PARSE, None, True)),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\xed\xa0\x80"}}',
            ("invalid", PARSE, None, True),
        ),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":' + DEEP + b"}", ("invalid", PARSE, None, True)),
        (b'{"jsonrpc":"1.0","id":1,"method":"m","params":' + DEEP + b"}", ("invalid", PARSE, None, True)),
        # JSON that is no message
        (b"5", ("invalid", INVALID, None, True)),
        (b'"text"', ("invalid", INVALID, None, True)),
        (b"null", ("invalid", INVALID, None, True)),
        (b"[]", ("invalid", INVALID, None, True)),
        (b'[{"jsonrpc":"2.0","id":50,"method":"m"}]', ("invalid", INVALID, None, True)),
        (b"{}", ("invalid", INVALID, None, True)),
        (b'{"jsonrpc":"2.0"}', ("invalid", INVALID, None, True)),
        (b'{"jsonrpc":"2.0","id":52,"method":7}', ("invalid", INVALID, 52, True)),
        (b'{"jsonrpc":"2.0","id":52,"method":null}', ("invalid", INVALID, 52, True)),
        (b'{"jsonrpc":"1.0","id":"a","method":"m"}', ("invalid", INVALID, "a", True)),
        (b'{"jsonrpc":2.0,"id":3,"method":"m"}', ("invalid", INVALID, 3, True)),
        (b'{"id":3,"method":"m"}', ("invalid", INVALID, 3, True)),
        (b'{"id":3,"method":"m","params":"\\ud800"}', ("invalid", INVALID, 3, True)),
        # ids that are none
        (b'{"jsonrpc":"2.0","id":1.0,"method":"m"}', ("invalid", INVALID, None, True)),
        (b'{"jsonrpc":"2.0","id":1e3,"method":"m"}', ("invalid", INVALID, None, True)),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', ("invalid", INVALID, None, True)),
        (b'{"jsonrpc":"2.0","id":[1],"method":"m"}', ("invalid", INVALID, None, True)),
        (b'{"jsonrpc":"2.0","id":9223372036854775808,"method":"m"}', ("invalid", INVALID, None, True)),
        (b'{"jsonrpc":"2.0","id":99999999999999999999999999,"method":"m"}', ("invalid", INVALID, None, True)),
        # params are an object, an array or absent
        (b'{"jsonrpc":"2.0","id":4,"method":"m","params":5}', ("invalid", INVALID, 4, True)),
        (b'{"jsonrpc":"2.0","id":4,"method":"m","params":"x"}', ("invalid", INVALID, 4, True)),
        (b'{"jsonrpc":"2.0","method":"m","params":5}', ("invalid", INVALID, None, False)),
    ],
    ids=lambda value: repr(value)[:60] if isinstance(value, bytes) else "",
)
def test_decode(data: bytes, wanted: object) -> None:
    assert plain(decode_frame(data)) == wanted


def test_a_malformed_error_is_still_an_error() -> None:
    for error in (b"5", b"{}", b'{"code":1.5,"message":"x"}', b'{"code":1,"message":null}'):
        frame = decode_frame(b'{"jsonrpc":"2.0","id":9,"error":' + error + b"}")
        assert isinstance(frame, Response)
        assert frame.error is not None
        assert frame.error.code == -32603


def test_ids_of_different_types_have_different_keys() -> None:
    assert len({id_key(1), id_key("1"), id_key(None), id_key("None"), id_key(True)}) == 5


@given(st.binary())
def test_no_bytes_make_it_raise(data: bytes) -> None:
    decode_frame(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": JSON,
        "method": st.just("m") | JSON,
        "params": JSON,
        "result": JSON,
        "error": JSON,
    },
)


@given(MEMBERS | JSON, st.booleans())
def test_whatever_is_a_request_is_answered_and_no_notification_is(value: Any, escape: bool) -> None:
    frame = decode_frame(
        json.dumps(value, ensure_ascii=escape, allow_nan=False).encode("utf-8", "surrogatepass")
    )
    if isinstance(value, dict) and value.get("jsonrpc") == "2.0" and type(value.get("method")) is str:
        if "id" not in value:
            assert isinstance(frame, Notification) or (isinstance(frame, Invalid) and not frame.answer)
        else:
            assert isinstance(frame, Request) or (isinstance(frame, Invalid) and frame.answer)
    if isinstance(frame, Invalid) and frame.answer:
        answer = encode_invalid(frame)
        assert answer is not None
        assert json.loads(answer)["id"] == frame.id


def test_a_large_text_with_wide_characters_is_seen_to_be_utf8() -> None:
    text = "é\U0001f600中" * 300_000
    for shift in ("", "a", "ab", "abc"):
        data = json.dumps(shift + text, ensure_ascii=False).encode()
        frame = decode_frame(b'{"jsonrpc":"2.0","id":1,"method":"m","params":[' + data + b"]}")
        assert isinstance(frame, Request)
    broken = data[:2_000_000] + b"\xff" + data[2_000_000:]
    frame = decode_frame(b'{"jsonrpc":"2.0","id":1,"method":"m","params":[' + broken + b"]}")
    assert plain(frame) == ("invalid", PARSE, None, True)


# What the splitter refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "known", "answer"),
    [
        (b'{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sess', 5, True),
        (b'{ "jsonrpc" : "2.0" , "id" : "a\\"b" ,\n"method":"m","params":', 'a"b', True),
        (b'\xef\xbb\xbf{"id":5,"method":"m"', 5, True),
        (b'{"jsonrpc":"2.0","method":"m","id":5,"params":{"id":6', 5, True),
        (b'{"jsonrpc":"2.0","method":"m","params":{"id":5,"x":"', None, True),
        (b'{"jsonrpc":"2.0","id":5', None, True),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m","params', None, True),
        (b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"m","params":', None, True),
        (b'{"jsonrpc":"2.0","id":5,"result":{"content":"xxx', 5, False),
        (b'{"jsonrpc":"2.0","id":5,"error":{"message":"xxx', 5, False),
        (b"xxxxxxxx", None, True),
        (b"", None, True),
    ],
)
def test_an_oversized_frame_is_refused_under_its_id(head: bytes, known: object, answer: bool) -> None:
    refused = refuse(Oversized(1000, head))
    assert plain(refused) == ("invalid", INVALID, known, answer)
    assert "1000 bytes" in refused.message


def test_a_bad_header_is_a_parse_error() -> None:
    assert plain(refuse(BadHeader("no length"))) == ("invalid", PARSE, None, True)


# Out ---------------------------------------------------------------------------------------------


def strict(frame: bytes) -> Any:
    """What a strict reader makes of a line."""

    def no(constant: str) -> Any:
        raise AssertionError(constant)

    assert b"\n" not in frame
    found = json.loads(frame.decode("utf-8"), parse_constant=no)
    json.dumps(found, ensure_ascii=False).encode("utf-8")  # raises on a lone surrogate
    return found


def test_encode() -> None:
    assert strict(encode_request(1, "m", {"a": 1})) == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "m",
        "params": {"a": 1},
    }
    assert strict(encode_request("1", "m", msgspec.UNSET)) == {"jsonrpc": "2.0", "id": "1", "method": "m"}
    assert strict(encode_notification("m", [1])) == {"jsonrpc": "2.0", "method": "m", "params": [1]}
    assert strict(encode_result(None, None)) == {"jsonrpc": "2.0", "id": None, "result": None}
    assert strict(encode_result(1, wire.PromptResponse(stop_reason="end_turn")))["result"] == {
        "stopReason": "end_turn"
    }
    fault = Fault(ErrorCode.RESOURCE_NOT_FOUND, "Resource not found", {"sessionId": "x"})
    assert strict(encode_error("q", fault)) == {
        "jsonrpc": "2.0",
        "id": "q",
        "error": {"code": -32002, "message": "Resource not found", "data": {"sessionId": "x"}},
    }
    assert encode_invalid(Invalid(-32600, "x", 1, answer=False)) is None


def test_what_strict_readers_refuse_never_goes_out() -> None:
    update = wire.ToolCallUpdated(tool_call_id="c", raw_input={"\udc00": ["\ud800", math.nan, -math.inf]})
    frame = strict(
        encode_notification("session/update", wire.SessionNotification(session_id="\ud83d", update=update))
    )
    assert frame["params"]["update"]["rawInput"] == {"\ufffd": ["\ufffd", None, None]}
    assert frame["params"]["sessionId"] == "\ufffd"


def test_raw_json_inside_of_a_value_is_mended_too() -> None:
    assert strict(encode_result(1, msgspec.Raw(b'{"a":\n1}')))["result"] == {"a": 1}
    raw = msgspec.Raw(b'{"a":\r\n ["\\ud800", "\\\\ud800"]}')
    assert strict(encode_result(1, {"raw": raw}))["result"] == {"raw": {"a": ["\ufffd", "\\ud800"]}}
    assert strict(encode_result(1, {"raw": raw, "b": "\ud800"}))["result"] == {
        "raw": {"a": ["\ufffd", "\\ud800"]},
        "b": "\ufffd",
    }


SURROGATES = st.text(st.characters(), max_size=20) | st.text(
    st.sampled_from("\ud800\udc00a\\u\n\u2028d8"), max_size=8
)
LOOSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | SURROGATES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SURROGATES, inner, max_size=3),
    max_leaves=8,
)


@given(LOOSE, st.none() | st.integers(-(2**63), 2**63 - 1) | SURROGATES)
def test_every_frame_of_ours_is_strict_and_comes_back(value: object, known: int | str | None) -> None:
    frame = encode_result(known, value)
    strict(frame)
    assert isinstance(decode_frame(frame), Response)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_survives_both_ways(text: str) -> None:
    chunk = wire.AgentMessageChunk(content=wire.TextContent(text=text))
    frame = encode_notification("session/update", wire.SessionNotification(session_id=text, update=chunk))
    back = decode_frame(frame)
    assert isinstance(back, Notification)
    params = msgspec.json.decode(back.params)
    assert (params["sessionId"], params["update"]["content"]["text"]) == (text, text)
