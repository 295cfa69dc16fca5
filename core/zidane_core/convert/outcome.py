"""The outcome of an agent run -> the stop reason of a turn."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.data.outcome import FinishReason, Outcome, StopReason

_BY_FINISH: Final[Mapping[FinishReason, StopReason]] = MappingProxyType(
    {"length": "max_tokens", "content-filter": "refusal", "error": "refusal"}
)


def outcome_to_stop_reason(outcome: Outcome) -> StopReason:
    """An abort first, then the turn limit, then how the last model round ended; anything else is end_turn."""
    if outcome.aborted:
        return "cancelled"
    if outcome.turn_limit:
        return "max_turn_requests"
    return _BY_FINISH.get(outcome.finish, "end_turn") if outcome.finish is not None else "end_turn"
