"""The script of the replay model: a JSON file of turns, and what each turn streams (ring 1).

`{"turns": [...]}`; the N-th model request takes the N-th turn. docs/scripts.md describes every key.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.data.models import Broke, Called, Finished, ModelEvent, TextDelta, ThoughtDelta, Used
from zidane_core.data.outcome import FinishReason, Usage
from zidane_core.faults import ErrorCode, Fault, provider_fault
from zidane_core.fp import fold
from zidane_core.models.codec import Endpoint
from zidane_core.models.errors import fault
from zidane_core.models.pacing import Paced, batches, deltas, repeated
from zidane_core.text import decode_json

PROVIDER: Final = "replay"
ENDPOINT: Final = Endpoint(name=PROVIDER, title="The replay script", family="openai-chat", base_url="")
"""Whom the errors of a script name."""

Count = Annotated[int, msgspec.Meta(ge=0)]


class ScriptedCall(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A tool call: the tool's name and its arguments."""

    tool: str
    args: dict[str, object] = {}


class ScriptedError(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, rename="camel"):
    """A failure as a provider would send it: HTTP status, body (text, or JSON), seconds of `retry-after`."""

    status: Annotated[int, msgspec.Meta(ge=100, le=599)]
    body: object = ""
    retry_after: Annotated[float, msgspec.Meta(ge=0)] | None = None


class ScriptedTurn(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """What one model request gets: thinking, text, calls, then the end or the error."""

    thinking: str = ""
    text: str = ""
    tool: str | None = None
    args: dict[str, object] | None = None
    tools: tuple[ScriptedCall, ...] = ()
    finish: FinishReason | None = None
    usage: dict[str, Count] | None = None
    error: ScriptedError | None = None
    delay_ms: Annotated[float, msgspec.Meta(ge=0)] = 0
    repeat: Annotated[int, msgspec.Meta(ge=1)] = 1


class Script(msgspec.Struct, frozen=True, gc=False):
    """A script. Other keys beside `turns` are remarks for people."""

    turns: tuple[ScriptedTurn, ...]


USAGE_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("input", "input_tokens", "inputTokens", "prompt_tokens"), "input"),
        **dict.fromkeys(("output", "output_tokens", "outputTokens", "completion_tokens"), "output"),
        **dict.fromkeys(("cached_read", "cachedReadTokens", "cache_read_input_tokens"), "cached_read"),
        **dict.fromkeys(("cached_write", "cachedWriteTokens", "cache_creation_input_tokens"), "cached_write"),
        **dict.fromkeys(("thought", "thoughtTokens", "reasoning_tokens"), "thought"),
        **dict.fromkeys(("total", "total_tokens", "totalTokens"), ""),
    }
)
"""The keys of `usage`, ours and the providers' own; a total is accepted and not used."""


# Reading -------------------------------------------------------------------------------------------


def read_script(data: bytes) -> Result[Script, Fault]:
    """The script in the bytes of a file, or -32602 that names the turn and the key."""
    return fold(
        decode_json(data.removeprefix(b"\xef\xbb\xbf")),
        _checked,
        lambda problem: Failure(_malformed("", f"it is no JSON: {problem}")),
    )


def _checked(value: object) -> Result[Script, Fault]:
    try:
        script = msgspec.convert(value, Script)
    except msgspec.ValidationError as error:
        return Failure(_malformed(*_place(str(error))))
    contradictions = (_contradiction(index, turn) for index, turn in enumerate(script.turns))
    problem = next((found for found in contradictions if found is not None), None)
    return Success(script) if problem is None else Failure(problem)


def _malformed(place: str, problem: str) -> Fault:
    where = f"{place}: " if place else ""
    return Fault(
        ErrorCode.INVALID_PARAMS,
        f"The replay script is malformed: {where}{problem}. Its form is in docs/scripts.md.",
        {"field": "script"},
    )


_PATH: Final = re.compile(r"(?P<problem>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_TURN: Final = re.compile(r"\.turns\[(?P<index>\d+)\](?P<rest>.*)", re.DOTALL)


def _place(message: str) -> tuple[str, str]:
    """("turn 3, key `error.status`", "expected ...") from what msgspec says about "$.turns[2].error.status"."""
    match = _PATH.fullmatch(message)
    problem, path = (match["problem"], match["path"] or "") if match is not None else (message, "")
    said = problem[:1].lower() + problem[1:]
    turn = _TURN.fullmatch(path)
    if turn is None:
        return (f"key `{path[1:]}`" if path else "", said)
    key = turn["rest"].lstrip(".")
    return (_turn_name(int(turn["index"])) + (f", key `{key}`" if key else ""), said)


def _turn_name(index: int) -> str:
    return f"turn {index + 1}"


def _contradiction(index: int, turn: ScriptedTurn) -> Fault | None:
    """What the types alone cannot see."""
    if turn.args is not None and turn.tool is None:
        return _malformed(f"{_turn_name(index)}, key `args`", "there is no `tool` that takes them")
    unknown = next((name for name in turn.usage or () if name not in USAGE_NAMES), None)
    if unknown is not None:
        return _malformed(f"{_turn_name(index)}, key `usage.{unknown}`", "it is no count of tokens")
    if turn.error is not None and turn.finish is not None:
        return _malformed(f"{_turn_name(index)}, key `finish`", "a turn with `error` has no finish")
    return None


# Streaming -----------------------------------------------------------------------------------------


def script_steps(script: Script, index: int) -> tuple[Paced, ...]:
    """What the model request number `index` (from 0) gets; past the end an error that says so."""
    if index < len(script.turns):
        return turn_events(script.turns[index], index)
    count = len(script.turns)
    end = provider_fault(
        "invalid_request",
        f"The replay script is exhausted: it has {count} {'turn' if count == 1 else 'turns'} and this is model "
        f"request {index + 1}. Add a turn to the script.",
        provider=PROVIDER,
    )
    return (Paced((Broke(end),)),)


def turn_events(turn: ScriptedTurn, index: int) -> tuple[Paced, ...]:
    """The turn's events: thinking, text, calls, usage, end.

    `delay_ms` passes once before the first event. With `repeat` above 1 the text is one delta that comes so
    often, and the delay passes before each of them. An error after text is a cut in the middle of an answer.
    """
    delay = turn.delay_ms / 1000
    opening = Paced(tuple(map(_thought, deltas(turn.thinking))), delay)
    calls = ((ScriptedCall(turn.tool, turn.args or {}),) if turn.tool is not None else ()) + turn.tools
    closing = (
        *(_called(call, index, n) for n, call in enumerate(calls)),
        *_used(turn),
        _last(turn, bool(calls)),
    )
    if turn.repeat > 1 and turn.text:
        before = (opening,) if opening.events else ()
        return (*before, *repeated(TextDelta(turn.text), turn.repeat, delay), Paced(closing))
    return (opening, *batches((*deltas(turn.text), *closing)))


def _thought(event: ModelEvent) -> ModelEvent:
    return ThoughtDelta(event.text) if isinstance(event, TextDelta) else event


def _called(call: ScriptedCall, index: int, number: int) -> Called:
    return Called(f"{PROVIDER}-{index}-{number}", call.tool, msgspec.json.encode(call.args).decode())


def _used(turn: ScriptedTurn) -> tuple[Used, ...]:
    if turn.usage is None:
        return ()
    counts = {field: count for name, count in turn.usage.items() if (field := USAGE_NAMES[name])}
    return (Used(msgspec.convert(counts, Usage)),)


def _last(turn: ScriptedTurn, calls: bool) -> ModelEvent:
    if turn.error is not None:
        return _broke(turn.error)
    return Finished(turn.finish or ("tool-calls" if calls else "stop"))


def _broke(error: ScriptedError) -> Broke:
    body = error.body.encode() if isinstance(error.body, str) else msgspec.json.encode(error.body)
    headers = {} if error.retry_after is None else {"retry-after": f"{error.retry_after:g}"}
    # No clock is needed: `retry-after` is given in seconds here, never as a date.
    return fault(ENDPOINT, error.status, headers, body, now=0.0)
