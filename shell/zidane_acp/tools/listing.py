"""The tools `list_files` and `glob`."""

import itertools
import os
from collections.abc import Callable, Iterable
from typing import Final

from zidane_acp.tools.arguments import integer, text
from zidane_acp.tools.globs import compiled
from zidane_acp.tools.paths import checked, path_argument, relative, shown
from zidane_acp.tools.results import Refused, said
from zidane_acp.tools.walk import walk
from zidane_core.agent.effects import RunTool
from zidane_core.data.tools import ToolResult

MOST: Final = 1000
"""Names given at once."""


def _folder(call: RunTool) -> tuple[str, str]:
    """The real folder to look in, and the absolute path to show for it."""
    path = checked(call, path_argument(call))
    if not os.path.isdir(path.real):
        problem = "is a file, not a folder" if os.path.exists(path.real) else "does not exist"
        raise Refused(f"{path.given} {problem}.")
    return path.real, shown(path, call.cwd)


def _listed(names: Iterable[str], empty: str, hint: str) -> ToolResult:
    found = list(itertools.islice(names, MOST + 1))
    if not found:
        return said(empty, raw={"count": 0, "truncated": False})
    more = len(found) > MOST
    note = f"\n[There are more than {MOST}; {hint}.]" if more else ""
    # A name need not be valid text on every file system.
    lines = "\n".join(found[:MOST]).encode("utf-8", "replace").decode()
    return said(lines + note, raw={"count": min(len(found), MOST), "truncated": more})


def list_files(call: RunTool, stopped: Callable[[], bool]) -> ToolResult:
    """Names below a folder, relative to it; folders end with a slash."""
    folder, _ = _folder(call)
    found = walk(folder, stopped, integer(call, "depth", 2))
    names = (f"{one.path}/" if one.folder else one.path for one in found)
    return _listed(names, "[The folder is empty.]", "list a folder below or a smaller depth")


def find_files(call: RunTool, stopped: Callable[[], bool]) -> ToolResult:
    """Files whose path fits a pattern, relative to the working folder where they lie in it."""
    folder, show = _folder(call)
    pattern = compiled(text(call, "pattern"))
    names = (
        relative(os.path.join(show, one.path), call.cwd)
        for one in walk(folder, stopped)
        if not one.folder and pattern.fullmatch(one.path)
    )
    return _listed(names, "No file fits the pattern.", "use a narrower pattern")
