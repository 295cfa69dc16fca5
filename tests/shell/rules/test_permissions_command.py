"""`zidane-acp permissions`: what is shown, what is revoked, and what is said about it."""

import json
import sys
from pathlib import Path

import pytest
from support.fake_store import FakeStore, entry

from zidane_acp.cli import run_command
from zidane_acp.rules.listing import of_folder, run_list, run_session
from zidane_acp.rules.revoking import run_revoke
from zidane_acp.rules.sqlite import SqliteRules
from zidane_acp.rules.words import words_of
from zidane_core.agent.records import text_of
from zidane_core.data.history import Granted
from zidane_core.data.rules import Grant


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZIDANE_ACP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> str:
    (tmp_path / "project" / "src").mkdir(parents=True)
    return str((tmp_path / "project").resolve())


@pytest.fixture
def rules(home: Path, project: str) -> SqliteRules:
    made = SqliteRules(home / "rules.db", lambda: 1_700_000_000.0)
    made.keep_trust((project,))
    made.keep_grant(project, Grant("prefix", ("git", "diff")))
    made.keep_grant("/elsewhere", Grant("command", ("a; \x1b[2J",)))
    return made


@pytest.mark.parametrize(
    ("grant", "words"),
    [
        (Grant("prefix", ("git", "diff")), "commands git diff *"),
        (Grant("command", ("make all",)), "the exact command make all"),
        (Grant("edits"), "edits in the workspace"),
        (Grant("host", ("example.com",)), "fetching from example.com"),
        (Grant("tool", ("mcp_tool", "one", "change")), "the tool change of the MCP server one"),
        (Grant("tool", ("local", "", "mine")), "the tool mine"),
        (Grant("tool"), "the tool "),
    ],
)
def test_a_permission_in_words(grant: Grant, words: str) -> None:
    assert words_of(grant) == words


def test_a_terminal_gets_the_rules_by_folder(
    rules: SqliteRules, project: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_list(rules, terminal=True) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == sorted(["/elsewhere", project])
    rows = [line.partition(", since ")[0].strip() for line in lines if line.startswith(" ")]
    assert sorted(rows) == [
        "1  trusted: its instructions and commands are used",
        "2  commands git diff *",
        "3  the exact command a; ␛[2J",
    ]


def test_a_program_gets_a_line_for_each_or_json(
    rules: SqliteRules, project: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_list(rules, project=project, terminal=False) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        f"2\t2023-11-14T22:13:20Z\t{project}\tcommands git diff *"
    )
    assert run_list(rules, project=project, as_json=True) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts[0]["kind"] == "trust" and facts[0]["permission"] is None
    assert facts[1] == {
        "number": 2,
        "folder": project,
        "kind": "permission",
        "since": 1_700_000_000.0,
        "sinceAt": "2023-11-14T22:13:20Z",
        "permission": {"kind": "prefix", "value": ["git", "diff"], "words": "commands git diff *"},
    }


def test_a_folder_has_the_rules_of_the_nearest_one_above(
    rules: SqliteRules, project: str, tmp_path: Path
) -> None:
    for folder in (project, f"{project}/src", f"{project}/src/../src/none"):
        assert {rule.number for rule in of_folder(rules.kept(), folder)} == {1, 2}
    (tmp_path / "link").symlink_to(project)
    assert {rule.number for rule in of_folder(rules.kept(), str(tmp_path / "link" / "src"))} == {1, 2}
    assert of_folder(rules.kept(), str(tmp_path)) == ()


@pytest.mark.usefixtures("home")
def test_the_command_without_a_word_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["permissions"]) == 0
    assert capsys.readouterr().err == "No permission is kept for a project, and no folder is trusted.\n"
    assert run_command(["permissions", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.usefixtures("rules")
def test_a_rule_is_revoked_by_its_number(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["permissions", "revoke", "2", "--yes"]) == 0
    out = capsys.readouterr().out
    assert "2  commands git diff *" in out
    assert out.endswith(
        "Revoked 1 rule. Sessions that are open now keep theirs until they are opened again.\n"
    )
    assert {rule.number for rule in SqliteRules(home / "rules.db").kept()} == {1, 3}


def test_of_a_project_or_all_of_them(rules: SqliteRules, project: str) -> None:
    assert run_command(["permissions", "revoke", "--project", f"{project}/src", "--yes"]) == 0
    assert {rule.number for rule in rules.kept()} == {3}
    assert run_command(["permissions", "revoke", "--all", "--yes"]) == 0
    assert rules.kept() == ()


@pytest.mark.parametrize("words", [[], ["1", "--all"], ["--all", "--project", "."], ["1", "--project", "."]])
def test_what_is_meant_must_be_clear(
    rules: SqliteRules, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["permissions", "revoke", *words, "--yes"]) == 2
    assert "give either numbers of rules, or --project DIR, or --all" in capsys.readouterr().err
    assert len(rules.kept()) == 3


def test_an_unknown_number_revokes_none(rules: SqliteRules, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_revoke(rules, [1, 9, 8], yes=True) == 1
    assert capsys.readouterr().err == (
        "There is no rule 8, 9; `zidane-acp permissions list` shows what there is.\n"
    )
    assert len(rules.kept()) == 3


@pytest.mark.parametrize(("answer", "left", "code"), [("y", 2, 0), ("Yes ", 2, 0), ("", 3, 1), ("no", 3, 1)])
def test_a_person_is_asked(rules: SqliteRules, answer: str, left: int, code: int) -> None:
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return answer

    assert run_revoke(rules, [1], ask=ask) == code
    assert (len(rules.kept()), asked) == (left, ["Revoke 1 rule? [y/N] "])


def test_without_a_terminal_nothing_is_revoked_unasked(
    rules: SqliteRules, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    assert run_revoke(rules, [1]) == 1
    assert "Nothing was revoked" in capsys.readouterr().err
    assert len(rules.kept()) == 3


def test_a_file_that_cannot_be_read_is_one_sentence(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.mkdir()
    (home / "rules.db").write_text("x" * 200)
    assert run_command(["permissions"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and "move it away" in said.err and said.err.count("\n") == 1


def test_what_was_allowed_for_a_stored_session(capsys: pytest.CaptureFixture[str]) -> None:
    store = FakeStore()
    grants = (Grant("prefix", ("git", "diff")), Grant("edits"), Grant("edits"))
    store.put("sess_a", entry("one"), *(text_of(Granted(grant)) for grant in grants))
    store.put("sess_b", entry("one"))
    assert run_session(store, "sess_a") == 0
    assert capsys.readouterr().out == "commands git diff *\nedits in the workspace\n"
    assert run_session(store, "sess_a", as_json=True) == 0
    assert [one["kind"] for one in json.loads(capsys.readouterr().out)] == ["prefix", "edits"]
    assert run_session(store, "sess_b") == 0
    assert capsys.readouterr().err == "No permission was given for the rest of this session.\n"
    assert run_session(store, "nobody") == 1
