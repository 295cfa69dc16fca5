"""The user's file in the running agent: models of all keys, its defaults, its warnings, its secrets."""

import json
from pathlib import Path

import pytest
from support.process import Process

KEYS = {"ANTHROPIC_API_KEY": "sk-ant-none", "OPENAI_API_KEY": "sk-none"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def opened(agent: Process, cwd: Path) -> dict[str, dict[str, object]]:
    agent.call("initialize", protocolVersion=1)
    result = agent.call("session/new", cwd=str(cwd), mcpServers=[])["result"]
    return {option["id"]: option for option in result["configOptions"]}


def test_a_session_offers_the_models_of_every_key_with_the_default_of_the_file(home: Path) -> None:
    (home / "config.toml").write_text('default_model = "openai/gpt-6-luna"\nthinking = "high"\n')
    with Process("--home", str(home), env=KEYS) as agent:
        options = opened(agent, home)
        model = json.dumps(options["model"])
        assert options["model"]["currentValue"] == "gpt-6-luna"
        assert "claude-sonnet-5-5" in model and "gpt-6-sol" in model
        assert options["thought_level"]["currentValue"] == "high"
        assert agent.close() == 0


def test_a_flag_beats_the_file_also_with_its_default(home: Path) -> None:
    (home / "config.toml").write_text('thinking = "high"\n')
    with Process("--home", str(home), "--thinking=off", env=KEYS) as agent:
        assert opened(agent, home)["thought_level"]["currentValue"] == "off"


def test_whatever_is_wrong_with_the_file_a_session_starts_and_the_log_tells(home: Path) -> None:
    (home / "config.toml").write_text(
        'colour = 1\ndefault_model = "gone"\nmode = "swim"\nprovider = "nobody"\n[providers.openai]\napi_key = "sk-swordfish"\n'
    )
    with Process("--home", str(home), env=KEYS) as agent:
        assert opened(agent, home)["model"]["currentValue"] == "claude-sonnet-5-5"
        assert agent.close() == 0
        assert agent.child.stderr is not None
        log = agent.child.stderr.read().decode()
    for words in (
        "line 1: there is no setting colour",
        "line 6: providers.openai.api_key does not belong here",
        "There is no mode swim",
        "There is no provider named nobody",
        "default_model gone is not among the models",
    ):
        assert words in log, log
    assert "swordfish" not in log


def test_a_prompt_on_a_model_without_its_key_says_which_variable(home: Path) -> None:
    (home / "config.toml").write_text("[providers.xai]\nenabled = true\n")
    with Process("--home", str(home)) as agent:
        session = agent.session(home)
        asked = agent.prompt(session, "hi")
        error = agent.until(lambda frame: frame.get("id") == asked)["error"]
    assert error["code"] == -32000 and "XAI_API_KEY" in error["message"]


def test_tools_do_not_inherit_the_variables_that_the_file_names(home: Path) -> None:
    (home / "config.toml").write_text(
        '[providers.mine]\nbase_url = "http://127.0.0.1:1"\nkey_variable = "MY_GATE"\nheaders = { A = "MY_TEAM" }\n'
    )
    secrets = {"MY_GATE": "gate-swordfish", "MY_TEAM": "team-swordfish", "MY_OTHER": "shown"}
    script = {"turns": [{"tool": "shell", "args": {"command": "env | grep ^MY_"}}, {"text": "done"}]}
    (home / "script.json").write_text(json.dumps(script))
    flags = ("--home", str(home), "--script", str(home / "script.json"), "--permission", "allow-all")
    trace = home / "trace"
    with Process(*flags, "--trace", str(trace), env=secrets) as agent:
        # In the agent's own folder every command is asked about.
        session = agent.session(home.parent)
        asked = agent.prompt(session, "my gate-swordfish")
        agent.until(lambda frame: frame.get("id") == asked)
        assert agent.close() == 0
    said = json.dumps(agent.seen)
    assert "MY_OTHER=shown" in said and "MY_GATE" not in said and "MY_TEAM" not in said
    assert "gate-swordfish" not in trace.read_text()
