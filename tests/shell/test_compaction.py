"""A conversation that outgrows its model, through the whole program: a provider that refuses, a summary, a load."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.process import Process

REFUSED = {
    "error": {"status": 400, "body": {"error": {"code": "context_length_exceeded", "message": "too long"}}}
}


def flags(folder: Path, *turns: object) -> tuple[str, ...]:
    path = folder / "script.json"
    path.write_text(json.dumps({"turns": turns}))
    return "--provider", "replay", "--script", str(path), "--home", str(folder / "home"), "--plain-titles"


def begun(agent: Process, folder: Path, shows: bool) -> str:
    session = {"compaction": {}} if shows else {}
    agent.call("initialize", protocolVersion=1, clientCapabilities={"session": session})
    opened = agent.call("session/new", cwd=str(folder), mcpServers=[])
    name: str = opened["result"]["sessionId"]
    return name


def say(agent: Process, session: str, text: str) -> dict[str, Any]:
    return agent.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])


def updates(agent: Process) -> list[dict[str, Any]]:
    return [frame["params"]["update"] for frame in agent.seen if frame.get("method") == "session/update"]


def told(agent: Process) -> list[str]:
    """What was told of compactions: states, and lines of ours."""
    return [
        update.get("status") or update["_meta"]["zidane"]["kind"]
        for update in updates(agent)
        if update["sessionUpdate"] == "compaction_update" or "_meta" in update
    ]


@pytest.mark.parametrize("shows", [True, False])
def test_a_refused_conversation_is_summarised_and_a_load_shows_it(tmp_path: Path, shows: bool) -> None:
    with Process(*flags(tmp_path, {"text": "1"}, REFUSED, {"text": "They count."}, {"text": "2"})) as agent:
        session = begun(agent, tmp_path, shows)
        say(agent, session, "one")
        answer = say(agent, session, "two")
        assert answer["result"]["stopReason"] == "end_turn"
        assert told(agent) == (["in_progress", "completed"] if shows else ["compaction"])
    with Process(*flags(tmp_path, {"text": "3"})) as again:
        capabilities = {"session": {"compaction": {}}} if shows else {}
        again.call("initialize", protocolVersion=1, clientCapabilities=capabilities)
        again.call("session/load", sessionId=session, cwd=str(tmp_path), mcpServers=[])
        assert told(again) == (["completed"] if shows else ["compaction"])
        said = [u for u in updates(again) if u["sessionUpdate"] == "user_message_chunk"]
        assert [u["content"]["text"] for u in said] == ["one", "two"], "the history is whole"
        assert say(again, session, "three")["result"]["stopReason"] == "end_turn"


@pytest.mark.parametrize(
    "turns",
    [
        ({"text": "1"}, REFUSED, {"text": "They count."}, REFUSED),
        ({"text": "1"}, REFUSED, REFUSED),
        ({"text": "1"}, REFUSED, {"text": ""}),
    ],
    ids=["refused again", "summary refused", "no summary"],
)
def test_it_is_tried_once_and_then_a_clear_error(tmp_path: Path, turns: tuple[object, ...]) -> None:
    with Process(*flags(tmp_path, *turns, {"text": "2"})) as agent:
        session = begun(agent, tmp_path, True)
        say(agent, session, "one")
        error = say(agent, session, "two")["error"]
        assert error["data"]["kind"] == "context_overflow"
        assert "Start a new session, or choose a model with a larger window." in error["message"]
        assert say(agent, session, "three")["result"]["stopReason"] == "end_turn", (
            "the script has one turn left"
        )
