"""Tools and prompts of MCP servers as the agent's own (ring 2): names that models take, kinds, permission."""

import re
import shlex
from collections.abc import Container, Iterable
from hashlib import sha256
from itertools import chain, count
from typing import Final

from zidane_core.agent.titles import shortened, visible
from zidane_core.bounded import bounded
from zidane_core.data.mcp import McpPrompt, McpTool
from zidane_core.data.tools import ToolKind, ToolSpec

LONGEST: Final = 64
"""Characters of a name that every provider takes."""

DESCRIPTION_BYTES: Final = 16 * 1024
_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]")


def name_of(server: str, name: str, taken: Container[str] = ()) -> str:
    """`server__name` with what models do not take replaced, not longer than they take, and not yet taken. Total."""
    whole = f"{server}__{name}"
    clean = f"{_clean(server)}__{_clean(name)}"
    if len(clean) <= LONGEST and clean not in taken:
        return clean
    # Told apart by a digest of the whole name, so that it is the same in every session.
    mark = sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    ends = chain((mark[:8],), (f"{mark[:8]}_{number}" for number in count(2)))
    made = (f"{clean[: LONGEST - len(end) - 1]}_{end}" for end in ends)
    return next(name for name in made if name not in taken)


def _clean(name: str) -> str:
    return _UNFIT.sub("_", name) or "_"


def tools_of_server(
    server: str, tools: Iterable[McpTool], taken: frozenset[str], *, trust: bool
) -> tuple[ToolSpec, ...]:
    """The tools of a server, in its order. With `trust`, one that claims to only read needs no question."""
    found: list[ToolSpec] = []
    names = set(taken)
    for tool in tools:
        name = name_of(server, tool.name, names)
        names.add(name)
        found.append(_tool(server, name, tool, trust))
    return tuple(found)


def _tool(server: str, name: str, tool: McpTool, trust: bool) -> ToolSpec:
    reads = tool.read_only is True
    return ToolSpec(
        name=name,
        description=bounded(tool.description, DESCRIPTION_BYTES),
        schema={"type": "object", **tool.schema},
        kind=_kind(tool),
        access="read" if reads and trust else "other",
        changes=not reads,
        # A title is what the user says yes to: it names the server, and no argument can stand in for a part of it.
        title=shortened(visible(f"{server}: {tool.title or tool.name}").replace("{", "(").replace("}", ")")),
        machine="mcp_tool",
        server=server,
        remote=tool.name,
    )


def _kind(tool: McpTool) -> ToolKind:
    if tool.read_only is True:
        return "read"
    return "edit" if tool.destructive is True else "other"


def hint(prompt: McpPrompt) -> str:
    """What a slash command takes: `<needed> [more]`."""
    words = (f"<{one.name}>" if one.required else f"[{one.name}]" for one in prompt.arguments)
    return " ".join(words)


def arguments_of(prompt: McpPrompt, text: str) -> dict[str, str]:
    """The arguments of a slash command: `name=value` where such a name exists, all others in their order. A prompt with
    one argument takes the whole text."""
    text = text.strip()
    names = [argument.name for argument in prompt.arguments]
    if len(names) == 1 and not text.startswith(f"{names[0]}="):
        return {names[0]: text} if text else {}
    given: dict[str, str] = {}
    loose: list[str] = []
    for word in _words(text):
        name, equals, value = word.partition("=")
        if equals and name in names:
            given[name] = value
        else:
            loose.append(word)
    free = [name for name in names if name not in given]
    if free and len(loose) > len(free):
        loose = [*loose[: len(free) - 1], " ".join(loose[len(free) - 1 :])]
    return {**given, **dict(zip(free, loose, strict=False))}


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is not closed
        return text.split()


def lacking(prompt: McpPrompt, given: dict[str, str]) -> tuple[str, ...]:
    """The needed arguments that are not given."""
    return tuple(one.name for one in prompt.arguments if one.required and not given.get(one.name))
