"""What the disk has where a call's path leads, before anything is done with it."""

import os
from typing import BinaryIO, Final, Literal, NamedTuple, TypeAlias

from returns.result import Failure

from zidane_acp.tools.denied import denial_of
from zidane_acp.tools.handles import entry, opened, stands
from zidane_acp.tools.paths import anchor, path_argument, resolve, shown, title
from zidane_acp.tools.reading import SAMPLE
from zidane_acp.tools.results import Refused
from zidane_acp.tools.writing import LARGEST
from zidane_core import edits
from zidane_core.agent.events import FileSeen
from zidane_core.agent.work import RunTool
from zidane_core.data.tools import ResolvedPath
from zidane_core.models.picture_head import head_of_bytes

Kind: TypeAlias = Literal["text", "missing", "folder", "image", "binary", "large", "outside", "unreadable"]

_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")


class _Found(NamedTuple):
    kind: Kind
    text: str = ""


def look_at_file(call: RunTool) -> FileSeen:
    """Where the argument `path` leads, and what is there. It never fails for what the disk has."""
    given = path_argument(call)
    try:
        path = resolve(given, call.cwd, call.roots)
    except Refused:
        # It leads nowhere, so no place outside is shown either; every doubt counts as outside.
        nowhere = os.path.normpath(os.path.join(call.cwd, given))
        return FileSeen(path=ResolvedPath(given, nowhere, False), shown=nowhere, kind="unreadable")
    # What was denied is not even read for the editor's sake.
    denied = denial_of(path, call.cwd, call.denied, call.roots)
    found = _Found("unreadable") if denied else _found(path, call.roots)
    return FileSeen(
        path=path,
        shown=shown(path, call.cwd),
        kind=found.kind,
        text=found.text,
        title=title(call, (path,)),
    )


def _found(path: ResolvedPath, roots: tuple[str, ...]) -> _Found:
    if not path.inside:
        return _Found("outside")
    if anchor(path.real, roots) == path.real and os.path.isdir(path.real):
        return _Found("folder")  # a root itself, which is no entry of a folder
    try:
        with entry(path, roots) as place:
            what = stands(place)
            if what != "file":
                return _Found("folder" if what == "folder" else "unreadable")
            with opened(place, path.given) as file:
                return _content(file)
    except FileNotFoundError:
        return _Found("missing")
    except (
        OSError,
        Refused,
    ):  # not allowed, a part of the path that is no folder, a link swapped in meanwhile
        return _Found("unreadable")


def _content(file: BinaryIO) -> _Found:
    head = file.read(SAMPLE)
    if head_of_bytes(head).media_type is not None:
        return _Found("image")
    if b"\0" in head and not head.startswith(_WIDE):
        return _Found("binary")
    data = head + file.read(LARGEST + 1 - len(head))
    if len(data) > LARGEST:
        return _Found("large")
    decoded = edits.decode(data)
    if isinstance(decoded, Failure):
        return _Found("binary")
    return _Found("text", decoded.unwrap().text)
