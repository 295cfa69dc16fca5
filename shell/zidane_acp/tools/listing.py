"""The tools `list_files` and `glob`."""

import contextlib
import itertools
import os
from collections.abc import Callable, Generator, Iterable
from typing import Final, NamedTuple

from zidane_acp.tools.arguments import integer, text
from zidane_acp.tools.denied import denied_by
from zidane_acp.tools.descent import Place
from zidane_acp.tools.globs import compiled
from zidane_acp.tools.handles import listable
from zidane_acp.tools.paths import checked, path_argument, relative, shown
from zidane_acp.tools.results import Refused, said
from zidane_acp.tools.walk import walk
from zidane_core.agent.work import RunTool
from zidane_core.data.tools import ToolResult

MOST: Final = 1000
"""Names given at once."""


class _Folder(NamedTuple):
    """The folder to look in, open, its real path, the absolute path to show for it, and what denies a path in it."""

    place: Place
    real: str
    show: str
    denied: Callable[[str], str]


@contextlib.contextmanager
def _folder(call: RunTool) -> Generator[_Folder]:
    path = checked(call, path_argument(call))
    try:
        with listable(path, call.roots) as place:
            yield _Folder(place, path.real, shown(path, call.cwd), denied_by(call.denied, call.roots))
    except FileNotFoundError:
        raise Refused(f"{path.given} does not exist.") from None
    except NotADirectoryError:
        raise Refused(f"{path.given} is a file, not a folder.") from None


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
    with _folder(call) as folder:
        found = walk(folder.place, folder.real, stopped, integer(call, "depth", 2), folder.denied)
        names = (f"{one.path}/" if one.folder else one.path for one in found)
        return _listed(names, "[The folder is empty.]", "list a folder below or a smaller depth")


def find_files(call: RunTool, stopped: Callable[[], bool]) -> ToolResult:
    """Files whose path fits a pattern, relative to the working folder where they lie in it."""
    pattern = compiled(text(call, "pattern"))
    with _folder(call) as folder:
        names = (
            relative(os.path.join(folder.show, one.path), call.cwd)
            for one in walk(folder.place, folder.real, stopped, denied=folder.denied)
            if not one.folder and pattern.fullmatch(one.path)
        )
        return _listed(names, "No file fits the pattern.", "use a narrower pattern")
