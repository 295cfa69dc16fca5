"""Where paths really lead, and whether that is inside the roots. Every doubt counts as outside."""

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from zidane_acp.tools.arguments import text
from zidane_acp.tools.denied import denial_of
from zidane_acp.tools.results import Refused
from zidane_core.agent import titles
from zidane_core.agent.denials import refusal
from zidane_core.agent.presets import ACP_DEFAULT
from zidane_core.agent.work import RunTool
from zidane_core.data.tools import Location, Preview, ResolvedPath, ToolSpec

_SPECS: Final[Mapping[str, ToolSpec]] = MappingProxyType({spec.name: spec for spec in ACP_DEFAULT})


def _ancestors(path: str) -> Iterator[str]:
    """The path and every folder above it, the nearest first."""
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def anchor(real: str, roots: tuple[str, ...]) -> str | None:
    """The folder on a real path that is one of the roots; None when the path lies outside of all of them.

    Folders are compared by identity, not by name, so case and aliases of the file system do not matter.
    """
    identities: set[tuple[int, int]] = set()
    for root in roots:
        try:
            found = os.stat(root)
        except (OSError, ValueError):
            continue
        identities.add((found.st_dev, found.st_ino))
    for folder in _ancestors(real):
        try:
            found = os.lstat(folder)
        except (OSError, ValueError):
            continue
        if (found.st_dev, found.st_ino) in identities:
            return folder
    return None


def resolve(given: str, base: str, roots: tuple[str, ...]) -> ResolvedPath:
    """A path as the file system sees it; what does not exist yet is resolved as far as it exists."""
    try:
        real = os.path.realpath(os.path.join(base, given))
        looping = os.path.islink(real)
    except (OSError, ValueError) as error:
        raise Refused(f"The path {given!r} cannot be used: {error}.") from None
    return ResolvedPath(given, real, not looping and anchor(real, roots) is not None)


def of_call(call: RunTool, given: str, base: str | None = None) -> ResolvedPath:
    """A path of a call; one that the user denied is refused."""
    path = resolve(given, base or call.cwd, call.roots)
    rule = denial_of(path, base or call.cwd, call.denied, call.roots)
    if rule:
        raise Refused(refusal(rule))
    return path


def checked(call: RunTool, given: str, base: str | None = None) -> ResolvedPath:
    """The path of a call that is about to run; only the very place that was judged, if it was."""
    path = of_call(call, given, base)
    if not path.inside and not call.outside:
        raise Refused(f"{given} lies outside the workspace ({path.real}), and this was not allowed.")
    seen = () if call.preview is None else call.preview.paths
    if path.real in {known.real for known in seen} or (path.inside and not seen):
        return path
    where = "" if path.inside else " outside the workspace"
    raise Refused(f"{given} leads to another place{where} than the one that was allowed; try again.")


def title(call: RunTool, paths: tuple[ResolvedPath, ...]) -> str:
    """The title of a call of which a path lies outside of the roots, with the real path; else ''.

    The first path is that of the argument; not every title shows it.
    """
    spec = _SPECS.get(call.name)
    if spec is None:
        return ""
    if not any(f"{{{name}}}" in spec.title for name in spec.path_arguments):
        paths = tuple(replace(path, given="") if path == paths[0] else path for path in paths)
    return titles.outside(titles.title(spec, call.arguments, call.cwd), paths)


def shown(path: ResolvedPath, base: str) -> str:
    """The absolute path to show: the real one outside of the roots, else as the client wrote it if it leads there."""
    if not path.inside:
        return path.real
    plain = os.path.normpath(os.path.join(base, path.given))
    return plain if os.path.realpath(plain) == path.real else path.real


def relative(path: str, cwd: str) -> str:
    """A shown path relative to the working folder when it lies in it, else as it is."""
    try:
        return (
            os.path.relpath(path, cwd) if os.path.commonpath((path, cwd)) == os.path.normpath(cwd) else path
        )
    except ValueError:
        return path


def path_argument(call: RunTool) -> str:
    """The argument `path`; the working folder when it is left out."""
    return text(call, "path") or "."


def prepare_path(call: RunTool) -> Preview:
    """What a reading tool will touch."""
    path = of_call(call, path_argument(call))
    others = tuple(of_call(call, given) for given in call.paths)
    paths = (path, *(other for other in others if other.real != path.real))
    line = call.arguments.get("line")
    place = Location(shown(path, call.cwd), int(line) if isinstance(line, int | float) else None)
    return Preview(paths=paths, locations=(place,), title=title(call, paths))
