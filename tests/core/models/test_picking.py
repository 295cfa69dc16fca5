"""Which models can be chosen: by keys, by flags, by the user's file."""

from collections.abc import Mapping

import pytest

from zidane_core.data.models import ModelOption, OptionValue, Price
from zidane_core.models.picking import ConfiguredModel, Picked, Wish, matching, pick, usable
from zidane_core.models.providers import DETECTION_ORDER, PROVIDERS, Provider, models, own_provider

ANTHROPIC, OPENAI, GROQ = "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GROQ_API_KEY"
OWN = own_provider("mine", "openai", "http://127.0.0.1:1/v1", None, "")
LOCKED = own_provider("locked", "anthropic", "http://127.0.0.1:1", "LOCKED_KEY", "Locked")
ROWS: Mapping[str, Provider] = {**PROVIDERS, "mine": OWN, "locked": LOCKED}


def picked(*keys: str, **wish: object) -> Picked:
    return pick(Wish(**wish), dict.fromkeys(keys, "k"), ROWS)  # type: ignore[arg-type]


def values(found: Picked) -> list[str]:
    return [model.value for model in found.models]


def ids(*providers: str) -> list[str]:
    return [model.value for name in providers for model in models(name)]


def test_every_key_brings_its_models_grouped_in_the_order_of_detection() -> None:
    found = picked(GROQ, OPENAI, ANTHROPIC)
    assert values(found) == ids("anthropic", "openai", "groq")
    assert found.default == "claude-sonnet-5-5" and not found.warnings and not found.missing
    everything = pick(Wish(), {PROVIDERS[name].key_variable or "": "k" for name in DETECTION_ORDER}, ROWS)
    assert list(dict.fromkeys(model.provider for model in everything.models)) == list(DETECTION_ORDER)


def test_no_key_no_model() -> None:
    assert picked() == Picked()
    assert pick(Wish(), {OPENAI: "  "}, ROWS) == Picked()


def test_ollama_is_there_by_its_host_and_comes_last() -> None:
    assert values(picked("OLLAMA_HOST")) == ["any"]
    assert values(picked("OLLAMA_HOST", OPENAI)) == [*ids("openai"), "any"]


def test_a_provider_of_a_flag_is_alone_and_one_of_the_file_comes_first() -> None:
    assert values(picked(ANTHROPIC, OPENAI, only="openai")) == ids("openai")
    assert values(picked(ANTHROPIC, OPENAI, first="openai")) == ids("openai", "anthropic")
    assert picked(ANTHROPIC, OPENAI, first="openai").default == ids("openai")[0]


def test_a_provider_that_the_file_takes_away_is_gone_but_for_a_flag() -> None:
    assert values(picked(ANTHROPIC, OPENAI, off=("anthropic",))) == ids("openai")
    assert values(picked(ANTHROPIC, off=("anthropic",), only="anthropic")) == ids("anthropic")


def test_a_named_provider_is_there_without_a_key_behind_those_that_work() -> None:
    found = picked(OPENAI, named=("anthropic",))
    assert values(found) == ids("openai", "anthropic")
    both = picked(named=("xai", "mine"), configured=(ConfiguredModel(id="m", provider="mine"),))
    assert values(both) == ["m", *ids("xai")] and both.default == "m"


def test_a_provider_without_a_known_model_is_told_of() -> None:
    assert picked(OPENAI, named=("mine",)).missing == ("mine",)
    assert picked(only="openai-compatible") == Picked(missing=("openai-compatible",))
    assert picked(OPENAI, named=("mine",), ids=("gpt-6-sol",)).missing == ()


def test_models_of_flags_are_all_that_is_offered_in_their_order() -> None:
    found = picked(ANTHROPIC, OPENAI, ids=("gpt-6-sol", "claude-opus-5-5"), default="claude-haiku-5-5")
    assert values(found) == ["gpt-6-sol", "claude-opus-5-5"]
    assert [model.provider for model in found.models] == ["openai", "anthropic"]
    assert found.default == "gpt-6-sol" and not found.warnings
    assert values(picked(ANTHROPIC, ids=("claude-opus-5-5", "claude-opus-5-5"))) == ["claude-opus-5-5"]


@pytest.mark.parametrize(
    ("word", "provider", "model"),
    [
        ("new", "anthropic", "new"),
        ("openai/new", "openai", "new"),
        ("groq/openai/new", "groq", "openai/new"),
        ("nobody/new", "anthropic", "nobody/new"),
        ("openrouter/auto", "anthropic", "openrouter/auto"),
        ("openrouter/a/b", "openrouter", "a/b"),
        ("openai/gpt-oss-120b", "groq", "openai/gpt-oss-120b"),
    ],
)
def test_a_model_that_nobody_knows_is_the_first_providers_or_the_named_ones(
    word: str, provider: str, model: str
) -> None:
    (found,) = picked(ANTHROPIC, OPENAI, GROQ, "OPENROUTER_API_KEY", ids=(word,)).models
    assert (found.provider, found.id, found.value) == (
        provider,
        model,
        word if provider == "groq" and word != "groq/openai/new" else model,
    )


def test_a_value_is_the_id_where_that_is_unique_else_provider_and_id() -> None:
    found = picked(OPENAI, named=("openai-responses",))
    assert values(found) == [
        "openai/gpt-6-sol",
        "openai/gpt-6-luna",
        "openai-responses/gpt-6-sol",
        "openai-responses/gpt-6-luna",
    ]
    assert [model.id for model in found.models[:2]] == ["gpt-6-sol", "gpt-6-luna"]


@pytest.mark.parametrize("word", ["gpt-6-luna", "openai/gpt-6-luna"])
def test_the_default_is_found_by_both_names(word: str) -> None:
    found = picked(ANTHROPIC, OPENAI, default=word)
    assert found.default == "gpt-6-luna" and values(found) == ids("anthropic", "openai")
    twice = picked(OPENAI, named=("openai-responses",), default="openai-responses/gpt-6-luna")
    assert twice.default == "openai-responses/gpt-6-luna"


def test_a_default_that_is_not_there_is_a_warning_and_the_first_is_used() -> None:
    found = picked(ANTHROPIC, default="gpt-6-sol")
    assert found.default == "claude-sonnet-5-5"
    (warning,) = found.warnings
    assert warning.startswith(
        "default_model gpt-6-sol is not among the models, so claude-sonnet-5-5 is used;"
    )
    # What a flag says makes the file's wish moot.
    assert picked(ANTHROPIC, default="gpt-6-sol", only="anthropic").warnings == ()


def test_the_file_adds_a_model_behind_those_of_its_provider() -> None:
    option = ModelOption(id="fast", name="Fast", values=(OptionValue("a", "A"),), default="a")
    item = ConfiguredModel(
        id="large",
        provider="anthropic",
        model="claude-3-5-haiku-20241022",
        name="Large",
        price=Price(input=1, output=2),
        options=(option,),
    )
    found = picked(ANTHROPIC, OPENAI, configured=(item,), default="large")
    assert values(found) == [*ids("anthropic"), "large", *ids("openai")]
    model = matching(found.models, "large")
    assert model is not None and found.default == "large"
    assert (model.id, model.name, model.price) == (
        "claude-3-5-haiku-20241022",
        "Large",
        Price(input=1, output=2),
    )
    # What the file leaves open is known by the provider's name of the model.
    assert (model.context_window, model.max_output, model.options) == (200_000, 8192, (option,))


def test_the_file_changes_a_known_model_by_its_id() -> None:
    price = Price(input=1, output=2)
    for item in (
        ConfiguredModel(id="gpt-6-sol", price=price, thinking=False, images=False),
        ConfiguredModel(id="gpt-6-sol", provider="openai", price=price, thinking=False, images=False),
    ):
        found = picked(OPENAI, configured=(item,))
        assert values(found) == ids("openai")
        assert found.models[0].price == price and not found.models[0].thinking and not found.models[0].images
        assert found.models[0].context_window == models("openai")[0].context_window
        assert found.models[1] == models("openai")[1]


def test_a_model_without_a_home_is_a_warning() -> None:
    found = picked(OPENAI, configured=(ConfiguredModel(id="lost"), ConfiguredModel(id="x", provider="gone")))
    assert values(found) == ids("openai")
    assert found.warnings == (
        "No provider here offers the model lost; say in [[models]] whose it is.",
        "The model x is of the provider gone, which does not exist.",
    )


def test_a_configured_model_is_not_there_where_its_provider_is_not() -> None:
    item = ConfiguredModel(id="m", provider="mine")
    assert values(picked(OPENAI, configured=(item,), only="openai")) == ids("openai")
    assert values(picked(OPENAI, configured=(item,), off=("mine",))) == ids("openai")
    assert values(picked(OPENAI, configured=(item,), ids=("m",))) == ["m"]


def test_what_can_be_asked_has_a_key_or_needs_none() -> None:
    wish = Wish(named=("locked", "mine", "xai"))
    assert usable(wish, {OPENAI: "k"}, ROWS) == ("openai", "mine")
    assert usable(wish, {"LOCKED_KEY": "k"}, ROWS) == ("locked", "mine")
    assert usable(Wish(only="openai"), {}, ROWS) == usable(Wish(only="offline"), {}, ROWS) == ()
