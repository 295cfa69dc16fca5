"""The plan: the one tool that the machine runs itself, since it only changes the thread (ring 2)."""

from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core.agent import calls, moves
from zidane_core.agent.effects import Effect, PlanShown, Tell
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Call, Options, Thread, Turn
from zidane_core.data import history
from zidane_core.data.content import Text
from zidane_core.data.tools import PlanEntry, ToolResult

TOOL: Final = "update_plan"


def run(options: Options, thread: Thread, turn: Turn, call: Call) -> Moved:
    """Set the plan that the call's arguments hold; they were checked against the tool's schema."""
    try:
        entries = msgspec.convert(call.arguments.get("entries"), tuple[PlanEntry, ...])
    except msgspec.ValidationError as error:
        return calls.finish(options, thread, turn, call, calls.failed(f"The plan is not valid: {error}"))
    begun = calls.begin(thread, call)
    thread, shown = show(thread, entries)
    done = sum(entry.status == "completed" for entry in entries)
    result = ToolResult(content=(Text(f"The plan is set: {done} of {len(entries)} steps are done."),))
    thread, finished = calls.finish(options, thread, turn, call, result)
    return thread, (*begun, *shown, *finished)


def show(thread: Thread, entries: tuple[PlanEntry, ...]) -> tuple[Thread, tuple[Effect, ...]]:
    """The thread with this plan, in the log and on the screen."""
    thread = replace(moves.append(thread, history.PlanSet(entries)), plan=entries)
    return thread, (Tell(thread.id, PlanShown(entries)),)
