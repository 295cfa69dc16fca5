"""The replay script: what a turn streams, and what a malformed file is told."""

import json
from typing import Any

import pytest

from zidane_core.data.models import Broke, Called, Finished, ModelEvent, TextDelta, ThoughtDelta, Used
from zidane_core.data.outcome import Usage
from zidane_core.faults import Fault
from zidane_core.models.pacing import BATCH, Paced
from zidane_core.models.script import Script, read_script, script_steps


def script(*turns: dict[str, Any]) -> Script:
    return read_script(json.dumps({"turns": turns}).encode()).unwrap()


def fault(data: bytes | dict[str, Any]) -> Fault:
    return read_script(data if isinstance(data, bytes) else json.dumps(data).encode()).failure()


def steps(turn: dict[str, Any]) -> tuple[Paced, ...]:
    return script_steps(script(turn), 0)


def events(turn: dict[str, Any]) -> tuple[ModelEvent, ...]:
    return tuple(event for step in steps(turn) for event in step.events)


def broke(turn: dict[str, Any]) -> Broke:
    last = events(turn)[-1]
    assert isinstance(last, Broke)
    return last


def test_the_nth_request_gets_the_nth_turn_and_one_more_an_error_that_says_so() -> None:
    two = script({"text": "one"}, {"text": "two"})
    texts = [
        [e.text for s in script_steps(two, n) for e in s.events if isinstance(e, TextDelta)] for n in (0, 1)
    ]
    assert texts == [["one"], ["two"]]
    [[end]] = [step.events for step in script_steps(two, 2)]
    assert isinstance(end, Broke) and not end.retryable
    assert "exhausted" in end.fault.message and "request 3" in end.fault.message


def test_a_turn_streams_thinking_text_calls_usage_and_its_end_in_this_order() -> None:
    told = events(
        {
            "thinking": "Let me see.",
            "text": "I look. ",
            "tool": "read_file",
            "args": {"path": "a.txt"},
            "tools": [{"tool": "shell", "args": {"command": "ls"}}, {"tool": "list_files"}],
            "usage": {"input": 7, "output": 3, "total": 10},
        }
    )
    assert [type(event) for event in told] == [
        ThoughtDelta,
        TextDelta,
        Called,
        Called,
        Called,
        Used,
        Finished,
    ]
    calls = [(e.name, json.loads(e.arguments)) for e in told if isinstance(e, Called)]
    assert calls == [("read_file", {"path": "a.txt"}), ("shell", {"command": "ls"}), ("list_files", {})]
    assert len({e.id for e in told if isinstance(e, Called)}) == 3
    assert told[-2:] == (Used(Usage(input=7, output=3)), Finished("tool-calls"))


def test_without_calls_a_turn_ends_with_stop_unless_it_says_otherwise() -> None:
    assert events({"text": "x"})[-1] == Finished("stop")
    assert events({"text": "x", "finish": "length"})[-1] == Finished("length")
    assert events({"tool": "shell", "finish": "stop"})[-1] == Finished("stop")
    assert events({}) == (Finished("stop"),)


def test_the_pieces_of_a_text_are_the_text() -> None:
    text = "A longer answer, " * 40 + "\n\n```py\n  x = 1\n```\n" + "w" * 300 + "\r\nend "
    pieces = [event.text for event in events({"text": text}) if isinstance(event, TextDelta)]
    assert "".join(pieces) == text and len(pieces) > 20


def test_repeat_streams_the_text_so_often_in_batches() -> None:
    told = steps({"text": "chunk ", "repeat": 1000})
    assert [e for s in told for e in s.events] == [TextDelta("chunk ")] * 1000 + [Finished("stop")]
    assert max(len(step.events) for step in told) == BATCH


def test_the_delay_passes_before_the_first_event_or_before_each_repetition() -> None:
    assert [step.delay for step in steps({"text": "a b", "delay_ms": 40})] == [0.04, 0.0]
    assert [step.delay for step in steps({"text": "a", "repeat": 3, "delay_ms": 40})] == [0.04] * 3 + [0.0]
    assert sum(step.delay for step in steps({"tool": "shell", "delay_ms": 1500})) == 1.5
    assert sum(step.delay for step in steps({"error": {"status": 500}, "delay_ms": 1500})) == 1.5


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"status": 401, "body": {"error": {"message": "bad key"}}}, "auth", False),
        ({"status": 429, "body": "slow down", "retryAfter": 1.5}, "rate_limit", True),
        ({"status": 500}, "server", True),
        ({"status": 529}, "server", True),
        (
            {"status": 400, "body": {"error": {"message": "maximum context length exceeded"}}},
            "context_overflow",
            False,
        ),
        ({"status": 400, "body": {"error": {"message": "no such field"}}}, "invalid_request", False),
    ],
)
def test_an_error_is_what_a_provider_with_this_status_would_give(
    error: dict[str, Any], kind: str, retryable: bool
) -> None:
    end = broke({"error": error})
    assert end.fault.data is not None
    assert (end.fault.data["kind"], end.retryable, end.retry_after) == (
        kind,
        retryable,
        error.get("retryAfter"),
    )
    assert (end.fault.data["provider"], end.fault.data["status"]) == ("replay", error["status"])


def test_an_error_after_text_is_a_cut_in_the_answer() -> None:
    told = events({"text": "half an ans", "error": {"status": 500}})
    assert [type(event) for event in told] == [TextDelta, Broke]


def test_the_providers_names_of_token_counts_are_understood() -> None:
    told = events({"usage": {"prompt_tokens": 5, "completion_tokens": 2, "cache_read_input_tokens": 1}})
    assert told[0] == Used(Usage(input=5, output=2, cached_read=1))


MALFORMED: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (b"{", ("no JSON",)),
    (b"\xff", ("no JSON",)),
    (b"[]", ("object",)),
    ({}, ("turns",)),
    ({"turns": {}}, ("key `turns`", "array")),
    ({"turns": [{"text": "x"}, {"text": 5}]}, ("turn 2", "key `text`")),
    ({"turns": [{"txt": "x"}]}, ("turn 1", "txt")),
    ({"turns": [{"tools": [{"tool": "shell"}, {"args": {}}]}]}, ("turn 1", "key `tools[1]`", "tool")),
    ({"turns": [{"error": {"status": "500"}}]}, ("turn 1", "key `error.status`")),
    ({"turns": [{"error": {"status": 500, "retry_after": 1}}]}, ("turn 1", "key `error`", "retry_after")),
    ({"turns": [{"finish": "end_turn"}]}, ("turn 1", "key `finish`", "end_turn")),
    ({"turns": [{"repeat": 0}]}, ("turn 1", "key `repeat`")),
    ({"turns": [{"delay_ms": -1}]}, ("turn 1", "key `delay_ms`")),
    ({"turns": [{"usage": {"input": -1}}]}, ("turn 1", "key `usage")),
    ({"turns": [{"usage": {"tokens": 1}}]}, ("turn 1", "key `usage.tokens`")),
    ({"turns": [{}, {"args": {}}]}, ("turn 2", "key `args`")),
    ({"turns": [{"finish": "stop", "error": {"status": 500}}]}, ("turn 1", "key `finish`")),
)


@pytest.mark.parametrize(("data", "named"), MALFORMED, ids=[str(row[0])[:30] for row in MALFORMED])
def test_a_malformed_script_is_refused_naming_the_turn_and_the_key(data: Any, named: tuple[str, ...]) -> None:
    message = fault(data).message
    assert message.startswith("The replay script is malformed: ")
    for part in named:
        assert part in message


def test_remarks_beside_the_turns_and_a_byte_order_mark_are_accepted() -> None:
    assert read_script(b'\xef\xbb\xbf{"note": "for people", "turns": []}').unwrap() == Script(())


def test_deep_nesting_is_refused_and_does_not_raise() -> None:
    assert "no JSON" in fault(b'{"turns": ' + b"[" * 100_000).message
