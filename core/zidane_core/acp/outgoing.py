"""Our own requests to the client: asked, answered, withdrawn (ring 3).

The open table always equals the questions that are still wanted, and those whose late success must be taken back; any
other late or unknown answer is dropped.
"""

import msgspec
from msgspec.structs import replace

from zidane_core.acp import answers, asking, jsonrpc, wire
from zidane_core.acp.connection import Connection, OpenRequest
from zidane_core.agent.effects import AskPeer, DropPeer, Effect, Send
from zidane_core.agent.events import Answered
from zidane_core.agent.peer import (
    AskPage,
    CreateTerminal,
    PeerAnswer,
    PeerRequest,
    ReleaseTerminal,
    TerminalMade,
)
from zidane_core.fp import assoc, dissoc


def ask(connection: Connection, asked: AskPeer) -> tuple[Connection, tuple[Effect, ...]]:
    """Send a request and remember whose it is."""
    method, params = asking.spoken(asked.thread, asked.request, asked.trace)
    if isinstance(asked.request, AskPage) and asked.request.ticket in connection.tickets:
        # Of no session: what it belongs to is the client's open request.
        request_id = connection.tickets.get(asked.request.ticket)
        params = replace(params, session_id=msgspec.UNSET, request_id=request_id)
    connection, sent = _request(
        connection, OpenRequest(asked.key, asked.thread, asked.request), method, params
    )
    return replace(connection, ids=assoc(connection.ids, asked.key, connection.last_id)), sent


def _request(
    connection: Connection, known: OpenRequest, method: str, params: wire.Wire
) -> tuple[Connection, tuple[Effect, ...]]:
    number = connection.last_id + 1
    connection = replace(connection, last_id=number, open=assoc(connection.open, number, known))
    return connection, (Send(jsonrpc.encode_request(number, method, params)),)


def drop(connection: Connection, dropped: DropPeer) -> tuple[Connection, tuple[Effect, ...]]:
    """Withdraw a request; the client is told, and its late answer finds nobody, or is taken back."""
    number = connection.ids.get(dropped.key)
    if number is None:
        return connection, ()
    known = connection.open[number]
    opened = dissoc(connection.open, number)
    if isinstance(known.request, CreateTerminal):
        opened = _withdrawn(opened, number, replace(known, key=""))
    connection = replace(connection, ids=dissoc(connection.ids, dropped.key), open=opened)
    more = asking.withdrawn(known.thread, known.request)
    told: tuple[Effect, ...] = () if more is None else (Send(jsonrpc.encode_notification(*more)),)
    cancel = wire.CancelRequestNotification(request_id=number)
    return connection, (*told, Send(jsonrpc.encode_notification("$/cancel_request", cancel)))


MOST_WITHDRAWN = 100
"""Withdrawn requests whose late success is waited for; a client that never answers must not cost more."""


def _withdrawn(opened: dict[int, OpenRequest], number: int, known: OpenRequest) -> dict[int, OpenRequest]:
    waiting = [other for other, request in opened.items() if not request.key]
    return assoc(
        dissoc(opened, *waiting[: len(waiting) + 1 - MOST_WITHDRAWN])
        if len(waiting) >= MOST_WITHDRAWN
        else opened,
        number,
        known,
    )


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
    answer = answers.answer(known.request, response)
    if known.key:
        return connection, Answered(now, known.key, answer), ()
    undo = _undo(answer)
    if undo is None:
        return connection, None, ()
    # Asked for its own sake: the answer finds an entry without a key and ends there.
    connection, sent = _request(
        connection, OpenRequest("", known.thread, undo), *asking.spoken(known.thread, undo)
    )
    return connection, None, sent


def _undo(answer: PeerAnswer) -> PeerRequest | None:
    """What takes back the late success of a withdrawn request."""
    return ReleaseTerminal(answer.terminal) if isinstance(answer, TerminalMade) else None
