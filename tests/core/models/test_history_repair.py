"""Any history, also a nonsensical one, becomes one that every provider accepts."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from zidane_core.data.content import Text
from zidane_core.data.models import (
    AssistantMessage,
    Call,
    CallResult,
    Message,
    ModelChoice,
    ModelRequest,
    Opaque,
    ResultsMessage,
    Said,
    Thought,
    UserMessage,
)
from zidane_core.models.codecs import CODECS
from zidane_core.models.ids import call_id, tool_name
from zidane_core.models.providers import endpoint
from zidane_core.models.repair import INTERRUPTED, repair

IDS = st.sampled_from(["a", "b", "c", "turn 1:2", "x" * 60])
TEXTS = st.sampled_from(["", " ", "hello", "\ud800", "中"])
PARTS = st.lists(TEXTS.map(Text), max_size=2).map(tuple)
CALLS = st.builds(
    Call, IDS, st.sampled_from(["f", "", "no such name!"]), st.sampled_from(["", "{}", "[1]", "{", "null"])
)
SIGNED = st.just(Opaque("anthropic", '{"signature":"s"}'))
BLOCKS = st.one_of(TEXTS.map(Said), CALLS, st.builds(Thought, TEXTS, st.none() | SIGNED))
RESULTS = st.builds(CallResult, IDS, st.just("f"), PARTS, st.booleans())
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(UserMessage, PARTS),
    st.builds(AssistantMessage, st.lists(BLOCKS, max_size=4).map(tuple)),
    st.builds(ResultsMessage, st.lists(RESULTS, max_size=3).map(tuple)),
)
HISTORIES = st.lists(MESSAGES, max_size=8).map(tuple)


def calls_of(message: Message) -> list[str]:
    blocks = message.blocks if isinstance(message, AssistantMessage) else ()
    return [block.id for block in blocks if isinstance(block, Call)]


@given(HISTORIES)
def test_every_call_has_its_result_right_behind(history: tuple[Message, ...]) -> None:
    repaired = repair(history)
    expected: list[str] = []
    for message in repaired:
        if isinstance(message, ResultsMessage):
            assert [result.id for result in message.results] == expected
            expected = []
            continue
        assert expected == []
        expected = calls_of(message)
    assert expected == []
    every = [one for message in repaired for one in calls_of(message)]
    assert len(every) == len(set(every))
    assert repair(repaired) == repaired


def test_a_valid_history_stays_as_it_is() -> None:
    history = (
        UserMessage((Text("hi"),)),
        AssistantMessage((Said("ok"), Call("a", "f", "{}"))),
        ResultsMessage((CallResult("a", "f", (Text("done"),)),)),
        AssistantMessage((Said("bye"),)),
    )
    assert repair(history) == history


def test_a_missing_result_says_so() -> None:
    repaired = repair((AssistantMessage((Call("a", "f", "{}"),)),))
    assert repaired[1] == ResultsMessage((CallResult("a", "f", (Text(INTERRUPTED),), failed=True),))


def body_of(provider: str, history: tuple[Message, ...]) -> dict[str, Any]:
    where = endpoint(provider, {}).unwrap()
    model = ModelChoice(value="m", name="m", provider=provider, id="claude-haiku-4-5", max_output=32000)
    request = ModelRequest(model=model, system="", messages=history, thinking="low")
    body: dict[str, Any] = json.loads(CODECS[where.family].build(where, request)[0].body)
    return body


@settings(max_examples=200)
@given(HISTORIES)
def test_anthropic_accepts_it(history: tuple[Message, ...]) -> None:
    messages = body_of("anthropic", history)["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    open_calls: list[str] = []
    for message in messages:
        blocks = message["content"]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert results == open_calls
        assert [block["type"] for block in blocks][: len(results)] == ["tool_result"] * len(results)
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert blocks
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        assert all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use")


@settings(max_examples=200)
@given(HISTORIES, st.sampled_from(["openai", "mistral"]))
def test_chat_accepts_it(history: tuple[Message, ...], provider: str) -> None:
    waiting: list[str] = []
    before = ""
    for message in body_of(provider, history)["messages"]:
        role = message["role"]
        if role == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert message["content"]
        else:
            assert not waiting
            assert message["content"] or message.get("tool_calls")
            assert not (provider == "mistral" and role == "user" and before == "tool")
        for call in message.get("tool_calls", ()):
            waiting.append(call["id"])
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert call["function"]["name"]
        before = role
    assert not waiting


@given(st.text(), st.text())
def test_ids_fit_stay_the_same_and_stay_different(one: str, other: str) -> None:
    for rule, longest in (("anthropic", 64), ("openai", 40), ("mistral", 9)):
        made = call_id(one, rule)  # type: ignore[arg-type]  # a row of the table
        assert made == call_id(one, rule)  # type: ignore[arg-type]  # a row of the table
        assert made.isascii()
        assert 0 < len(made) <= longest
        if one != other:
            assert made != call_id(other, rule)  # type: ignore[arg-type]  # a row of the table
    assert 0 < len(tool_name(one)) <= 64
