"""Requests: tables of histories and settings, and every body against the official packages' parameter types."""

import base64
import json
from functools import cache
from typing import Any

import pytest

from zidane_core.data.content import Audio, Document, Image, Link, Part, Text
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
    ThinkingLevel,
    Thought,
    UserMessage,
)
from zidane_core.data.tools import ToolSpec
from zidane_core.models.codecs import CODECS
from zidane_core.models.providers import PROVIDERS, endpoint, models

PNG = base64.b64encode(b"\x89PNG fake").decode()
PDF = base64.b64encode(b"%PDF-1.7 fake").decode()
TOOL = ToolSpec(
    name="read_file",
    description="Read a file.",
    schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
ALL = tuple(name for name in PROVIDERS if name != "openai-compatible")


def choice(provider: str, **changes: Any) -> ModelChoice:
    known = models(provider)
    fields = {"images": True, "audio": True, "documents": True, "thinking": True, "max_output": 16384}
    model = known[0].id if known else "some-model"
    return ModelChoice(
        value=model, name="The Model", provider=provider, id=changes.pop("id", model), **{**fields, **changes}
    )


def build(
    provider: str, *messages: Message, model: ModelChoice | None = None, **fields: Any
) -> tuple[Any, Any]:
    base = "http://127.0.0.1:1/v1" if provider == "openai-compatible" else None
    where = endpoint(provider, {}, base).unwrap()
    request = ModelRequest(
        model=model or choice(provider), system=fields.pop("system", ""), messages=messages, **fields
    )
    sent, warnings = CODECS[where.family].build(where, request)
    return json.loads(sent.body), warnings


def request_of(provider: str) -> Any:
    where = endpoint(provider, {}).unwrap()
    request = ModelRequest(model=choice(provider), system="", messages=(UserMessage((Text("hi"),)),))
    return CODECS[where.family].build(where, request)[0]


def signed(text: str = "hm") -> Thought:
    return Thought(text, Opaque("anthropic", json.dumps({"signature": "c2ln"})))


REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "abc"}
DETAILS = [
    {"type": "reasoning.text", "text": "hm", "signature": "s", "format": "anthropic-claude-v1", "index": 0}
]

# A history with a piece of everything, also of other families.
HISTORY: tuple[Message, ...] = (
    UserMessage(
        (
            Text("Look at these."),
            Image("image/png", PNG),
            Audio("audio/wav", PNG),
            Document(uri="file:///a.pdf", name="a.pdf", media_type="application/pdf", data=PDF),
            Document(uri="file:///a.py", media_type="text/x-python", text="print(1)"),
            Link("file:///b.txt", "b.txt"),
            Text(""),
        )
    ),
    AssistantMessage(
        (
            signed(),
            Thought("chat thought"),
            Thought("responses thought", Opaque("openai-responses", json.dumps(REASONING))),
            Foreign(Opaque("openrouter", json.dumps(DETAILS))),
            Foreign(Opaque("anthropic", json.dumps({"type": "redacted_thinking", "data": "xyz"}))),
            Said("I will read."),
            Call("turn/1:call 1", "read_file", '{"path": "a.py"}'),
            Call("call-2", "read file!", "{broken"),
        )
    ),
    ResultsMessage(
        (
            CallResult("turn/1:call 1", "read_file", (Text("text"), Image("image/png", PNG))),
            CallResult("call-2", "read file!", (Text("no such tool"),), failed=True),
        )
    ),
    UserMessage((Text("Go on."),)),
    AssistantMessage((Said("Done."),)),
    UserMessage((Text("Thanks, and now?"),)),
)


@cache
def parameters(family: str) -> Any:
    """The official package's own type of a request; kept, since its lists are checked lazily."""
    from pydantic import TypeAdapter

    if family == "anthropic":
        from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming as Params

        return TypeAdapter(Params)
    if family == "openai-chat":
        from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming as ChatParams

        return TypeAdapter(ChatParams)
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming as ResponseParams

    return TypeAdapter(ResponseParams)


def validated(provider: str, body: dict[str, Any]) -> None:
    """The body fits the official type, which lets pass fields that it does not know."""
    exhaust(parameters(PROVIDERS[provider].family).validate_python(body))


def exhaust(value: Any) -> None:
    """Lists are checked only when they are walked through."""
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, str) or not hasattr(value, "__iter__"):
        return
    for item in value:
        exhaust(item)


@pytest.mark.parametrize("level", ["off", "minimal", "low", "medium", "high"])
@pytest.mark.parametrize("provider", [*ALL, "openai-compatible"])
def test_every_body_fits_the_official_types(provider: str, level: ThinkingLevel) -> None:
    body, _ = build(provider, *HISTORY, system="Be brief.", tools=(TOOL,), thinking=level)
    validated(provider, body)
    assert body["stream"] is True
    assert body["model"] == choice(provider).id


def test_the_official_types_refuse_what_is_wrong() -> None:
    from pydantic import ValidationError

    for provider, path in (("anthropic", "messages"), ("openai", "messages"), ("openai-responses", "input")):
        body, _ = build(provider, *HISTORY)
        with pytest.raises(ValidationError):
            validated(provider, {**body, path: [{"role": "nobody"}]})


# Pairs of calls and results -------------------------------------------------------------------------


def chat_pairs(body: dict[str, Any]) -> tuple[list[str], list[str]]:
    calls = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
    return calls, [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]


@pytest.mark.parametrize(
    ("provider", "pattern"),
    [("openai", r"[\w-]{1,40}"), ("mistral", r"[a-zA-Z0-9]{9}"), ("groq", r"[\w-]{1,40}")],
)
def test_chat_ids_fit_and_match(provider: str, pattern: str) -> None:
    import re

    calls, results = chat_pairs(build(provider, *HISTORY)[0])
    assert calls == results
    assert len(set(calls)) == 2
    assert all(re.fullmatch(pattern, one) for one in calls)


def test_anthropic_ids_fit_and_results_stand_first_in_the_next_user_message() -> None:
    import re

    body, _ = build("anthropic", *HISTORY, thinking="high")
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    calls = [block["id"] for block in body["messages"][1]["content"] if block["type"] == "tool_use"]
    after = body["messages"][2]["content"]
    assert [block["type"] for block in after] == ["tool_result", "tool_result", "text"]
    assert [block["tool_use_id"] for block in after[:2]] == calls
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", one) for one in calls)
    assert after[1]["is_error"] is True
    assert [block["type"] for block in after[0]["content"]] == ["text", "image"]


def test_responses_items_match() -> None:
    body, _ = build("openai-responses", *HISTORY)
    calls = [item["call_id"] for item in body["input"] if item["type"] == "function_call"]
    outputs = [item["call_id"] for item in body["input"] if item["type"] == "function_call_output"]
    assert calls == outputs
    assert len(set(calls)) == 2
    picture = next(item for item in body["input"] if item["type"] == "function_call_output")
    assert [part["type"] for part in picture["output"]] == ["input_text", "input_image"]


@pytest.mark.parametrize("provider", ALL)
def test_broken_arguments_and_names_go_back_as_valid_ones(provider: str) -> None:
    text = json.dumps(build(provider, *HISTORY)[0])
    assert "read_file_" in text
    assert "read file!" not in text
    assert "{broken" in text  # kept, as a text inside an object


@pytest.mark.parametrize("provider", ALL)
def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_goes(provider: str) -> None:
    body, _ = build(
        provider,
        UserMessage((Text("hi"),)),
        ResultsMessage((CallResult("ghost", "read_file", (Text("boo"),)),)),
        AssistantMessage((Call("one", "read_file", "{}"),)),
        UserMessage((Text("stop"),)),
    )
    text = json.dumps(body)
    assert "interrupted" in text
    assert "ghost" not in text
    assert "boo" not in text
    validated(provider, body)


def test_a_result_finds_its_call_across_a_user_message() -> None:
    body, _ = build(
        "openai",
        UserMessage((Text("hi"),)),
        AssistantMessage((Call("one", "read_file", "{}"),)),
        UserMessage((Text("wait"),)),
        ResultsMessage((CallResult("one", "read_file", (Text("found"),)),)),
    )
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool", "user"]
    assert body["messages"][2]["content"] == "found"


# Thinking -------------------------------------------------------------------------------------------

SILENT = (None, None)
CLAUDE = [
    ("claude-sonnet-4-5", "off", {"type": "disabled"}, None),
    ("claude-sonnet-4-5", "low", {"type": "enabled", "budget_tokens": 4096}, None),
    ("claude-haiku-4-5-20251001", "minimal", {"type": "enabled", "budget_tokens": 1024}, None),
    ("claude-3-7-sonnet-20250219", "medium", {"type": "enabled", "budget_tokens": 10000}, None),
    ("claude-3-5-haiku-latest", "high", None, None),
    ("claude-opus-4-6", "medium", {"type": "adaptive", "display": "summarized"}, "medium"),
    ("claude-opus-4-8", "off", {"type": "disabled"}, None),
    ("claude-sonnet-5", "minimal", {"type": "adaptive", "display": "summarized"}, "low"),
    ("claude-opus-5", "off", {"type": "disabled"}, None),
    ("claude-haiku-5-5", "off", {"type": "disabled"}, None),
    ("claude-sonnet-5-5", "off", {"type": "between_tools"}, None),
    (
        "claude-opus-5-5",
        "off",
        {
            "type": "adaptive",
            "display": "summarized",
            "block_binding": {"prefix_mismatch_behavior": "drop_block"},
        },
        "low",
    ),
    (
        "claude-fable-5-2",
        "high",
        {
            "type": "adaptive",
            "display": "summarized",
            "block_binding": {"prefix_mismatch_behavior": "drop_block"},
        },
        "high",
    ),
    ("claude-mythos-5", "low", {"type": "adaptive", "display": "summarized"}, "low"),
    ("some-other-model", "high", {"type": "enabled", "budget_tokens": 24000}, None),
]


@pytest.mark.parametrize(("model", "level", "thinking", "effort"), CLAUDE)
def test_claude_thinking(model: str, level: ThinkingLevel, thinking: Any, effort: str | None) -> None:
    picked = choice("anthropic", id=model, max_output=64000)
    body, _ = build("anthropic", *HISTORY[:1], model=picked, thinking=level, max_tokens=8000)
    assert body.get("thinking") == thinking
    assert body.get("output_config", {}).get("effort") == effort
    if thinking and "budget_tokens" in thinking:
        assert thinking["budget_tokens"] + 1024 <= body["max_tokens"] <= 64000


def test_a_budget_leaves_room_for_the_answer_and_a_small_limit_leaves_none() -> None:
    small = choice("anthropic", id="claude-sonnet-4-5", max_output=8192)
    body, warnings = build("anthropic", *HISTORY[:1], model=small, thinking="high", max_tokens=8192)
    assert body["max_tokens"] == 8192
    assert 1024 <= body["thinking"]["budget_tokens"] <= 8192 - 2048
    assert "no room" not in "".join(warnings)
    tiny = choice("anthropic", id="claude-sonnet-4-5", max_output=1500)
    body, warnings = build("anthropic", *HISTORY[:1], model=tiny, thinking="high", max_tokens=1500)
    assert body["thinking"] == {"type": "disabled"}
    assert "no room to think" in warnings[-1]


def test_thoughts_go_back_signed_and_only_to_their_family() -> None:
    body, _ = build("anthropic", *HISTORY, thinking="high")
    assert body["messages"][1]["content"][:2] == [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "xyz"},
    ]
    assert "chat thought" not in json.dumps(body)
    quiet, _ = build("anthropic", *HISTORY, model=choice("anthropic", id="claude-haiku-5-5"), thinking="off")
    assert "thinking" not in [block["type"] for message in quiet["messages"] for block in message["content"]]
    responses, _ = build("openai-responses", *HISTORY, thinking="low")
    assert [item for item in responses["input"] if item["type"] == "reasoning"] == [REASONING]
    assert responses["include"] == ["reasoning.encrypted_content"]
    assert responses["store"] is False
    router, _ = build("openrouter", *HISTORY, thinking="low")
    assert router["messages"][1]["reasoning_details"] == DETAILS
    deepseek, _ = build("deepseek", *HISTORY, thinking="low")
    assert [m["reasoning_content"] for m in deepseek["messages"] if m["role"] == "assistant"] == [
        "hm\nchat thought\nresponses thought",
        "",
    ]
    openai, _ = build("openai", *HISTORY, thinking="low")
    assert "reasoning" not in json.dumps(openai["messages"])


def test_a_running_tool_loop_without_thoughts_goes_on_without_a_budget() -> None:
    model = choice("anthropic", id="claude-sonnet-4-5", max_output=64000)
    loop = (
        UserMessage((Text("hi"),)),
        AssistantMessage((Call("one", "read_file", "{}"),)),
        ResultsMessage((CallResult("one", "read_file", (Text("x"),)),)),
    )
    assert build("anthropic", *loop, model=model, thinking="high")[0]["thinking"] == {"type": "disabled"}
    thought = (loop[0], AssistantMessage((signed(), Call("one", "read_file", "{}"))), loop[2])
    assert build("anthropic", *thought, model=model, thinking="high")[0]["thinking"]["type"] == "enabled"
    after = (*loop, AssistantMessage((Said("ok"),)), UserMessage((Text("more"),)))
    assert build("anthropic", *after, model=model, thinking="high")[0]["thinking"]["type"] == "enabled"


def test_a_reasoning_item_never_stands_last() -> None:
    cut = AssistantMessage((Thought("t", Opaque("openai-responses", json.dumps(REASONING))),))
    body, _ = build(
        "openai-responses", UserMessage((Text("a"),)), cut, UserMessage((Text("b"),)), thinking="low"
    )
    assert [item["type"] for item in body["input"]] == ["message", "message"]


EFFORTS = [
    ("openai", "gpt-6-sol", "off", {"reasoning_effort": "none"}),
    ("openai", "gpt-5-mini", "off", {"reasoning_effort": "minimal"}),
    ("openai", "gpt-5.2", "minimal", {"reasoning_effort": "low"}),
    ("openai", "gpt-6-astra", "off", {"reasoning_effort": "low"}),
    ("openai", "o3", "high", {"reasoning_effort": "high"}),
    ("openai", "gpt-4o", "high", {}),
    ("openrouter", "x/y", "off", {}),
    ("openrouter", "x/y", "minimal", {"reasoning": {"effort": "minimal"}}),
    ("deepseek", "deepseek-flash", "off", {"thinking": {"type": "disabled"}}),
    ("deepseek", "deepseek-flash", "medium", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
    ("groq", "openai/gpt-oss-120b", "off", {"reasoning_effort": "low"}),
    ("groq", "qwen/qwen3.8-27b", "off", {"reasoning_effort": "none", "reasoning_format": "parsed"}),
    ("groq", "qwen/qwen3.8-27b", "low", {"reasoning_effort": "default", "reasoning_format": "parsed"}),
    ("groq", "llama-3.3-70b-versatile", "high", {}),
    ("cerebras", "qwen-3.8-27b", "off", {"reasoning_effort": "none", "reasoning_format": "parsed"}),
    ("mistral", "mistral-medium-latest", "off", {}),
    ("mistral", "mistral-medium-latest", "low", {"reasoning_effort": "high"}),
    ("xai", "grok-4.5", "off", {"reasoning_effort": "low"}),
    ("xai", "grok-4.3", "off", {"reasoning_effort": "none"}),
    ("xai", "grok-4.20-0309-reasoning", "high", {}),
    ("ollama", "qwen3", "off", {}),
    ("ollama", "qwen3", "minimal", {"reasoning_effort": "low"}),
    ("openai-compatible", "any", "off", {}),
]


@pytest.mark.parametrize(("provider", "model", "level", "fields"), EFFORTS)
def test_chat_efforts(provider: str, model: str, level: ThinkingLevel, fields: dict[str, Any]) -> None:
    body, warnings = build(provider, *HISTORY[3:4], model=choice(provider, id=model), thinking=level)
    about = {"reasoning_effort", "reasoning", "thinking", "reasoning_format"}
    assert {key: value for key, value in body.items() if key in about} == fields
    assert warnings == ()


def test_openai_chat_has_tools_only_without_thinking() -> None:
    body, warnings = build("openai", *HISTORY[3:4], tools=(TOOL,), thinking="high")
    assert body["reasoning_effort"] == "none"
    assert "openai-responses" in warnings[0]
    _, quiet = build("openai", *HISTORY[3:4], tools=(TOOL,), thinking="off")
    assert quiet == ()


def test_a_model_that_cannot_think_is_asked_nothing() -> None:
    for provider in ALL:
        body, _ = build(provider, *HISTORY, model=choice(provider, thinking=False), thinking="high")
        assert not {"reasoning_effort", "reasoning", "thinking", "output_config"} & set(body), provider


# Parts ----------------------------------------------------------------------------------------------

PARTS: list[tuple[Part, str]] = [
    (Image("image/png", PNG), "image"),
    (Audio("audio/wav", PNG), "audio"),
    (Document(uri="file:///a.pdf", name="a.pdf", media_type="application/pdf", data=PDF), "document"),
]


@pytest.mark.parametrize("provider", ALL)
@pytest.mark.parametrize(("part", "kind"), PARTS)
def test_what_a_model_cannot_take_becomes_a_note_and_a_warning(provider: str, part: Part, kind: str) -> None:
    blind = choice(provider, images=False, audio=False, documents=False)
    body, warnings = build(provider, UserMessage((Text("see"), part)), model=blind)
    text = json.dumps(body)
    assert PNG not in text
    assert PDF not in text
    assert f"[{kind} not shown to you: {part.media_type}" in text  # type: ignore[union-attr]  # all three have one
    assert len(warnings) == 1
    assert kind in warnings[0]
    assert "The Model" in warnings[0]
    validated(provider, body)


WIRE = [
    (
        "anthropic",
        PARTS[0][0],
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
    ),
    (
        "anthropic",
        PARTS[2][0],
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
            "title": "a.pdf",
        },
    ),
    ("openai", PARTS[0][0], {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}),
    ("openai", PARTS[1][0], {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}}),
    (
        "openai",
        PARTS[2][0],
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
    ),
    (
        "openai-responses",
        PARTS[0][0],
        {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}"},
    ),
    (
        "openai-responses",
        PARTS[2][0],
        {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
    ),
]


@pytest.mark.parametrize(("provider", "part", "wire"), WIRE)
def test_parts_on_the_wire(provider: str, part: Part, wire: dict[str, Any]) -> None:
    body, warnings = build(provider, UserMessage((Text("see"), part)))
    message = (body.get("messages") or body.get("input"))[0]
    last = {key: value for key, value in message["content"][-1].items() if key != "cache_control"}
    assert last == wire
    assert warnings == ()


@pytest.mark.parametrize("provider", ALL)
def test_text_files_need_no_warning(provider: str) -> None:
    packed = base64.b64encode("größe".encode()).decode()
    parts = (
        Document(uri="file:///a.py", text="print(1)"),
        Document(name="b.json", media_type="application/json", data=packed),
        Link("file:///c", "c", description="the third"),
    )
    for able in (True, False):
        body, warnings = build(provider, UserMessage(parts), model=choice(provider, documents=able))
        text = json.dumps(body, ensure_ascii=False)
        assert "print(1)" in text
        assert "größe" in text
        assert "the third" in text
        assert warnings == ()
        validated(provider, body)


def test_media_without_data_is_named() -> None:
    body, warnings = build("openai", UserMessage((Text("x"), Image("image/png", uri="file:///p.png"))))
    assert "file:///p.png" in json.dumps(body)
    assert "without data" in warnings[0]
    body, warnings = build("openai", UserMessage((Image("image/png", uri="https://x.test/p.png"),)))
    assert body["messages"][0]["content"][0]["image_url"] == {"url": "https://x.test/p.png"}
    assert warnings == ()


@pytest.mark.parametrize("provider", [*ALL, "openai-compatible"])
def test_lone_surrogates_never_reach_the_wire(provider: str) -> None:
    body, _ = build(provider, UserMessage((Text("a \ud800 b \ud83d\ude00"),)), system="\udfff")
    text = json.dumps(body, ensure_ascii=False)
    assert "a � b 😀" in text
    text.encode()


# What else differs ----------------------------------------------------------------------------------


def test_limits_and_usage_are_asked_for_in_each_providers_words() -> None:
    field = {name: build(name, *HISTORY)[0] for name in ALL}
    assert field["openai"]["max_completion_tokens"] == 16384
    assert field["deepseek"]["max_tokens"] == 16384
    assert field["openai-responses"]["max_output_tokens"] == 16384
    assert field["openai"]["stream_options"] == {"include_usage": True}
    assert "stream_options" not in field["mistral"]
    compatible, _ = build("openai-compatible", *HISTORY)
    assert compatible["max_tokens"] == 16384
    assert compatible["messages"][0]["role"] == "user"


def test_a_model_whose_limit_is_unknown_gets_none() -> None:
    for provider in ("openai", "openai-responses", "ollama", "openai-compatible"):
        unknown = models(provider, ("my-model",))[0]
        body, _ = build(provider, *HISTORY, model=unknown, max_tokens=unknown.max_output)
        assert not {"max_tokens", "max_completion_tokens", "max_output_tokens"} & set(body)
    unknown = models("anthropic", ("my-model",))[0]
    body, _ = build("anthropic", *HISTORY, model=unknown, max_tokens=unknown.max_output)
    assert body["max_tokens"] == 16384


def test_openai_says_developer_and_a_server_elsewhere_hears_system() -> None:
    assert build("openai", *HISTORY, system="s")[0]["messages"][0]["role"] == "developer"
    assert build("groq", *HISTORY, system="s")[0]["messages"][0]["role"] == "system"
    where = endpoint("openai", {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}).unwrap()
    request = ModelRequest(model=choice("openai"), system="s", messages=HISTORY, tools=(TOOL,))
    body = json.loads(CODECS["openai-chat"].build(where, request)[0].body)
    assert body["messages"][0]["role"] == "system"
    assert "reasoning_effort" not in body


def test_mistral_has_an_answer_between_results_and_the_user() -> None:
    body, _ = build("mistral", *HISTORY)
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "user", "assistant", "user"]
    assert all(
        isinstance(message["content"], str) for message in body["messages"] if message["role"] == "tool"
    )


def test_pictures_of_results_follow_in_a_user_message() -> None:
    body, _ = build("openai", *HISTORY)
    after = body["messages"][4]
    assert after["role"] == "user"
    assert [part["type"] for part in after["content"]] == ["text", "image_url", "text"]
    assert body["messages"][3]["content"] == "Error: no such tool"


def test_anthropic_caches_the_system_the_tools_and_the_last_user_messages() -> None:
    body, _ = build("anthropic", *HISTORY, system="s", tools=(TOOL, TOOL), thinking="high")
    marked = json.dumps(body).count('"cache_control"')
    assert marked == 4
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" in body["tools"][-1]
    assert "cache_control" in body["messages"][-1]["content"][-1]


def test_anthropic_starts_and_ends_with_the_user() -> None:
    body, _ = build(
        "anthropic",
        AssistantMessage((Said("hello"),)),
        UserMessage((Text(" "),)),
        AssistantMessage((Said("x"),)),
    )
    assert [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert all(block.get("text", "x").strip() for message in body["messages"] for block in message["content"])


@pytest.mark.parametrize("provider", ALL)
def test_headers_name_us_and_hold_no_key(provider: str) -> None:
    headers = dict(request_of(provider).headers)
    assert headers["user-agent"].startswith("zidane-acp/")
    assert not {"authorization", "x-api-key"} & set(headers)


URLS = [
    ("anthropic", None, "https://api.anthropic.com/v1/messages"),
    ("anthropic", "https://proxy.test/anthropic/", "https://proxy.test/anthropic/v1/messages"),
    ("anthropic", "https://proxy.test/v1", "https://proxy.test/v1/messages"),
    ("openai", None, "https://api.openai.com/v1/chat/completions"),
    ("openai", "http://127.0.0.1:8000/v1/chat/completions", "http://127.0.0.1:8000/v1/chat/completions"),
    ("openai-responses", None, "https://api.openai.com/v1/responses"),
    ("deepseek", None, "https://api.deepseek.com/chat/completions"),
]


@pytest.mark.parametrize(("provider", "base", "url"), URLS)
def test_urls(provider: str, base: str | None, url: str) -> None:
    where = endpoint(provider, {}, base).unwrap()
    request = ModelRequest(model=choice(provider), system="", messages=HISTORY[:1])
    assert CODECS[where.family].build(where, request)[0].url == url


def test_nothing_that_was_given_is_changed() -> None:
    before = json.dumps(TOOL.schema)
    for provider in ALL:
        first, _ = build(provider, *HISTORY, tools=(TOOL,), system="s")
        assert build(provider, *HISTORY, tools=(TOOL,), system="s")[0] == first
    assert json.dumps(TOOL.schema) == before
