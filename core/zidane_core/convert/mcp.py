"""The MCP server entries of a session request -> our own configuration of MCP servers."""

from collections.abc import Iterable

import msgspec

from zidane_core.acp.wire.session import McpServer, McpServerHttp, McpServerSse
from zidane_core.data.mcp import McpServerConfig


class AcpMcpServers(msgspec.Struct, frozen=True, gc=False):
    """The servers in the order of their first mention. Each warning is one sentence for the user."""

    servers: tuple[McpServerConfig, ...]
    warnings: tuple[str, ...] = ()


def acp_mcp_servers_to_zidane(entries: Iterable[McpServer]) -> AcpMcpServers:
    """http becomes streamable-http, sse stays, anything else is a command. Of one name the last entry counts."""
    configs = tuple(_config(entry) for entry in entries)
    by_name = {config.name: config for config in configs}
    twice = sorted({config.name for config in configs if by_name[config.name] is not config})
    warnings = tuple(
        f'The MCP server "{name}" was given more than once; the last one is used.' for name in twice
    )
    return AcpMcpServers(tuple(by_name.values()), warnings)


def _config(entry: McpServer) -> McpServerConfig:
    if isinstance(entry, McpServerHttp | McpServerSse):
        return McpServerConfig(
            name=entry.name,
            transport="streamable-http" if isinstance(entry, McpServerHttp) else "sse",
            url=entry.url,
            headers=tuple((header.name, header.value) for header in entry.headers),
        )
    return McpServerConfig(
        name=entry.name,
        transport="stdio",
        command=entry.command,
        args=entry.args,
        env=tuple((variable.name, variable.value) for variable in entry.env),
    )
