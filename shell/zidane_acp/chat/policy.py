"""Who answers a permission question: a policy, or the user."""

from collections.abc import Mapping
from typing import Final

from zidane_acp.chat.client import Decide, Decision
from zidane_acp.chat.updates import Question
from zidane_acp.settings import PermissionPolicy

READING: Final = frozenset({"read", "search", "think"})
ALLOWED: Final[Mapping[PermissionPolicy, frozenset[str] | None]] = {
    "ask": frozenset(),
    "read-only": READING,
    "allow-edits": READING | {"edit", "move"},
    "allow-all": None,  # every kind
}


def decider(policy: PermissionPolicy, *, own: bool, can_ask: bool) -> Decide:
    """Our own agent has the policy itself: what it still asks about, only the user may allow."""
    rest: Decision = "ask" if can_ask and policy != "read-only" else "reject"

    def decide(question: Question) -> Decision:
        if own:
            return "ask" if can_ask else "reject"
        allowed = ALLOWED[policy]
        return "allow" if allowed is None or (question.card.kind or "other") in allowed else rest

    return decide
