"""Faults and every JSON-RPC and ACP error code (spec: errors page; seed item 112).

Ring 0. A fault is a value that travels in `returns.result.Failure`; it becomes an error frame in one
place only, `acp/speak.py`.
"""

from enum import IntEnum

import msgspec


class ErrorCode(IntEnum):
    """The JSON-RPC and ACP error codes this agent sends or understands."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    REQUEST_CANCELLED = -32800
    AUTH_REQUIRED = -32000
    RESOURCE_NOT_FOUND = -32002
    NOT_INITIALIZED = -32002  # choices.md: the same number, told apart by its message
    UNSUPPORTED_VERSION = -32022


class Fault(msgspec.Struct, frozen=True, gc=False):
    """A failure with a JSON-RPC code, one plain sentence, and data for programs (a JSON object or None)."""

    code: int
    message: str
    data: dict[str, object] | None = None


def invalid_params(field: str, problem: str, **data: object) -> Fault:
    """-32602 that names the field."""
    return Fault(ErrorCode.INVALID_PARAMS, f"Invalid params: {field}: {problem}", {"field": field, **data})


def session_not_found(session: str) -> Fault:
    """-32002 for a session that is not active on this connection."""
    return Fault(ErrorCode.RESOURCE_NOT_FOUND, "Resource not found", {"sessionId": session})


def provider_fault(
    kind: str,
    message: str,
    *,
    provider: str,
    status: int | None = None,
    retry_after: float | None = None,
    request_id: str | None = None,
) -> Fault:
    """A model provider's failure. `kind` is one of PROVIDER_KINDS; only auth maps to -32000.

    The data is {kind, provider, status?, retryAfter? (seconds), requestId?}.
    """
    data: dict[str, object] = {"kind": kind, "provider": provider}
    if status is not None:
        data["status"] = status
    if retry_after is not None:
        data["retryAfter"] = retry_after
    if request_id is not None:
        data["requestId"] = request_id
    code = ErrorCode.AUTH_REQUIRED if kind == "auth" else ErrorCode.INTERNAL_ERROR
    return Fault(code, message[:1].upper() + message[1:], data)


PROVIDER_KINDS = frozenset(
    {
        "auth",
        "rate_limit",
        "billing",
        "context_overflow",
        "invalid_request",
        "server",
        "network",
        "bad_response",
    }
)
