"""Rules in words for the user."""

import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.data.rules import Grant

TRUSTED: Final = "trusted: its instructions and commands are used"


def words_of(grant: Grant) -> str:
    """What a permission covers."""
    return _WORDS[grant.kind](grant.value)


def _tool(value: tuple[str, ...]) -> str:
    # Who runs it, the server that has it if there is one, and its name.
    *_, server, name = ("", "", *value)
    return f"the tool {name} of the MCP server {server}" if server else f"the tool {name}"


_WORDS: Final[Mapping[str, Callable[[tuple[str, ...]], str]]] = MappingProxyType(
    {
        "command": lambda value: f"the exact command {' '.join(value)}",
        "prefix": lambda value: f"commands {shlex.join(value)} *",
        "edits": lambda _: "edits in the workspace",
        "host": lambda value: f"fetching from {' '.join(value)}",
        "tool": _tool,
    }
)
