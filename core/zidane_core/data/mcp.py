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


class McpTool(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool of a server as it describes it. The hints are None where the server says nothing; they are claims."""

    name: str
    schema: dict[str, object]
    description: str = ""
    title: str = ""
    read_only: bool | None = None
    destructive: bool | None = None


class McpPromptArgument(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An argument of a server's prompt."""

    name: str
    description: str = ""
    required: bool = False


class McpPrompt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A prompt of a server, which becomes a slash command."""

    name: str
    description: str = ""
    arguments: tuple[McpPromptArgument, ...] = ()


class McpOffer(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="mcp_offer"):
    """All that a connected server offers now; it takes the place of what it offered before.

    `remarks` are sentences for the user about the server, such as output that is no protocol.
    """

    tools: tuple[McpTool, ...] = ()
    prompts: tuple[McpPrompt, ...] = ()
    remarks: tuple[str, ...] = ()


class McpPageDone(msgspec.Struct, frozen=True, gc=False, tag="mcp_page_done"):
    """What a server had the user open a page for is done; `id` is the server's own name of that."""

    id: str
