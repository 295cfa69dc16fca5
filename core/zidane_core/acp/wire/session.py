"""Opening, listing, ending sessions, and the prompt turn (spec: session setup, prompt turn)."""

from typing import Literal, TypeAlias

from zidane_core.acp.wire.content import PromptBlock
from zidane_core.acp.wire.options import SessionConfigOption, SessionModeState
from zidane_core.acp.wire.record import RequestId, SessionId, Wire

StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
"""Why a turn ended."""


class EnvVariable(Wire, frozen=True, kw_only=True, gc=False):
    """An environment variable of a process to start."""

    name: str
    value: str


class HttpHeader(Wire, frozen=True, kw_only=True, gc=False):
    """A header to send to an MCP server."""

    name: str
    value: str


class McpServerHttp(Wire, frozen=True, kw_only=True, gc=False, tag="http", tag_field="type"):
    """An MCP server reached by streamable HTTP."""

    name: str
    url: str
    headers: tuple[HttpHeader, ...]


class McpServerSse(Wire, frozen=True, kw_only=True, gc=False, tag="sse", tag_field="type"):
    """An MCP server reached by server-sent events."""

    name: str
    url: str
    headers: tuple[HttpHeader, ...]


class McpServerStdio(Wire, frozen=True, kw_only=True, gc=False):
    """An MCP server to be started as a command; the fallback, hence without a type."""

    name: str
    command: str
    args: tuple[str, ...]
    env: tuple[EnvVariable, ...]


McpServer: TypeAlias = McpServerHttp | McpServerSse | McpServerStdio
"""An MCP server that the client asks the agent to connect to."""


class NewSessionRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/new`. `cwd` and `additional_directories` are absolute paths."""

    cwd: str
    mcp_servers: tuple[McpServer, ...]
    additional_directories: tuple[str, ...] = ()


class NewSessionResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/new`."""

    session_id: SessionId
    modes: SessionModeState | None = None
    config_options: tuple[SessionConfigOption, ...] | None = None


class LoadSessionRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/load`; the history is replayed before the answer."""

    session_id: SessionId
    cwd: str
    mcp_servers: tuple[McpServer, ...]
    additional_directories: tuple[str, ...] = ()


class LoadSessionResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/load`: neither session id nor history."""

    modes: SessionModeState | None = None
    config_options: tuple[SessionConfigOption, ...] | None = None


class ResumeSessionRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/resume`; nothing is replayed."""

    session_id: SessionId
    cwd: str
    mcp_servers: tuple[McpServer, ...] = ()
    additional_directories: tuple[str, ...] = ()


class ResumeSessionResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/resume`; the same fields as of `session/load`."""

    modes: SessionModeState | None = None
    config_options: tuple[SessionConfigOption, ...] | None = None


class ListSessionsRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/list`. `cursor` comes from the page before."""

    cwd: str | None = None
    cursor: str | None = None


class SessionInfo(Wire, frozen=True, kw_only=True, gc=False):
    """Summary of a session; `updated_at` is ISO 8601."""

    session_id: SessionId
    cwd: str
    additional_directories: tuple[str, ...] = ()
    title: str | None = None
    updated_at: str | None = None


class ListSessionsResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/list`; without `next_cursor` it is the last page."""

    sessions: tuple[SessionInfo, ...]
    next_cursor: str | None = None


class DeleteSessionRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/delete`."""

    session_id: SessionId


class DeleteSessionResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/delete`."""


class CloseSessionRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/close`."""

    session_id: SessionId


class CloseSessionResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/close`."""


class PromptRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/prompt`: starts one turn."""

    session_id: SessionId
    prompt: tuple[PromptBlock, ...]


class PromptResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/prompt`, sent when the turn ended."""

    stop_reason: StopReason


class CancelNotification(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/cancel`: stops the running turn."""

    session_id: SessionId


class CancelRequestNotification(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `$/cancel_request`, sent by both sides."""

    request_id: RequestId
