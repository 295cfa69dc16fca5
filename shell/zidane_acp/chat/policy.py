"""Who answers a permission question: a policy, or the user; and why nobody did."""

from collections.abc import Callable, Mapping
from typing import Final

from zidane_acp.chat.client import Decide, Decision
from zidane_acp.chat.updates import Question
from zidane_acp.settings import PermissionPolicy

READING: Final = frozenset({"read", "search", "think"})
BY_POLICY: Final = "needs permission; see --permission"
ONLY_THE_USER: Final = "only you can answer this; run it on a terminal"
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


def refusal(policy: PermissionPolicy, *, own: bool) -> Callable[[Question], str]:
    """Why a question was refused when nobody could be asked, for the end of a line."""

    def why(question: Question) -> str:
        # What our own agent asks whatever the policy says: plans, and whom it may listen to.
        always = own and (policy == "allow-all" or question.card.kind == "switch_mode" or _is_trust(question))
        return ONLY_THE_USER if always else BY_POLICY

    return why


def _is_trust(question: Question) -> bool:
    return question.card.name == "trust"
