"""The machines by name (ring 2): what `ToolSpec.machine` may say."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.agent.asking_user import ASK_USER
from zidane_core.agent.client_reading import CLIENT_READING
from zidane_core.agent.client_terminal import CLIENT_TERMINAL
from zidane_core.agent.client_writing import CLIENT_WRITING
from zidane_core.agent.foreign_tools import CLIENT_TOOL, MCP_TOOL
from zidane_core.agent.leaving_plan import LEAVING_PLAN
from zidane_core.agent.local_machine import LOCAL
from zidane_core.agent.machines import Machine
from zidane_core.agent.planning import PLAN

MACHINES: Final[Mapping[str, Machine]] = MappingProxyType(
    {
        "local": LOCAL,
        "plan": PLAN,
        "leaving_plan": LEAVING_PLAN,
        "client_reading": CLIENT_READING,
        "client_writing": CLIENT_WRITING,
        "client_terminal": CLIENT_TERMINAL,
        "client_tool": CLIENT_TOOL,
        "mcp_tool": MCP_TOOL,
        "ask_user": ASK_USER,
    }
)
