"""What the projects of a session choose in `.zidane/config.toml`: the first folder for the session, each for what is denied."""

import os
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from zidane_acp.project.instructions import shown
from zidane_acp.project.texts import Unusable, read_text
from zidane_core.data.project import ProjectSettings
from zidane_core.data.rules import Denials, Policy

FILE: Final = os.path.join(".zidane", "config.toml")
TIGHTER: Final[tuple[Policy, ...]] = ("allow-all", "allow-edits", "ask", "read-only")


def read_settings(folders: Sequence[str], warn: Callable[[str], None]) -> ProjectSettings:
    """The settings of all folders together: the first one chooses model, mode and thinking, the strictest policy
    counts, and what one denies is denied."""
    found = [_read(folder, warn) for folder in folders]
    policies = [one.policy for one in found if one.policy is not None]
    denials = Denials(
        tuple(pattern for one in found for pattern in one.denials.paths),
        tuple(command for one in found for command in one.denials.commands),
    )
    first = found[0] if found else ProjectSettings()
    return replace(first, policy=max(policies, key=TIGHTER.index, default=None), denials=denials)


def _read(folder: str, warn: Callable[[str], None]) -> ProjectSettings:
    path = os.path.join(folder, FILE)
    # Most folders have none, and then nothing else is loaded.
    if not os.path.lexists(path):
        return ProjectSettings()
    from zidane_acp.config.project import LONGEST, project_settings

    try:
        read = read_text(path, LONGEST, within=folder)
    except Unusable as problem:
        warn(f"{shown(path)} {problem}; it is not used.")
        return ProjectSettings()
    if read is None:
        return ProjectSettings()
    if read.cut:
        warn(f"{shown(path)} has more than {LONGEST // 1024} KiB; nothing of it is used.")
        return ProjectSettings()
    settings, warnings = project_settings(read.text.encode(), shown(path))
    for warning in warnings:
        warn(warning)
    return settings
