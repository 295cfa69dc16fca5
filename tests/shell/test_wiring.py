"""From settings and environment to an agent: provider, models, source, or one sentence about what is missing."""

from pathlib import Path

import pytest

from zidane_acp.options import StdioOptions
from zidane_acp.settings import Settings
from zidane_acp.wiring import WiringProblem, options_of


def wired(settings: Settings, env: dict[str, str] | None = None) -> StdioOptions:
    options = options_of(settings, env or {})
    assert isinstance(options, StdioOptions), options
    return options


def source(options: StdioOptions) -> tuple[str, str, str]:
    told = options.server.source
    assert told is not None
    return told.provider, told.model, told.source


def test_without_a_key_the_offline_model_answers_and_says_why() -> None:
    assert source(wired(Settings())) == ("offline", "offline", "no provider key was found")


def test_the_first_key_wins_and_is_named() -> None:
    env = {"GROQ_API_KEY": "a", "OPENAI_API_KEY": "b", "XAI_API_KEY": "c"}
    provider, model, variable = source(wired(Settings(), env))
    assert (provider, variable) == ("openai", "OPENAI_API_KEY")
    assert model


def test_an_empty_key_is_no_key() -> None:
    assert source(wired(Settings(), {"OPENAI_API_KEY": " "}))[0] == "offline"


def test_flags_beat_the_environment_and_the_first_model_is_the_default() -> None:
    settings = Settings(provider="groq", models=("one", "two"))
    options = wired(settings, {"OPENAI_API_KEY": "b", "GROQ_API_KEY": "k"})
    assert source(options) == ("groq", "one", "--provider, key from GROQ_API_KEY")
    assert [choice.id for choice in options.server.models] == ["one", "two"]


def test_a_base_url_alone_is_a_compatible_server() -> None:
    options = wired(Settings(base_url="http://127.0.0.1:1/v1", models=("m",)))
    assert source(options) == ("openai-compatible", "m", "--base-url")


def test_ollama_without_a_model_takes_the_first_it_has() -> None:
    assert source(wired(Settings(), {"OLLAMA_HOST": "127.0.0.1"})) == ("ollama", "any", "OLLAMA_HOST")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(provider="nope"), "no provider named nope"),
        (Settings(provider="openai-compatible", models=("m",)), "--base-url"),
        (Settings(base_url="http://127.0.0.1/v1"), "--model"),
        (Settings(base_url="ftp://x", models=("m",)), "no http or https address"),
        (Settings(provider="replay"), "--script"),
        (Settings(script="/no/such/file"), "cannot be read"),
    ],
)
def test_what_is_missing_is_one_sentence(settings: Settings, words: str) -> None:
    problem = options_of(settings, {})
    assert isinstance(problem, WiringProblem)
    assert words in problem.message
    assert problem.message.endswith(".")


def test_the_users_own_files_are_never_those_beside_a_file_that_a_flag_names(tmp_path: Path) -> None:
    options = wired(Settings(config=str(tmp_path / "repo" / "config.toml"), home=str(tmp_path / "home")))
    assert options.server.project and options.server.user_folder == str(tmp_path / "home")
    alone = wired(Settings(config=str(tmp_path / "config.toml")), {"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert alone.server.user_folder != str(tmp_path)
