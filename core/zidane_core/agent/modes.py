"""The modes that the agent has by itself, and the one that a thread is in (ring 2)."""

from typing import Final

from zidane_core.agent.state import Options, Thread
from zidane_core.data.modes import Mode

BUILD: Final = Mode(
    id="build", name="Build", description="Reads, changes files and runs commands, as the permissions allow."
)

PLAN: Final = Mode(
    id="plan",
    name="Plan",
    description="Only reads and searches, and makes a plan; changes wait until you agree to it.",
    changes=False,
    leads_to=BUILD.id,
    prompt=(
        "You are in plan mode: look at the code and make a plan, but change nothing. There are no tools for changes "
        "now. When the plan is complete and nothing is left to ask, call `exit_plan` with it; the user then decides."
    ),
)

MODES: Final[tuple[Mode, ...]] = (BUILD, PLAN)
"""The modes of the agent when a host names none."""

NO_MODE: Final = Mode(id="", name="")
"""What a thread is in where there are no modes."""


def mode_of(options: Options, thread: Thread) -> Mode:
    """The mode of a thread."""
    found = next((mode for mode in options.modes if mode.id == thread.settings.mode), None)
    return found or (options.modes[0] if options.modes else NO_MODE)
