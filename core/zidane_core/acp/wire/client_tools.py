"""Calls of tools that the client declared: an extension of ours, advertised in `agentCapabilities._meta.zidane`."""

from zidane_core.acp.wire.record import SessionId, Wire


class ClientToolCall(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `_zidane/client_tool/call`. The reply is {content: string or content blocks, isError?}."""

    session_id: SessionId
    tool_call_id: str
    name: str
    input: dict[str, object]


class ClientToolCancel(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `_zidane/client_tool/cancel`: nobody waits for the call any more."""

    session_id: SessionId
    tool_call_id: str
