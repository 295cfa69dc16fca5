"""The first request of a connection, and logging in and out (spec: initialization, authentication)."""

from typing import Final, TypeAlias

from zidane_core.acp.wire.capabilities import AgentCapabilities, ClientCapabilities, Implementation
from zidane_core.acp.wire.record import Wire

PROTOCOL_VERSION: Final = 1
"""The major version of ACP that this agent speaks; `initialize` answers with it."""


class InitializeRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `initialize`. A version of the form "YYYY-MM-DD" is the handshake of older clients."""

    protocol_version: int | str
    client_capabilities: ClientCapabilities = ClientCapabilities()
    client_info: Implementation | None = None


class AuthMethodAgent(Wire, frozen=True, kw_only=True, gc=False):
    """A login that the agent itself does in `authenticate`; the default, hence without a type."""

    id: str
    name: str
    description: str | None = None


class AuthMethodTerminal(Wire, frozen=True, kw_only=True, gc=False, tag="terminal", tag_field="type"):
    """A login in a terminal: the client runs our program with `args` added and `env` set, until it exits."""

    id: str
    name: str
    description: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}


AuthMethod: TypeAlias = AuthMethodAgent | AuthMethodTerminal
"""A way to log in that the agent offers."""


class InitializeResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `initialize`."""

    protocol_version: int
    agent_capabilities: AgentCapabilities = AgentCapabilities()
    auth_methods: tuple[AuthMethod, ...] = ()
    agent_info: Implementation | None = None


class AuthenticateRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `authenticate`."""

    method_id: str


class AuthenticateResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `authenticate`."""


class LogoutRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `logout`."""


class LogoutResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `logout`."""
