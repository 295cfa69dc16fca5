"""The prompts of MCP servers as slash commands (ring 2)."""

from typing import NamedTuple

from zidane_core.agent import server_tools
from zidane_core.agent.state import Options, Thread
from zidane_core.data.mcp import McpPrompt


class ServerCommand(NamedTuple):
    """A prompt of a server as a slash command, by its name."""

    name: str
    server: str
    prompt: McpPrompt


def server_commands(options: Options, thread: Thread) -> tuple[ServerCommand, ...]:
    """The prompts of all servers; a name that the host has is not taken from it."""
    taken = {command.name for command in options.commands}
    found: list[ServerCommand] = []
    for server in thread.servers:
        for prompt in server.offer.prompts:
            name = server_tools.name_of(server.config.name, prompt.name, taken)
            taken.add(name)
            found.append(ServerCommand(name, server.config.name, prompt))
    return tuple(found)
