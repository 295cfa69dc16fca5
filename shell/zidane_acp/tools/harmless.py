"""Whether a command that is known to only read does just that in the folder where it would run."""

import os
from collections.abc import Mapping

from zidane_acp.tools.paths import anchor
from zidane_acp.tools.repository import is_plain
from zidane_core.agent.commands import program, read_only_paths


def reads_repository(line: str) -> bool:
    """Whether a line is a git command that is known to only read."""
    return program(line) == "git" and read_only_paths(line) is not None


def is_harmless(line: str, folder: str, roots: tuple[str, ...], environment: Mapping[str, str]) -> bool:
    """False when the folder's own files decide what a reading command does: the program itself, or git's settings.

    True for all other lines, which permission knows nothing good about anyway.
    """
    if read_only_paths(line) is None:
        return True
    if _program_in_roots(program(line), folder, roots, environment):
        return False
    return not reads_repository(line) or is_plain(folder, environment)


def _program_in_roots(name: str, folder: str, roots: tuple[str, ...], environment: Mapping[str, str]) -> bool:
    """Whether the program that a name stands for lies in the roots, where the model may have put it."""
    # Whoever works on the whole file system has its programs in the roots.
    narrow = tuple(root for root in roots if os.path.dirname(root) != root)
    for entry in environment.get("PATH", os.defpath).split(os.pathsep):
        found = os.path.join(folder, entry, name)
        if os.path.isfile(found) and os.access(found, os.X_OK):
            return not os.path.isabs(entry) or anchor(os.path.realpath(found), narrow) is not None
    return False
