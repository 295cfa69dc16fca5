"""The offline model: a deterministic answer to every request, without any language model (ring 1).

It works through the same loop as a real model: a command becomes a tool call, the call's result becomes
Markdown. All it knows about the machine comes as `facts`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec

from zidane_core.data.content import Document, Link, Part, Text
from zidane_core.data.models import (
    AssistantMessage,
    Call,
    Called,
    Finished,
    Message,
    ModelEvent,
    ModelRequest,
    ResultsMessage,
    TextDelta,
    UserMessage,
)
from zidane_core.models.offline_commands import (
    PARSERS,
    CountWanted,
    ToolWanted,
    Wanted,
    WordsWanted,
    command_of,
)
from zidane_core.models.offline_quoting import Malformed
from zidane_core.models.offline_results import worded
from zidane_core.models.offline_words import (
    help_text,
    malformed_text,
    missing_tool_text,
    other_text,
    setup_text,
    unknown_text,
)
from zidane_core.models.pacing import Paced, batches, deltas

OfflineStep = Paced
"""Events, and the pause in seconds before them."""

TOPICS: Final[Mapping[str, Callable[[str], str]]] = MappingProxyType({"help": help_text, "setup": setup_text})
"""The commands that are answered by words alone; the words take the facts."""

_STOP: Final = Paced((Finished("stop"),))


def answer(request: ModelRequest, facts: str = "") -> tuple[OfflineStep, ...]:
    """The whole answer: it ends with `Finished("stop")`, or with one call and `Finished("tool-calls")`.

    `facts` are sentences about the machine in Markdown (which keys were found by name, a local Ollama).
    """
    last = request.messages[-1] if request.messages else None
    if isinstance(last, ResultsMessage):
        return _said(_results_text(request.messages, last))
    text = _last_text(request.messages)
    match command_of(text):
        case None:
            return _said(other_text(text, facts))
        case (name, _) if name not in PARSERS:
            return _said(unknown_text(name))
        case (name, rest):
            return _performed(request, name, PARSERS[name](rest), facts)


def wants_facts(request: ModelRequest) -> bool:
    """Whether the answer would use `facts`, so that the shell looks for them only then."""
    if request.messages and isinstance(request.messages[-1], ResultsMessage):
        return False
    command = command_of(_last_text(request.messages))
    return command is None or command[0] in TOPICS


def _performed(request: ModelRequest, name: str, wanted: Wanted, facts: str) -> tuple[OfflineStep, ...]:
    match wanted:
        case Malformed(problem=problem):
            return _said(malformed_text(name, problem))
        case WordsWanted(topic=topic):
            return _said(TOPICS[topic](facts))
        case CountWanted(upto=upto, delay=delay):
            return (*_counted(upto, delay), _STOP)
        case ToolWanted(tool=tool) if all(spec.name != tool for spec in request.tools):
            return _said(missing_tool_text(name, tool))
        case ToolWanted(sentence=sentence, tool=tool, arguments=arguments):
            # The id only has to differ from the earlier ones of this conversation; it says nothing.
            call = Called(f"offline-{len(request.messages)}", tool, msgspec.json.encode(arguments).decode())
            return (*batches(deltas(sentence + "\n")), Paced((call, Finished("tool-calls"))))


def _counted(upto: int, delay: float) -> tuple[OfflineStep, ...]:
    numbers: tuple[ModelEvent, ...] = tuple(TextDelta(f"{number}\n") for number in range(1, upto + 1))
    return tuple(Paced((number,), delay) for number in numbers) if delay > 0 else batches(numbers)


def _said(text: str) -> tuple[OfflineStep, ...]:
    return (*batches(deltas(text)), _STOP)


# The conversation ----------------------------------------------------------------------------------


def _last_text(messages: tuple[Message, ...]) -> str:
    """The text of the last thing the user said; files mentioned in a command stand in it by their paths."""
    parts = next((m.parts for m in reversed(messages) if isinstance(m, UserMessage)), ())
    text = "".join(part.text for part in parts if isinstance(part, Text))
    return "".join(map(_as_typed, parts)) if command_of(text) is not None else text


def _as_typed(part: Part) -> str:
    """A part as the user would have typed it; editors send a mentioned file as a link between two texts."""
    match part:
        case Text(text=text):
            return text
        case Link(uri=uri) | Document(uri=str() as uri):
            url = urlsplit(uri)
            path = unquote(url.path) if url.scheme == "file" else uri
            return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case _:
            return ""


def _results_text(messages: tuple[Message, ...], results: ResultsMessage) -> str:
    calls = {
        block.id: block
        for message in messages[-2:-1]
        if isinstance(message, AssistantMessage)
        for block in message.blocks
        if isinstance(block, Call)
    }
    command = command_of(_last_text(messages))
    name = command[0] if command is not None else ""
    return "\n".join(worded(name, calls.get(result.id), result) for result in results.results)
