"""From settings and environment to an agent: provider, models, source, or one sentence about what is missing."""

from pathlib import Path

import pytest

from zidane_acp.config import Config
from zidane_acp.config.file import config_of
from zidane_acp.models.http import HttpModel
from zidane_acp.options import StdioOptions, core_options
from zidane_acp.settings import Settings, parse
from zidane_acp.wiring import NO_CONFIG, WiringProblem, options_of, reachable
from zidane_core.agent.modes import MODES
from zidane_core.data.rules import Denials
from zidane_core.models.providers import models

OPENAI, ANTHROPIC = {"OPENAI_API_KEY": "sk-openai"}, {"ANTHROPIC_API_KEY": "sk-ant"}


def wired(settings: Settings, env: dict[str, str] | None = None, config: Config = NO_CONFIG) -> StdioOptions:
    options = options_of(settings, env or {}, config)
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
        (Settings(mode="swim"), "no mode swim; choose one of build, plan"),
    ],
)
def test_what_is_missing_is_one_sentence(settings: Settings, words: str) -> None:
    problem = options_of(settings, {})
    assert isinstance(problem, WiringProblem)
    assert words in problem.message
    assert problem.message.endswith(".")


def of_file(text: str) -> Config:
    config = config_of(text.encode(), "f")
    assert config.warnings == ()
    return config


def given(*argv: str, **env: str) -> Settings:
    settings = parse(argv, env)
    assert isinstance(settings, Settings)
    return settings


def offered(options: StdioOptions) -> list[str]:
    return [choice.id for choice in options.server.models]


def test_every_key_brings_its_models_and_the_first_is_the_default() -> None:
    options = wired(Settings(), {**OPENAI, **ANTHROPIC})
    assert offered(options) == [model.id for name in ("anthropic", "openai") for model in models(name)]
    assert options.server.default_model == "claude-sonnet-5-5"
    assert source(options) == ("anthropic", "claude-sonnet-5-5", "ANTHROPIC_API_KEY")


def test_models_of_one_provider_share_a_client_that_has_its_key() -> None:
    options = wired(Settings(), {**OPENAI, **ANTHROPIC})
    clients = {choice.provider_name: choice.provider for choice in options.server.models}
    assert len({id(choice.provider) for choice in options.server.models}) == 2
    for name, key in (("openai", "sk-openai"), ("anthropic", "sk-ant")):
        make = clients[name]
        assert callable(make)
        client = make()
        assert isinstance(client, HttpModel) and client is make()
        assert client._key == key and client._endpoint.name == name


def test_the_default_of_the_file_and_its_way_to_the_core() -> None:
    config = of_file('default_model = "openai/gpt-6-luna"\n[permissions]\ndeny_commands = ["git push"]')
    options = wired(Settings(), {**OPENAI, **ANTHROPIC}, config)
    core = core_options(options.server)
    assert core.default_model == "gpt-6-luna" and source(options)[:2] == ("openai", "gpt-6-luna")
    assert core.denials == Denials((), ("git push",)) and core.modes == MODES
    assert core.slash and core.project and all(model.made_late for model in core.models)


def test_a_provider_of_the_file_comes_first_and_one_of_a_flag_is_alone() -> None:
    config = of_file('provider = "openai"')
    env = {**OPENAI, **ANTHROPIC}
    assert source(wired(Settings(), env, config)) == (
        "openai",
        "gpt-6-sol",
        "the config file, key from OPENAI_API_KEY",
    )
    assert len(offered(wired(Settings(), env, config))) == 5
    options = wired(given("--provider", "anthropic"), env, config)
    assert source(options)[2] == "--provider, key from ANTHROPIC_API_KEY" and len(offered(options)) == 3
    by_variable = wired(given(ZIDANE_ACP_PROVIDER="openai"), env)
    assert source(by_variable)[2] == "ZIDANE_ACP_PROVIDER, key from OPENAI_API_KEY"


def test_nothing_in_the_file_is_fatal() -> None:
    config = of_file(
        'provider = "nobody"\nmode = "swim"\ndefault_model = "gone"\n[providers.openai]\nenabled = true'
    )
    options = wired(Settings(), ANTHROPIC, config)
    assert source(options) == ("anthropic", "claude-sonnet-5-5", "ANTHROPIC_API_KEY")
    assert [warning.partition(";")[0] for warning in options.warnings] == [
        "f: There is no mode swim",
        "f: There is no provider named nobody",
        "default_model gone is not among the models, so claude-sonnet-5-5 is used",
    ]
    assert options.server.mode == ""


def test_a_named_provider_without_its_key_is_offered_behind_the_rest() -> None:
    config = of_file("[providers.xai]\nenabled = true")
    assert offered(wired(Settings(), ANTHROPIC, config))[-2:] == ["grok-4.5", "grok-4.3"]
    alone = wired(Settings(), {}, config)
    assert source(alone) == ("xai", "grok-4.5", "the config file")


def test_a_server_of_the_users_own_with_a_key_and_headers_from_variables() -> None:
    config = of_file("""
[providers.mine]
base_url = "http://127.0.0.1:1/v1"
key_variable = "MY_GATE"
headers = { X-Team = "MY_TEAM", X-None = "NOT_SET" }
[[models]]
id = "large"
provider = "mine"
context_window = 1000
""")
    options = wired(Settings(), {"MY_GATE": "gate-key", "MY_TEAM": "team-secret"}, config)
    assert source(options) == ("mine", "large", "MY_GATE")
    assert options.server.hidden_variables == ("MY_GATE", "MY_TEAM", "NOT_SET")
    make = options.server.models[0].provider
    assert callable(make)
    client = make()
    assert isinstance(client, HttpModel)
    assert (client._key, client._more_headers) == ("gate-key", {"X-Team": "team-secret"})
    assert reachable(Settings(), {"MY_GATE": "k"}, config) == ("mine",)
    assert reachable(Settings(), {}, config) == ()


def test_a_variable_beats_the_address_of_the_file_and_a_flag_beats_both() -> None:
    config = of_file('[providers.openai]\nbase_url = "http://file.test/v1"')
    for settings, env, url in (
        (Settings(), OPENAI, "http://file.test/v1"),
        (Settings(), {**OPENAI, "OPENAI_BASE_URL": "http://variable.test/v1"}, "http://variable.test/v1"),
        (
            Settings(provider="openai", base_url="http://flag.test/v1"),
            {**OPENAI, "OPENAI_BASE_URL": "http://variable.test/v1"},
            "http://flag.test/v1",
        ),
    ):
        make = wired(settings, env, config).server.models[0].provider
        assert callable(make)
        client = make()
        assert isinstance(client, HttpModel) and client._endpoint.base_url == url


def test_an_address_that_is_none_stops_the_provider_to_begin_with_and_no_other() -> None:
    env = {**OPENAI, **ANTHROPIC, "OPENAI_BASE_URL": "no address"}
    options = wired(Settings(), env)
    assert offered(options) == [model.id for model in models("anthropic")]
    assert "no http or https address" in options.warnings[0]
    problem = options_of(Settings(), {**OPENAI, "OPENAI_BASE_URL": "no address"})
    assert isinstance(problem, WiringProblem) and "no http or https address" in problem.message


def test_offline_answers_only_when_nothing_else_is_there_or_it_was_asked_for() -> None:
    assert offered(wired(Settings(provider="offline"), OPENAI)) == ["offline"]
    assert offered(wired(Settings(), OPENAI, of_file('provider = "offline"'))) == ["offline"]
    assert "offline" not in offered(wired(Settings(), OPENAI))
    lonely = wired(Settings(), {}, of_file('[providers.mine]\nbase_url = "http://127.0.0.1:1"'))
    assert offered(lonely) == ["offline"]
    assert lonely.warnings == ("No model of the provider mine is known; add one under [[models]].",)


def test_what_the_command_line_chose_is_pinned() -> None:
    config = of_file('thinking = "high"\nmode = "plan"')
    options = wired(given("--model", "m", ZIDANE_ACP_MODE="build"), OPENAI, config)
    assert set(options.server.pinned) == {"model", "mode"}
    assert (options.server.mode, options.server.thinking) == ("build", "high")
    assert wired(Settings(), OPENAI, config).server.pinned == ()


def test_where_settings_and_state_are_is_protected(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    file = tmp_path / "repo" / "x.toml"
    options = wired(given("--home", str(link), "--config", str(file)))
    # Of a file that a flag names only itself, for it may lie in the project.
    assert options.server.protected == (str(link), str(real), str(file))
    assert wired(given("--home", str(real))).server.protected == (str(real),)


def test_the_users_own_files_are_never_those_beside_a_file_that_a_flag_names(tmp_path: Path) -> None:
    options = wired(Settings(config=str(tmp_path / "repo" / "config.toml"), home=str(tmp_path / "home")))
    assert options.server.project and options.server.user_folder == str(tmp_path / "home")
    alone = wired(Settings(config=str(tmp_path / "config.toml")), {"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert alone.server.user_folder != str(tmp_path)
