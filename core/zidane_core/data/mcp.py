"""MCP servers that the agent may connect to (ring 0)."""

from typing import Literal, TypeAlias

import msgspec

McpTransport: TypeAlias = Literal["stdio", "streamable-http", "sse"]


class McpServerConfig(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A server: a command to start (`stdio`) or a URL to reach.

    `env` and `headers` are pairs of name and value in the order given; their values may be secret.
    """

    name: str
    transport: McpTransport
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
