"""What is known of a session: what its last replay showed, and what clients have seen and been promised since."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agent import Agent
from support.folding import fold

State = tuple[str, Any]
"""An entry of a fold: a message, a card, or the last plan, mode or title."""


class Turn(NamedTuple):
    """A prompt and what its client saw of it. `error` is that of its answer, `over` when that or the kill came."""

    prompt: str
    updates: tuple[tuple[float, dict[str, Any]], ...]
    answered: bool
    error: dict[str, Any] | None
    over: float
    killed_at: float

    @property
    def acknowledged(self) -> bool:
        return self.answered and self.error is None

    @property
    def refused(self) -> bool:
        """Whether another agent had the session."""
        return self.error is not None and self.error.get("data") == {"kind": "in_use"}

    def shown(self, before: float = float("inf")) -> list[State]:
        """The fold of what was seen until then."""
        return fold([update for at, update in self.updates if at <= before])


@dataclass
class Session:
    """One session over all rounds. `base` is the fold of its last replay, `turns` came after it."""

    id: str
    cwd: Path
    base: list[State] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    @property
    def is_promised(self) -> bool:
        """Whether it must be there: something of it was stored before, or is to be by now."""
        return bool(self.base) or any(turn.acknowledged or turn.shown() for turn in self.turns)


def turns_of(agent: Agent, session: str, prompts: dict[int, str], after: int = 0) -> list[Turn]:
    """The prompts of one agent to one session, given by their numbers, and what its client saw, from a frame on."""
    asked = list(prompts)
    updates: list[list[tuple[float, dict[str, Any]]]] = [[] for _ in asked]
    answers: dict[int, tuple[float, dict[str, Any]]] = {}
    current = 0
    for at, frame in agent.seen[after:]:
        if "method" not in frame:
            if frame["id"] in prompts:
                answers[frame["id"]] = (at, frame)
                current = asked.index(frame["id"]) + 1
        elif (
            current < len(asked)
            and frame["method"] == "session/update"
            and frame["params"]["sessionId"] == session
        ):
            updates[current].append((at, frame["params"]["update"]))
    turns: list[Turn] = []
    for number, seen in zip(asked, updates, strict=True):
        at, frame = answers.get(number, (agent.killed_at, {}))
        error = frame.get("error")
        turns.append(
            Turn(prompts[number], tuple(seen), number in answers, error, at, agent.killed_at or float("inf"))
        )
    return turns


def replayed(agent: Agent, session: Session) -> list[State] | None:
    """Load a session: the fold of all that is shown before the answer, or None where it is not found."""
    begin = len(agent.seen)
    frame = agent.call("session/load", sessionId=session.id, cwd=str(session.cwd), mcpServers=[])
    if "error" in frame:
        return None
    updates: list[dict[str, Any]] = []
    for _, seen in agent.seen[begin:]:
        if seen is frame:
            break
        if seen.get("method") == "session/update" and seen["params"]["sessionId"] == session.id:
            updates.append(seen["params"]["update"])
    return fold(updates)
