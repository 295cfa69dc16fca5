"""Our own requests to the client: asked, answered, withdrawn (ring 3).

The open table always equals the questions that are still wanted; a late or unknown answer is dropped.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from zidane_core.acp import cards, jsonrpc, wire
from zidane_core.acp.connection import Connection, OpenRequest
from zidane_core.agent.effects import AskPeer, AskPermission, CallClient, DropPeer, Effect, Send
from zidane_core.agent.events import Answered, Chose, Dismissed, Gave, Key, PeerAnswer, Unanswerable
from zidane_core.faults import ErrorCode


def ask(connection: Connection, asked: AskPeer) -> tuple[Connection, tuple[Effect, ...]]:
    """Send a request and remember whose it is."""
    number = connection.last_id + 1
    method, params = _REQUESTS[type(asked.request)](asked, asked.request)
    connection = replace(
        connection,
        last_id=number,
        open={**connection.open, number: OpenRequest(asked.key, asked.request)},
        ids={**connection.ids, asked.key: number},
    )
    return connection, (Send(jsonrpc.encode_request(number, method, params)),)


def drop(connection: Connection, dropped: DropPeer) -> tuple[Connection, tuple[Effect, ...]]:
    """Withdraw a request; the client is told, and its late answer will find nobody."""
    number = connection.ids.get(dropped.key)
    if number is None:
        return connection, ()
    notice = jsonrpc.encode_notification(
        "$/cancel_request", wire.CancelRequestNotification(request_id=number)
    )
    return _without(connection, number, dropped.key), (Send(notice),)


def answered(
    connection: Connection, response: jsonrpc.Response, now: float
) -> tuple[Connection, Answered | None]:
    """The client's answer in domain form, or None when nobody waits for it."""
    request_id = response.id
    known = connection.open.get(request_id) if type(request_id) is int else None
    if known is None or type(request_id) is not int:
        return connection, None
    value = _READERS[type(known.request)](response)
    return _without(connection, request_id, known.key), Answered(now, known.key, value)


def _without(connection: Connection, number: int, key: Key) -> Connection:
    return replace(
        connection,
        open={known: value for known, value in connection.open.items() if known != number},
        ids={known: value for known, value in connection.ids.items() if known != key},
    )


# Requests ------------------------------------------------------------------------------------------


def _permission(asked: AskPeer, request: AskPermission) -> tuple[str, object]:
    params = cards.permission(asked.thread, request)
    return "session/request_permission", replace(params, meta=_trace(asked.trace)) if asked.trace else params


def _call_client(asked: AskPeer, request: CallClient) -> tuple[str, object]:
    return request.method, msgspec.Raw(request.params.encode())


def _trace(trace: str) -> dict[str, object]:
    return msgspec.json.decode(trace, type=dict[str, object])


# Any: each function takes the record type of its key, which a dict type cannot say.
_REQUESTS: Final[Mapping[type, Callable[[AskPeer, Any], tuple[str, object]]]] = MappingProxyType(
    {AskPermission: _permission, CallClient: _call_client}
)


# Answers -------------------------------------------------------------------------------------------


def _permission_answer(response: jsonrpc.Response) -> PeerAnswer:
    if response.error is not None:
        if response.error.code == ErrorCode.REQUEST_CANCELLED:
            return Dismissed()
        return Unanswerable(f"the client answered with error {response.error.code}")
    try:
        outcome = msgspec.json.decode(response.result, type=wire.RequestPermissionResponse).outcome
    except (msgspec.DecodeError, RecursionError):
        return Unanswerable("the client's answer is no permission outcome")
    return Chose(outcome.option_id) if isinstance(outcome, wire.SelectedPermissionOutcome) else Dismissed()


def _raw_answer(response: jsonrpc.Response) -> PeerAnswer:
    if response.error is not None:
        return Unanswerable(response.error.message)
    return Gave(bytes(response.result).decode("utf-8", "replace"))


_READERS: Final[Mapping[type, Callable[[jsonrpc.Response], PeerAnswer]]] = MappingProxyType(
    {AskPermission: _permission_answer, CallClient: _raw_answer}
)
