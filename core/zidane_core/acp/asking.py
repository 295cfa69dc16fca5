"""Our requests in ACP's words (ring 3): one function a kind of request, from its record to method and params."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from zidane_core.acp import cards, wire
from zidane_core.acp.wire.client_tools import ClientToolCall, ClientToolCancel
from zidane_core.agent import peer
from zidane_core.convert.client_tools import CLIENT_TOOL_CALL_METHOD, CLIENT_TOOL_CANCEL_METHOD

Spoken = tuple[str, wire.Wire]
"""A method and its params."""


def spoken(session: str, request: peer.PeerRequest, trace: str = "") -> Spoken:
    """A request of a session; `trace` is the W3C trace context to send with it, as JSON text."""
    method, params = _REQUESTS[type(request)](session, request)
    if trace:
        params = replace(params, meta=msgspec.json.decode(trace, type=dict[str, object]))
    return method, params


def withdrawn(session: str, request: peer.PeerRequest) -> Spoken | None:
    """What the client is told of a withdrawn request beside `$/cancel_request`."""
    if not isinstance(request, peer.CallTool):
        return None
    return CLIENT_TOOL_CANCEL_METHOD, ClientToolCancel(session_id=session, tool_call_id=request.call)


class ElicitationForm(wire.Wire, frozen=True, kw_only=True, gc=False, tag="form", tag_field="mode"):
    """`ElicitationFormRequest` with its schema as it is: it was checked where it came from."""

    session_id: str
    tool_call_id: str | None = None
    message: str
    requested_schema: dict[str, object]


def _permission(session: str, request: peer.AskPermission) -> Spoken:
    return "session/request_permission", cards.permission(session, request)


def _read(session: str, request: peer.ReadFile) -> Spoken:
    # The whole file: what a client makes of `line` and `limit` differs.
    return "fs/read_text_file", wire.ReadTextFileRequest(session_id=session, path=request.path)


def _write(session: str, request: peer.WriteFile) -> Spoken:
    params = wire.WriteTextFileRequest(session_id=session, path=request.path, content=request.content)
    return "fs/write_text_file", params


def _create(session: str, request: peer.CreateTerminal) -> Spoken:
    params = wire.CreateTerminalRequest(
        session_id=session,
        command=request.command,
        args=request.arguments,
        env=tuple(wire.EnvVariable(name=name, value=value) for name, value in request.environment),
        cwd=request.cwd,
        output_byte_limit=request.output_bytes,
    )
    return "terminal/create", params


def _wait(session: str, request: peer.WaitForExit) -> Spoken:
    params = wire.WaitForTerminalExitRequest(session_id=session, terminal_id=request.terminal)
    return "terminal/wait_for_exit", params


def _output(session: str, request: peer.ReadTerminal) -> Spoken:
    params = wire.TerminalOutputRequest(session_id=session, terminal_id=request.terminal)
    return "terminal/output", params


def _kill(session: str, request: peer.KillTerminal) -> Spoken:
    return "terminal/kill", wire.KillTerminalRequest(session_id=session, terminal_id=request.terminal)


def _release(session: str, request: peer.ReleaseTerminal) -> Spoken:
    return "terminal/release", wire.ReleaseTerminalRequest(session_id=session, terminal_id=request.terminal)


def _call_tool(session: str, request: peer.CallTool) -> Spoken:
    params = ClientToolCall(
        session_id=session, tool_call_id=request.call, name=request.name, input=request.arguments
    )
    return CLIENT_TOOL_CALL_METHOD, params


def _form(session: str, request: peer.AskForm) -> Spoken:
    params = ElicitationForm(
        session_id=session,
        tool_call_id=request.call or None,
        message=request.message,
        requested_schema=request.schema,
    )
    return "elicitation/create", params


def _page(session: str, request: peer.AskPage) -> Spoken:
    params = wire.ElicitationUrlRequest(
        session_id=session,
        tool_call_id=request.call or None,
        message=request.message,
        elicitation_id=request.id,
        url=request.url,
    )
    return "elicitation/create", params


# Any: each function takes the record type of its key, which a dict type cannot say.
_REQUESTS: Final[Mapping[type, Callable[[str, Any], Spoken]]] = MappingProxyType(
    {
        peer.AskPermission: _permission,
        peer.ReadFile: _read,
        peer.WriteFile: _write,
        peer.CreateTerminal: _create,
        peer.WaitForExit: _wait,
        peer.ReadTerminal: _output,
        peer.KillTerminal: _kill,
        peer.ReleaseTerminal: _release,
        peer.CallTool: _call_tool,
        peer.AskForm: _form,
        peer.AskPage: _page,
    }
)
