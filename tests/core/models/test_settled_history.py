"""What is kept of one request for the next never changes what is sent."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_core.data.content import Image, Text
from zidane_core.data.models import (
    AssistantMessage,
    Call,
    CallResult,
    Foreign,
    Message,
    ModelChoice,
    ModelRequest,
    Opaque,
    ResultsMessage,
    Said,
    Thought,
    UserMessage,
)
from zidane_core.models import providers, settled
from zidane_core.models.codecs import CODECS

PROVIDERS = ["anthropic", "openai", "mistral", "openrouter", "deepseek", "openai-responses", "ollama"]
SIGNED = Opaque("anthropic", '{"signature":"s"}')
USER = st.sampled_from(
    [
        UserMessage((Text("hello"),)),
        UserMessage((Text(""),)),
        UserMessage((Text("see"), Image("image/png", "aGk="), Image("image/tiff", "aGk="))),
    ]
)
SAID = st.lists(
    st.sampled_from(
        [Said("yes"), Said("\ud800"), Thought("hm", SIGNED), Foreign(Opaque("anthropic", '{"type":"x"}'))]
    ),
    max_size=3,
)
ROUND = st.tuples(SAID, st.integers(0, 2), st.booleans())
TURN = st.tuples(USER, st.lists(ROUND, max_size=3))


def history(turns: list[tuple[UserMessage, list[tuple[list[object], int, bool]]]]) -> tuple[Message, ...]:
    """Turns as the machine makes them: every call has an id of its own, results may be missing after a stop."""
    ids, made = count(), list[Message]()
    for user, rounds in turns:
        made.append(user)
        for said, calls, answered in rounds:
            called = [Call(f"call_{next(ids)}", "f", "{}") for _ in range(calls)]
            if said or called:
                made.append(AssistantMessage((*said, *called)))  # type: ignore[arg-type]
            if called and answered:
                made.append(ResultsMessage(tuple(CallResult(c.id, "f", (Text("r"),)) for c in called)))
    return tuple(made)


def request(messages: tuple[Message, ...], model: ModelChoice) -> ModelRequest:
    return ModelRequest(model=model, system="Be short.", messages=messages, thinking="low")


@pytest.mark.parametrize("provider", PROVIDERS)
@given(turns=st.lists(TURN, min_size=1, max_size=7))
def test_a_request_with_what_was_kept_is_the_same_request(provider: str, turns: list[object]) -> None:
    endpoint = providers.endpoint(provider, {}).unwrap()
    model = ModelChoice(value="m", name="M", provider=provider, id="m", thinking=provider != "ollama")
    codec, before = CODECS[endpoint.family], None
    whole = history(turns)  # type: ignore[arg-type]
    ends = [place for place in range(1, len(whole) + 1) if not isinstance(whole[place - 1], AssistantMessage)]
    for end in ends:
        part = whole[:end]
        fresh, warned = codec.build(endpoint, request(part, model))
        again, told = codec.build(endpoint, request(part, model), before)
        assert again.body == fresh.body
        assert told == warned
        before = again.settled


def long(turns: int) -> tuple[Message, ...]:
    return (*history([(UserMessage((Text(f"{n}"),)), [([Said("ok")], 0, True)]) for n in range(turns)]),)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_only_what_is_new_is_encoded(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = providers.endpoint(provider, {}).unwrap()
    model = ModelChoice(value="m", name="M", provider=provider, id="m")
    codec = CODECS[endpoint.family]
    messages = long(50)
    first, _ = codec.build(endpoint, request(messages[:-2], model))
    assert first.settled is not None
    seen: list[int] = []
    settle = settled.settle

    def counted(whole, turns, key, before, encode):  # type: ignore[no-untyped-def]
        def spy(part: tuple[Message, ...]) -> object:
            seen.append(len(part))
            return encode(part)

        return settle(whole, turns, key, before, spy)

    for module in ("anthropic_request", "openai_chat_request", "openai_responses_request"):
        monkeypatch.setattr(f"zidane_core.models.{module}.settle", counted)
    codec.build(endpoint, request(messages, model), first.settled)
    assert sum(seen) <= 2


def test_another_model_or_another_history_starts_anew() -> None:
    endpoint = providers.endpoint("openai", {}).unwrap()
    model = ModelChoice(value="m", name="M", provider="openai", id="m")
    codec = CODECS[endpoint.family]
    kept = codec.build(endpoint, request(long(9), model))[0].settled
    other = ModelChoice(value="n", name="N", provider="openai", id="n", images=False)
    for messages, chosen in ((long(10), other), (tuple(reversed(long(10))), model), (long(2), model)):
        fresh, _ = codec.build(endpoint, request(messages, chosen))
        assert codec.build(endpoint, request(messages, chosen), kept)[0].body == fresh.body


def test_nothing_is_kept_of_a_history_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settled, "LARGEST", 10)
    endpoint = providers.endpoint("openai", {}).unwrap()
    model = ModelChoice(value="m", name="M", provider="openai", id="m")
    assert CODECS[endpoint.family].build(endpoint, request(long(9), model))[0].settled is None
