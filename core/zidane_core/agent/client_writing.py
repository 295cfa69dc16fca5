"""The machine of `write_file`, `edit` and `multi_edit` on the editor's text (ring 2).

Before the question the text is read and the change is made on it, for the user to see. Once allowed, the text is read
again: a change goes to the editor only when it is still made from the same text, and exactly once.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace
from returns.result import Failure, Result, Success

from zidane_core import edits
from zidane_core.agent.client_reading import (
    THROUGH_CLIENT,
    leads_elsewhere,
    look,
    not_given,
    preview_of,
)
from zidane_core.agent.editor_files import FILE_WITHIN, LARGEST, WRITE_WITHIN, Seen, digest, gone, judge, torn
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
from zidane_core.agent.peer import Accepted, Dismissed, FileText, ReadFile, WriteFile
from zidane_core.agent.work import Wait
from zidane_core.data.content import Text
from zidane_core.data.tools import Diff, Location, Preview, ToolResult
from zidane_core.fp import fold
from zidane_core.text import is_array, is_object

_ABSENT: Final = "absent"


class Writing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`local`: the local tool does it. `allowed`: the call may run. `disk` is what the disk has, `before` the text that
    the change is made from (None: a new file) and `after` what it becomes."""

    local: bool = False
    allowed: bool = False
    disk: FileSeen | None = None
    before: str | None = None
    after: str = ""


def _begin(work: Work) -> Turned:
    return Writing(), (look(work),)


def _go(state: State, work: Work) -> Turned:
    if isinstance(state, Writing) and not state.local:
        return replace(state, allowed=True), (look(work),)
    return state, (Job("run", run_tool(work, "run")),)


def _got(state: State, work: Work, tag: str, got: Got) -> Turned:
    if not isinstance(state, Writing):
        return state, ()
    return _GOT[tag](state, work, got)


def _looked(state: Writing, work: Work, got: Got) -> Turned:
    if not (isinstance(got, Ok) and isinstance(got.value, FileSeen)):
        return state, (Done(result_of(work, got)),)
    seen = got.value
    if state.allowed and leads_elsewhere(work, seen):
        return state, (Done(failed(_changed(work))),)
    state = replace(state, disk=seen)
    if seen.kind not in THROUGH_CLIENT or not work.abilities.writes:
        return _locally(state, work)
    if work.abilities.reads:
        return state, (Ask("read", ReadFile(seen.shown)), Job("read bound", Wait(FILE_WITHIN)))
    return _based(state, work, seen, seen.text if seen.kind == "text" else None)


def _locally(state: Writing, work: Work) -> tuple[Writing, tuple[Signal, ...]]:
    """The local tool from here on. A change that was allowed is made only if the disk has the text it was made from."""
    if not state.allowed:
        return replace(state, local=True), (Job("prepare", run_tool(work, "prepare")),)
    disk = state.disk
    there = disk.text if disk is not None and disk.kind == "text" else None
    same = disk is not None and disk.kind in THROUGH_CLIENT and _digest(there) == _digest(state.before)
    return state, (_to_disk(state, work) if same else Done(failed(_not_written(work))),)


def _not_written(work: Work) -> str:
    return (
        f"{_given(work)} was not written: the editor failed to do it, and the disk has another text than the one that the "
        "change was made from. Read the file again."
    )


def _changed(work: Work) -> str:
    return f"{_given(work)} has changed since this edit was prepared; read it again and retry."


def _given(work: Work) -> str:
    return str(work.arguments.get("path"))


def _read(state: Writing, work: Work, got: Got) -> Turned:
    disk = state.disk
    if disk is None:
        return state, ()
    stop: tuple[Signal, ...] = (StopJob("read bound"),)
    if isinstance(got, FileText):
        judged = judge(got.text, disk, work.seen.get(disk.shown), work.commanded)
        whole = work.name == "write_file"
        if judged.standing in {"torn", "gone"} and not whole:
            told = torn if judged.standing == "torn" else gone
            return state, (Done(failed(told(_given(work)))),)
        if judged.standing == "gone":
            state, signals = _based(state, work, disk, None)
            return state, (*stop, *signals)
        # Where they differ in line endings only, those of the disk are the file's.
        state, signals = _based(state, work, disk, disk.text if judged.standing == "same" else judged.text)
    elif isinstance(got, Dismissed):
        return state, (Done(failed(not_given(work))),)
    elif disk.kind == "missing":
        state, signals = _based(state, work, disk, None)
    else:
        state, signals = _without_client(state, work, problem_of(got))
    return state, (*stop, *signals)


def _read_late(state: Writing, work: Work, got: Got) -> Turned:
    if not isinstance(got, Ok):
        return state, ()
    state, signals = _without_client(state, work, _LATE)
    return state, (DropAsk("read"), *signals)


_LATE: Final = f"it did not answer within {FILE_WITHIN:g} s"


def _without_client(state: Writing, work: Work, reason: str) -> tuple[Writing, tuple[Signal, ...]]:
    state, signals = _locally(state, work)
    return state, (GiveUp("files", reason), *signals)


# The change ----------------------------------------------------------------------------------------


def _based(
    state: Writing, work: Work, disk: FileSeen, before: str | None
) -> tuple[Writing, tuple[Signal, ...]]:
    """The text that the change is made from is known."""
    preview = work.preview
    if state.allowed and (preview is None or preview.digest != _digest(before)):
        return state, (Done(failed(_changed(work))),)
    return fold(
        _CHANGES[work.name](work, before),
        lambda after: _changed_to(replace(state, before=before, after=after), work, disk),
        lambda problem: (state, (Done(failed(problem)),)),
    )


def _digest(text: str | None) -> str:
    return _ABSENT if text is None else digest(text)


def _changed_to(state: Writing, work: Work, disk: FileSeen) -> tuple[Writing, tuple[Signal, ...]]:
    if state.allowed:
        # An editor may show every line end as \n and write what it is given: the file's own are given.
        write = Ask("write", WriteFile(disk.shown, edits.ending_as(state.after, disk.text)))
        return state, (write, Job("write bound", Wait(WRITE_WITHIN)))
    preview = preview_of(disk, work)
    return state, (Ready(replace(preview, diffs=_diffs(state, disk), digest=_digest(state.before))),)


def _diffs(state: Writing, disk: FileSeen) -> tuple[Diff, ...]:
    return (Diff(disk.shown, state.before, state.after),)


def _write(work: Work, before: str | None) -> Result[str, str]:
    return Success(edits.written_text(before, str(work.arguments.get("content"))))


def _edit(work: Work, before: str | None) -> Result[str, str]:
    return _replaced(work, before, [work.arguments])


def _multi_edit(work: Work, before: str | None) -> Result[str, str]:
    wanted = work.arguments.get("edits")
    return _replaced(work, before, wanted if is_array(wanted) else [])


def _replaced(
    work: Work, before: str | None, wanted: list[object] | list[dict[str, object]]
) -> Result[str, str]:
    if before is None:
        return Failure(f"There is no file {_given(work)}. Use write_file to make it.")
    if len(before) > LARGEST:
        return Failure(f"{_given(work)} has more than {LARGEST // 2**20} MiB, which is too large to edit.")
    return edits.replaced_text(
        before,
        tuple(
            edits.Replacement(
                str(one.get("old_string")), str(one.get("new_string")), one.get("replace_all") is True
            )
            for one in wanted
            if is_object(one)
        ),
    )


_CHANGES: Final[Mapping[str, Callable[[Work, str | None], Result[str, str]]]] = MappingProxyType(
    {"write_file": _write, "edit": _edit, "multi_edit": _multi_edit}
)

# Written -------------------------------------------------------------------------------------------


def _written(state: Writing, work: Work, got: Got) -> Turned:
    stop = StopJob("write bound")
    if isinstance(got, Accepted):
        # What the disk has now tells a later look whether the editor saves at once.
        return state, (stop, replace(look(work), tag="after"))
    if isinstance(got, Dismissed):
        return state, (stop, Done(failed(f"The editor did not take the change of {_given(work)}.")))
    return state, (stop, GiveUp("files", problem_of(got)), replace(look(work), tag="refused"))


def _write_late(state: Writing, work: Work, got: Got) -> Turned:
    if not isinstance(got, Ok):
        return state, ()
    unknown = (
        f"The editor did not say within {WRITE_WITHIN:g} s that it has written {_given(work)}; whether it did is not known. "
        "Read the file before you go on."
    )
    late = f"it did not answer within {WRITE_WITHIN:g} s"
    return state, (DropAsk("write"), GiveUp("files", late), Done(failed(unknown)))


def _refused(state: Writing, work: Work, got: Got) -> Turned:
    """The editor failed to write. The local tool does it only where the disk has the text that the change is made from: what
    else the editor shows is not ours to save."""
    now = got.value if isinstance(got, Ok) and isinstance(got.value, FileSeen) else None
    return _locally(replace(state, disk=now), work)


def _to_disk(state: Writing, work: Work) -> Job:
    """The same text by the local tool: it was allowed, and the disk has the text that it was made from."""
    arguments: dict[str, object] = {"path": work.arguments.get("path"), "content": state.after}
    call = replace(run_tool(work, "run"), name="write_file", arguments=arguments, preview=None)
    return Job("run", call)


def _after(state: Writing, work: Work, got: Got) -> Turned:
    disk = state.disk
    if disk is None:
        return state, ()
    now = got.value if isinstance(got, Ok) and isinstance(got.value, FileSeen) else disk
    seen = Seen(digest(state.after), digest(now.text) if now.kind == "text" else "")
    return state, (Remember(disk.shown, seen), Done(_result(state, work, disk)))


def _result(state: Writing, work: Work, disk: FileSeen) -> ToolResult:
    size = len(state.after.encode("utf-8", "surrogatepass"))
    verb = "Made" if state.before is None else "Changed" if state.before != state.after else "Left as it was:"
    return ToolResult(
        content=(Text(f"{verb} {_given(work)} ({size} bytes)."),),
        diffs=_diffs(state, disk),
        locations=(Location(disk.shown),),
        raw={"path": disk.path.real, "bytes": size, "created": state.before is None, "editor": True},
    )


def _prepared(state: Writing, work: Work, got: Got) -> Turned:
    if isinstance(got, Ok) and isinstance(got.value, Preview):
        return state, (Ready(got.value),)
    return state, (Done(result_of(work, got)),)


def _ran(state: Writing, work: Work, got: Got) -> Turned:
    return state, (Done(result_of(work, got)),)


_GOT: Final[Mapping[str, Callable[[Writing, Work, Got], Turned]]] = MappingProxyType(
    {
        "look": _looked,
        "read": _read,
        "read bound": _read_late,
        "prepare": _prepared,
        "write": _written,
        "write bound": _write_late,
        "after": _after,
        "refused": _refused,
        "run": _ran,
    }
)


CLIENT_WRITING: Final = Machine(_begin, _go, _got, nothing_to_halt)
