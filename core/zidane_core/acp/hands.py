"""What the client's capabilities let the agent ask for, and the tools that then run on the client (ring 3)."""

from zidane_core.acp.wire.capabilities import ClientCapabilities
from zidane_core.agent.offering import through_client
from zidane_core.agent.peer import Abilities
from zidane_core.agent.state import Options
from zidane_core.data.tools import ToolSpec


def abilities_of(capabilities: ClientCapabilities, options: Options | None = None) -> Abilities:
    """Only what is advertised is ever asked for. A host may keep files and commands to itself."""
    hands = options is None or options.through_client
    elicitation = capabilities.elicitation
    return Abilities(
        reads=hands and capabilities.fs.read_text_file,
        writes=hands and capabilities.fs.write_text_file,
        terminals=hands and capabilities.terminal,
        forms=elicitation is not None and elicitation.form is not None,
        pages=elicitation is not None and elicitation.url is not None,
    )


def wrap_tools_for_acp_client(
    tools: tuple[ToolSpec, ...], *, capabilities: ClientCapabilities
) -> tuple[ToolSpec, ...]:
    """`read_file`, `write_file`, `edit`, `multi_edit` and `shell` run on the client, each only where the client backs it.

    Tools that it cannot back, and those that are missing, are left as they are (seed items 12 and 19). The agent does this by
    itself for each session; a host needs it only to see the result.
    """
    return through_client(tools, abilities_of(capabilities))
