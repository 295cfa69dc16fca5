"""What is known of models by their names."""

from decimal import Decimal

import pytest

from zidane_core.data.models import IMAGE_BYTES, Price
from zidane_core.models.codec import NO_LIMIT
from zidane_core.models.families import FAMILIES, family
from zidane_core.models.known_models import MODELS, model_choice
from zidane_core.models.providers import PROVIDERS

FOUND = [
    ("anthropic", "claude-sonnet-5-5", "claude-sonnet-5-5"),
    ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
    ("anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4"),
    ("anthropic", "claude-sonnet-4-0", "claude-sonnet-4"),
    ("anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"),
    ("openai", "gpt-4o-2024-08-06", "gpt-4o"),
    ("openai", "gpt-4o-mini", "gpt-4o-mini"),
    ("openai-responses", "gpt-5-2025-08-07", "gpt-5"),
    ("groq", "openai/gpt-oss-120b", "openai/gpt-oss-120b"),
    ("xai", "grok-4-0709", "grok-4"),
    ("mistral", "mistral-large-2512", "mistral-large-2512"),
    ("mistral", "mistral-large-latest", "mistral-large"),
    ("openrouter", "anthropic/claude-3.7-sonnet", "claude-3-7-sonnet"),
    ("openrouter", "x-ai/grok-4.5", "grok-4.5"),
    ("openrouter", "openai/gpt-oss-120b", "gpt-oss-120b"),
    # Another ending is another model, and another price.
    ("openai", "gpt-5-pro", None),
    ("openai", "gpt-4o-audio-preview", None),
    ("openai", "gpt-5-20", None),
    ("anthropic", "claude-sonnet-4-9", None),
    ("openrouter", "openai/gpt-oss-120b:free", None),
    ("openrouter", "mistralai/mistral-large-2512", None),
    ("anthropic", "gpt-4o", None),
    ("anthropic", "", None),
    ("nobody", "-", None),
]


@pytest.mark.parametrize(("provider", "model", "name"), FOUND)
def test_a_name_finds_its_row_and_no_other(provider: str, model: str, name: str | None) -> None:
    found = family(provider, model)
    assert (found and found.name) == name


def test_a_router_asks_what_the_maker_asks_and_takes_no_documents() -> None:
    direct, routed = (
        family("anthropic", "claude-sonnet-5-5"),
        family("openrouter", "anthropic/claude-sonnet-5.5"),
    )
    assert direct is not None and routed is not None
    assert routed.price == direct.price and routed.context_window == direct.context_window
    assert direct.documents and not routed.documents
    open_model = family("openrouter", "openai/gpt-oss-120b")
    assert open_model is not None and open_model.price is None


def test_the_prices_of_a_row_make_sense() -> None:
    assert len(FAMILIES) > 60
    for row in FAMILIES.values():
        assert row.provider == "" or row.provider in PROVIDERS, row
        assert row.context_window is None or row.max_output < row.context_window, row
        price = row.price
        if price is not None:
            assert 0 < price.input <= price.output, row
            assert price.cached_read is None or 0 < price.cached_read < price.input, row
            assert price.cached_write is None or price.input < price.cached_write < 2 * price.input, row
    assert family("anthropic", "claude-opus-5-5") == FAMILIES["anthropic", "claude-opus-5-5"]
    assert FAMILIES["anthropic", "claude-opus-5-5"].price == Price(
        input=4, output=20, cached_read=0.2, cached_write=5.0
    )


def test_prices_have_few_digits() -> None:
    # A product of floats such as 0.1 * 1.25 must not end in ...0000001.
    for row in FAMILIES.values():
        for value in (
            () if row.price is None else (row.price.input, row.price.output, row.price.cached_write or 0)
        ):
            assert -Decimal(str(value)).as_tuple().exponent <= 4, row  # type: ignore[operator]


def test_every_model_of_the_list_is_known() -> None:
    for provider, choices in MODELS.items():
        for choice in choices:
            assert family(provider, choice.id) is not None, choice
            assert choice.context_window, choice


def test_a_model_that_is_only_named_gets_what_its_name_says() -> None:
    choice = model_choice("anthropic", "claude-3-5-haiku-20241022")
    assert (choice.max_output, choice.context_window, choice.thinking) == (8192, 200_000, False)
    assert choice.price == Price(input=0.8, output=4, cached_read=0.08, cached_write=1.0)
    assert choice.name == choice.value == choice.id == "claude-3-5-haiku-20241022"


def test_of_an_unknown_name_little_is_assumed_and_no_price() -> None:
    claude, gpt = model_choice("anthropic", "claude-next"), model_choice("openai", "gpt-next")
    assert (claude.max_output, claude.context_window, claude.price) == (16384, None, None)
    assert claude.thinking and claude.documents
    assert (gpt.max_output, gpt.price) == (NO_LIMIT, None)


def test_of_a_server_that_runs_anything_nothing_is_assumed() -> None:
    choice = model_choice("mine", "gpt-4o", anything=True)
    assert (choice.context_window, choice.price, choice.max_output) == (None, None, NO_LIMIT)
    assert not choice.thinking and not choice.documents and choice.image_bytes == IMAGE_BYTES
