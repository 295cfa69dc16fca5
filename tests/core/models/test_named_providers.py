"""Which provider the environment asks for, where it is, and what it offers."""

import pytest

from zidane_core.models.codecs import CODECS
from zidane_core.models.providers import DETECTION_ORDER, PROVIDERS, Found, detect, endpoint, models

KEYS = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "CEREBRAS_API_KEY",
    "GROQ_API_KEY",
    "DEEPSEEK_API_KEY",
    "MISTRAL_API_KEY",
    "XAI_API_KEY",
    "OLLAMA_HOST",
]


@pytest.mark.parametrize("place", range(len(KEYS)))
def test_the_first_key_in_order_wins(place: int) -> None:
    env = dict.fromkeys(reversed(KEYS[place:]), "value")
    assert detect(env) == Found([*DETECTION_ORDER, "ollama"][place], KEYS[place])


def test_no_key_means_offline_and_an_empty_one_counts_as_none() -> None:
    assert detect({}) == Found("offline", "")
    assert detect(dict.fromkeys(KEYS, "  ")) == Found("offline", "")
    assert detect({"OPENAI_API_KEY": "", "GROQ_API_KEY": "k"}) == Found("groq", "GROQ_API_KEY")


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_can_be_called(name: str) -> None:
    where = endpoint(name, {}, "http://127.0.0.1:1/v1").unwrap()
    assert where.family in CODECS
    assert (where.name, where.base_url) == (name, "http://127.0.0.1:1/v1")
    if name != "openai-compatible":
        assert endpoint(name, {}).unwrap().base_url == PROVIDERS[name].base_url


def test_a_given_base_url_beats_the_variable() -> None:
    env = {"OPENAI_BASE_URL": "http://variable.test/v1"}
    assert endpoint("openai", env).unwrap().base_url == "http://variable.test/v1"
    assert endpoint("openai", env, "http://flag.test/v1").unwrap().base_url == "http://flag.test/v1"


HOSTS = [
    ("127.0.0.1", "http://127.0.0.1:11434/v1"),
    ("0.0.0.0", "http://127.0.0.1:11434/v1"),
    ("box:1234", "http://box:1234/v1"),
    (":1234", "http://127.0.0.1:1234/v1"),
    ("http://box:1234/", "http://box:1234/v1"),
    ("https://box", "https://box:443/v1"),
    ("https://box/ollama/v1", "https://box:443/ollama/v1"),
    ("[::1]:1234", "http://[::1]:1234/v1"),
    ("box:none", "http://box:11434/v1"),
]


@pytest.mark.parametrize(("host", "url"), HOSTS)
def test_ollama_hosts(host: str, url: str) -> None:
    assert endpoint("ollama", {"OLLAMA_HOST": host}).unwrap().base_url == url


PROBLEMS = [
    ("nobody", None, "no provider named nobody"),
    ("openai-compatible", None, "--base-url"),
    ("openai", "localhost:8000/v1", "no http or https address"),
]


@pytest.mark.parametrize(("name", "base", "words"), PROBLEMS)
def test_problems_are_sentences(name: str, base: str | None, words: str) -> None:
    message = endpoint(name, {}, base).failure()
    assert words in message
    assert message.endswith(".")


@pytest.mark.parametrize("name", PROVIDERS)
def test_models(name: str) -> None:
    known = models(name)
    assert bool(known) == (name not in ("ollama", "openai-compatible"))
    assert len({choice.value for choice in known}) == len(known)
    assert all(choice.provider == name and choice.max_output and choice.context_window for choice in known)
    given = models(name, ("my-model", *(choice.id for choice in known[:1])))
    assert (given[0].id, given[0].provider) == ("my-model", name)
    assert given[1:] == known[:1]


def test_only_local_servers_answer_without_a_key() -> None:
    assert {name for name, row in PROVIDERS.items() if row.key_optional} == {"ollama", "openai-compatible"}
