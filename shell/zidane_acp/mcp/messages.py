"""A line of a server as messages, also where it is not quite the JSON that it should be.

The strict parser of the official package refuses what other programs take: bytes that are no UTF-8, half a pair of
surrogates, deep nesting, an array of messages. A reply that is dropped would leave its call waiting for ever, so what
cannot be read at all becomes the error of the request that it answers.
"""

import contextlib
import re
from collections.abc import Iterator
from typing import Final

from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter
from returns.result import Success

from zidane_acp.mcp.reasons import FOREIGN, UNREADABLE
from zidane_core.text import decode_json, is_array, is_object

START: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*[{\[]")
"""How a message begins; every other line is a banner."""

EDGE: Final = 512
"""Bytes at either end of an unreadable line in which its id is looked for."""

_VERSION: Final = rb'"jsonrpc"\s*:\s*"2\.0"\s*'
_ID: Final = rb'"id"\s*:\s*(?P<id>\d{1,18}|"[^"\\]{1,100}")\s*'
_ANSWER: Final = rb'"(?:result|error)"'
_FIRST: Final = re.compile(
    rb"\s*\{\s*(?:" + _VERSION + rb",\s*)?" + _ID + rb",\s*(?:" + _VERSION + rb",\s*)?" + _ANSWER
)
"""The id before the answer, as Python writes it."""

_ANSWER_FIRST: Final = re.compile(rb"\s*\{\s*(?:" + _VERSION + rb",\s*)?" + _ANSWER)
_LAST: Final = re.compile(_ID + rb"(?:,\s*" + _VERSION + rb")?\}\s*$")
"""The id behind the answer, as JavaScript writes it."""


def messages_of(line: bytes) -> list[JSONRPCMessage]:
    """The messages of a line that may be one; none when it is no message and answers nothing."""
    try:
        return [jsonrpc_message_adapter.validate_json(line, by_name=False)]
    except ValueError:
        pass
    with contextlib.suppress(ValueError):  # a number with more digits than Python takes
        decoded = decode_json(line.decode("utf-8-sig", "replace"))
        if isinstance(decoded, Success):
            return list(messages_in(decoded.unwrap()))
    known = _id_of(line)
    return [] if known is None else [_failure(known, UNREADABLE)]


def messages_in(value: object) -> Iterator[JSONRPCMessage]:
    """The messages in a JSON value: itself, or those in an array."""
    for item in value if is_array(value) else (value,):
        try:
            yield jsonrpc_message_adapter.validate_python(item, by_name=False)
        except ValueError:
            answered = _answered(item)
            if answered is not None:
                yield _failure(answered, FOREIGN)


def _answered(value: object) -> int | str | None:
    """The id of a request that a value wants to answer."""
    if not is_object(value) or "method" in value or not {"result", "error"} & value.keys():
        return None
    known = value.get("id")
    return known if isinstance(known, int | str) and not isinstance(known, bool) else None


def _id_of(line: bytes) -> int | str | None:
    """The same for a line that cannot be decoded."""
    found = _FIRST.match(line[:EDGE])
    if found is None and _ANSWER_FIRST.match(line[:EDGE]):
        found = _LAST.search(line[-EDGE:])
    if found is None:
        return None
    text = found["id"].decode("utf-8", "replace")
    return text[1:-1] if text.startswith('"') else int(text)


def _failure(known: int | str, why: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=INTERNAL_ERROR, message=why))
