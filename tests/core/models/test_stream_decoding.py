"""Streams as no recording has them: pieces of calls, refusals, errors, cuts, broken text, odd servers."""

import json
from typing import Any

import pytest

from zidane_core.data.models import (
    BlockEnded,
    Broke,
    Called,
    Finished,
    ForeignBlock,
    ModelEvent,
    Opaque,
    TextDelta,
    ThoughtDelta,
    Used,
)
from zidane_core.data.outcome import Usage
from zidane_core.models import sse
from zidane_core.models.codecs import CODECS
from zidane_core.models.providers import endpoint

CHAT = endpoint("openrouter", {}).unwrap()
CLAUDE = endpoint("anthropic", {}).unwrap()
RESPONSES = endpoint("openai-responses", {}).unwrap()


def run(where: Any, *events: object, end: bool = True) -> list[ModelEvent]:
    """Decode events, byte by byte; an event that is bytes is taken as it is."""
    body = b"".join(
        b"data: " + (event if isinstance(event, bytes) else json.dumps(event).encode()) + b"\n\n"
        for event in events
    )
    codec = CODECS[where.family]
    state = codec.start(where)
    found: list[ModelEvent] = []
    for at in range(len(body)):
        state, more = codec.feed(state, body[at : at + 1])
        found.extend(more)
    at_once, whole = codec.feed(codec.start(where), body)
    tail = codec.end(state)
    assert (*whole, *codec.end(at_once)) == (*found, *tail)
    return [*found, *(tail if end else ())]


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def call(index: int | None, id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    piece = {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}
    piece["function"] = {key: value for key, value in piece["function"].items() if value is not None}
    return chunk({"tool_calls": [{key: value for key, value in piece.items() if value is not None}]})


DONE = b"[DONE]"

CALLS: list[tuple[str, list[dict[str, Any]], list[tuple[str, str, str]]]] = [
    (
        "in pieces, the id in the first only",
        [call(0, "a", "f", ""), call(0, None, None, '{"x"'), call(0, None, None, ": 1}")],
        [("a", "f", '{"x": 1}')],
    ),
    (
        "two that interleave",
        [
            call(0, "a", "f", ""),
            call(1, "b", "g", ""),
            call(0, None, None, '{"x": 1}'),
            call(1, None, None, "{}"),
        ],
        [("a", "f", '{"x": 1}'), ("b", "g", "{}")],
    ),
    ("whole in one", [call(0, "a", "f", '{"x": 1}')], [("a", "f", '{"x": 1}')]),
    ("no arguments", [call(0, "a", "f", "")], [("a", "f", "{}")]),
    ("no arguments at all", [call(0, "a", "f", None)], [("a", "f", "{}")]),
    ("null as arguments", [call(0, "a", "f", "null")], [("a", "f", "{}")]),
    ("arguments as an object", [call(0, "a", "f", {"x": 1})], [("a", "f", '{"x":1}')]),
    (
        "no index",
        [call(None, "a", "f", '{"x"'), call(None, None, None, ": 1}"), call(None, "b", "g", "{}")],
        [("a", "f", '{"x": 1}'), ("b", "g", "{}")],
    ),
    (
        "every call has the index 0",
        [call(0, "a", "f", '{"x": 1}'), call(0, "b", "g", "{}")],
        [("a", "f", '{"x": 1}'), ("b", "g", "{}")],
    ),
    (
        "neither ids nor indexes",
        [call(None, None, "f", '{"x": 1}'), call(None, None, "f", '{"x": 2}')],
        [("", "f", '{"x": 1}'), ("", "f", '{"x": 2}')],
    ),
    (
        "the id and the name in each piece",
        [call(0, "a", "f", '{"x"'), call(0, "a", "f", ": 1}")],
        [("a", "f", '{"x": 1}')],
    ),
    ("the name later than the id", [call(0, "a", None, None), call(0, None, "f", "{}")], [("a", "f", "{}")]),
]


@pytest.mark.parametrize(("pieces", "calls"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_tool_calls_in_pieces(pieces: list[dict[str, Any]], calls: list[tuple[str, str, str]]) -> None:
    events = run(CHAT, *pieces, chunk(finish="tool_calls"), DONE)
    assert [(e.id, e.name, e.arguments) for e in events if isinstance(e, Called)] == calls
    assert events[-1] == Finished("tool-calls")


def test_a_call_of_many_pieces_is_whole() -> None:
    text = json.dumps({"text": "x" * 50_000})
    pieces = [call(0, "a", "f", "")] + [
        call(0, None, None, text[at : at + 1000]) for at in range(0, len(text), 1000)
    ]
    events = run(CHAT, *pieces, chunk(finish="tool_calls"), DONE)
    assert [e.arguments for e in events if isinstance(e, Called)] == [text]


def test_stop_with_calls_means_tool_calls() -> None:
    assert run(CHAT, call(0, "a", "f", "{}"), chunk(finish="stop"), DONE)[-1] == Finished("tool-calls")


REASONS = [
    ("stop", "stop"),
    ("length", "length"),
    ("model_length", "length"),
    ("content_filter", "content-filter"),
    ("tool_calls", "tool-calls"),
    ("something_new", "other"),
]


@pytest.mark.parametrize(("theirs", "ours"), REASONS)
def test_chat_finish_reasons(theirs: str, ours: str) -> None:
    assert run(CHAT, chunk({"content": "x"}, theirs), DONE) == [TextDelta("x"), BlockEnded(), Finished(ours)]  # type: ignore[arg-type]  # a row of the table


def test_chat_blocks_and_usage_come_in_order() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 2}}
    events = run(
        CHAT,
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning": "hm", "content": ""}),
        chunk({"content": "a"}),
        chunk({"content": "b"}, "stop"),
        {"choices": [], "usage": usage},
        DONE,
        chunk({"content": "too late"}),
    )
    assert events == [
        ThoughtDelta("hm"),
        BlockEnded(),
        TextDelta("a"),
        TextDelta("b"),
        BlockEnded(),
        Used(Usage(input=9, output=4, thought=2)),
        Finished("stop"),
    ]


def test_mistral_and_deepseek_thoughts() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    events = run(CHAT, chunk({"content": [thinking, {"type": "text", "text": "a"}]}, "stop"), DONE)
    assert events == [ThoughtDelta("hm"), BlockEnded(), TextDelta("a"), BlockEnded(), Finished("stop")]
    both = run(CHAT, chunk({"reasoning_content": "r", "reasoning": "r"}, "stop"), DONE)
    assert both == [ThoughtDelta("r"), BlockEnded(), Finished("stop")]


def test_reasoning_details_are_joined_and_kept() -> None:
    part = {"type": "reasoning.text", "index": 0, "format": "x"}
    events = run(
        CHAT,
        chunk({"reasoning": "a", "reasoning_details": [{**part, "text": "a"}]}),
        chunk({"reasoning": "b", "reasoning_details": [{**part, "text": "b"}]}),
        chunk({"reasoning_details": [{**part, "signature": "s"}]}),
        chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "e", "index": 1}]}),
        call(0, "a", "f", "{}"),
        chunk(finish="tool_calls"),
        DONE,
    )
    kept = [json.loads(event.opaque.data) for event in events if isinstance(event, ForeignBlock)]
    assert kept == [
        [
            {**part, "text": "ab", "signature": "s"},
            {"type": "reasoning.encrypted", "data": "e", "index": 1},
        ]
    ]


def test_a_refusal_is_a_content_filter_with_its_text() -> None:
    events = run(CHAT, chunk({"refusal": "I will "}), chunk({"refusal": "not."}, "stop"), DONE)
    assert events == [Finished("content-filter", "I will not.")]
    event = {"type": "response.refusal.delta", "delta": "No."}
    events = run(RESPONSES, event, {"type": "response.completed", "response": {"output": []}})
    assert events[-1] == Finished("content-filter", "No.")


def test_servers_that_leave_out_the_end() -> None:
    assert run(CHAT, chunk({"content": "x"}, "stop"))[-1] == Finished("stop")
    assert run(CHAT, chunk({"content": "x"}), DONE)[-1] == Finished("stop")


CUTS = [
    (CHAT, [chunk({"content": "x"})], True),
    (CHAT, [], False),
    (CHAT, [chunk({"role": "assistant", "content": ""})], False),
    (CLAUDE, [{"type": "message_start", "message": {}}], False),
    (CLAUDE, [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}}], True),
    (RESPONSES, [{"type": "response.created"}], False),
    (RESPONSES, [{"type": "response.output_text.delta", "delta": "x"}], True),
]


@pytest.mark.parametrize(("where", "events", "content"), CUTS)
def test_a_cut_stream_is_a_fault(where: Any, events: list[object], content: bool) -> None:
    last = run(where, *events)[-1]
    assert isinstance(last, Broke)
    assert last.fault.data
    assert last.fault.data["kind"] == "network"
    assert ("middle of its answer" in last.fault.message) is content


BROKEN = [
    (CHAT, {"error": {"message": "busy", "code": 503}}, "server"),
    (CHAT, {"error": "no such thing"}, "server"),
    (CHAT, chunk({"content": ""}, "error", error={"message": "busy", "code": 429}), "rate_limit"),
    (CHAT, {"choices": [], "x_groq": {"error": {"message": "rate limit", "type": "x"}}}, "rate_limit"),
    (CHAT, b"Internal Server Error", "bad_response"),
    (CHAT, {"choices": "what"}, "bad_response"),
    (CLAUDE, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "server"),
    (CLAUDE, b"{", "bad_response"),
    (CLAUDE, {"type": "content_block_delta", "delta": 7}, "bad_response"),
    (RESPONSES, {"type": "error", "code": "rate_limit_exceeded", "message": "slow"}, "rate_limit"),
    (
        RESPONSES,
        {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "m"}}},
        "server",
    ),
    (RESPONSES, b"nonsense", "bad_response"),
]


@pytest.mark.parametrize(("where", "event", "kind"), BROKEN)
def test_errors_end_the_stream(where: Any, event: object, kind: str) -> None:
    events = run(where, event, chunk({"content": "late"}), end=True)
    assert len(events) == 1
    assert isinstance(events[0], Broke)
    assert events[0].fault.data
    assert events[0].fault.data["kind"] == kind


def test_events_we_do_not_know_are_passed_over() -> None:
    text = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}}
    stop = [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"}]
    events = run(CLAUDE, {"type": "new", "delta": 7}, {"type": "ping"}, text, *stop)
    assert [event for event in events if not isinstance(event, Used)] == [TextDelta("x"), Finished("stop")]
    done = {"type": "response.completed", "response": {}}
    assert run(RESPONSES, {"type": "response.new", "delta": {"x": 1}}, done)[-1] == Finished("stop")


# Anthropic ------------------------------------------------------------------------------------------


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def claude(*blocks: list[dict[str, Any]], reason: str = "end_turn", **delta: Any) -> list[ModelEvent]:
    events = [event for one in blocks for event in one]
    end = [{"type": "message_delta", "delta": {"stop_reason": reason, **delta}}, {"type": "message_stop"}]
    return [event for event in run(CLAUDE, *events, *end) if not isinstance(event, Used)]


def test_anthropic_blocks() -> None:
    events = claude(
        block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "signature_delta", "signature": "s1"},
        ),
        block(1, {"type": "redacted_thinking", "data": "zzz"}),
        block(2, {"type": "text", "text": "a"}, {"type": "text_delta", "text": "b"}),
        block(
            3,
            {"type": "tool_use", "id": "t", "name": "f", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": '{"x"'},
            {"type": "input_json_delta", "partial_json": ": 1}"},
        ),
        block(4, {"type": "tool_use", "id": "u", "name": "g", "input": {}}),
        reason="tool_use",
    )
    assert events == [
        ThoughtDelta("hm"),
        BlockEnded(Opaque("anthropic", '{"signature":"s1"}')),
        ForeignBlock(Opaque("anthropic", '{"type":"redacted_thinking","data":"zzz"}')),
        TextDelta("a"),
        TextDelta("b"),
        BlockEnded(),
        Called("t", "f", '{"x": 1}'),
        Called("u", "g", "{}"),
        Finished("tool-calls"),
    ]


def test_a_hidden_thought_is_kept_and_not_shown() -> None:
    hidden = block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "signature_delta", "signature": "s1"},
    )
    kept = '{"type":"thinking","thinking":"","signature":"s1"}'
    assert claude(hidden) == [ForeignBlock(Opaque("anthropic", kept)), Finished("stop")]


ANTHROPIC_REASONS = [
    ("end_turn", "stop"),
    ("stop_sequence", "stop"),
    ("max_tokens", "length"),
    ("model_context_window_exceeded", "length"),
    ("tool_use", "tool-calls"),
    ("pause_turn", "other"),
]


@pytest.mark.parametrize(("theirs", "ours"), ANTHROPIC_REASONS)
def test_anthropic_stop_reasons(theirs: str, ours: str) -> None:
    assert claude(reason=theirs) == [Finished(ours)]  # type: ignore[arg-type]  # a row of the table


def test_an_anthropic_refusal_has_its_explanation() -> None:
    details = {"type": "refusal", "explanation": "That is not allowed."}
    assert claude(reason="refusal", stop_details=details) == [
        Finished("content-filter", "That is not allowed.")
    ]
    assert claude(reason="refusal") == [Finished("content-filter")]


def test_anthropic_usage_counts_all_input_and_keeps_what_is_left_out() -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 20,
        "output_tokens": 1,
    }
    later = {"output_tokens": 7, "output_tokens_details": {"thinking_tokens": 2}}
    events = run(
        CLAUDE,
        {"type": "message_start", "message": {"usage": usage}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": later},
        {"type": "message_stop"},
    )
    assert events[-2] == Used(Usage(input=33, output=7, cached_read=10, cached_write=20, thought=2))


# Responses ------------------------------------------------------------------------------------------


def test_responses_thoughts_text_and_calls() -> None:
    reasoning = {"id": "rs", "type": "reasoning", "summary": [], "encrypted_content": "e"}
    message = {"type": "message", "content": [{"type": "output_text", "text": "a"}], "phase": "commentary"}
    called = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "", "status": "completed"}
    search = {"id": "ws", "type": "web_search_call", "status": "completed"}
    events = run(
        RESPONSES,
        {"type": "response.reasoning_summary_part.added", "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", "delta": "one"},
        {"type": "response.reasoning_summary_part.added", "summary_index": 1},
        {"type": "response.reasoning_summary_text.delta", "delta": "two"},
        {"type": "response.output_item.done", "item": {**reasoning, "status": "completed"}},
        {"type": "response.output_item.done", "item": reasoning},
        {"type": "response.output_item.done", "item": search},
        {"type": "response.output_text.delta", "delta": "a"},
        {"type": "response.output_item.done", "item": message},
        {"type": "response.function_call_arguments.delta", "delta": "{}"},
        {"type": "response.output_item.done", "item": called},
        {
            "type": "response.completed",
            "response": {"output": [called], "usage": {"input_tokens": 5, "output_tokens": 6}},
        },
    )
    kept = Opaque("openai-responses", json.dumps(reasoning, separators=(",", ":")))
    assert events == [
        ThoughtDelta("one"),
        ThoughtDelta("\n\n"),
        ThoughtDelta("two"),
        BlockEnded(kept),
        ForeignBlock(kept),
        ForeignBlock(Opaque("openai-responses", json.dumps(search, separators=(",", ":")))),
        TextDelta("a"),
        BlockEnded(Opaque("openai-responses", '{"phase":"commentary"}')),
        Called("c", "f", "{}"),
        Used(Usage(input=5, output=6)),
        Finished("tool-calls"),
    ]


INCOMPLETE = [("max_output_tokens", "length"), ("content_filter", "content-filter"), ("new", "other")]


@pytest.mark.parametrize(("theirs", "ours"), INCOMPLETE)
def test_an_incomplete_response(theirs: str, ours: str) -> None:
    event = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": theirs}}}
    assert run(RESPONSES, event) == [Finished(ours)]  # type: ignore[arg-type]  # a row of the table


def test_a_server_that_sends_only_whole_items() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "hello"}]}
    called = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    done = {"type": "response.completed", "response": {"output": [item, called]}}
    events = run(RESPONSES, {"type": "response.output_item.done", "item": item}, done)
    assert events == [TextDelta("hello"), BlockEnded(), Called("c", "f", "{}"), Finished("tool-calls")]


# Text that is broken --------------------------------------------------------------------------------


def said(text: bytes) -> bytes:
    return b'{"choices":[{"index":0,"delta":{"content":"' + text + b'"},"finish_reason":null}]}'


SURROGATES = [
    ([rb"pair \ud83d", rb"\ude00 lone \ud800 ", "中 é 😀".encode()], "pair 😀 lone � 中 é 😀"),
    ([rb"\ud83d\ude00"], "😀"),
    ([rb"\ud83d"], "�"),
    ([rb"\ude00", rb"\ud83d"], "��"),
    ([rb"\ud83d", b"x"], "�x"),
    ([rb"\ud83d", rb"\ud83d", rb"\ude00"], "�😀"),
    ([rb"\\ud83d"], r"\ud83d"),
    ([b"bad \xff\xfe utf8"], "bad �� utf8"),
]


@pytest.mark.parametrize(("pieces", "text"), SURROGATES)
def test_lone_surrogates_and_broken_bytes_in_text(pieces: list[bytes], text: str) -> None:
    events = run(CHAT, *(said(piece) for piece in pieces), chunk(finish="stop"), DONE)
    joined = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert joined == text
    joined.encode()
    assert events[-1] == Finished("stop")


def test_half_a_pair_before_the_cut_is_not_lost() -> None:
    events = run(CHAT, said(rb"x \ud83d"))
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "x �"
    assert isinstance(events[-1], Broke)


def test_lone_surrogates_in_arguments() -> None:
    piece = rb'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\": \"\\ud800 \ud800\"}"}}]}}]}'
    events = run(CHAT, piece, chunk(finish="tool_calls"), DONE)
    assert [json.loads(event.arguments) for event in events if isinstance(event, Called)] == [{"a": "� �"}]


def test_a_cost_that_is_no_number_does_not_break_the_stream() -> None:
    usage = (
        b'{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"cost":NaN,"x":-Infinity,"y":"NaN"}}'
    )
    events = run(CHAT, chunk({"content": "x"}, "stop"), usage, DONE)
    assert Used(Usage(input=1, output=2)) in events


# The splitter ---------------------------------------------------------------------------------------

LINES = [
    (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
    (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
    (b": comment\ndata: a\nevent: x\nid: 1\nretry: 5\n\n", [b"a"]),
    (b"data: a\ndata: b\n\n", [b"a\nb"]),
    (b"data:a\r\rdata:b\r\n\r\n", [b"a", b"b"]),
    (b"data: a\r\ndata: b\r\n\r\n", [b"a\nb"]),  # a \r\n that is cut in two is one line end
    (b"data: a\rdata: b\r\r", [b"a\nb"]),
    (b"data:  two blanks\n\n", [b" two blanks"]),
    (b"data\n\ndata:\n\n", []),
    (b"event: x\n\n", []),
    (b"data: cut", [b"cut"]),
    (b"\n\n\n", []),
]


@pytest.mark.parametrize(("body", "data"), LINES)
def test_lines(body: bytes, data: list[bytes]) -> None:
    for step in (1, 2, 3, len(body)):
        state, found = sse.Sse(), []
        for at in range(0, len(body), step):
            state, more = sse.feed(state, body[at : at + step])
            found.extend(more)
        assert [*found, *sse.finish(state)] == data


def test_an_event_without_end_is_bounded() -> None:
    for newline in (b"", b"\n"):
        state, found = sse.Sse(limit=100_000), []
        for _ in range(30):
            state, more = sse.feed(state, b"data: " + b"x" * 5_000 + newline)
            found.extend(more)
        assert state.overflowed
        assert len(state.tail) + sum(map(len, state.blocks)) + sum(map(len, state.lines)) == 0
        assert (found, sse.finish(state)) == ([], ())


def test_a_flood_is_a_fault() -> None:
    codec = CODECS["openai-chat"]
    state = codec.start(CHAT)
    broke: tuple[ModelEvent, ...] = ()
    for _ in range(40):
        state, broke = codec.feed(state, b"x" * 1_000_000)
        if broke:
            break
    assert isinstance(broke[0], Broke)
    assert "32 MiB" in broke[0].fault.message
    assert state.done
