"""The machine of the plan: it changes nothing but the thread, so it needs no job (ring 2)."""

from typing import Final

import msgspec

from zidane_core.agent.local_machine import failed
from zidane_core.agent.machines import (
    Done,
    Got,
    Machine,
    Plan,
    State,
    Turned,
    Work,
    nothing_to_halt,
    ready_at_once,
)
from zidane_core.data.content import Text
from zidane_core.data.tools import PlanEntry, ToolResult


def _go(state: State, work: Work) -> Turned:
    try:
        entries = msgspec.convert(work.arguments.get("entries"), tuple[PlanEntry, ...])
    except msgspec.ValidationError as error:
        return state, (Done(failed(f"The plan is not valid: {error}")),)
    done = sum(entry.status == "completed" for entry in entries)
    text = f"The plan is set: {done} of {len(entries)} steps are done."
    return state, (Plan(entries), Done(ToolResult(content=(Text(text),))))


def _got(state: State, work: Work, tag: str, got: Got) -> Turned:
    return state, ()


PLAN: Final = Machine(ready_at_once, _go, _got, nothing_to_halt)
