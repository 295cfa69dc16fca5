"""`zidane-acp config`: where the file is, what is in force, what is wrong, and a change of one setting."""

import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from zidane_acp.cli import run_command
from zidane_acp.config import reference

SECRETS = """
thinking = "high"   # a comment
[providers.mine]
base_url = "https://user:swordfish@gate.test/v1?key=swordfish"
key_variable = "MY_GATE"
[[models]]
id = "large"
provider = "mine"
[mcp.files]
command = "npx"
args = ["--api-key=swordfish1234"]
env = { TOKEN = "swordfish" }
[mcp.web]
url = "https://x.test/mcp?token=swordfish"
headers = { Authorization = "Bearer swordfish" }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("ZIDANE_ACP_") or name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ZIDANE_ACP_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "config.toml"


def written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_the_path_is_printed(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{file}\n"
    assert run_command(["config", "path", "--config", "/a/b.toml"]) == 0
    assert run_command(["config", "path", "--home", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"/a/b.toml\n{tmp_path / 'config.toml'}\n"


# show ----------------------------------------------------------------------------------------------


def test_what_is_in_force_is_toml_with_where_it_comes_from(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(file, 'thinking = "high"\nmax_rounds = 7\n[permissions]\ndeny_paths = ["a"]\n')
    monkeypatch.setenv("ZIDANE_ACP_MAX_ROUNDS", "9")
    assert run_command(["config", "show", "--origin"]) == 0
    out = capsys.readouterr().out
    found = tomllib.loads(out)
    assert (found["thinking"], found["max_rounds"], found["log_level"]) == ("high", 9, "warning")
    assert found["permissions"]["deny_paths"] == ["a"] and found["permissions"]["policy"] == "ask"
    origins = {line.partition(" = ")[0]: line.partition("  # ")[2] for line in out.splitlines()}
    assert origins["thinking"] == f"user {file}"
    assert origins["max_rounds"] == "environment ZIDANE_ACP_MAX_ROUNDS"
    assert origins["log_level"] == origins["ui.past_turns"] == "default"
    assert run_command(["config", "show"]) == 0
    plain = capsys.readouterr().out
    assert tomllib.loads(plain) == found and "#" not in plain


def test_secrets_are_never_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(file, SECRETS)
    assert run_command(["config", "show", "--origin"]) == 0
    shown = capsys.readouterr()
    assert "swordfish" not in shown.out + shown.err
    found = tomllib.loads(shown.out)
    assert found["mcp"]["files"]["command"] == "npx" and "TOKEN" in found["mcp"]["files"]["env"]
    assert found["providers"]["mine"]["key_variable"] == "MY_GATE"


def test_problems_are_told_beside(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(file, "colour = 1")
    assert run_command(["config", "show"]) == 1
    assert "line 1: there is no setting colour" in capsys.readouterr().err


# check ---------------------------------------------------------------------------------------------


def test_no_file_and_a_good_one_have_no_problems(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["config", "check"]) == 0
    assert capsys.readouterr().out == f"There is no config file {file}, and none is needed.\n"
    written(file, SECRETS)
    assert run_command(["config", "check"]) == 0
    assert capsys.readouterr().out == f"{file}: no problems.\n"


def test_each_problem_is_a_line_and_the_code_is_1(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(file, "colour = 1\nthinking = 3\ndefault_model = 'gone'\n[providers.xai]\nenabled = true")
    assert run_command(["config", "check"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines[:2]] == [f"{file}, line 1", f"{file}, line 2"]
    assert lines[2].startswith("default_model gone is not among the models") and len(lines) == 3
    other = written(tmp_path / "other.toml", "= broken")
    assert run_command(["config", "check", str(other)]) == 1
    assert "is no TOML" in capsys.readouterr().out
    assert run_command(["config", "check", str(tmp_path / "none.toml")]) == 1


def test_wrong_variables_are_wrong_usage(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ZIDANE_ACP_THINKING", "lots")
    for words in (["path"], ["show"], ["check"], ["set", "mode", "plan"]):
        assert run_command(["config", *words]) == 2
        assert "ZIDANE_ACP_THINKING takes" in capsys.readouterr().err
    assert not file.exists()


# set -----------------------------------------------------------------------------------------------

SET = [
    ("thinking", "low", {"thinking": "low"}),
    ("max_rounds", "7", {"max_rounds": 7}),
    ("require_login", "true", {"require_login": True}),
    ("default_model", "a/b", {"default_model": "a/b"}),
    ("default_model", "3", {"default_model": "3"}),
    ("permissions.policy", "read-only", {"permissions": {"policy": "read-only"}}),
    ("permissions.deny_paths", ".env", {"permissions": {"deny_paths": [".env"]}}),
    (
        "permissions.deny_commands",
        '["git push", "rm"]',
        {"permissions": {"deny_commands": ["git push", "rm"]}},
    ),
    ("mcp.files.command", "npx", {"mcp": {"files": {"command": "npx"}}}),
    ('mcp."my files".url', "http://x", {"mcp": {"my files": {"url": "http://x"}}}),
    ("providers.mine.base_url", "http://x/v1", {"providers": {"mine": {"base_url": "http://x/v1"}}}),
    ("providers.openai.headers", '{ X-A = "B" }', {"providers": {"openai": {"headers": {"X-A": "B"}}}}),
    ("providers.openai.headers.X-A", "B", {"providers": {"openai": {"headers": {"X-A": "B"}}}}),
    ("log_file", 'a "b" \\ c', {"log_file": 'a "b" \\ c'}),
]


@pytest.mark.parametrize(("key", "value", "found"), SET)
def test_a_setting_is_written_into_a_new_file_of_the_users_own(
    key: str, value: str, found: dict[str, object], file: Path
) -> None:
    assert run_command(["config", "set", key, value]) == 0
    assert tomllib.loads(file.read_text()) == found
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert os.listdir(file.parent) == ["config.toml"]


def test_a_change_keeps_comments_order_mode_and_link(file: Path, tmp_path: Path) -> None:
    real = written(tmp_path / "dotfiles" / "zidane.toml", SECRETS)
    real.chmod(0o640)
    file.parent.mkdir()
    file.symlink_to(real)
    assert run_command(["config", "set", "thinking", "low"]) == 0
    assert run_command(["config", "set", "max_rounds", "3"]) == 0
    assert file.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
    text = real.read_text()
    assert 'thinking = "low"   # a comment' in text
    assert text.replace("low", "high").replace("max_rounds = 3\n", "").split() == SECRETS.split()


REFUSED = [
    ("thinkin", "low", "There is no setting thinkin (did you mean thinking?)."),
    ("permissions.polcy", "ask", "There is no setting permissions.polcy (did you mean policy?)."),
    ("thinking", "lots", "Nothing was written: thinking must be off, minimal, low, medium or high."),
    ("max_rounds", "many", "Nothing was written: max_rounds must be a whole number of at least 1."),
    ("max_rounds", "0", "Nothing was written: max_rounds must be a whole number of at least 1."),
    ("require_login", "yes", "Nothing was written: require_login must be true or false."),
    ("mode", "", "Nothing was written: mode must be text that is not empty."),
    ("thinking.x", "1", "There is no setting thinking.x; thinking takes off, minimal, low, medium or high."),
    ("permissions", "x", "permissions is a table; name one of its settings, such as permissions.policy."),
    ("providers", "x", "providers is a table; name one of its settings, such as providers.NAME.kind."),
    ("models", "x", "models is a list of tables; write it with an editor."),
    ("a..b", "x", "a..b is no name of a setting; write it like permissions.policy."),
    (
        "providers.mine.title",
        "x",
        "Nothing was written: providers.mine is no known provider, so it needs base_url.",
    ),
    ("agents.x", "1", "Nothing was written: agents is kept for a later release."),
]


@pytest.mark.parametrize(("key", "value", "said"), REFUSED)
def test_what_is_wrong_is_refused_before_anything_is_written(
    key: str, value: str, said: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["config", "set", key, value]) == 2
    assert capsys.readouterr().err == f"{said}\n"
    assert not file.exists() and not file.parent.exists()


def test_a_key_is_refused_and_not_repeated(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["config", "set", "providers.anthropic.key_variable", "sk-ant-swordfish"]) == 2
    assert "swordfish" not in capsys.readouterr().err and not file.exists()


def test_a_file_with_other_mistakes_can_be_changed_and_a_broken_one_cannot(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(file, "colour = 1\n")
    assert run_command(["config", "set", "thinking", "low"]) == 0
    assert tomllib.loads(file.read_text()) == {"colour": 1, "thinking": "low"}
    written(file, "= broken\n")
    assert run_command(["config", "set", "thinking", "low"]) == 2
    assert "is no TOML" in capsys.readouterr().err and file.read_text() == "= broken\n"


def test_a_file_that_cannot_be_read_or_written_is_a_problem(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.mkdir(parents=True)
    assert run_command(["config", "set", "thinking", "low"]) == 1
    assert "cannot be read: it is no regular file" in capsys.readouterr().err
    assert run_command(["config", "set", "thinking", "low", "--config", "/proc/none/config.toml"]) == 1
    assert "cannot be written" in capsys.readouterr().err


# The page ------------------------------------------------------------------------------------------


def test_the_page_is_what_the_records_give() -> None:
    page = Path(__file__).parents[3] / "docs" / "configuration.md"
    made = "run `python -m zidane_acp.config.reference > docs/configuration.md`"
    assert page.read_text("utf-8") == reference.page(), made
    command = [sys.executable, "-m", "zidane_acp.config.reference"]
    printed = subprocess.run(command, capture_output=True, timeout=20, check=True)
    assert printed.stdout.decode() == reference.page()


def test_every_setting_has_a_description() -> None:
    rows = [line for line in reference.page().splitlines() if line.startswith("| `")]
    assert len(rows) > 60
    assert [row for row in rows if row.split("|")[-2].strip() == ""] == []


def test_the_example_of_the_page_has_no_mistakes() -> None:
    from zidane_acp.config.file import config_of

    example = reference.HEAD.split("```toml\n")[1].split("```")[0]
    assert config_of(example.encode(), "f").warnings == ()
