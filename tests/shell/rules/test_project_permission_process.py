"""A permission for the project through the program: given once, in force in the next program, gone when it is revoked."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.process import Process

from zidane_acp.cli import run_command


@pytest.fixture
def flags(tmp_path: Path) -> tuple[str, ...]:
    script = tmp_path / "script.json"
    turns = [{"tool": "shell", "args": {"command": "touch made"}}, {"text": "Done."}]
    script.write_text(json.dumps({"turns": turns}), "utf-8")
    return "--script", str(script), "--home", str(tmp_path / "home")


def asked(flags: tuple[str, ...], folder: Path, option: str) -> dict[str, Any] | None:
    """One turn of one program in the folder: the question, which is answered by this option, or None."""
    with Process(*flags) as agent:
        session = agent.session(folder)
        number = agent.prompt(session, "go")
        frame = agent.until(
            lambda frame: frame.get("method") == "session/request_permission" or frame.get("id") == number
        )
        if "method" not in frame:
            return None
        agent.send(id=frame["id"], result={"outcome": {"outcome": "selected", "optionId": option}})
        agent.until(lambda frame: frame.get("id") == number and "method" not in frame)
        assert agent.close() == 0
        found: dict[str, Any] = frame["params"]
        return found


@pytest.mark.timeout(60)
def test_it_is_kept_for_the_project_and_revoked(
    flags: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    for folder in (project / ".git", project / "src", other):
        folder.mkdir(parents=True)
    home = ("--home", str(tmp_path / "home"))
    question = asked(flags, project / "src", "allow_project")
    assert question is not None
    names = [option["name"] for option in question["options"]]
    assert names[2] == "Always allow this exact command (this project)"
    assert (project / "src" / "made").exists()
    assert asked(flags, project, "reject_once") is None, "the whole repository is the project"
    assert asked(flags, other, "reject_once") is not None
    assert not [found for found in project.rglob("*") if found.name not in {".git", "src", "made"}]
    assert run_command(["permissions", "list", "--json", *home]) == 0
    (rule,) = json.loads(capsys.readouterr().out)
    assert (rule["folder"], rule["permission"]["words"]) == (
        str(project.resolve()),
        "the exact command touch made",
    )
    assert run_command(["permissions", "revoke", str(rule["number"]), "--yes", *home]) == 0
    assert asked(flags, project, "reject_once") is not None


@pytest.mark.timeout(60)
def test_rules_that_cannot_be_kept_are_told_of_and_the_call_runs(
    flags: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "rules.db").write_text("x" * 200)
    (tmp_path / "project").mkdir()
    with Process(*flags) as agent:
        session = agent.session(tmp_path / "project")
        number = agent.prompt(session, "go")
        frame = agent.until(lambda frame: frame.get("method") == "session/request_permission")
        outcome = {"outcome": "selected", "optionId": "allow_project"}
        agent.send(id=frame["id"], result={"outcome": outcome})
        agent.until(lambda frame: frame.get("id") == number and "method" not in frame)
        told = json.dumps(agent.seen)
        assert "holds for this session only" in told and "move it away" in told
    assert (tmp_path / "project" / "made").exists()
    assert (tmp_path / "home" / "rules.db").read_text() == "x" * 200
