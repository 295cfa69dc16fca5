"""The machine of a tool that the shell runs: at most one job to prepare, one to run (ring 2)."""

from typing import Final, Literal

from zidane_core.agent.events import Failed, Ok, Stopped
from zidane_core.agent.machines import (
    Done,
    Got,
    Job,
    Machine,
    Ready,
    State,
    Stateless,
    Turned,
    Work,
    nothing_to_halt,
)
from zidane_core.agent.work import RunTool
from zidane_core.data.content import Text
from zidane_core.data.tools import Preview, ToolResult


def _begin(work: Work) -> Turned:
    if work.spec.prepare == "none":
        return Stateless(), (Ready(),)
    return Stateless(), (Job("prepare", run_tool(work, "prepare")),)


def _go(state: State, work: Work) -> Turned:
    return state, (Job("run", run_tool(work, "run")),)


def _got(state: State, work: Work, tag: str, got: Got) -> Turned:
    if isinstance(got, Ok) and isinstance(got.value, Preview) and tag == "prepare":
        return state, (Ready(got.value),)
    return state, (Done(result_of(work, got)),)


def run_tool(work: Work, stage: Literal["prepare", "run"]) -> RunTool:
    """A stage of the call by the tool of the shell."""
    return RunTool(
        stage=stage,
        name=work.name,
        arguments=work.arguments,
        session=work.session,
        call=work.call,
        cwd=work.cwd,
        roots=work.roots,
        paths=work.paths,
        preview=work.preview,
        outside=work.outside,
        granted=work.granted,
        denied=work.denied,
    )


def result_of(work: Work, got: Got) -> ToolResult:
    """What a job that was to give the call's result ended with, as that result."""
    if isinstance(got, Ok) and isinstance(got.value, ToolResult):
        return got.value
    if isinstance(got, Failed):
        return failed(f"The tool {work.name} failed: {got.fault.message}")
    if isinstance(got, Stopped):
        return failed(UNKNOWN if work.spec.changes else READ_STOPPED)
    return failed(f"The tool {work.name} gave no result.")


UNKNOWN: Final = "The call was cancelled while it ran; its outcome is unknown."
READ_STOPPED: Final = "The call was cancelled while it ran."


def failed(text: str) -> ToolResult:
    """A tool error with this sentence for the model."""
    return ToolResult(content=(Text(text),), failed=True)


LOCAL: Final = Machine(_begin, _go, _got, nothing_to_halt)
