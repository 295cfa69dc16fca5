"""zidane-acp: serve an agent to any client of the Agent Client Protocol.

The names below are the public library. They are loaded on first use, so that importing the package is cheap.
"""

from typing import TYPE_CHECKING

from zidane_core import __version__

if TYPE_CHECKING:
    from zidane_acp.bridge import AcpBridge
    from zidane_acp.connection import JsonRpcConnection, JsonRpcError, RemoteError, create_json_rpc_connection
    from zidane_acp.connection import JsonRpcPeer as AcpPeer
    from zidane_acp.options import (
        AcpModelChoice,
        AcpModelOption,
        AcpServerOptions,
        PermissionPolicy,
        StdioOptions,
    )
    from zidane_acp.ports import Auth, AuthProblem
    from zidane_acp.server import AcpServer, create_acp_server, run_acp_stdio_server
    from zidane_core.acp.hands import wrap_tools_for_acp_client
    from zidane_core.acp.wire import PROTOCOL_VERSION
    from zidane_core.agent.presets import with_acp_defaults
    from zidane_core.agent.state import Thread as AcpSession
    from zidane_core.convert.client_tools import client_tools, parse_client_tools
    from zidane_core.convert.mcp import acp_mcp_servers_to_zidane
    from zidane_core.convert.outcome import outcome_to_stop_reason
    from zidane_core.convert.prompt import AcpPromptParts, acp_prompt_to_prompt_parts
    from zidane_core.convert.stored import session_content_to_acp_content
    from zidane_core.convert.tool_result import tool_result_to_acp_content
    from zidane_core.data.auth import AuthMethod

__all__ = [
    "PROTOCOL_VERSION",
    "AcpBridge",
    "AcpModelChoice",
    "AcpModelOption",
    "AcpPeer",
    "AcpPromptParts",
    "AcpServer",
    "AcpServerOptions",
    "AcpSession",
    "Auth",
    "AuthMethod",
    "AuthProblem",
    "JsonRpcConnection",
    "JsonRpcError",
    "PermissionPolicy",
    "RemoteError",
    "StdioOptions",
    "__version__",
    "acp_mcp_servers_to_zidane",
    "acp_prompt_to_prompt_parts",
    "client_tools",
    "create_acp_server",
    "create_json_rpc_connection",
    "outcome_to_stop_reason",
    "parse_client_tools",
    "run_acp_stdio_server",
    "session_content_to_acp_content",
    "tool_result_to_acp_content",
    "with_acp_defaults",
    "wrap_tools_for_acp_client",
]

_HOMES = {
    "AcpBridge": "zidane_acp.bridge:AcpBridge",
    "AcpModelChoice": "zidane_acp.options:AcpModelChoice",
    "AcpModelOption": "zidane_acp.options:AcpModelOption",
    "AcpPeer": "zidane_acp.connection:JsonRpcPeer",
    "AcpPromptParts": "zidane_core.convert.prompt:AcpPromptParts",
    "AcpServer": "zidane_acp.server:AcpServer",
    "AcpServerOptions": "zidane_acp.options:AcpServerOptions",
    "AcpSession": "zidane_core.agent.state:Thread",
    "Auth": "zidane_acp.ports:Auth",
    "AuthMethod": "zidane_core.data.auth:AuthMethod",
    "AuthProblem": "zidane_acp.ports:AuthProblem",
    "JsonRpcConnection": "zidane_acp.connection:JsonRpcConnection",
    "JsonRpcError": "zidane_acp.connection:JsonRpcError",
    "PROTOCOL_VERSION": "zidane_core.acp.wire:PROTOCOL_VERSION",
    "PermissionPolicy": "zidane_acp.options:PermissionPolicy",
    "RemoteError": "zidane_acp.connection:RemoteError",
    "StdioOptions": "zidane_acp.options:StdioOptions",
    "acp_mcp_servers_to_zidane": "zidane_core.convert.mcp:acp_mcp_servers_to_zidane",
    "acp_prompt_to_prompt_parts": "zidane_core.convert.prompt:acp_prompt_to_prompt_parts",
    "client_tools": "zidane_core.convert.client_tools:client_tools",
    "create_acp_server": "zidane_acp.server:create_acp_server",
    "create_json_rpc_connection": "zidane_acp.connection:create_json_rpc_connection",
    "outcome_to_stop_reason": "zidane_core.convert.outcome:outcome_to_stop_reason",
    "parse_client_tools": "zidane_core.convert.client_tools:parse_client_tools",
    "run_acp_stdio_server": "zidane_acp.server:run_acp_stdio_server",
    "session_content_to_acp_content": "zidane_core.convert.stored:session_content_to_acp_content",
    "tool_result_to_acp_content": "zidane_core.convert.tool_result:tool_result_to_acp_content",
    "with_acp_defaults": "zidane_core.agent.presets:with_acp_defaults",
    "wrap_tools_for_acp_client": "zidane_core.acp.hands:wrap_tools_for_acp_client",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = home.partition(":")
    found: object = getattr(import_module(module), attribute)
    globals()[name] = found
    return found
