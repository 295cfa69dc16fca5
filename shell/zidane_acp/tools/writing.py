"""The tools `write_file`, `edit` and `multi_edit`: one way to change a file, three ways to say how."""

import hashlib
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from returns.result import Failure, Result

from zidane_acp.tools.arguments import flag, objects, text
from zidane_acp.tools.handles import Entry, entry, read_all, replace_all
from zidane_acp.tools.paths import checked, of_call, path_argument, shown, title
from zidane_acp.tools.results import Refused, why
from zidane_core import edits
from zidane_core.agent.work import RunTool
from zidane_core.data.content import Text
from zidane_core.data.tools import Diff, Location, Preview, ResolvedPath, ToolResult

LARGEST: Final = 8 * 2**20
"""Bytes of a file that can be changed."""

_ABSENT: Final = "absent"

Change: TypeAlias = Callable[[RunTool, bytes | None], Result[bytes, str]]
"""From the call and the bytes before (None: no such file) to the bytes after, or why not."""


def write_change(call: RunTool, before: bytes | None) -> Result[bytes, str]:
    """The whole file anew."""
    return edits.written(before, text(call, "content"))


def edit_change(call: RunTool, before: bytes | None) -> Result[bytes, str]:
    """One replacement."""
    return _replaced(call, before, (call.arguments,))


def multi_edit_change(call: RunTool, before: bytes | None) -> Result[bytes, str]:
    """Several replacements, one after the other."""
    return _replaced(call, before, objects(call, "edits"))


def _replaced(
    call: RunTool, before: bytes | None, wanted: tuple[dict[str, object], ...]
) -> Result[bytes, str]:
    if before is None:
        return Failure(f"There is no file {path_argument(call)}. Use write_file to make it.")
    return edits.replace_each(
        before,
        tuple(
            edits.Replacement(
                str(one.get("old_string")), str(one.get("new_string")), flag(one.get("replace_all"))
            )
            for one in wanted
        ),
    )


class _Planned(NamedTuple):
    before: bytes | None
    after: bytes
    diffs: tuple[Diff, ...]


def _digest(data: bytes | None) -> str:
    return _ABSENT if data is None else hashlib.sha256(data).hexdigest()


def _plan(call: RunTool, place: Entry | None, path: ResolvedPath, change: Change) -> _Planned:
    before = None if place is None else read_all(place, path.given, LARGEST)
    result = change(call, before)
    if isinstance(result, Failure):
        raise Refused(result.failure())
    after = result.unwrap()
    old = None if before is None else edits.decode(before).map(lambda file: file.text).value_or(None)
    new = edits.decode(after).map(lambda file: file.text).value_or(None)
    # A file that is binary before or after has no diff to show.
    readable = new is not None and (before is None) == (old is None)
    diffs = (Diff(shown(path, call.cwd), old, new),) if new is not None and readable else ()
    return _Planned(before, after, diffs)


def prepare_change(call: RunTool, change: Change) -> Preview:
    """The diff that the call would make, and the digest of what it is made from.

    Outside the roots a change that cannot be made is no failure yet: the model would learn about the
    content of a file before the user was asked.
    """
    path = of_call(call, path_argument(call))
    locations = (Location(shown(path, call.cwd)),)
    try:
        planned = _planned_now(call, path, change)
    except (Refused, OSError) as problem:
        if not path.inside:
            return Preview(paths=(path,), locations=locations, title=title(call, (path,)))
        raise Refused(why(problem, path.given) if isinstance(problem, OSError) else str(problem)) from None
    return Preview(
        paths=(path,),
        diffs=planned.diffs,
        locations=locations,
        digest=_digest(planned.before),
        title=title(call, (path,)),
    )


def _planned_now(call: RunTool, path: ResolvedPath, change: Change) -> _Planned:
    try:
        with entry(path, call.roots) as place:
            return _plan(call, place, path, change)
    except FileNotFoundError:
        return _plan(call, None, path, change)  # its folder does not exist yet


def run_change(call: RunTool, change: Change) -> ToolResult:
    """Make the change in one atomic step, unless the file is not what it was when it was prepared."""
    path = checked(call, path_argument(call))
    try:
        planned = _planned_now(call, path, change)
        # Without a digest nobody was shown a change: the preparation had failed.
        if call.preview is not None and call.preview.digest != _digest(planned.before):
            raise Refused(f"{path.given} has changed since this edit was prepared; read it again and retry.")
        with entry(path, call.roots, make=True) as place:
            if _digest(read_all(place, path.given, LARGEST)) != _digest(planned.before):
                raise Refused(f"{path.given} is changing right now; read it again and retry.")
            replace_all(place, path.given, planned.after)
    except OSError as error:
        raise Refused(why(error, path.given)) from None
    verb = (
        "Made"
        if planned.before is None
        else "Changed"
        if planned.before != planned.after
        else "Left as it was:"
    )
    return ToolResult(
        content=(Text(f"{verb} {path.given} ({len(planned.after)} bytes)."),),
        diffs=planned.diffs,
        locations=(Location(shown(path, call.cwd)),),
        raw={"path": path.real, "bytes": len(planned.after), "created": planned.before is None},
    )
