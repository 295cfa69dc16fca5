"""The root reducer of an ACP connection (ring 3): frames and events in, effects for the shell out.

Total: no event makes it raise, and the same input gives the same output.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from zidane_core import buckets
from zidane_core.acp import jsonrpc, outgoing, requests
from zidane_core.acp.connection import Connection, ConnectionEvent, Opened, Received, ServerChanged
from zidane_core.acp.speak import respond, speak
from zidane_core.agent import step as agent_step
from zidane_core.agent import threads
from zidane_core.agent.effects import Effect, Log, Send
from zidane_core.faults import ErrorCode, Fault
from zidane_core.fp import fold

Step: TypeAlias = tuple[Connection, tuple[Effect, ...]]


def begin(opened: Opened) -> Connection:
    """A connection on which nothing has been said yet."""
    return Connection(
        agent=threads.create(opened.seed, opened.options),
        server=opened.server,
        tickets=buckets.empty(),
        by_id=buckets.empty(),
    )


def step(connection: Connection, event: ConnectionEvent) -> Step:
    """The connection after an event, and what is to be done, in order."""
    if isinstance(event, Received):
        return _received(connection, event)
    if isinstance(event, ServerChanged):
        return replace(connection, server=event.server), ()
    agent, effects = agent_step.step(connection.agent, event)
    if agent is connection.agent and not effects:
        return connection, ()
    return speak(replace(connection, agent=agent), effects)


def _received(connection: Connection, event: Received) -> Step:
    frame = jsonrpc.decode_frame(event.item) if isinstance(event.item, bytes) else jsonrpc.refuse(event.item)
    return _FRAMES[type(frame)](connection, frame, event.now)


def _request(connection: Connection, request: jsonrpc.Request, now: float) -> Step:
    ticket, key = connection.last_ticket + 1, jsonrpc.id_key(request.id)
    if key in connection.by_id:
        fault = Fault(
            ErrorCode.INVALID_REQUEST, "Invalid request: this id is in use by a request that is not answered"
        )
        return connection, (Send(jsonrpc.encode_error(request.id, fault)),)
    connection = replace(
        connection,
        last_ticket=ticket,
        tickets=buckets.put(connection.tickets, ticket, request.id),
        by_id=buckets.put(connection.by_id, key, ticket),
    )
    # The one place where a fault becomes an error frame.
    return fold(
        requests.handle(connection, request, requests.Arrival(ticket, now)),
        lambda done: speak(*done),
        lambda fault: respond(connection, ticket, fault),
    )


def _notification(connection: Connection, notification: jsonrpc.Notification, now: float) -> Step:
    return speak(*requests.notice(connection, notification, now))


def _response(connection: Connection, response: jsonrpc.Response, now: float) -> Step:
    connection, event, effects = outgoing.answered(connection, response, now)
    if event is not None:
        return step(connection, event)
    return connection, effects or (Log("debug", "an answer to no open request was ignored"),)


def _invalid(connection: Connection, invalid: jsonrpc.Invalid, now: float) -> Step:
    frame = jsonrpc.encode_invalid(invalid)
    if frame is not None:
        return connection, (Send(frame),)
    # A malformed answer to a request of ours is an answer all the same: the question must not stay open.
    error = jsonrpc.Response(invalid.id, jsonrpc.ABSENT, jsonrpc.unreadable(invalid.message))
    return _response(connection, error, now)


# Any: each function takes the frame type of its key, which a dict type cannot say.
_FRAMES: Final[Mapping[type, Callable[[Connection, Any, float], Step]]] = MappingProxyType(
    {
        jsonrpc.Request: _request,
        jsonrpc.Notification: _notification,
        jsonrpc.Response: _response,
        jsonrpc.Invalid: _invalid,
    }
)
