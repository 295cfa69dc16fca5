"""Where kept permissions and trust are stored: with the user's state, never in a project."""

from pathlib import Path
from typing import Final

from zidane_acp.settings import Settings, state_folder

NAME: Final = "rules.db"


def rules_path(settings: Settings) -> Path:
    """The file of the rules; neither it nor its folder need exist."""
    return state_folder(settings) / NAME
