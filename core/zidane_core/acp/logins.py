"""Logging in, in ACP's words (ring 3): which methods a client is offered, and what it is told where one is needed."""

from msgspec.structs import replace

from zidane_core.acp import wire
from zidane_core.acp.connection import Connection
from zidane_core.data.auth import AuthMethod
from zidane_core.faults import ErrorCode, Fault, invalid_params

NEEDED = Fault(ErrorCode.AUTH_REQUIRED, "Authentication required")


def offered(connection: Connection) -> tuple[wire.AuthMethod, ...]:
    """The methods for this client: those of a terminal only where it can run one."""
    capabilities = connection.capabilities
    terminals = capabilities is not None and capabilities.auth.terminal
    methods = connection.server.auth.methods
    return tuple(_method(method) for method in methods if terminals or method.kind == "agent")


def _method(method: AuthMethod) -> wire.AuthMethod:
    description = method.description or None
    if method.kind == "agent":
        return wire.AuthMethodAgent(id=method.id, name=method.name, description=description)
    return wire.AuthMethodTerminal(
        id=method.id, name=method.name, description=description, args=method.args, env=dict(method.env)
    )


def refused(connection: Connection, method: str) -> Fault | None:
    """Why the agent cannot log in by this method, None when it can."""
    methods = connection.server.auth.methods
    own = [known.id for known in methods if known.kind == "agent"]
    if method in own:
        return None
    if any(known.id == method for known in methods):
        problem = f"{method} runs in a terminal of the client, by the command of the agent"
        return invalid_params("methodId", problem, valid=own)
    if not own:
        return invalid_params("methodId", "this agent needs no login and offers no method", valid=own)
    return invalid_params("methodId", f"there is no such method; choose one of {', '.join(own)}", valid=own)


def with_methods(connection: Connection, fault: Fault) -> Fault:
    """Where a login is what helps, the client is told which there are."""
    if fault.code != ErrorCode.AUTH_REQUIRED:
        return fault
    return replace(fault, data={**(fault.data or {}), "authMethods": offered(connection)})
