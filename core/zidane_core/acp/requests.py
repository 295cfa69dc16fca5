"""What the client asks: one table from method to decoder and handler (ring 3).

A handler gives the connection and domain effects, or a fault; it never sends. A method that is not in the
table does not exist, and nothing is advertised that is not in it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace
from returns.result import Failure, Result, Success

from zidane_core.acp import decode, jsonrpc, wire
from zidane_core.acp.connection import Connection
from zidane_core.acp.speak import respond
from zidane_core.agent import step, table, threads
from zidane_core.agent.effects import Effect
from zidane_core.agent.events import Prompt
from zidane_core.agent.state import Agent, Thread
from zidane_core.convert.prompt import acp_prompt_to_prompt_parts
from zidane_core.faults import ErrorCode, Fault, invalid_params, session_not_found
from zidane_core.fp import fold, then

Done: TypeAlias = tuple[Connection, tuple[Effect, ...]]
Handler: TypeAlias = Callable[[Connection, Any, int], Result[Done, Fault]]


class Method(NamedTuple):
    """How a method's params are read, and what it does. `early` ones work before `initialize`."""

    # Any: each decoder gives the record type that its handler takes, which a table cannot say.
    decode: Callable[[msgspec.Raw], Result[Any, Fault]]
    handle: Handler
    early: bool = False


def handle(connection: Connection, request: jsonrpc.Request, ticket: int) -> Result[Done, Fault]:
    """Read and do one request."""
    method = METHODS.get(request.method)
    if method is None:
        name = request.method[:200]
        return Failure(Fault(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {name}", {"method": name}))
    if connection.agent.closing:
        return Failure(Fault(ErrorCode.INVALID_REQUEST, "The agent is ending and takes no more requests"))
    if connection.capabilities is None and not method.early:
        return Failure(Fault(ErrorCode.NOT_INITIALIZED, "Server not initialized"))
    return then(method.decode(request.params), lambda params: method.handle(connection, params, ticket))


def notice(connection: Connection, notification: jsonrpc.Notification) -> Done:
    """Read and do one notification; an unknown or malformed one changes nothing and is never answered."""
    method = NOTIFICATIONS.get(notification.method)
    if method is None or connection.capabilities is None:
        return connection, ()
    done = then(method.decode(notification.params), lambda params: method.handle(connection, params, 0))
    return fold(done, lambda moved: moved, lambda _: (connection, ()))


def _moved(connection: Connection, agent: Agent, effects: tuple[Effect, ...]) -> Done:
    """The connection with this agent; the same connection when nothing changed."""
    return (connection if agent is connection.agent else replace(connection, agent=agent)), effects


# Requests ------------------------------------------------------------------------------------------


def _initialize(connection: Connection, params: wire.InitializeRequest, ticket: int) -> Result[Done, Fault]:
    """Any version is answered with ours; the client decides whether it can live with that."""
    connection = replace(connection, capabilities=params.client_capabilities)
    answer = wire.InitializeResponse(
        protocol_version=wire.PROTOCOL_VERSION,
        agent_capabilities=wire.AgentCapabilities(
            prompt_capabilities=wire.PromptCapabilities(image=True, audio=True, embedded_context=True),
            session_capabilities=wire.SessionCapabilities(close=wire.SessionCloseCapabilities()),
        ),
        agent_info=connection.server.info,
    )
    return Success(respond(connection, ticket, answer))


def _authenticate(
    connection: Connection, params: wire.AuthenticateRequest, ticket: int
) -> Result[Done, Fault]:
    return Failure(invalid_params("methodId", "this agent needs no login and offers no method", valid=[]))


def _new(connection: Connection, params: wire.NewSessionRequest, ticket: int) -> Result[Done, Fault]:
    for position, server in enumerate(params.mcp_servers):
        if isinstance(server, wire.McpServerHttp | wire.McpServerSse):
            problem = "this agent does not connect to servers by http or sse"
            return Failure(invalid_params(f"mcpServers[{position}]", problem))
    notices = tuple(_not_connected(server.name) for server in params.mcp_servers)
    agent, effects = threads.open_thread(connection.agent, ticket, params.cwd, notices=notices)
    return Success(_moved(connection, agent, effects))


def _not_connected(name: str) -> str:
    """Nothing is ignored in silence: the user reads it with the first prompt."""
    return f"The MCP server {name} is not connected: this version of the agent does not use MCP servers yet."


def _open(connection: Connection, session: str) -> Thread | None:
    """The thread of a session that takes requests."""
    thread = table.find(connection.agent, session)
    return thread if thread is not None and thread.phase == "open" and thread.closing is None else None


def _close(connection: Connection, params: wire.CloseSessionRequest, ticket: int) -> Result[Done, Fault]:
    thread = _open(connection, params.session_id)
    if thread is None:
        return Failure(session_not_found(params.session_id))
    agent, effects = step.close(connection.agent, thread, ticket)
    return Success(_moved(connection, agent, effects))


def _prompt(connection: Connection, params: wire.PromptRequest, ticket: int) -> Result[Done, Fault]:
    thread = _open(connection, params.session_id)
    if thread is None:
        return Failure(session_not_found(params.session_id))
    converted = acp_prompt_to_prompt_parts(params.prompt)
    prompt = Prompt(ticket, converted.parts, converted.warnings, trace_of(params.meta))
    agent, effects = step.prompt(connection.agent, thread, prompt)
    return Success(_moved(connection, agent, effects))


def _set_option(
    connection: Connection, params: wire.SetSessionConfigOptionRequest, ticket: int
) -> Result[Done, Fault]:
    thread = _open(connection, params.session_id)
    if thread is None:
        return Failure(session_not_found(params.session_id))
    if not isinstance(params.value, str):
        return Failure(invalid_params("value", f"the option {params.config_id!r} takes one of its values"))
    moved = step.set_option(connection.agent, thread, ticket, params.config_id, params.value)
    if isinstance(moved, Fault):
        return Failure(moved)
    return Success(_moved(connection, *moved))


METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {
        "initialize": Method(decode.decode_initialize, _initialize, early=True),
        "authenticate": Method(decode.decode_authenticate, _authenticate),
        "session/new": Method(decode.decode_new_session, _new),
        "session/close": Method(decode.decode_close_session, _close),
        "session/prompt": Method(decode.decode_prompt, _prompt),
        "session/set_config_option": Method(decode.decode_set_config_option, _set_option),
    }
)


# Notifications -------------------------------------------------------------------------------------


def _cancel(connection: Connection, params: wire.CancelNotification, ticket: int) -> Result[Done, Fault]:
    thread = table.find(connection.agent, params.session_id)
    if thread is None:
        return Success((connection, ()))
    agent, effects = step.cancel(connection.agent, thread)
    return Success(_moved(connection, agent, effects))


def _cancel_request(
    connection: Connection, params: wire.CancelRequestNotification, ticket: int
) -> Result[Done, Fault]:
    wanted = connection.by_id.get(jsonrpc.id_key(params.request_id))
    if wanted is None:
        return Success((connection, ()))
    agent, effects = step.withdraw(connection.agent, wanted)
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
