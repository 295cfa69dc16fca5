"""Where the sessions are kept."""

from pathlib import Path
from typing import Final

from zidane_acp.settings import Settings, state_folder

NAME: Final = "sessions.db"


def store_path(settings: Settings) -> Path:
    """The file of the sessions; neither it nor its folder need exist."""
    return state_folder(settings) / NAME
