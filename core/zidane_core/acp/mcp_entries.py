"""The `mcpServers` of a session request, read by hand: a server without a known type is a command."""

from collections.abc import Mapping
from typing import Final

import msgspec
from returns.result import Result

from zidane_core.acp.fields import MEMBERS, gathered, read, read_params
from zidane_core.acp.wire.record import Meta
from zidane_core.acp.wire.session import (
    EnvVariable,
    HttpHeader,
    McpServer,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
)
from zidane_core.faults import Fault
from zidane_core.fp import fold, then


class _Pair(msgspec.Struct, frozen=True, gc=False):
    name: str
    value: str


class _Remote(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    url: str
    headers: tuple[_Pair, ...] | None = None
    meta: Meta | None = msgspec.field(name="_meta", default=None)


class _Command(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    name: str
    command: str
    args: tuple[str, ...] | None = None
    env: tuple[_Pair, ...] | None = None
    meta: Meta | None = msgspec.field(name="_meta", default=None)


_STRING: Final = msgspec.json.Decoder(str)
_REMOTE: Final = msgspec.json.Decoder(_Remote)
_COMMAND: Final = msgspec.json.Decoder(_Command)
_NO_TYPE: Final = msgspec.Raw(b"null")


def decode_mcp_servers(entries: tuple[msgspec.Raw, ...]) -> Result[tuple[McpServer, ...], Fault]:
    """The servers in order; the first malformed one is a fault that names it."""
    return gathered(_server(entry, f"mcpServers[{index}]") for index, entry in enumerate(entries))


def _server(raw: msgspec.Raw, place: str) -> Result[McpServer, Fault]:
    return then(read(MEMBERS, raw, place), lambda members: _of_type(_type(members), raw, place))


def _type(members: Mapping[str, msgspec.Raw]) -> str:
    return fold(read(_STRING, members.get("type", _NO_TYPE)), str, lambda _: "")


def _of_type(kind: str, raw: msgspec.Raw, place: str) -> Result[McpServer, Fault]:
    if kind == "http":
        return read_params(_REMOTE, raw, place).map(_http)
    if kind == "sse":
        return read_params(_REMOTE, raw, place).map(_sse)
    return read_params(_COMMAND, raw, place).map(_stdio)


def _http(found: _Remote) -> McpServer:
    return McpServerHttp(name=found.name, url=found.url, headers=_headers(found), meta=found.meta)


def _sse(found: _Remote) -> McpServer:
    return McpServerSse(name=found.name, url=found.url, headers=_headers(found), meta=found.meta)


def _headers(found: _Remote) -> tuple[HttpHeader, ...]:
    return tuple(HttpHeader(name=pair.name, value=pair.value) for pair in found.headers or ())


def _stdio(found: _Command) -> McpServer:
    env = tuple(EnvVariable(name=pair.name, value=pair.value) for pair in found.env or ())
    return McpServerStdio(
        name=found.name, command=found.command, args=found.args or (), env=env, meta=found.meta
    )
