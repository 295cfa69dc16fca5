"""How Claude models are told how much to think (ring 1): a budget up to 4.5, an effort from 4.6 on."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from zidane_core.data.models import (
    AssistantMessage,
    Call,
    Foreign,
    Message,
    ModelRequest,
    Thought,
    UserMessage,
)

Off: TypeAlias = Literal["disabled", "between_tools", "always"]
"""How thinking is turned off: by saying so, down to notes between tool calls, or not at all."""

_VERSION: Final = re.compile(
    r"claude-(?:(?P<line>[a-z]+)-(?P<major>\d+)(?:[-.](?P<minor>\d{1,2})(?!\d))?|(?P<old>[123])\b)"
)
_BUDGETS: Final[Mapping[str, int]] = MappingProxyType(
    {"minimal": 1024, "low": 4096, "medium": 10000, "high": 24000}
)
_LEAST: Final = 1024
_ALWAYS_THINK: Final = frozenset({"fable", "mythos"})
BINDING_BETA: Final = ("anthropic-beta", "thinking-binding-controls-2026-08-01")


class Claude(NamedTuple):
    """What a model's name says. `adaptive`: thinks by effort. `bound`: its thoughts only fit an unchanged history."""

    adaptive: bool
    bound: bool
    off: Off
    thinks: bool = True


class Plan(NamedTuple):
    """The thinking part of a request: fields of the body, the token limit, extra headers, whether thoughts go back."""

    fields: dict[str, object]
    max_tokens: int
    headers: tuple[tuple[str, str], ...] = ()
    thoughts: bool = True
    warning: str = ""


def claude(model: str) -> Claude:
    """Read a model id; an id that is no Claude's gets a budget, which other makers' servers know."""
    match = _VERSION.search(model)
    if match is None:
        return Claude(adaptive=False, bound=False, off="disabled")
    if match["old"]:
        return Claude(adaptive=False, bound=False, off="disabled", thinks="claude-3-7" in model)
    version = (int(match["major"]), int(match["minor"] or 0))
    line = match["line"]
    if version < (4, 6) and line not in _ALWAYS_THINK:
        return Claude(adaptive=False, bound=False, off="disabled")
    bound = version >= (5, 5) or (line in _ALWAYS_THINK and version >= (5, 1))
    return Claude(adaptive=True, bound=bound, off=_off(line, version))


def _off(line: str, version: tuple[int, int]) -> Off:
    if line in _ALWAYS_THINK or (line == "opus" and version >= (5, 5)):
        return "always"
    return "between_tools" if line == "sonnet" and version >= (5, 5) else "disabled"


def plan(request: ModelRequest) -> Plan:
    """The thinking part of a request for its model and level."""
    limit = max(1, min(request.max_tokens, request.model.max_output))
    about = claude(request.model.id)
    if not (request.model.thinking and about.thinks):
        return Plan({}, limit, thoughts=False)
    if request.thinking == "off":
        return _without(about, limit)
    if about.adaptive:
        return _adaptive(about, "low" if request.thinking == "minimal" else request.thinking, limit)
    return _budget(request, limit)


def _without(about: Claude, limit: int) -> Plan:
    if about.off == "always":
        return _adaptive(about, "low", limit)
    # Thoughts of earlier rounds stay out: models that bind them to the history refuse them in this mode.
    return Plan({"thinking": {"type": about.off}}, limit, thoughts=False)


def _adaptive(about: Claude, effort: str, limit: int) -> Plan:
    # Newer models hide the text of their thoughts unless asked.
    thinking: dict[str, object] = {"type": "adaptive", "display": "summarized"}
    headers: tuple[tuple[str, str], ...] = ()
    if about.bound:
        # Modes and compaction change what stands before a thought; it is dropped then instead of refused.
        thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        headers = (BINDING_BETA,)
    return Plan({"thinking": thinking, "output_config": {"effort": effort}}, limit, headers)


def _budget(request: ModelRequest, limit: int) -> Plan:
    budget = _BUDGETS[request.thinking]
    limit = min(request.model.max_output, limit + budget)
    budget = min(budget, limit - max(_LEAST, limit // 4))
    if budget < _LEAST:
        warning = (
            f"{request.model.name} has no room to think within {limit} output tokens, so it answers without."
        )
        return Plan({"thinking": {"type": "disabled"}}, limit, thoughts=False, warning=warning)
    if not _loop_has_thoughts(request.messages):
        return Plan({"thinking": {"type": "disabled"}}, limit, thoughts=False)
    return Plan({"thinking": {"type": "enabled", "budget_tokens": budget}}, limit)


def _loop_has_thoughts(messages: tuple[Message, ...]) -> bool:
    """With a budget, the tool loop that is running must have begun with a thought; else it goes on without."""
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return True
        if isinstance(message, AssistantMessage) and any(isinstance(block, Call) for block in message.blocks):
            first = message.blocks[0]
            if not (
                isinstance(first, Thought | Foreign) and first.opaque and first.opaque.family == "anthropic"
            ):
                return False
    return True
