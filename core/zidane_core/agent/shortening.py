"""What of a conversation can be shortened or cut off, so that the rest is still a valid one (ring 2)."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from zidane_core.agent.budget import size_of
from zidane_core.bounded import bounded
from zidane_core.data import content, models
from zidane_core.data.content import Part, Text

KEPT: Final = 1500
"""Bytes that are kept of a result that is shortened, half of them from its end."""

_SLACK: Final = 300
"""What a shortened result may be longer by, its note, so that it is not shortened again."""


def shortened(messages: Iterable[models.Message], upto: int) -> tuple[models.Message, ...]:
    """The messages, the results of tools in the first `upto` of them shortened. What is short already stays the same object."""
    return tuple(
        _results(message) if at < upto and isinstance(message, models.ResultsMessage) else message
        for at, message in enumerate(messages)
    )


def _results(message: models.ResultsMessage) -> models.ResultsMessage:
    results = tuple(map(_result, message.results))
    same = all(new is old for new, old in zip(results, message.results, strict=True))
    return message if same else models.ResultsMessage(results)


def _result(result: models.CallResult) -> models.CallResult:
    text = text_of(result.content)
    is_plain = all(isinstance(part, Text | content.Link) for part in result.content)
    if is_plain and size_in_bytes(text) <= KEPT + _SLACK:
        return result
    return replace(result, content=(Text(bounded(text, KEPT, keep="both")),))


def size_in_bytes(text: str) -> int:
    """The bytes of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def text_of(parts: tuple[Part, ...]) -> str:
    """Content as text alone; what is no text is named."""
    return "\n".join(map(_named, parts))


def _named(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, content.Link):
        return f"[{part.title or part.name}]({part.uri})"
    name = part.uri or (part.name if isinstance(part, content.Document) else None) or part.media_type
    what = type(part).__name__.lower()
    if isinstance(part, content.Document) and part.text is not None:
        return f"[{what}: {name}]\n{part.text}"
    return f"[{what} left out: {name}]"


def cut_of(messages: tuple[models.Message, ...], keep: int, at_least_one: bool = True) -> int:
    """Where the newest messages begin that together have at most `keep` tokens: at one of the user or of the model, never
    between calls and their results. With `at_least_one` the last such place even where they have more; 0 if there is none."""
    size, cut = 0, 0 if at_least_one else len(messages)
    for at in range(len(messages) - 1, 0, -1):
        size += size_of(messages[at])
        if size > keep and (cut or not at_least_one):
            break
        if not isinstance(messages[at], models.ResultsMessage):
            cut = at
    return cut
