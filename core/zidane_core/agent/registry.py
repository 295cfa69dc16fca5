"""The machines by name (ring 2): what `ToolSpec.machine` may say."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.agent.local_machine import LOCAL
from zidane_core.agent.machines import Machine
from zidane_core.agent.planning import PLAN

MACHINES: Final[Mapping[str, Machine]] = MappingProxyType({"local": LOCAL, "plan": PLAN})
