"""Tools that the client declares under `_meta.zidane.clientTools` and runs itself.

A call is the request `CLIENT_TOOL_CALL_METHOD` with {sessionId, toolCallId, name, input}; the reply is
{content: string or content blocks, isError?}. `CLIENT_TOOL_CANCEL_METHOD` with {sessionId, toolCallId} tells
the client that nobody waits any more.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.faults import Fault, invalid_params

CLIENT_TOOL_CALL_METHOD: Final = "_zidane/client_tool/call"
CLIENT_TOOL_CANCEL_METHOD: Final = "_zidane/client_tool/cancel"

_FIELD: Final = "_meta.zidane.clientTools"


class ClientToolSpec(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """A tool of the client. `input_schema` is a JSON schema of an object."""

    name: str
    input_schema: dict[str, object]
    description: str = ""


class ClientToolReply(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """The client's answer to a call: text, or ACP content blocks as they came."""

    content: str | tuple[dict[str, object], ...]
    is_error: bool = False


def parse_client_tools(meta: Mapping[str, object] | None) -> Result[tuple[ClientToolSpec, ...] | None, Fault]:
    """The declared tools, or None when the key is absent, so that a resumed session keeps its set.

    Names must be non-empty and unique. The failure is -32602 and says which entry is wrong.
    """
    zidane = (meta or {}).get("zidane")
    if not isinstance(zidane, Mapping) or "clientTools" not in zidane:
        return Success(None)
    given: object = msgspec.convert(zidane, dict[str, object])["clientTools"]
    try:
        specs = msgspec.convert(given, tuple[ClientToolSpec, ...])
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        return Failure(invalid_params(f"{_FIELD}{place.rstrip('`')}", problem))
    return _named_once(specs)


def _named_once(specs: tuple[ClientToolSpec, ...]) -> Result[tuple[ClientToolSpec, ...] | None, Fault]:
    names = tuple(spec.name for spec in specs)
    for index, name in enumerate(names):
        if not name.strip():
            return Failure(invalid_params(f"{_FIELD}[{index}].name", "must not be empty"))
        if name in names[:index]:
            return Failure(invalid_params(f"{_FIELD}[{index}].name", f'"{name}" is declared twice'))
    return Success(specs)
