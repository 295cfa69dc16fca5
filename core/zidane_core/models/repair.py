"""A history that every provider accepts (ring 1).

Whatever was stopped, lost or edited: each call has exactly one result right behind its message, no result
is without its call, and nothing is empty.
"""

from collections.abc import Mapping

from zidane_core.data.content import Part, Text
from zidane_core.data.models import (
    AssistantBlock,
    AssistantMessage,
    Call,
    CallResult,
    Message,
    ResultsMessage,
    Said,
    Thought,
    UserMessage,
)
from zidane_core.text import decode_json, is_object

INTERRUPTED = "This call was interrupted; whether it did anything is unknown."
EMPTY = "(empty)"


def repair(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The history made valid; a valid one comes back with the same meaning."""
    results = _first_results(messages)
    repaired: list[Message] = []
    seen: set[str] = set()
    for message in messages:
        if isinstance(message, UserMessage):
            repaired.append(_user(message))
        elif isinstance(message, AssistantMessage):
            blocks = _blocks(message, seen)
            calls = tuple(block for block in blocks if isinstance(block, Call))
            seen |= {call.id for call in calls}
            if blocks:
                repaired.append(AssistantMessage(blocks))
            if calls:
                repaired.append(ResultsMessage(tuple(_result(call, results) for call in calls)))
    return tuple(repaired)


def _first_results(messages: tuple[Message, ...]) -> Mapping[str, CallResult]:
    found: dict[str, CallResult] = {}
    for message in messages:
        if isinstance(message, ResultsMessage):
            for result in message.results:
                found.setdefault(result.id, result)
    return found


def _result(call: Call, results: Mapping[str, CallResult]) -> CallResult:
    result = results.get(call.id)
    if result is None:
        return CallResult(call.id, call.name, (Text(INTERRUPTED),), failed=True)
    content = without_empty(result.content)
    return CallResult(call.id, call.name, content, result.failed)


def _user(message: UserMessage) -> UserMessage:
    parts = without_empty(message.parts)
    return UserMessage(parts or (Text(EMPTY),))


def without_empty(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts without empty texts, which Anthropic refuses."""
    return tuple(part for part in parts if not (isinstance(part, Text) and not part.text.strip()))


def _blocks(message: AssistantMessage, seen: set[str]) -> tuple[AssistantBlock, ...]:
    """The blocks that say something; a call whose id came before, in this message or an earlier one, goes."""
    kept: list[AssistantBlock] = []
    here: set[str] = set()
    for block in message.blocks:
        if isinstance(block, Call):
            if block.id in seen or block.id in here:
                continue
            here.add(block.id)
        elif not _says_something(block):
            continue
        kept.append(block)
    return tuple(kept)


def _says_something(block: AssistantBlock) -> bool:
    if isinstance(block, Said):
        return bool(block.text.strip())
    return not isinstance(block, Thought) or bool(block.text) or block.opaque is not None


def arguments_object(arguments: str) -> dict[str, object]:
    """A call's arguments as the object that providers ask for; broken ones are kept as text under `arguments`."""
    value: object = decode_json(arguments or "{}").value_or(None)
    if is_object(value):
        return dict(value)
    return {"arguments": arguments}
