"""Slash commands (ring 2): which there are, and which one a message calls.

Of one name the built-in command wins, then the user's, then a server's, then the host's own. What is none of them goes to
the model as it is.
"""

import re
from typing import Final, TypeAlias

from msgspec.structs import replace

from zidane_core.agent import model_names, server_tools, trusting
from zidane_core.agent.effects import CommandsShown, Tell
from zidane_core.agent.moves import Moved
from zidane_core.agent.server_commands import ServerCommand, server_commands
from zidane_core.agent.state import Command, Options, Thread
from zidane_core.data.content import Part, Text
from zidane_core.data.project import UserCommand

BUILT_IN: Final[tuple[Command, ...]] = (
    Command("model", "Show the models, or choose one.", "[model]"),
    Command("mode", "Show the modes, or choose one.", "[mode]"),
    Command("thinking", "Show how much the model thinks, or set it.", "[off|minimal|low|medium|high]"),
    Command("compact", "Shorten the conversation for the model now.", "[what to keep]"),
    Command("usage", "Show the tokens and the cost of this session."),
    Command("mcp", "Show the MCP servers of this session."),
    Command("init", "Write an AGENTS.md that tells agents about this project.", "[what to mind]"),
    Command("help", "Show all slash commands."),
)
"""What the agent answers by itself; the work is in `slash_answers`."""

Called: TypeAlias = Command | UserCommand | ServerCommand


def listed(options: Options, thread: Thread) -> tuple[Command, ...]:
    """All commands of a thread as the user sees them, of one name the first."""
    provider = model_names.chosen(options, thread).provider
    every = (
        *(BUILT_IN if options.slash else ()),
        *(_of_user(command) for command in trusting.commands(thread)),
        *(_of_server(command) for command in server_commands(options, thread)),
        *(one for one in options.commands if not one.provider or one.provider == provider),
    )
    return tuple({command.name: command for command in reversed(every)}[name] for name in _names(every))


def _names(commands: tuple[Command, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(command.name for command in commands))


def _of_user(command: UserCommand) -> Command:
    return Command(command.name, command.description or "A command of this project.", command.hint)


def _of_server(command: ServerCommand) -> Command:
    described = command.prompt.description or f"A prompt of the MCP server {command.server}."
    return Command(command.name, described, server_tools.hint(command.prompt))


def advertise(options: Options, thread: Thread) -> Moved:
    """Tell the client of an open thread which slash commands there are, when that has changed since it was told."""
    if thread.phase != "open":
        return thread, ()
    commands = listed(options, thread)
    if commands == thread.advertised:
        return thread, ()
    shown = CommandsShown(tuple((one.name, one.description, one.hint) for one in commands))
    return replace(thread, advertised=commands), (Tell(thread.id, shown),)


# Calling --------------------------------------------------------------------------------------------

_CALL: Final = re.compile(r"/([^\s/]+)(?:\s+(.*))?\s*", re.DOTALL)


def called(options: Options, thread: Thread, parts: tuple[Part, ...]) -> tuple[Called, str] | None:
    """The command that a prompt calls by the first word of its first part, and the rest of that part. Those of the
    host are none: its model reads them."""
    found = _CALL.fullmatch(parts[0].text) if parts and isinstance(parts[0], Text) else None
    if found is None:
        return None
    name, rest = found[1], (found[2] or "").strip()
    every: tuple[Called, ...] = (
        *(BUILT_IN if options.slash else ()),
        *trusting.commands(thread),
        *server_commands(options, thread),
    )
    command = next((one for one in every if one.name == name), None)
    return None if command is None else (command, rest)


def is_aside(options: Options, thread: Thread, parts: tuple[Part, ...]) -> bool:
    """Whether a prompt is answered by the agent alone, so that the model never sees it."""
    found = called(options, thread, parts)
    return found is not None and isinstance(found[0], Command) and found[0].name != "init"


_PLACE: Final = re.compile(r"\$(ARGUMENTS|[1-9])")


def expanded(command: UserCommand, rest: str) -> str:
    """The text that a command in a file stands for; what was given and has no place in it comes after it."""
    words = rest.split()

    def put(place: re.Match[str]) -> str:
        if place[1] == "ARGUMENTS":
            return rest
        at = int(place[1]) - 1
        return words[at] if at < len(words) else ""

    text = _PLACE.sub(put, command.template)
    return text if not rest or _PLACE.search(command.template) else f"{text}\n\n{rest}"
