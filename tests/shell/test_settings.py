"""Flags, environment, default: one table, one pure function."""

import os
from collections.abc import Mapping, Sequence

import msgspec
import pytest
from platformdirs import user_state_dir

import zidane_acp.settings
from zidane_acp.settings import (
    FLAGS,
    Origin,
    Settings,
    SettingsProblem,
    as_arguments,
    filled,
    state_folder,
)


def parse(argv: Sequence[str], env: Mapping[str, str]) -> Settings | SettingsProblem:
    """The settings without where they come from."""
    found = zidane_acp.settings.parse(argv, env)
    return msgspec.structs.replace(found, origins={}) if isinstance(found, Settings) else found


def problem(*argv: str, **env: str) -> str:
    found = parse(argv, env)
    assert isinstance(found, SettingsProblem), found
    return found.message


def test_nothing_gives_the_defaults() -> None:
    assert parse((), {}) == Settings()
    assert Settings().permission == "ask"
    assert Settings().max_rounds == 50
    assert Settings().max_frame == 64 * 1024 * 1024


def test_every_flag_has_a_field_and_every_field_a_flag() -> None:
    fields = [field.name for field in msgspec.structs.fields(Settings)]
    assert [*(flag.field for flag in FLAGS), "origins"] == fields


def test_flags_in_both_spellings() -> None:
    spaced = ("--provider", "openai", "--model", "a", "--model=b", "--max-rounds", "7", "--sequential-tools")
    assert parse(spaced, {}) == Settings(
        provider="openai", models=("a", "b"), max_rounds=7, sequential_tools=True
    )


def test_a_flag_beats_its_variable_and_a_variable_beats_the_default() -> None:
    env = {"ZIDANE_ACP_PERMISSION": "allow-all", "ZIDANE_ACP_MODEL": "x, y", "ZIDANE_ACP_THINKING": "low"}
    assert parse(("--permission=read-only", "--model", "z"), env) == Settings(
        permission="read-only", models=("z",), thinking="low"
    )
    assert parse((), env) == Settings(permission="allow-all", models=("x", "y"), thinking="low")


def test_an_empty_variable_is_not_set() -> None:
    assert parse((), {"ZIDANE_ACP_PERMISSION": " ", "ZIDANE_ACP_MAX_ROUNDS": ""}) == Settings()


@pytest.mark.parametrize(("text", "value"), [("1", True), ("ON", True), ("false", False), ("no", False)])
def test_a_switch_in_the_environment(text: str, value: bool) -> None:
    assert parse((), {"ZIDANE_ACP_ALLOW_PRIVATE_FETCH": text}) == Settings(allow_private_fetch=value)


def test_problems_name_the_flag_and_what_is_allowed() -> None:
    assert problem("--permission", "sure") == (
        "--permission takes ask, allow-edits, allow-all or read-only, not 'sure'."
    )
    assert problem(ZIDANE_ACP_THINKING="lots").startswith("ZIDANE_ACP_THINKING takes off, minimal")
    assert problem("--max-rounds", "0") == "--max-rounds takes a whole number of at least 1, not '0'."
    assert problem("--max-frame", "10").startswith("--max-frame takes a whole number of at least 1024")
    assert "--provider needs a value" in problem("--provider")
    assert "--provider needs a value" in problem("--provider", "--model", "x")
    assert "must not be empty" in problem("--model=")


@pytest.mark.parametrize("flag", ["--agent", "--compat", "--record", "--frob"])
def test_an_unknown_flag_is_said_plainly(flag: str) -> None:
    assert problem(flag, "x").startswith(f"There is no flag {flag} in this version")


def test_a_stray_word_is_said_plainly() -> None:
    assert "Unexpected argument 'frob'" in problem("frob")


def test_arguments_give_the_same_settings_again() -> None:
    settings = Settings(
        provider="openai",
        models=("a b", "--odd"),
        permission="allow-edits",
        max_rounds=3,
        trace="/tmp/t",
        sequential_tools=True,
    )
    assert parse(as_arguments(settings), {}) == settings
    assert as_arguments(Settings()) == ()


def test_where_each_setting_comes_from() -> None:
    env = {"ZIDANE_ACP_THINKING": "low", "ZIDANE_ACP_MODE": "plan", "ZIDANE_ACP_PERMISSION": ""}
    found = zidane_acp.settings.parse(("--mode=build", "--model", "a", "--model", "b"), env)
    assert isinstance(found, Settings)
    assert found.mode == "build" and found.origins == {
        "mode": Origin("flag", "--mode"),
        "models": Origin("flag", "--model"),
        "thinking": Origin("environment", "ZIDANE_ACP_THINKING"),
    }


def test_the_file_fills_what_nobody_has_said() -> None:
    given = zidane_acp.settings.parse(("--thinking", "off"), {"ZIDANE_ACP_MAX_ROUNDS": "7"})
    assert isinstance(given, Settings)
    values = {"thinking": "high", "max_rounds": 3, "mode": "plan"}
    found = filled(given, values, "f.toml")
    assert (found.thinking, found.max_rounds, found.mode) == ("off", 7, "plan")
    assert found.origins["mode"] == Origin("user", "f.toml")
    assert found.origins["thinking"].kind == "flag" and found.origins["max_rounds"].kind == "environment"
    # Twice is as good as once.
    assert filled(found, values, "f.toml") == found


def test_what_was_given_is_an_argument_even_when_it_is_the_default() -> None:
    given = zidane_acp.settings.parse(("--thinking=off", "--trust-read-only=off", "--plain-titles"), {})
    assert isinstance(given, Settings)
    words = as_arguments(given)
    assert words == ("--thinking=off", "--trust-read-only=off", "--plain-titles")
    again = zidane_acp.settings.parse(words, {})
    assert again == given


@pytest.mark.parametrize("base", ["", " ", "/tmp/states"])
def test_the_state_folder_is_home_or_the_platforms(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(state_folder(Settings(home="/tmp/state"))) == "/tmp/state"
    monkeypatch.setitem(os.environ, "XDG_STATE_HOME", base)
    assert str(state_folder(Settings())) == user_state_dir("zidane-acp", appauthor=False)
