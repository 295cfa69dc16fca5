"""Every recorded stream gives what the official packages accumulate from the same bytes, however it is split."""

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zidane_core.data.models import (
    Broke,
    Called,
    Finished,
    ForeignBlock,
    ModelEvent,
    TextDelta,
    ThoughtDelta,
    Used,
)
from zidane_core.data.outcome import Usage
from zidane_core.models.codec import Endpoint
from zidane_core.models.codecs import CODECS
from zidane_core.models.providers import PROVIDERS

DATA = Path(__file__).parents[2] / "data" / "provider-streams"
STREAMS = sorted(path.name for path in DATA.glob("*.sse"))
FAMILIES = {
    "anthropic": "anthropic",
    "openai-responses": "openai-responses",
}


def family_of(name: str) -> str:
    return FAMILIES.get(name.split("--")[0], "openai-chat")


def endpoint_of(family: str) -> Endpoint:
    row = next(row for row in PROVIDERS.values() if row.family == family)
    return Endpoint(
        name=row.name, title=row.title, family=row.family, base_url="http://test", quirks=row.quirks
    )


def decode(family: str, pieces: Iterable[bytes]) -> tuple[ModelEvent, ...]:
    codec = CODECS[family]  # type: ignore[index]  # one of the three families
    state = codec.start(endpoint_of(family))
    events: list[ModelEvent] = []
    for piece in pieces:
        state, more = codec.feed(state, piece)
        events.extend(more)
    return (*events, *codec.end(state))


def summary(events: tuple[ModelEvent, ...]) -> dict[str, Any]:
    used = [event.usage for event in events if isinstance(event, Used)]
    finished = [event for event in events if isinstance(event, Finished)]
    return {
        "text": "".join(event.text for event in events if isinstance(event, TextDelta)),
        "thinking": "".join(event.text for event in events if isinstance(event, ThoughtDelta)),
        "calls": [(e.id, e.name, json.loads(e.arguments)) for e in events if isinstance(e, Called)],
        "finish": finished[0].reason if finished else None,
        "usage": used[-1] if used else None,
        "broke": [
            event.fault.data["kind"] for event in events if isinstance(event, Broke) and event.fault.data
        ],
    }


# The oracles: the official packages, fed through a mock transport -----------------------------------


def transport(body: bytes) -> Any:
    import httpx2

    answer = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    return httpx2.Client(transport=httpx2.MockTransport(lambda request: answer))


def anthropic_oracle(body: bytes) -> dict[str, Any]:
    import anthropic

    client = anthropic.Anthropic(api_key="test", http_client=transport(body))
    with client.beta.messages.stream(
        model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}]
    ) as stream:
        message = stream.get_final_message()
    usage = message.usage
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    details = getattr(usage, "output_tokens_details", None)
    return {
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "thinking": "".join(block.thinking for block in message.content if block.type == "thinking"),
        "calls": [
            (block.id, block.name, block.input) for block in message.content if block.type == "tool_use"
        ],
        "finish": {"end_turn": "stop", "tool_use": "tool-calls", "max_tokens": "length"}[
            message.stop_reason or ""
        ],
        "usage": Usage(
            input=usage.input_tokens + read + written,
            output=usage.output_tokens,
            cached_read=read,
            cached_write=written,
            thought=details.thinking_tokens if details else 0,
        ),
        "broke": [],
    }


def foreign_blocks(body: bytes) -> list[dict[str, Any]]:
    import anthropic

    client = anthropic.Anthropic(api_key="test", http_client=transport(body))
    with client.beta.messages.stream(
        model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}]
    ) as stream:
        message = stream.get_final_message()
    blocks = [block.model_dump(exclude_unset=True) for block in message.content]
    # A thought without text cannot be shown, so that it is kept like the blocks of server tools.
    return [
        block for block in blocks if block["type"] not in ("text", "tool_use") and not block.get("thinking")
    ]


def chat_oracle(body: bytes) -> dict[str, Any]:
    import openai
    from openai.lib.streaming.chat import ChatCompletionStreamState

    client = openai.OpenAI(api_key="test", http_client=transport(body))
    state = ChatCompletionStreamState()
    thinking, usage, seen = "", None, False
    try:
        chunks = client.chat.completions.create(model="m", messages=[], stream=True)
        for chunk in chunks:
            if chunk.choices:
                seen = True
                extra = chunk.choices[0].delta.model_extra or {}
                thinking += extra.get("reasoning_content") or extra.get("reasoning") or ""
                extra.pop("annotations", None)  # its accumulator stumbles over lists without an index
            usage = chunk.usage or ((chunk.model_extra or {}).get("x_groq") or {}).get("usage") or usage
            state.handle_chunk(chunk)
    except openai.APIError:
        snapshot = state.current_completion_snapshot
        text = snapshot.choices[0].message.content or ""
        return {
            "text": text,
            "thinking": thinking,
            "calls": [],
            "finish": None,
            "usage": None,
            "broke": ["bad_response"],
        }
    assert seen
    choice = state.current_completion_snapshot.choices[0]
    finishes = {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool-calls",
        "content_filter": "content-filter",
    }
    calls = choice.message.tool_calls or []
    return {
        "text": choice.message.content or "",
        "thinking": thinking,
        "calls": [(call.id, call.function.name, json.loads(call.function.arguments)) for call in calls],
        "finish": finishes[choice.finish_reason],
        "usage": chat_usage(usage),
        "broke": [],
    }


def chat_usage(usage: Any) -> Usage:
    value = usage if isinstance(usage, dict) else usage.model_dump()
    given = value.get("prompt_tokens_details") or {}
    made = value.get("completion_tokens_details") or {}
    return Usage(
        input=value["prompt_tokens"],
        output=value["completion_tokens"],
        cached_read=given.get("cached_tokens") or 0,
        cached_write=given.get("cache_write_tokens") or 0,
        thought=made.get("reasoning_tokens") or 0,
    )


def responses_oracle(body: bytes) -> dict[str, Any]:
    import openai

    client = openai.OpenAI(api_key="test", http_client=transport(body))
    text = thinking = ""
    response: Any = None
    for event in client.responses.create(model="m", input="x", stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            thinking += event.delta
        elif event.type == "response.completed":
            response = event.response
    calls = [item for item in response.output if item.type == "function_call"]
    usage = response.usage
    assert text == response.output_text
    return {
        "text": text,
        "thinking": thinking,
        "calls": [(call.call_id, call.name, json.loads(call.arguments)) for call in calls],
        "finish": "tool-calls" if calls else "stop",
        "usage": Usage(
            input=usage.input_tokens,
            output=usage.output_tokens,
            cached_read=usage.input_tokens_details.cached_tokens,
            cached_write=getattr(usage.input_tokens_details, "cache_write_tokens", 0) or 0,
            thought=usage.output_tokens_details.reasoning_tokens,
        ),
        "broke": [],
    }


ORACLES: dict[str, Callable[[bytes], dict[str, Any]]] = {
    "anthropic": anthropic_oracle,
    "openai-chat": chat_oracle,
    "openai-responses": responses_oracle,
}


def test_there_are_recordings_of_every_family() -> None:
    assert {family_of(name) for name in STREAMS} == set(ORACLES)
    assert len(STREAMS) >= 50


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # the packages' own
@pytest.mark.parametrize("name", STREAMS)
def test_the_same_as_the_official_package(name: str) -> None:
    body = (DATA / name).read_bytes()
    ours = summary(decode(family_of(name), [body]))
    theirs = ORACLES[family_of(name)](body)
    assert ours == theirs


@pytest.mark.parametrize("name", STREAMS)
def test_byte_by_byte_gives_the_same_events(name: str) -> None:
    body = (DATA / name).read_bytes()
    at_once = decode(family_of(name), [body])
    assert decode(family_of(name), (body[at : at + 1] for at in range(len(body)))) == at_once
    assert isinstance(at_once[-1], Finished | Broke)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(
    st.sampled_from(STREAMS), st.lists(st.floats(0, 1), max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r"])
)
def test_any_split_and_any_line_end_give_the_same_events(
    name: str, cuts: list[float], newline: bytes
) -> None:
    body = (DATA / name).read_bytes()
    changed = body.replace(b"\r\n", b"\n").replace(b"\n", newline)
    places = sorted({int(cut * len(changed)) for cut in cuts} | {0, len(changed)})
    pieces = [changed[start:stop] for start, stop in pairwise(places)]
    assert decode(family_of(name), pieces) == decode(family_of(name), [body])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")  # the packages' own
@pytest.mark.parametrize("name", [name for name in STREAMS if name.startswith("anthropic--")])
def test_blocks_of_server_tools_are_kept_whole(name: str) -> None:
    body = (DATA / name).read_bytes()
    ours = [json.loads(e.opaque.data) for e in decode("anthropic", [body]) if isinstance(e, ForeignBlock)]
    theirs = foreign_blocks(body)
    assert [(block["type"], block.get("id"), block.get("input")) for block in ours] == [
        (block["type"], block.get("id"), block.get("input")) for block in theirs
    ]
    contents = [block.get("content") for block in theirs if isinstance(block.get("content"), str)]
    signatures = [block["signature"] for block in theirs if "signature" in block]
    assert [block["signature"] for block in ours if "signature" in block] == signatures
    assert [block["content"] for block in ours if isinstance(block.get("content"), str)] == contents
