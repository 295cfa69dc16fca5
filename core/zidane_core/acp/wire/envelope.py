"""The JSON-RPC 2.0 envelopes as we send them."""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.acp.wire.record import RequestId


class JsonRpcRequest(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request; the receiver answers it with the same id."""

    jsonrpc: Literal["2.0"] = "2.0"
    id: RequestId
    method: str
    params: object = msgspec.UNSET


class JsonRpcNotification(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request without an id; never answered."""

    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: object = msgspec.UNSET


class JsonRpcSuccess(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer to a request that succeeded."""

    jsonrpc: Literal["2.0"] = "2.0"
    id: RequestId
    result: object


class JsonRpcErrorObject(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What went wrong: a code, one sentence, and data for programs."""

    code: int
    message: str
    data: object = msgspec.UNSET


class JsonRpcFailure(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The answer to a request that failed; the id is null when it could not be read."""

    jsonrpc: Literal["2.0"] = "2.0"
    id: RequestId
    error: JsonRpcErrorObject


JsonRpcResponse: TypeAlias = JsonRpcSuccess | JsonRpcFailure
"""Any answer."""

JsonRpcMessage: TypeAlias = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse
"""Anything that travels."""
