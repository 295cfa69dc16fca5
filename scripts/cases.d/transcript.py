"""What a case left behind, with the questions that the rules ask."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from outside.schema_check import Frame


class Broken(Exception):
    """A rule of the case does not hold; the message says which."""


def require(holds: object, rule: str) -> None:
    if not holds:
        raise Broken(rule)


class Transcript:
    """The frames of a case, what replay.py printed, the scratch folder, and the requests that a provider got."""

    def __init__(
        self, frames: Iterable[Frame], printed: str, work: Path, asked: tuple[Mapping[str, Any], ...]
    ) -> None:
        self.printed, self.work, self.asked = printed, work, asked
        self.frames = tuple(frames)
        # Lines that a case breaks on purpose stand in the log too; only the agent's have to be JSON.
        self.sent: list[Any] = [
            json.loads(f.line) for f in self.frames if f.direction == "out" and f.line.strip()
        ]

    def answers(self, number: object) -> list[dict[str, Any]]:
        """The responses to a request; ids of another type do not count."""
        return [
            m
            for m in self.sent
            if "method" not in m and "id" in m and m["id"] == number and type(m["id"]) is type(number)
        ]

    def answer(self, number: object) -> dict[str, Any]:
        found = self.answers(number)
        require(len(found) == 1, f"id {number!r} has {len(found)} answers instead of one")
        return found[0]

    def error(self, number: object) -> dict[str, Any]:
        answer = self.answer(number)
        require("error" in answer, f"id {number!r} is no error but {json.dumps(answer)[:200]}")
        return dict(answer["error"])

    def stop(self, number: object) -> str:
        answer = self.answer(number)
        require(
            "stopReason" in answer.get("result", {}),
            f"id {number!r} has no stop reason but {json.dumps(answer)[:300]}",
        )
        return str(answer["result"]["stopReason"])

    def updates(self, kind: str) -> list[dict[str, Any]]:
        updates = [m["params"]["update"] for m in self.sent if m.get("method") == "session/update"]
        return [update for update in updates if update["sessionUpdate"] == kind]

    def turn(self, number: object) -> list[dict[str, Any]]:
        """The updates between the answer before and the answer to a prompt."""
        found: list[dict[str, Any]] = []
        for message in self.sent:
            if message.get("method") == "session/update":
                found.append(message["params"]["update"])
            elif "method" not in message:
                if message.get("id") == number:
                    return found
                found = []
        return found

    def text(self, number: object) -> str:
        """The agent's text of a prompt."""
        chunks = [u for u in self.turn(number) if u["sessionUpdate"] == "agent_message_chunk"]
        return "".join(u["content"].get("text", "") for u in chunks)

    def requests(self, method: str) -> list[dict[str, Any]]:
        return [m for m in self.sent if m.get("method") == method and "id" in m]

    def last_status(self, call: str) -> str | None:
        """The last status of a tool card."""
        cards = [*self.updates("tool_call"), *self.updates("tool_call_update")]
        order = {
            id(card): n
            for n, card in enumerate(
                m["params"]["update"] for m in self.sent if m.get("method") == "session/update"
            )
        }
        own = sorted(
            (c for c in cards if c["toolCallId"] == call and c.get("status")), key=lambda c: order[id(c)]
        )
        return own[-1]["status"] if own else None

    def before(self, first: Any, second: Any) -> bool:
        """Whether one frame of the agent came before another."""
        return self.sent.index(first) < self.sent.index(second)

    def exit_code(self) -> str:
        match = re.search(r"== exit (.*?) after .* steps failed: (\d+)", self.printed)
        require(match, "replay.py did not end well")
        assert match is not None
        require(match[2] == "0", f"{match[2]} steps of the case failed")
        return match[1]
