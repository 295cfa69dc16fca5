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
from zidane_core.agent.effects import AskPeer, AskPermission, CallClient, DropPeer, Effect, Send, Undo
from zidane_core.agent.events import Answered, Chose, Dismissed, Gave, PeerAnswer, Unanswerable
from zidane_core.faults import ErrorCode
from zidane_core.fp import assoc, dissoc, fold
from zidane_core.text import decode_json, is_object


def ask(connection: Connection, asked: AskPeer) -> tuple[Connection, tuple[Effect, ...]]:
    """Send a request and remember whose it is."""
    number = connection.last_id + 1
    method, params = _REQUESTS[type(asked.request)](asked, asked.request)
    connection = replace(
        connection,
        last_id=number,
        open=assoc(connection.open, number, OpenRequest(asked.key, asked.request, asked.undo)),
        ids=assoc(connection.ids, asked.key, number),
    )
    return connection, (Send(jsonrpc.encode_request(number, method, params)),)


def drop(connection: Connection, dropped: DropPeer) -> tuple[Connection, tuple[Effect, ...]]:
    """Withdraw a request; the client is told, and its late answer finds nobody, or is taken back."""
    number = connection.ids.get(dropped.key)
    if number is None:
        return connection, ()
    known = connection.open[number]
    connection = replace(
        connection,
        ids=dissoc(connection.ids, dropped.key),
        open=dissoc(connection.open, number)
        if known.undo is None
        else assoc(connection.open, number, replace(known, key="")),
    )
    notice = jsonrpc.encode_notification(
        "$/cancel_request", wire.CancelRequestNotification(request_id=number)
    )
    return connection, (Send(notice),)


def answered(
    connection: Connection, response: jsonrpc.Response, now: float
) -> tuple[Connection, Answered | None, tuple[Effect, ...]]:
    """The client's answer in domain form, None when nobody waits for it; and what takes back a late success."""
    number = response.id
    known = connection.open.get(number) if type(number) is int else None
    if known is None or type(number) is not int:
        return connection, None, ()
    connection = replace(
        connection, open=dissoc(connection.open, number), ids=dissoc(connection.ids, known.key)
    )
    if known.key:
        return connection, Answered(now, known.key, _READERS[type(known.request)](response)), ()
    if known.undo is None or response.error is not None:
        return connection, None, ()
    last = connection.last_id + 1
    undo = jsonrpc.encode_request(last, known.undo.method, _undo_params(known.undo, response))
    # Asked for its own sake: the answer finds an entry without a key and ends there.
    opened = assoc(connection.open, last, OpenRequest("", known.request))
    return replace(connection, last_id=last, open=opened), None, (Send(undo),)


def _undo_params(undo: Undo, response: jsonrpc.Response) -> dict[str, object]:
    params = fold(decode_json(undo.params), lambda value: value, lambda _: None)
    result = fold(decode_json(bytes(response.result)), lambda value: value, lambda _: None)
    taken = {name: result[name] for name in undo.takes if is_object(result) and name in result}
    return {**(params if is_object(params) else {}), **taken}


# Requests ------------------------------------------------------------------------------------------


def _permission(asked: AskPeer, request: AskPermission) -> tuple[str, object]:
    params = cards.permission(asked.thread, request)
    return "session/request_permission", replace(params, meta=_trace(asked.trace)) if asked.trace else params


def _call_client(asked: AskPeer, request: CallClient) -> tuple[str, object]:
    params = msgspec.Raw(request.params.encode())
    return request.method, _with_meta(params, _trace(asked.trace)) if asked.trace else params


def _with_meta(params: msgspec.Raw, meta: dict[str, object]) -> object:
    """The trace context of the turn, beside what the request says itself."""
    given = fold(decode_json(bytes(params)), lambda value: value, lambda _: None)
    own = given.get("_meta") if is_object(given) else None
    return {**given, "_meta": {**meta, **(own if is_object(own) else {})}} if is_object(given) else params


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
        outcome = _OUTCOME.decode(response.result).outcome
    except (msgspec.DecodeError, RecursionError):
        return Gave("")
    if outcome.outcome == "cancelled":
        return Dismissed()
    return Chose(outcome.option) if outcome.outcome == "selected" and outcome.option is not None else Gave("")


class _Outcome(msgspec.Struct, frozen=True, gc=False):
    """A permission outcome, read leniently: whatever else is in it, also a broken `_meta`, does not matter."""

    outcome: str
    option: str | None = msgspec.field(name="optionId", default=None)


class _Answer(msgspec.Struct, frozen=True, gc=False):
    outcome: _Outcome


_OUTCOME: Final = msgspec.json.Decoder(_Answer)


def _raw_answer(response: jsonrpc.Response) -> PeerAnswer:
    if response.error is not None:
        return Unanswerable(response.error.message)
    return Gave(bytes(response.result).decode("utf-8", "replace"))


_READERS: Final[Mapping[type, Callable[[jsonrpc.Response], PeerAnswer]]] = MappingProxyType(
    {AskPermission: _permission_answer, CallClient: _raw_answer}
)
