"""Through the process: a model gets the instructions of a repository after the user has said yes, and never before."""

import json
import os
from pathlib import Path

import pytest
from support.loopback import Loopback, serving
from support.process import Process


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "repo"
    (folder / ".git").mkdir(parents=True)
    (folder / "AGENTS.md").write_text("Use tabs.\n")
    place = folder / ".zidane" / "commands"
    place.mkdir(parents=True)
    (place / "fix.md").write_text("Fix it.\n")
    return folder


def agent(model: Loopback, home: Path) -> Process:
    flags = ("--base-url", model.url, "--model", "m", "--plain-titles")
    proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "")
    return Process(*flags, env={"ZIDANE_ACP_HOME": str(home), **proxies})


@pytest.mark.timeout(60)
@pytest.mark.parametrize("option", ["allow_once", "reject_once"])
def test_instructions_reach_the_model_after_a_yes_only(repository: Path, tmp_path: Path, option: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "AGENTS.md").write_text("Be kind.\n")
    with serving() as model, agent(model, home) as process:
        session = process.session(repository)
        asked = process.prompt(session, "hi")
        question = process.until(lambda frame: frame.get("method") == "session/request_permission")
        assert not model.bodies, "the model was asked before the user"
        card = question["params"]["toolCall"]
        assert card["rawInput"] == {
            "folders": [str(repository)],
            "instructions": [str(repository / "AGENTS.md")],
            "commands": ["/fix"],
        }
        process.send(id=question["id"], result={"outcome": {"outcome": "selected", "optionId": option}})
        answer = process.until(lambda frame: frame.get("id") == asked and "method" not in frame)
        assert answer["result"]["stopReason"] == "end_turn"
        body = json.dumps(model.bodies[0])
        assert len(model.bodies) == 1
        assert ("Use tabs." in body) == (option == "allow_once")
        assert "Be kind." in body and "commands run in" in body and "# How to work" in body
        said = json.dumps(process.seen)
        assert ("Instructions read: " in said) and ("AGENTS.md (10 bytes)" in said) == (
            option == "allow_once"
        )
        process.prompt(session, "again")
        process.until(lambda frame: frame.get("result", {}).get("stopReason") == "end_turn")
        assert json.dumps(model.bodies[1]).count("Use tabs.") == body.count("Use tabs.")
        assert process.close() == 0


@pytest.mark.timeout(60)
def test_a_client_that_cannot_ask_gets_an_answer_without_them(repository: Path, tmp_path: Path) -> None:
    with serving() as model, agent(model, tmp_path / "home") as process:
        asked = process.prompt(process.session(repository), "hi")
        question = process.until(lambda frame: frame.get("method") == "session/request_permission")
        process.send(id=question["id"], error={"code": -32601, "message": "Method not found"})
        answer = process.until(lambda frame: frame.get("id") == asked and "method" not in frame)
        assert answer["result"]["stopReason"] == "end_turn"
        assert "Use tabs." not in json.dumps(model.bodies) and "are not used in this session" in json.dumps(
            process.seen
        )


@pytest.mark.timeout(60)
def test_hostile_files_hold_up_nothing(repository: Path, tmp_path: Path) -> None:
    (repository / "AGENTS.md").unlink()
    os.mkfifo(repository / "AGENTS.md")
    (repository / ".zidane" / "commands" / "fix.md").unlink()
    (repository / ".zidane" / "commands" / "fix.md").symlink_to("/dev/zero")
    with serving() as model, agent(model, tmp_path / "home") as process:
        asked = process.prompt(process.session(repository), "hi")
        answer = process.until(lambda frame: frame.get("id") == asked and "method" not in frame)
        assert answer["result"]["stopReason"] == "end_turn"
        said = json.dumps(process.seen)
        assert "AGENTS.md is no regular file; it is not used." in said
        assert "fix.md is a link that leads out of its folder; the command is not used." in said
        assert process.close() == 0
