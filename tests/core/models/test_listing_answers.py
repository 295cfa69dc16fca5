"""What models endpoints answer, and where they are asked."""

import json
from typing import Any

import pytest

from zidane_core.models.listing_answers import LONGEST, MOST, ListedModel, listing_url, read_listing
from zidane_core.models.providers import PROVIDERS, endpoint

READ: list[tuple[Any, tuple[ListedModel, ...]]] = [
    # OpenAI
    (
        {"object": "list", "data": [{"id": "gpt-b", "object": "model"}, {"id": "gpt-a"}]},
        (ListedModel("gpt-a"), ListedModel("gpt-b")),
    ),
    # Anthropic
    (
        {
            "data": [{"type": "model", "id": "claude", "display_name": "Claude", "max_input_tokens": 200000}],
            "has_more": False,
        },
        (ListedModel("claude", "Claude", 200000),),
    ),
    # OpenRouter, Groq, Mistral
    ({"data": [{"id": "a/b", "name": "A: B", "context_length": 8192}]}, (ListedModel("a/b", "A: B", 8192),)),
    ({"data": [{"id": "g", "context_window": 131072}]}, (ListedModel("g", "", 131072),)),
    ({"data": [{"id": "m", "name": "m", "max_context_length": 32768}]}, (ListedModel("m", "", 32768),)),
    # Ollama
    ({"models": [{"name": "llama3:8b", "model": "llama3:8b", "size": 1}]}, (ListedModel("llama3:8b"),)),
    # a bare list
    ([{"id": "x"}], (ListedModel("x"),)),
    # none at all
    ({"data": []}, ()),
    ({"models": None}, ()),
    # what is no model
    (
        {
            "data": [
                "x",
                None,
                {},
                {"id": 3},
                {"id": ""},
                {"id": "y" * (LONGEST + 1)},
                {"id": "z", "context_length": "many"},
            ]
        },
        (ListedModel("z"),),
    ),
    (
        {"data": [{"id": "z", "context_length": True}, {"id": "z", "name": "again", "context_length": -1}]},
        (ListedModel("z", "again"),),
    ),
]


@pytest.mark.parametrize(("answer", "models"), READ)
def test_answers_are_read_into_one_form(answer: Any, models: tuple[ListedModel, ...]) -> None:
    assert read_listing(json.dumps(answer).encode()).unwrap() == models


@pytest.mark.parametrize(
    "answer", [b"", b"<html>", b"3", b'{"error": {"message": "no"}}', b'{"data": 3}', b"\xff"]
)
def test_what_is_no_list_is_said(answer: bytes) -> None:
    assert read_listing(answer).failure() == "it answers no list of models"


def test_an_answer_without_end_is_cut_and_broken_text_mended() -> None:
    many = json.dumps({"data": [{"id": f"m{number:05}"} for number in range(MOST + 7)]}).encode()
    assert len(read_listing(many).unwrap()) == MOST
    assert read_listing(b'[{"id": "a\\ud800"}]').unwrap() == (ListedModel("a\ufffd"),)


@pytest.mark.parametrize(
    ("provider", "base", "url"),
    [
        ("anthropic", None, "https://api.anthropic.com/v1/models?limit=1000"),
        ("anthropic", "http://x/gate/v1/", "http://x/gate/v1/models?limit=1000"),
        ("anthropic", "http://x/v1/messages", "http://x/v1/models?limit=1000"),
        ("openai", None, "https://api.openai.com/v1/models"),
        ("openai-responses", "http://x/v1/responses", "http://x/v1/models"),
        ("openai-compatible", "http://x/v1/chat/completions", "http://x/v1/models"),
        ("deepseek", None, "https://api.deepseek.com/models"),
        ("ollama", None, "http://127.0.0.1:11434/api/tags"),
    ],
)
def test_where_the_models_are_listed(provider: str, base: str | None, url: str) -> None:
    where = endpoint(provider, {}, base).unwrap()
    assert listing_url(provider, where.family, where.base_url) == url


def test_every_provider_has_an_address_for_it() -> None:
    for name, row in PROVIDERS.items():
        assert listing_url(name, row.family, row.base_url or "http://x").startswith("http")
