"""The machines of tools that others run (ring 2): those of the client, and those of MCP servers."""

from typing import Final

from zidane_core.agent.local_machine import failed, result_of
from zidane_core.agent.machines import (
    Ask,
    Done,
    Got,
    Job,
    Machine,
    State,
    Turned,
    Work,
    nothing_to_halt,
    ready_at_once,
)
from zidane_core.agent.peer import CallTool, Dismissed, ToolReplied, Unanswerable
from zidane_core.agent.work import RunMcpCall
from zidane_core.data.content import Text
from zidane_core.data.tools import ToolResult

# Tools of the client -------------------------------------------------------------------------------


def _ask(state: State, work: Work) -> Turned:
    return state, (Ask("call", CallTool(work.call, work.name, work.arguments)),)


def _replied(state: State, work: Work, tag: str, got: Got) -> Turned:
    return state, (Done(_result(work, got)),)


def _result(work: Work, got: Got) -> ToolResult:
    if isinstance(got, ToolReplied):
        return ToolResult(content=got.parts or (Text("[The tool gave no output.]"),), failed=got.failed)
    if isinstance(got, Dismissed):
        return failed(f"The client cancelled the tool {work.name}.")
    if isinstance(got, Unanswerable):
        return failed(f"The tool {work.name} failed in the client: {got.reason}")
    return failed(f"The client's answer to the tool {work.name} could not be read.")


CLIENT_TOOL: Final = Machine(ready_at_once, _ask, _replied, nothing_to_halt)

# Tools of MCP servers ------------------------------------------------------------------------------


def _call(state: State, work: Work) -> Turned:
    call = RunMcpCall(
        session=work.session,
        server=work.spec.server,
        tool=work.spec.remote,
        arguments=work.arguments,
    )
    return state, (Job("call", call),)


def _called(state: State, work: Work, tag: str, got: Got) -> Turned:
    return state, (Done(result_of(work, got)),)


MCP_TOOL: Final = Machine(ready_at_once, _call, _called, nothing_to_halt)
