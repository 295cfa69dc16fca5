"""Params of the client's requests -> records, or a -32602 that names the field.

Fields are strict, lenient (a malformed value counts as absent) or null-default exactly as the schema's
annotations say; `_meta` is always lenient and never stands in for a param. Large members are only looked at
where they stand, so that a prompt's text is copied once.
"""

import re
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.acp.blocks import decode_prompt_blocks
from zidane_core.acp.fields import read, read_params
from zidane_core.acp.lenient import lenient
from zidane_core.acp.mcp_entries import decode_mcp_servers
from zidane_core.acp.wire.capabilities import ClientCapabilities, Implementation
from zidane_core.acp.wire.initialize import AuthenticateRequest, InitializeRequest, LogoutRequest
from zidane_core.acp.wire.options import SetSessionConfigOptionRequest, SetSessionModeRequest
from zidane_core.acp.wire.record import INT64, Meta, SessionId
from zidane_core.acp.wire.session import (
    CancelNotification,
    CancelRequestNotification,
    CloseSessionRequest,
    DeleteSessionRequest,
    ListSessionsRequest,
    LoadSessionRequest,
    McpServer,
    NewSessionRequest,
    PromptRequest,
    ResumeSessionRequest,
)
from zidane_core.faults import Fault, invalid_params
from zidane_core.fp import fold, then

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

_NULL: Final = msgspec.Raw(b"null")
_OLD_VERSION: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_ABSOLUTE: Final = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")


class _Initialize(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    protocol_version: int | str
    client_capabilities: msgspec.Raw = _NULL
    client_info: msgspec.Raw = _NULL
    meta: Meta | None = msgspec.field(name="_meta", default=None)


class _Setup(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    cwd: str
    mcp_servers: tuple[msgspec.Raw, ...] | None = None
    additional_directories: tuple[str, ...] | None = None
    meta: Meta | None = msgspec.field(name="_meta", default=None)


class _Reopen(_Setup, frozen=True, kw_only=True, gc=False):
    session_id: SessionId


class _Prompt(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    session_id: SessionId
    prompt: msgspec.Raw
    meta: Meta | None = msgspec.field(name="_meta", default=None)


class _SetOption(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    session_id: SessionId
    config_id: str
    value: str | bool
    type: msgspec.Raw = _NULL
    meta: Meta | None = msgspec.field(name="_meta", default=None)


_INITIALIZE: Final = msgspec.json.Decoder(_Initialize)
_SETUP: Final = msgspec.json.Decoder(_Setup)
_REOPEN: Final = msgspec.json.Decoder(_Reopen)
_PROMPT: Final = msgspec.json.Decoder(_Prompt)
_SET_OPTION: Final = msgspec.json.Decoder(_SetOption)
_TYPE: Final = msgspec.json.Decoder(str)
_CAPABILITIES: Final = lenient(ClientCapabilities)
_INFO: Final = lenient(Implementation)


def _plain(kind: type[S]) -> Callable[[msgspec.Raw], Result[S, Fault]]:
    """A decoder for params whose fields are all strict."""
    decoder = msgspec.json.Decoder(kind)

    def decode(params: msgspec.Raw) -> Result[S, Fault]:
        return read_params(decoder, params)

    return decode


decode_authenticate: Final = _plain(AuthenticateRequest)
"""Params of `authenticate`."""

decode_logout: Final = _plain(LogoutRequest)
"""Params of `logout`; they may be absent."""

decode_list_sessions: Final = _plain(ListSessionsRequest)
"""Params of `session/list`; they may be absent."""

decode_delete_session: Final = _plain(DeleteSessionRequest)
"""Params of `session/delete`."""

decode_close_session: Final = _plain(CloseSessionRequest)
"""Params of `session/close`."""

decode_set_mode: Final = _plain(SetSessionModeRequest)
"""Params of `session/set_mode`."""

decode_cancel: Final = _plain(CancelNotification)
"""Params of `session/cancel`."""

_decode_cancel_request: Final = _plain(CancelRequestNotification)


def decode_cancel_request(params: msgspec.Raw) -> Result[CancelRequestNotification, Fault]:
    """Params of `$/cancel_request`; the id keeps its JSON type."""
    return then(_decode_cancel_request(params), _in_range)


def _in_range(found: CancelRequestNotification) -> Result[CancelRequestNotification, Fault]:
    if isinstance(found.request_id, int) and found.request_id not in INT64:
        return Failure(invalid_params("requestId", "an integer must fit 64 bits"))
    return Success(found)


def decode_initialize(params: msgspec.Raw) -> Result[InitializeRequest, Fault]:
    """Params of `initialize`. The version is any integer, or a date for the handshake of older clients."""
    return then(read_params(_INITIALIZE, params), _initialize)


def _initialize(found: _Initialize) -> Result[InitializeRequest, Fault]:
    version = found.protocol_version
    if isinstance(version, str) and not _OLD_VERSION.fullmatch(version):
        return Failure(invalid_params("protocolVersion", "expected an integer"))
    request = InitializeRequest(
        protocol_version=version,
        client_capabilities=_or(_CAPABILITIES(found.client_capabilities), ClientCapabilities()),
        client_info=_or(_INFO(found.client_info).map(_optional), None),
        meta=found.meta,
    )
    return Success(request)


def _optional(value: T) -> T | None:
    return value


def _or(found: Result[T, str], default: T) -> T:
    return fold(found, lambda value: value, lambda _: default)


def decode_new_session(params: msgspec.Raw) -> Result[NewSessionRequest, Fault]:
    """Params of `session/new`. Whether the folder exists is for others to see."""
    return then(
        read_params(_SETUP, params),
        lambda found: _checked(found).map(
            lambda servers: NewSessionRequest(
                cwd=found.cwd,
                mcp_servers=servers,
                additional_directories=found.additional_directories or (),
                meta=found.meta,
            )
        ),
    )


def decode_load_session(params: msgspec.Raw) -> Result[LoadSessionRequest, Fault]:
    """Params of `session/load`."""
    return then(
        read_params(_REOPEN, params),
        lambda found: _checked(found).map(
            lambda servers: LoadSessionRequest(
                session_id=found.session_id,
                cwd=found.cwd,
                mcp_servers=servers,
                additional_directories=found.additional_directories or (),
                meta=found.meta,
            )
        ),
    )


def decode_resume_session(params: msgspec.Raw) -> Result[ResumeSessionRequest, Fault]:
    """Params of `session/resume`."""
    return then(
        read_params(_REOPEN, params),
        lambda found: _checked(found).map(
            lambda servers: ResumeSessionRequest(
                session_id=found.session_id,
                cwd=found.cwd,
                mcp_servers=servers,
                additional_directories=found.additional_directories or (),
                meta=found.meta,
            )
        ),
    )


def _checked(found: _Setup) -> Result[tuple[McpServer, ...], Fault]:
    """The servers, once the paths are seen to be absolute."""
    places = [("cwd", found.cwd)]
    roots = enumerate(found.additional_directories or ())
    places += [(f"additionalDirectories[{index}]", path) for index, path in roots]
    for field, path in places:
        problem = path_problem(path)
        if problem:
            return Failure(invalid_params(field, problem))
    return decode_mcp_servers(found.mcp_servers or ())


def path_problem(path: str) -> str:
    """What is wrong with a path by its form alone; both the POSIX and the Windows form are absolute."""
    if not _ABSOLUTE.match(path):
        return "expected an absolute path"
    return "a path holds no NUL character" if "\0" in path else ""


def decode_prompt(params: msgspec.Raw) -> Result[PromptRequest, Fault]:
    """Params of `session/prompt`. Blocks of unknown types are kept as `UnknownBlock`."""
    return then(
        read_params(_PROMPT, params),
        lambda found: decode_prompt_blocks(found.prompt).map(
            lambda blocks: PromptRequest(session_id=found.session_id, prompt=blocks, meta=found.meta)
        ),
    )


def decode_set_config_option(params: msgspec.Raw) -> Result[SetSessionConfigOptionRequest, Fault]:
    """Params of `session/set_config_option`: a bool needs the type "boolean", all else is the id of a value."""
    return then(read_params(_SET_OPTION, params), _set_option)


def _set_option(found: _SetOption) -> Result[SetSessionConfigOptionRequest, Fault]:
    kind = fold(read(_TYPE, found.type), _optional, lambda _: None)
    if (kind == "boolean") != isinstance(found.value, bool):
        wanted = "a bool" if kind == "boolean" else 'a string (a bool needs the type "boolean")'
        return Failure(invalid_params("value", f"expected {wanted}"))
    request = SetSessionConfigOptionRequest(
        session_id=found.session_id, config_id=found.config_id, value=found.value, type=kind, meta=found.meta
    )
    return Success(request)
