"""Lines of a server as messages: what others break is mended, and a broken answer ends the call that waits for it."""

import json
from typing import Any

import pytest

from zidane_acp.mcp.parsing import UNREADABLE, messages_of


def answer(result: Any, number: int = 7) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


def said(line: bytes) -> list[dict[str, Any]]:
    return [
        message.model_dump(by_alias=True, exclude_none=True, mode="json") for message in messages_of(line)
    ]


@pytest.mark.parametrize(
    "line",
    [b"Welcome!", b"12", b"null", b"{}", b"[]", b"[1]", b"{not json", b'"x"', b"\xff\xfe", b"{" * 5000],
)
def test_what_is_no_message(line: bytes) -> None:
    assert said(line) == []


def test_broken_text_is_mended() -> None:
    (latin,) = said(b'{"jsonrpc":"2.0","id":7,"result":{"text":"caf\xe9"}}')
    assert latin["result"] == {"text": "caf\ufffd"}
    (lone,) = said(b'{"jsonrpc":"2.0","id":7,"result":{"text":"\\ud83d"}}')
    assert lone["result"] == {"text": "\ufffd"}


def test_an_array_is_its_messages() -> None:
    both = b"[" + answer({"a": 1}) + b"," + answer({"b": 2}, 8) + b"]"
    assert [message["id"] for message in said(both)] == [7, 8]


def test_an_answer_of_some_depth_is_read() -> None:
    (message,) = said(b'{"jsonrpc":"2.0","id":7,"result":{"x":' + b"[" * 100 + b"]" * 100 + b"}}")
    assert "result" in message


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"result":{"x":' + b"[" * 300 + b"]" * 300 + b"}}",
        b'{"jsonrpc":"2.0","id":7,"result":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        b'{"jsonrpc":"2.0","result":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b'},"id":7}',
        b'{"jsonrpc":"1.0","id":7,"result":{}}',
        b'{"id":7,"result":{}}',
        b'{"jsonrpc":"2.0","id":7,"error":"no"}',
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error_under_its_id(line: bytes) -> None:
    (message,) = said(line)
    assert (message["id"], message["error"]["message"]) == (7, UNREADABLE)


def test_a_text_id_is_found_too() -> None:
    line = b'{"jsonrpc":"2.0","id":"a-1","result":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert said(line)[0]["id"] == "a-1"
