"""What the client asks: one table from method to decoder and handler (ring 3).

A handler gives the connection and domain effects, or a fault; it never sends. A method that is not in the
table does not exist, and nothing is advertised that is not in it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace
from returns.result import Failure, Result, Success

from zidane_core.acp import cursors, decode, jsonrpc, logins, wire
from zidane_core.acp.connection import Connection
from zidane_core.acp.hands import abilities_of
from zidane_core.acp.speak import respond
from zidane_core.agent import logins as agent_logins
from zidane_core.agent import offering, step, table
from zidane_core.agent.effects import Effect
from zidane_core.agent.events import Prompt
from zidane_core.agent.state import Agent, Choosing, Listing, Setup, Thread
from zidane_core.convert.client_tools import (
    CLIENT_TOOL_CALL_METHOD,
    CLIENT_TOOL_CANCEL_METHOD,
    ClientToolSpec,
    client_tools,
    collision,
    parse_client_tools,
)
from zidane_core.convert.mcp import acp_mcp_servers_to_zidane
from zidane_core.convert.prompt import acp_prompt_to_prompt_parts
from zidane_core.data.tools import ToolSpec
from zidane_core.faults import ErrorCode, Fault, session_not_found
from zidane_core.fp import fold, then

Done: TypeAlias = tuple[Connection, tuple[Effect, ...]]
_SetupParams: TypeAlias = wire.NewSessionRequest | wire.LoadSessionRequest | wire.ResumeSessionRequest


class Arrival(NamedTuple):
    """The ticket of a request (0 for a notification), and when it came, in seconds since 1970."""

    ticket: int
    now: float


Handler: TypeAlias = Callable[[Connection, Any, Arrival], Result[Done, Fault]]


class Method(NamedTuple):
    """How a method's params are read, and what it does.

    `early` ones work before `initialize`. `there` says whether this connection has the method. `gated` ones are refused as
    long as a login is needed.
    """

    # Any: each decoder gives the record type that its handler takes, which a table cannot say.
    decode: Callable[[msgspec.Raw], Result[Any, Fault]]
    handle: Handler
    early: bool = False
    there: Callable[[Connection], bool] = lambda connection: True
    gated: bool = False


def handle(connection: Connection, request: jsonrpc.Request, arrival: Arrival) -> Result[Done, Fault]:
    """Read and do one request."""
    method = METHODS.get(request.method)
    if method is None or not method.there(connection):
        name = request.method[:200]
        return Failure(Fault(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {name}", {"method": name}))
    if connection.agent.closing:
        return Failure(Fault(ErrorCode.INVALID_REQUEST, "The agent is ending and takes no more requests"))
    if connection.capabilities is None and not method.early:
        return Failure(Fault(ErrorCode.NOT_INITIALIZED, "Server not initialized"))
    if method.gated and connection.server.auth.needed:
        return Failure(logins.NEEDED)
    return then(method.decode(request.params), lambda params: method.handle(connection, params, arrival))


def _stores(connection: Connection) -> bool:
    return connection.agent.options.store


def _has_modes(connection: Connection) -> bool:
    return bool(connection.agent.options.modes)


def _logs_out(connection: Connection) -> bool:
    """Also once there is something to forget since `initialize`."""
    return connection.logs_out or connection.server.auth.can_forget


def notice(connection: Connection, notification: jsonrpc.Notification, now: float) -> Done:
    """Read and do one notification; an unknown or malformed one changes nothing and is never answered."""
    method = NOTIFICATIONS.get(notification.method)
    if method is None or connection.capabilities is None:
        return connection, ()
    done = then(
        method.decode(notification.params), lambda params: method.handle(connection, params, Arrival(0, now))
    )
    return fold(done, lambda moved: moved, lambda _: (connection, ()))


def _moved(connection: Connection, agent: Agent, effects: tuple[Effect, ...]) -> Done:
    """The connection with this agent; the same connection when nothing changed."""
    return (connection if agent is connection.agent else replace(connection, agent=agent)), effects


# Requests ------------------------------------------------------------------------------------------


def _initialize(
    connection: Connection, params: wire.InitializeRequest, arrival: Arrival
) -> Result[Done, Fault]:
    """Any version is answered with ours; the client decides whether it can live with that."""
    agent = replace(
        connection.agent, abilities=abilities_of(params.client_capabilities, connection.agent.options)
    )
    forgets = connection.server.auth.can_forget
    connection = replace(connection, capabilities=params.client_capabilities, agent=agent, logs_out=forgets)
    stored = connection.agent.options.store
    answer = wire.InitializeResponse(
        protocol_version=wire.PROTOCOL_VERSION,
        agent_capabilities=wire.AgentCapabilities(
            prompt_capabilities=wire.PromptCapabilities(image=True, audio=True, embedded_context=True),
            load_session=stored,
            mcp_capabilities=wire.McpCapabilities(http=True, sse=True),
            session_capabilities=wire.SessionCapabilities(
                list=wire.SessionListCapabilities() if stored else None,
                delete=wire.SessionDeleteCapabilities() if stored else None,
                resume=wire.SessionResumeCapabilities() if stored else None,
                close=wire.SessionCloseCapabilities(),
                additional_directories=wire.SessionAdditionalDirectoriesCapabilities(),
            ),
            auth=_LOGOUT if forgets else _NO_AUTH,
            meta=_extensions(),
        ),
        auth_methods=logins.offered(connection),
        agent_info=connection.server.info,
    )
    return Success(respond(connection, arrival.ticket, answer))


_NO_AUTH: Final = wire.AgentCapabilities().auth  # the default itself, which a frame leaves out
_LOGOUT: Final = wire.AgentAuthCapabilities(logout=wire.LogoutCapabilities())


def _extensions() -> wire.Meta:
    """Our own methods that a client may use."""
    tools = {"call": CLIENT_TOOL_CALL_METHOD, "cancel": CLIENT_TOOL_CANCEL_METHOD}
    return {"zidane": {"clientTools": tools}}


def _authenticate(
    connection: Connection, params: wire.AuthenticateRequest, arrival: Arrival
) -> Result[Done, Fault]:
    fault = logins.refused(connection, params.method_id)
    if fault is not None:
        return Failure(fault)
    return Success(
        _moved(connection, *agent_logins.log_in(connection.agent, arrival.ticket, params.method_id))
    )


def _logout(connection: Connection, params: wire.LogoutRequest, arrival: Arrival) -> Result[Done, Fault]:
    return Success(_moved(connection, *agent_logins.log_out(connection.agent, arrival.ticket)))


def _setup(
    connection: Connection, kind: Literal["new", "load", "resume"], params: _SetupParams, arrival: Arrival
) -> Result[Setup, Fault]:
    servers = acp_mcp_servers_to_zidane(params.mcp_servers)
    return then(parse_client_tools(params.meta), lambda specs: _declared(connection, specs)).map(
        lambda tools: Setup(
            kind=kind,
            ticket=arrival.ticket,
            cwd=params.cwd,
            roots=params.additional_directories,
            notices=servers.warnings,
            servers=servers.servers,
            client_tools=tools,
        )
    )


def _declared(
    connection: Connection, specs: tuple[ClientToolSpec, ...] | None
) -> Result[tuple[ToolSpec, ...] | None, Fault]:
    if specs is None:
        return Success(None)
    fault = collision(specs, offering.own_names(connection.agent.options))
    return Success(client_tools(specs)) if fault is None else Failure(fault)


def _new(connection: Connection, params: wire.NewSessionRequest, arrival: Arrival) -> Result[Done, Fault]:
    return _setup(connection, "new", params, arrival).map(
        lambda setup: _moved(connection, *step.open_thread(connection.agent, setup, arrival.now))
    )


def _load(connection: Connection, params: wire.LoadSessionRequest, arrival: Arrival) -> Result[Done, Fault]:
    return _reopen(connection, params.session_id, _setup(connection, "load", params, arrival), arrival)


def _resume(
    connection: Connection, params: wire.ResumeSessionRequest, arrival: Arrival
) -> Result[Done, Fault]:
    return _reopen(connection, params.session_id, _setup(connection, "resume", params, arrival), arrival)


def _reopen(
    connection: Connection, session: str, setup: Result[Setup, Fault], arrival: Arrival
) -> Result[Done, Fault]:
    return setup.map(
        lambda made: _moved(connection, *step.reopen(connection.agent, session, made, arrival.now))
    )


def _list(connection: Connection, params: wire.ListSessionsRequest, arrival: Arrival) -> Result[Done, Fault]:
    return cursors.place_of(params.cursor).map(
        lambda place: _moved(
            connection, *step.list_threads(connection.agent, Listing(arrival.ticket, params.cwd, place))
        )
    )


def _delete(
    connection: Connection, params: wire.DeleteSessionRequest, arrival: Arrival
) -> Result[Done, Fault]:
    agent, effects = step.delete(connection.agent, params.session_id, arrival.ticket, arrival.now)
    return Success(_moved(connection, agent, effects))


def _active(connection: Connection, session: str) -> Result[Thread, Fault]:
    """The thread of a session that takes requests; one that is being opened takes them, too, and does them then."""
    thread = table.find(connection.agent, session)
    if thread is None or thread.closing is not None:
        return Failure(session_not_found(session))
    return Success(thread)


def _awaited(connection: Connection, session: str) -> Result[Thread, Fault]:
    """The same, or one that is being closed and is to be opened again behind that."""
    thread = table.find(connection.agent, session)
    if thread is not None and any(isinstance(held, Setup) for held in thread.lane):
        return Success(thread)
    return _active(connection, session)


def _close(connection: Connection, params: wire.CloseSessionRequest, arrival: Arrival) -> Result[Done, Fault]:
    return _active(connection, params.session_id).map(
        lambda thread: _moved(connection, *step.close(connection.agent, thread, arrival.ticket, arrival.now))
    )


def _prompt(connection: Connection, params: wire.PromptRequest, arrival: Arrival) -> Result[Done, Fault]:
    converted = acp_prompt_to_prompt_parts(params.prompt)
    prompt = Prompt(arrival.ticket, converted.parts, converted.warnings, trace_of(params.meta))
    return _awaited(connection, params.session_id).map(
        lambda thread: _moved(connection, *step.prompt(connection.agent, thread, prompt, arrival.now))
    )


def _set_option(
    connection: Connection, params: wire.SetSessionConfigOptionRequest, arrival: Arrival
) -> Result[Done, Fault]:
    return then(
        _awaited(connection, params.session_id), lambda thread: _chosen(connection, thread, params, arrival)
    )


def _set_mode(
    connection: Connection, params: wire.SetSessionModeRequest, arrival: Arrival
) -> Result[Done, Fault]:
    asked = Choosing(arrival.ticket, "mode", params.mode_id, "mode")
    return _awaited(connection, params.session_id).map(
        lambda thread: _moved(connection, *step.set_option(connection.agent, thread, asked, arrival.now))
    )


def _chosen(
    connection: Connection, thread: Thread, params: wire.SetSessionConfigOptionRequest, arrival: Arrival
) -> Result[Done, Fault]:
    asked = Choosing(arrival.ticket, params.config_id, params.value)
    return Success(_moved(connection, *step.set_option(connection.agent, thread, asked, arrival.now)))


METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "initialize": Method(decode.decode_initialize, _initialize, early=True),
        "authenticate": Method(decode.decode_authenticate, _authenticate),
        "logout": Method(decode.decode_logout, _logout, there=_logs_out),
        "session/new": Method(decode.decode_new_session, _new, gated=True),
        "session/load": Method(decode.decode_load_session, _load, there=_stores, gated=True),
        "session/resume": Method(decode.decode_resume_session, _resume, there=_stores, gated=True),
        "session/list": Method(decode.decode_list_sessions, _list, there=_stores),
        "session/delete": Method(decode.decode_delete_session, _delete, there=_stores),
        "session/close": Method(decode.decode_close_session, _close),
        "session/prompt": Method(decode.decode_prompt, _prompt),
        "session/set_mode": Method(decode.decode_set_mode, _set_mode, there=_has_modes),
        "session/set_config_option": Method(decode.decode_set_config_option, _set_option),
    }
)


# Notifications -------------------------------------------------------------------------------------


def _cancel(connection: Connection, params: wire.CancelNotification, arrival: Arrival) -> Result[Done, Fault]:
    thread = table.find(connection.agent, params.session_id)
    if thread is None:
        return Success((connection, ()))
    agent, effects = step.cancel(connection.agent, thread, arrival.now)
    return Success(_moved(connection, agent, effects))


def _cancel_request(
    connection: Connection, params: wire.CancelRequestNotification, arrival: Arrival
) -> Result[Done, Fault]:
    wanted = connection.by_id.get(jsonrpc.id_key(params.request_id))
    if wanted is None:
        return Success((connection, ()))
    agent, effects = step.withdraw(connection.agent, wanted, arrival.now)
    return Success(_moved(connection, agent, effects))


NOTIFICATIONS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "session/cancel": Method(decode.decode_cancel, _cancel),
        "$/cancel_request": Method(decode.decode_cancel_request, _cancel_request),
    }
)

TRACE_KEYS: Final = ("traceparent", "tracestate", "baggage")


def trace_of(meta: wire.Meta | None) -> str:
    """The W3C trace context of a request's `_meta` as JSON text, empty when there is none."""
    found = {key: value for key in TRACE_KEYS if isinstance(value := (meta or {}).get(key), str)}
    return msgspec.json.encode(found).decode() if found else ""
