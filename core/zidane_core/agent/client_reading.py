"""The machine of `read_file` on the editor's text (ring 2): look at the disk, ask the editor, decide, cut.

Only text goes through the client. Pictures, folders and all that is no text, and what lies outside of the roots, is for the
local tool.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core import lines
from zidane_core.agent.editor_files import FILE_WITHIN, NOTES, Judged, gone, judge
from zidane_core.agent.events import FileSeen, Ok
from zidane_core.agent.local_machine import failed, result_of, run_tool
from zidane_core.agent.machines import (
    Ask,
    Done,
    DropAsk,
    GiveUp,
    Got,
    Job,
    Machine,
    Ready,
    Remember,
    Signal,
    State,
    StopJob,
    Turned,
    Work,
    nothing_to_halt,
    problem_of,
)
from zidane_core.agent.peer import Dismissed, FileText, ReadFile
from zidane_core.agent.work import LookAtFile, Wait
from zidane_core.data.content import Text
from zidane_core.data.tools import Location, Preview, ToolResult
from zidane_core.fp import fold


class Reading(msgspec.Struct, frozen=True, gc=False):
    """`disk` is what the disk has, `allowed` whether the call may run."""

    allowed: bool = False
    disk: FileSeen | None = None


THROUGH_CLIENT: Final = frozenset({"text", "missing"})
"""What the editor may know better; a missing file may be one that was never saved."""


def look(work: Work) -> Job:
    """Look at what the disk has."""
    return Job("look", LookAtFile(run_tool(work, "prepare")))


def preview_of(seen: FileSeen, work: Work) -> Preview:
    """What can be said before the question."""
    line = work.arguments.get("line")
    place = Location(seen.shown, int(line) if isinstance(line, int | float) else None)
    return Preview(paths=(seen.path,), locations=(place,), title=seen.title)


def leads_elsewhere(work: Work, seen: FileSeen) -> bool:
    """Whether the path leads to another place by now than the one that was judged."""
    judged = () if work.preview is None else work.preview.paths
    return seen.path.real not in {path.real for path in judged}


def not_given(work: Work) -> str:
    """The sentence for a text that the editor was told not to give."""
    return f"The editor did not give the text of {work.arguments.get('path')}."


def _begin(work: Work) -> Turned:
    return Reading(), (look(work),)


def _go(state: State, work: Work) -> Turned:
    return Reading(allowed=True), (look(work),)


def _got(state: State, work: Work, tag: str, got: Got) -> Turned:
    if not isinstance(state, Reading):
        return state, ()
    if tag == "look" and isinstance(got, Ok) and isinstance(got.value, FileSeen):
        return _looked(state, work, got.value)
    if tag == "read":
        return state, _read(state, work, got)
    if tag == "bound":
        return state, _late(work) if isinstance(got, Ok) else ()
    return state, (Done(result_of(work, got)),)


def _looked(state: Reading, work: Work, seen: FileSeen) -> Turned:
    if not state.allowed:
        return state, (Ready(preview_of(seen, work)),)
    if leads_elsewhere(work, seen) or seen.kind not in THROUGH_CLIENT or not work.abilities.reads:
        return state, (Job("run", run_tool(work, "run")),)
    asks = (Ask("read", ReadFile(seen.shown)), Job("bound", Wait(FILE_WITHIN)))
    return replace(state, disk=seen), asks


def _late(work: Work) -> tuple[Signal, ...]:
    return (
        DropAsk("read"),
        GiveUp("files", f"it did not answer within {FILE_WITHIN:g} s"),
        Job("run", run_tool(work, "run")),
    )


def _read(state: Reading, work: Work, got: Got) -> tuple[Signal, ...]:
    disk = state.disk
    if disk is None:
        return ()
    if isinstance(got, FileText):
        judged = judge(got.text, disk, work.seen.get(disk.shown), work.commanded)
        if judged.standing == "gone":
            return (Done(failed(gone(str(work.arguments.get("path"))))),)
        return Remember(disk.shown, judged.seen), Done(_result(work, disk, judged))
    if isinstance(got, Dismissed):
        return (Done(failed(not_given(work))),)
    if disk.kind == "missing":
        # Neither has it: that is no failure of the client.
        return (Done(failed(f"There is no file or folder {work.arguments.get('path')}.")),)
    return StopJob("bound"), GiveUp("files", problem_of(got)), Job("run", run_tool(work, "run"))


def _result(work: Work, disk: FileSeen, judged: Judged) -> ToolResult:
    first, limit = _number(work, "line", 1), _number(work, "limit", 0)
    given = str(work.arguments.get("path"))
    return fold(
        lines.cut(judged.text, first, limit),
        lambda found: _shown(disk, judged, found, first, "line" in work.arguments),
        lambda count: failed(lines.too_few(given, count)),
    )


def _shown(disk: FileSeen, judged: Judged, found: lines.Cut, first: int, named: bool) -> ToolResult:
    note = NOTES[judged.standing]
    text = lines.marked(found) if judged.text else "[The file is empty.]"
    return ToolResult(
        content=(Text(text), Text(note)) if note else (Text(text),),
        locations=(Location(disk.shown, first if named else None),),
        raw={
            "line": first,
            "lines": found.lines,
            "truncated": found.onward is not None,
            "editor": judged.standing,
        },
    )


def _number(work: Work, name: str, default: int) -> int:
    value = work.arguments.get(name)
    return int(value) if isinstance(value, int | float) else default


CLIENT_READING: Final = Machine(_begin, _go, _got, nothing_to_halt)
