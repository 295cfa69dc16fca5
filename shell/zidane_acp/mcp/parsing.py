"""A line of a server's output as messages: what other programs break is mended, and a broken answer is an answer."""

import re
from typing import Final

from mcp_types import ErrorData as Error
from mcp_types import JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from zidane_core.faults import ErrorCode
from zidane_core.fp import fold
from zidane_core.text import decode_json, is_array, is_object

_ID: Final = re.compile(rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,200})")')
_EDGE: Final = 4096
"""Bytes at the beginning and at the end of a line in which the id of an answer is looked for."""

_DEEPEST: Final = 150

UNREADABLE: Final = "its answer could not be read"


def messages_of(line: bytes) -> tuple[JSONRPCMessage, ...]:
    """The messages of a line; none when it is a greeting or anything else that is no message.

    Broken UTF-8 and lone surrogates are replaced, an array is its messages. An answer that cannot be read all the same becomes
    an error under its id, so that whoever waits for it does not wait for ever.
    """
    if line.lstrip()[:1] not in (b"{", b"["):
        return ()  # looked at cheaply, since a server may print without end
    try:
        return (jsonrpc_message_adapter.validate_json(line, by_name=False),)
    except ValueError:
        pass
    return fold(decode_json(line.decode("utf-8", "replace")), _of_value, lambda _: _of_id(line))


def _of_value(value: object) -> tuple[JSONRPCMessage, ...]:
    items = value if is_array(value) else [value]
    return tuple(message for item in items if (message := _of_item(item)) is not None)


def _of_item(item: object) -> JSONRPCMessage | None:
    if not _is_deep(item):
        try:
            return jsonrpc_message_adapter.validate_python(item, by_name=False)
        except ValueError:
            pass
    if not is_object(item) or not ("result" in item or "error" in item):
        return None
    number = item.get("id")
    return _error(number) if isinstance(number, int | str) else None


def _is_deep(value: object) -> bool:
    """Whether a value is nested more deeply than the official package can handle later."""
    level = [value]
    for _ in range(_DEEPEST):
        inner = [one.values() if is_object(one) else one for one in level if is_object(one) or is_array(one)]
        level = [below for members in inner for below in members]
        if not level:
            return False
    return True


def _of_id(line: bytes) -> tuple[JSONRPCMessage, ...]:
    """The error for an answer that is nested too deeply to be read, by the id that stands at one of its ends."""
    edges = line[:_EDGE] + b" " + line[-_EDGE:]
    found = _ID.search(edges) if b'"result"' in edges else None
    if found is None:
        return ()
    return (_error(int(found[1]) if found[1] else found[2].decode("utf-8", "replace")),)


def _error(number: int | str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=Error(code=ErrorCode.PARSE_ERROR, message=UNREADABLE))
