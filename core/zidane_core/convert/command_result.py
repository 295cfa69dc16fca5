"""How a command ended -> the result of the call, for the model and the card (ring 1)."""

from zidane_core.data.content import Text
from zidane_core.data.tools import Terminal, ToolResult


def command_result(
    output: str,
    *,
    code: int | None,
    signal: str | None = None,
    late_after: float | None = None,
    truncated: bool = False,
    terminal: str = "",
) -> ToolResult:
    """`late_after` is the timeout in seconds when that ended it, `terminal` the client's terminal that shows it."""
    note = ""
    if late_after is not None:
        note = f"[The command was ended after {late_after:g} s. Give a longer timeout if it needs one.]"
    elif signal is not None:
        note = f"[The command was ended by {signal}.]"
    elif code is None:
        note = "[The command has ended; how is not known.]"
    elif code != 0:
        note = f"[Exit code {code}.]"
    gap = "" if not output or not note or output.endswith("\n") else "\n"
    return ToolResult(
        content=(Text(f"{output}{gap}{note}" or "[The command gave no output.]"),),
        failed=late_after is not None or code != 0,
        shown=(Terminal(terminal, output),) if terminal else None,
        raw={
            "exitCode": code if code is not None and code >= 0 else None,
            "signal": signal,
            "timedOut": late_after is not None,
            "truncated": truncated,
        },
    )
