"""The tool by which the model asks to leave a mode without changes (ring 2): the user sees the plan and decides.

It is there only in such a mode, and always asks, whatever the policy: nothing else ends the mode but the user.
"""

from typing import Final

from zidane_core.agent.machines import (
    Card,
    Done,
    Got,
    Machine,
    Ready,
    State,
    Stateless,
    SwitchMode,
    Turned,
    Work,
    nothing_to_halt,
)
from zidane_core.data.content import Text
from zidane_core.data.tools import ToolResult, ToolSpec

EXIT_PLAN: Final = ToolSpec(
    name="exit_plan",
    description=(
        "Show the user the finished plan and ask to begin with it. Call it once the plan is complete; if the user "
        "refuses, go on planning with what they say."
    ),
    schema={
        "type": "object",
        "properties": {
            "plan": {"type": "string", "minLength": 1, "description": "The plan, complete, in Markdown."}
        },
        "required": ["plan"],
    },
    kind="switch_mode",
    access="mode",
    changes=False,
    title="Begin with this plan?",
    machine="leaving_plan",
)

AGREED: Final = "The user agreed to the plan, and changes are allowed now. Carry it out."
KEEP_PLANNING: Final = (
    "The user does not want to begin with this plan yet. Ask what should be different, or go on planning; "
    "nothing may be changed."
)


def _begin(work: Work) -> Turned:
    return Stateless(), (Card(content=(Text(_plan(work)),)), Ready())


def _plan(work: Work) -> str:
    plan = work.arguments.get("plan")
    return plan if isinstance(plan, str) else ""


def _go(state: State, work: Work) -> Turned:
    result = ToolResult(content=(Text(AGREED),), shown=(Text(_plan(work)),))
    return state, (SwitchMode(), Done(result))


def _got(state: State, work: Work, tag: str, got: Got) -> Turned:
    return state, ()


LEAVING_PLAN: Final = Machine(_begin, _go, _got, nothing_to_halt)
