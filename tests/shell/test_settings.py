"""Flags, environment, default: one table, one pure function."""

import msgspec
import pytest

from zidane_acp.settings import FLAGS, Settings, SettingsProblem, as_arguments, parse, state_folder


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
    assert [flag.field for flag in FLAGS] == [field.name for field in msgspec.structs.fields(Settings)]


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


@pytest.mark.parametrize("flag", ["--agent", "--mode", "--compat", "--record", "--frob"])
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


def test_the_state_folder_is_home_or_the_platforms() -> None:
    assert str(state_folder(Settings(home="/tmp/state"))) == "/tmp/state"
    assert "zidane-acp" in str(state_folder(Settings()))
