"""Tools that the client declares under `_meta.zidane.clientTools` and runs itself.

A call is the request `CLIENT_TOOL_CALL_METHOD` with {sessionId, toolCallId, name, input}; the reply is
{content: string or content blocks, isError?}. `CLIENT_TOOL_CANCEL_METHOD` with {sessionId, toolCallId} tells
the client that nobody waits any more.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.convert.schemas import schema_problem
from zidane_core.data.tools import ToolSpec
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

    Names must be unique and of the form that models take, schemas must be schemas. The failure is -32602 and says
    which entry is wrong.
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
    faults = (_problem(specs, index, spec) for index, spec in enumerate(specs))
    fault = next((found for found in faults if found is not None), None)
    return Success(specs) if fault is None else Failure(fault)


_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _problem(specs: tuple[ClientToolSpec, ...], index: int, spec: ClientToolSpec) -> Fault | None:
    place = f"{_FIELD}[{index}]"
    if not spec.name.strip():
        return invalid_params(f"{place}.name", "must not be empty")
    if not _NAME.fullmatch(spec.name):
        return invalid_params(f"{place}.name", f"{spec.name[:80]!r} must be 1 to 64 letters, digits, _ or -")
    if spec.name in {known.name for known in specs[:index]}:
        return invalid_params(f"{place}.name", f'"{spec.name}" is declared twice')
    wrong = schema_problem(spec.input_schema)
    return None if wrong is None else invalid_params(f"{place}.inputSchema{wrong[0]}", wrong[1])


def collision(specs: tuple[ClientToolSpec, ...], taken: Iterable[str]) -> Fault | None:
    """-32602 for the first tool whose name another tool of the agent has already."""
    names = frozenset(taken)
    found = next((index for index, spec in enumerate(specs) if spec.name in names), None)
    if found is None:
        return None
    name = specs[found].name
    return invalid_params(f"{_FIELD}[{found}].name", f'the agent has a tool "{name}" of its own')


def client_tools(specs: tuple[ClientToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """The agent's tools out of declared ones: each call is a request to the client, behind the same permission gate.

    An abort tells the client by `CLIENT_TOOL_CANCEL_METHOD` and ends the call (seed item 4).
    """
    return tuple(
        ToolSpec(
            name=spec.name,
            description=spec.description,
            schema={"type": "object", **spec.input_schema},
            title=spec.name,
            machine="client_tool",
        )
        for spec in specs
    )
