"""The fold of updates, by which a replay and what was shown live are compared (the replay law).

Order of first appearance; a message id has all its content joined; a tool id has the last value of each field; the
last plan, mode and title. Usage, commands, options and notices are for the moment only, and so is a compaction that came to
nothing; the line about one that did not is shown again.
"""

from typing import Any

MESSAGES = {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk"}
LAST = {"plan", "current_mode_update", "session_info_update"}

PLAIN = {"type", "text"}
"""What a piece of text has that may be joined with others; one with annotations stands by itself."""

UNKNOWN_OUTPUT = "[The output could not be read.]"


def fold(updates: list[dict[str, Any]], terminals: dict[str, str] | None = None) -> list[tuple[str, Any]]:
    """The updates as (what, state), in order of first appearance. A terminal is what it showed."""
    order: dict[tuple[str, str], Any] = {}
    for update in updates:
        kind = update["sessionUpdate"]
        rest = {name: value for name, value in update.items() if name != "sessionUpdate"}
        ours = rest.get("_meta", {}).get("zidane", {})
        if kind in MESSAGES and ("notice" not in ours or ours["kind"] == "compaction"):
            contents = order.setdefault((kind, rest["messageId"]), [])
            if contents and contents[-1].keys() == rest["content"].keys() == PLAIN:
                contents[-1] = {"type": "text", "text": contents[-1]["text"] + rest["content"]["text"]}
            else:
                contents.append(rest["content"])
        elif kind in {"tool_call", "tool_call_update"}:
            order.setdefault(("tool", rest["toolCallId"]), {}).update(as_text(rest, terminals or {}))
        elif kind == "compaction_update":
            order.setdefault(("compaction", rest["compactionId"]), {}).update(rest)
        elif kind in LAST:
            order[kind, ""] = rest
    # A plan, mode or title has no place of its own: only its last state counts.
    placed = [
        (f"{kind} {name}", state)
        for (kind, name), state in order.items()
        if kind not in LAST and not (kind == "compaction" and state["status"] in {"failed", "cancelled"})
    ]
    return placed + sorted((kind, state) for (kind, _), state in order.items() if kind in LAST)


def as_text(update: dict[str, Any], terminals: dict[str, str]) -> dict[str, Any]:
    """An update of a card in which every terminal is its output."""
    content = [
        {
            "type": "content",
            "content": {"type": "text", "text": terminals.get(item["terminalId"], UNKNOWN_OUTPUT)},
        }
        if item["type"] == "terminal"
        else item
        for item in update.get("content", ())
    ]
    return {**update, "content": content} if "content" in update else update
