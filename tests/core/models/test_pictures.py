"""Pictures on the wire: data wins over addresses, results show theirs, and none is larger than the model takes."""

import base64
import json
from typing import Any

import pytest

from zidane_core.data.content import Document, Image, Part, Text
from zidane_core.data.models import (
    IMAGE_BYTES,
    AssistantMessage,
    Call,
    CallResult,
    Message,
    ModelChoice,
    ModelRequest,
    ResultsMessage,
    Said,
    UserMessage,
)
from zidane_core.models.codecs import CODECS
from zidane_core.models.picture_size import LARGEST_SIDE, at_least, at_most, decoded_size, image_bytes
from zidane_core.models.providers import PROVIDERS, endpoint, models

DATA = base64.b64encode(b"\x89PNG\r\n\x1a\n fake picture").decode()
WHERE = "https://example.org/a.png"
PICTURE = Image("image/png", DATA, WHERE)
URL = f"data:image/png;base64,{DATA}"
ALL = tuple(PROVIDERS)


def choice(provider: str, **changes: Any) -> ModelChoice:
    fields = {"images": True, "documents": True, **changes}
    return ModelChoice(value="m", name="The Model", provider=provider, id="some-model", **fields)


def build(provider: str, *messages: Message, **changes: Any) -> tuple[Any, tuple[str, ...]]:
    base = "http://127.0.0.1:1/v1" if provider == "openai-compatible" else None
    where = endpoint(provider, {}, base).unwrap()
    request = ModelRequest(model=choice(provider, **changes), system="", messages=messages)
    sent, warnings = CODECS[where.family].build(where, request)
    return json.loads(sent.body), warnings


def results(*parts: Part, failed: bool = False) -> tuple[Message, ...]:
    """A turn in which a tool gave these parts."""
    return (
        UserMessage((Text("look"),)),
        AssistantMessage((Call("one", "screenshot", "{}"),)),
        ResultsMessage((CallResult("one", "screenshot", parts, failed),)),
    )


def bare(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


# Data and addresses --------------------------------------------------------------------------------

WIRE = {
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
    "openai": {"type": "image_url", "image_url": {"url": URL}},
    "openai-responses": {"type": "input_image", "detail": "auto", "image_url": URL},
}
LINKED = {
    "anthropic": {"type": "image", "source": {"type": "url", "url": WHERE}},
    "openai": {"type": "image_url", "image_url": {"url": WHERE}},
    "openai-responses": {"type": "input_image", "detail": "auto", "image_url": WHERE},
}
PDF = Document(WHERE, "a.pdf", "application/pdf", data=DATA)
FILES = {
    "anthropic": {
        "type": "document",
        "title": "a.pdf",
        "source": {"type": "base64", "media_type": "application/pdf", "data": DATA},
    },
    "openai": {
        "type": "file",
        "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{DATA}"},
    },
    "openai-responses": {
        "type": "input_file",
        "filename": "a.pdf",
        "file_data": f"data:application/pdf;base64,{DATA}",
    },
}


@pytest.mark.parametrize("provider", WIRE)
@pytest.mark.parametrize(
    ("part", "wire"), [(PICTURE, WIRE), (Image("image/png", uri=WHERE), LINKED), (PDF, FILES)]
)
def test_data_wins_over_an_address(provider: str, part: Part, wire: dict[str, Any]) -> None:
    body, warnings = build(provider, UserMessage((Text("see"), part)))
    message = (body.get("messages") or body.get("input"))[0]
    assert bare(message["content"][-1]) == wire[provider]
    assert warnings == ()


@pytest.mark.parametrize("provider", ALL)
def test_an_address_is_never_sent_beside_data(provider: str) -> None:
    for messages in ((UserMessage((Text("see"), PICTURE, PDF)),), results(Text("seen"), PICTURE, PDF)):
        assert WHERE not in json.dumps(build(provider, *messages)[0])


# Results -------------------------------------------------------------------------------------------


def test_anthropic_shows_pictures_in_the_result_itself() -> None:
    body, warnings = build("anthropic", *results(Text("seen"), PICTURE, failed=True))
    (block,) = body["messages"][-1]["content"]
    assert (block["type"], block["is_error"]) == ("tool_result", True)
    assert block["content"] == [{"type": "text", "text": "seen"}, WIRE["anthropic"]]
    assert warnings == ()


@pytest.mark.parametrize(
    ("failed", "before"), [(False, []), (True, [{"type": "input_text", "text": "Error:"}])]
)
def test_responses_shows_pictures_in_the_output_itself(failed: bool, before: list[Any]) -> None:
    body, warnings = build("openai-responses", *results(Text("seen"), PICTURE, failed=failed))
    output = body["input"][-1]
    assert output["type"] == "function_call_output"
    seen = {"type": "input_text", "text": "seen"}
    assert output["output"] == [*before, seen, WIRE["openai-responses"]]
    assert warnings == ()


CHAT = [
    name for name, row in PROVIDERS.items() if row.family == "openai-chat" and row.quirks.images_in_results
]


@pytest.mark.parametrize("provider", CHAT)
def test_chat_shows_pictures_in_a_user_message_behind_the_results(provider: str) -> None:
    for parts, text in (((Text("seen"), PICTURE), "seen"), ((PICTURE,), "The result is attached below.")):
        body, warnings = build(provider, *results(*parts))
        tool, user = body["messages"][-2:]
        assert (tool["role"], tool["content"]) == ("tool", text)
        assert user["role"] == "user"
        assert user["content"] == [
            {"type": "text", "text": "Attachments of the result of screenshot:"},
            WIRE["openai"],
        ]
        assert warnings == ()


def test_chat_shows_them_behind_all_results_of_a_round_and_before_what_the_user_says_next() -> None:
    body, _ = build(
        "openai",
        UserMessage((Text("look"),)),
        AssistantMessage((Call("one", "shot", "{}"), Call("two", "shot", "{}"))),
        ResultsMessage((CallResult("one", "shot", (PICTURE,)), CallResult("two", "shot", (PICTURE,)))),
        UserMessage((Text("and?"),)),
    )
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool", "tool", "user"]
    kinds = [part["type"] for part in body["messages"][-1]["content"]]
    assert kinds == ["text", "image_url", "text", "image_url", "text"]


def test_a_server_that_takes_none_in_results_gets_a_note() -> None:
    body, warnings = build("mistral", *results(Text("seen"), PICTURE))
    assert body["messages"][-1]["role"] == "tool"
    assert body["messages"][-1]["content"] == "seen\n[attachment not shown to you]"
    assert warnings == ("The Model cannot be shown the 1 attachment(s) that screenshot gave.",)


@pytest.mark.parametrize("provider", ALL)
def test_a_model_without_pictures_gets_a_note_and_the_user_one_warning(provider: str) -> None:
    body, warnings = build(provider, *results(Text("seen"), Image("image/png", DATA)), images=False)
    text = json.dumps(body)
    assert DATA not in text
    assert "seen" in text
    assert "[image not shown to you: image/png]" in text
    assert warnings == ("The Model takes no image input, so it got only a note about the image (image/png).",)


# Sizes ---------------------------------------------------------------------------------------------


def sized(size: int) -> Image:
    return Image("image/png", base64.b64encode(bytes(size)).decode(), WHERE)


OLD = (AssistantMessage((Said("I see."),)), UserMessage((Text("And now?"),)))
PLACES = {
    "prompt": lambda part: (UserMessage((Text("see"), part)),),
    "result": lambda part: results(Text("seen"), part),
    "old prompt": lambda part: (UserMessage((Text("see"), part)), *OLD),
    "old result": lambda part: (*results(Text("seen"), part), *OLD),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("provider", ALL)
def test_a_picture_larger_than_the_model_takes_never_breaks_a_request(provider: str, place: str) -> None:
    fits, large = sized(3000), sized(3001)
    body, warnings = build(provider, *PLACES[place](large), image_bytes=3000)
    text = json.dumps(body)
    assert large.data not in text and WHERE not in text
    assert (
        "[image not shown to you: image/png, 2.94 KiB, larger than the 2.92 KiB that the model takes]" in text
    )
    assert warnings == (
        "An image (image/png, 2.94 KiB) is larger than the 2.92 KiB that The Model takes, so it got only a note "
        "about it; use a smaller one.",
    )
    if not (provider == "mistral" and "result" in place):
        body, warnings = build(provider, *PLACES[place](fits), image_bytes=3000)
        assert fits.data in json.dumps(body)
        assert warnings == ()


def of_sides(width: int, height: int, media_type: str = "image/png") -> Image:
    """The beginning of a PNG, which is as good as a whole one here."""
    sides = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + sides + b"\x08\2\0\0\0"
    return Image(media_type, base64.b64encode(data).decode(), WHERE)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("provider", ALL)
def test_nor_does_one_with_longer_sides_than_providers_take(provider: str, place: str) -> None:
    fits, long = of_sides(LARGEST_SIDE, 9), of_sides(600, LARGEST_SIDE + 1)
    body, warnings = build(provider, *PLACES[place](long))
    text = json.dumps(body)
    assert long.data not in text and WHERE not in text
    assert (
        "[image not shown to you: image/png, 600 x 8001 pixels, larger than the 8000 pixels a side that the model "
        "takes]" in text
    )
    assert warnings == (
        "An image (image/png, 600 x 8001 pixels) is larger than the 8000 pixels a side that The Model takes, so it got "
        "only a note about it; use a smaller one.",
    )
    if not (provider == "mistral" and "result" in place):
        body, warnings = build(provider, *PLACES[place](fits))
        assert fits.data in json.dumps(body)
        assert warnings == ()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("said", ["image/jpeg", "image/jpg", "image/heic", "nonsense", ""])
@pytest.mark.parametrize("provider", WIRE)
def test_nor_does_one_that_is_said_to_be_of_another_kind(provider: str, said: str, place: str) -> None:
    body, warnings = build(provider, *PLACES[place](Image(said, DATA)))
    text = json.dumps(body)
    assert DATA in text and "image/png" in text
    assert not said or said not in text
    assert warnings == ()


@pytest.mark.parametrize("size", range(12))
def test_the_size_of_base64_is_that_of_its_bytes(size: int) -> None:
    assert decoded_size(base64.b64encode(bytes(size)).decode()) == size


@pytest.mark.parametrize(
    ("size", "least", "most"),
    [
        (5 * 2**20, "5 MiB", "5 MiB"),
        (5 * 2**20 + 1, "5.01 MiB", "5 MiB"),
        (5 * 2**20 - 1, "5 MiB", "4.99 MiB"),
        (15 * 2**18, "3.75 MiB", "3.75 MiB"),
        (7549747, "7.2 MiB", "7.19 MiB"),
        (2048, "2 KiB", "2 KiB"),
    ],
)
def test_what_is_larger_than_a_limit_reads_so(size: int, least: str, most: str) -> None:
    assert (at_least(size), at_most(size)) == (least, most)


# What is known of base64 in a request, in bytes: of one picture, of all, or of the whole request.
STATED = {
    "anthropic": 5 * 2**20,
    "openai": 50_000_000,
    "openai-responses": 50_000_000,
    "openrouter": 5 * 2**20,
    "groq": 4_000_000,
    "mistral": 10_000_000,
    "xai": 20 * 2**20,
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_providers_state_is_kept_with_base64(provider: str) -> None:
    known = image_bytes(provider)
    assert known >= 2**20
    assert len(base64.b64encode(bytes(known))) <= STATED.get(provider, 50_000_000)
    listed = (*models(provider), *models(provider, ("some-model",)))
    assert {model.image_bytes for model in listed} == {known}


def test_an_unknown_provider_has_the_default() -> None:
    assert image_bytes("openai-compatible") == image_bytes("who?") == IMAGE_BYTES == 5 * 2**20
    assert choice("x").image_bytes == IMAGE_BYTES
