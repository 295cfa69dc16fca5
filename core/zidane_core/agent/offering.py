"""Which tools a thread has (ring 2): the host's, some of them through the client, the client's own, those of servers."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from zidane_core.agent.leaving_plan import EXIT_PLAN
from zidane_core.agent.modes import mode_of
from zidane_core.agent.peer import Abilities
from zidane_core.agent.presets import NO_TERMINAL
from zidane_core.agent.state import Options, Thread
from zidane_core.data.tools import ToolSpec

_THROUGH: Final[Mapping[str, tuple[str, Callable[[Abilities], bool]]]] = MappingProxyType(
    {
        "read_file": ("client_reading", lambda able: able.reads),
        "write_file": ("client_writing", lambda able: able.writes),
        "edit": ("client_writing", lambda able: able.writes),
        "multi_edit": ("client_writing", lambda able: able.writes),
        "shell": ("client_terminal", lambda able: able.terminals),
    }
)
"""By the tool's name: the machine that runs it on the client, and what the client must be able to do."""


A_TERMINAL: Final = "It runs in a terminal of the user that nobody types into, so use flags that ask nothing."
"""What it is told where they run in a terminal of the client."""


def through_client(tools: tuple[ToolSpec, ...], abilities: Abilities) -> tuple[ToolSpec, ...]:
    """The tools, those that the client can back run by it; all others stay as they are (seed item 12)."""
    return tuple(_through(spec, abilities) for spec in tools)


def _through(spec: ToolSpec, abilities: Abilities) -> ToolSpec:
    machine, can = _THROUGH.get(spec.name, ("", _never))
    if spec.machine != "local" or not can(abilities):
        return spec
    return replace(spec, machine=machine, description=spec.description.replace(NO_TERMINAL, A_TERMINAL))


def _never(_: Abilities) -> bool:
    return False


def tools_of(options: Options, thread: Thread) -> tuple[ToolSpec, ...]:
    """The tools that the model is told of in a thread: all, or in a mode without changes those that change nothing."""
    mode = mode_of(options, thread)
    every = all_of(options, thread)
    return every if mode.changes else tuple(spec for spec in every if not spec.changes)


def own_names(options: Options) -> frozenset[str]:
    """The names of the agent's own tools in any mode, which no tool of a client may have."""
    leaving = {EXIT_PLAN.name} if any(mode.leads_to for mode in options.modes) else set[str]()
    return frozenset({spec.name for spec in options.tools} | leaving)


def all_of(options: Options, thread: Thread) -> tuple[ToolSpec, ...]:
    """All tools of a thread, also those that its mode withholds: a call of one is refused by name, not unknown."""
    through = through_client(options.tools, thread.abilities)
    brought = (*thread.client_tools, *(tool for server in thread.servers for tool in server.tools))
    leaving = (EXIT_PLAN,) if mode_of(options, thread).leads_to else ()
    return (*through, *leaving, *brought) if brought or leaving else through
