"""The agent as a process with real MCP servers: hung, noisy, missing and stalling ones beside a good one."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.mcp_bench import SCRIPT, WebServer
from support.process import Process, alive

GOOD = {"name": "good", "command": sys.executable, "args": [SCRIPT, "stdio"], "env": []}
HUNG = {"name": "hung", "command": sys.executable, "args": [SCRIPT, "silent"], "env": []}
MISSING = {
    "name": "missing",
    "command": "/nowhere/server",
    "args": [],
    "env": [{"name": "TOKEN", "value": "s3cr3t-of-env"}],
}
BROKEN = {
    "name": "broken",
    "command": sys.executable,
    "args": [SCRIPT, "broken"],
    "env": [{"name": "TEST_SECRET", "value": "s3cr3t-of-broken"}],
}
HANDS = {"elicitation": {"form": {}, "url": {}}, "session": {"notices": {}}}


class Agent(Process):
    """The agent with a script, and a client with forms; what the agent asks is answered as it comes."""

    def __init__(
        self, folder: Path, *turns: dict[str, Any], flags: tuple[str, ...] = (), **more: Any
    ) -> None:
        (folder / "script.json").write_text(json.dumps({"turns": turns}))
        self.folder = folder
        self.asked: list[dict[str, Any]] = []
        self.commands: list[str] = []
        script = ("--script", str(folder / "script.json"), "--permission", "allow-all", "--home", str(folder))
        super().__init__(*script, "--trace", str(folder / "trace"), "--log-level", "debug", *flags, **more)

    def open(self, *servers: dict[str, Any]) -> str:
        self.call("initialize", protocolVersion=1, clientCapabilities=HANDS)
        answer = self.call("session/new", cwd=str(self.folder), mcpServers=list(servers))
        session: str = answer["result"]["sessionId"]
        return session

    def read(self) -> dict[str, Any]:
        frame = super().read()
        if frame.get("method") == "elicitation/create":
            self.asked.append(frame["params"])
            self.send(id=frame["id"], result={"action": "accept", "content": {"name": "Ada"}})
        update = frame.get("params", {}).get("update", {})
        if update.get("sessionUpdate") == "available_commands_update":
            self.commands = [command["name"] for command in update["availableCommands"]]
        return frame

    def turn(self, session: str, text: str = "go") -> str:
        asked = self.prompt(session, text)
        answer = self.until(lambda frame: frame.get("id") == asked and "method" not in frame)
        stop: str = answer["result"]["stopReason"]
        return stop

    def notices(self) -> list[str]:
        updates = [
            frame["params"]["update"] for frame in self.seen if frame.get("method") == "session/update"
        ]
        return [update["title"] for update in updates if update["sessionUpdate"] == "notice"]

    def results(self) -> list[dict[str, Any]]:
        updates = [
            frame["params"]["update"] for frame in self.seen if frame.get("method") == "session/update"
        ]
        return [update for update in updates if update.get("status") in {"completed", "failed"}]


def call(server: str, tool: str, **args: Any) -> dict[str, Any]:
    return {"tool": f"{server}__{tool}", "args": args}


def texts(card: dict[str, Any]) -> list[str]:
    return [item["content"].get("text", item["content"]["type"]) for item in card["content"]]


def test_a_good_server_works_beside_a_hung_a_noisy_a_missing_and_a_broken_one(tmp_path: Path) -> None:
    turns = [call("good", "echo", text="hi"), call("good", "everything"), {"text": "one"}, {"text": "two"}]
    with Agent(tmp_path, *turns, flags=("--mcp-wait", "2")) as agent:
        session = agent.open(GOOD, HUNG, MISSING, BROKEN)
        assert agent.turn(session) == "end_turn"
        echo, everything = agent.results()
        assert texts(echo) == ["hi"] and echo["status"] == "completed"
        assert texts(everything) == [
            *("words", "image", "audio", "resource", "image", "resource", "resource_link"),
        ]
        told = agent.notices()
        assert len(told) == 4
        for name in ("missing", "broken", "good", "hung"):
            assert sum(f"MCP server {name}" in notice for notice in told) == 1, (name, told)
        assert agent.turn(session, "again") == "end_turn"
        assert agent.notices() == told, "a failure was told twice"
        assert agent.close() == 0
        seen = json.dumps(agent.seen)
        logged = agent.child.stderr.read().decode()  # type: ignore[union-attr]
    for secret in ("s3cr3t-of-env", "s3cr3t-of-broken"):
        assert secret not in seen + logged + (tmp_path / "trace").read_text()


def test_a_call_that_stalls_is_cancelled_at_its_server_and_the_turn_ends(tmp_path: Path) -> None:
    told = tmp_path / "told"
    with Agent(tmp_path, call("good", "slow", file=str(told)), {"text": "on"}) as agent:
        session = agent.open(GOOD)
        asked = agent.prompt(session, "go")
        # Its first progress: it is under way.
        agent.until(lambda frame: "content" in frame.get("params", {}).get("update", {}))
        begun = time.monotonic()
        agent.send(method="session/cancel", params={"sessionId": session})
        answer = agent.until(lambda frame: frame.get("id") == asked)
        assert answer["result"]["stopReason"] == "cancelled" and time.monotonic() - begun < 2
        while not told.exists():
            os.sched_yield()
        assert agent.turn(session, "again") == "end_turn"


def test_questions_prompts_and_new_tools_of_a_server(tmp_path: Path) -> None:
    turns = [
        call("good", "ask"),
        call("good", "ask_page"),
        call("good", "more"),
        {"text": "more to come"},
        call("good", "another"),
        {"text": "reviewed"},
    ]
    with Agent(tmp_path, *turns) as agent:
        session = agent.open(GOOD)
        assert agent.turn(session) == "end_turn"
        assert [texts(card) for card in agent.results()[:2]] == [["accept Ada"], ["accept"]]
        form, page = agent.asked
        assert form["mode"] == "form" and form["message"].startswith("good: ")
        assert page["url"] == "https://example.com/login"
        completed = [f["params"] for f in agent.seen if f.get("method") == "elicitation/complete"]
        assert completed == [{"elicitationId": page["elicitationId"]}]
        while "good__another" not in agent.commands:
            agent.read()
        assert "good__review" in agent.commands
        # The commands come last of what a server lists, so its new tool is there as well.
        assert agent.turn(session, "/good__review src/a.py") == "end_turn"
        assert agent.results()[3]["status"] == "completed"


def test_servers_over_http_and_from_the_config_file(tmp_path: Path, http_server: WebServer) -> None:
    config = http_server.config()
    (tmp_path / "config.toml").write_text(
        f'[mcp.mine]\nurl = "{config.url}"\nheaders = {{ X-Test = "from the file" }}\n'
        '[mcp.over]\ncommand = "/nowhere/at/all"\n'
    )
    over = {
        "type": "http",
        "name": "over",
        "url": config.url,
        "headers": [{"name": "X-Test", "value": "client"}],
    }
    turns = [call("mine", "header", name="x-test"), call("over", "header", name="x-test"), {"text": "done"}]
    with Agent(tmp_path, *turns) as agent:
        session = agent.open(over)
        assert agent.turn(session) == "end_turn"
        assert [texts(card) for card in agent.results()] == [["from the file"], ["client"]]
        assert agent.notices() == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see that processes are gone")
@pytest.mark.parametrize("end", ["close", "eof", "sigterm", "sigkill", "reload"])
def test_no_end_leaves_a_process_of_a_server(tmp_path: Path, end: str) -> None:
    pids = tmp_path / "pids"
    with Agent(tmp_path, call("good", "spawn", pids=str(pids)), {"text": "done"}) as agent:
        session = agent.open(GOOD)
        assert agent.turn(session) == "end_turn"
        deadline = time.monotonic() + 10
        while len(found := [int(pid) for pid in pids.read_text().split()]) < 3:
            assert time.monotonic() < deadline
            os.sched_yield()
        assert all(alive(pid) for pid in found)
        if end == "close":
            agent.call("session/close", sessionId=session)
        elif end == "reload":
            agent.call("session/resume", sessionId=session, cwd=str(tmp_path), mcpServers=[])
        elif end == "eof":
            assert agent.close() == 0
        else:
            number = signal.SIGTERM if end == "sigterm" else signal.SIGKILL
            agent.child.send_signal(number)
            agent.child.wait(10)
        deadline = time.monotonic() + 5
        while any(alive(pid) for pid in found):
            assert time.monotonic() < deadline, "a process of the server is left"
            os.sched_yield()


def test_session_new_does_not_wait_for_a_server(tmp_path: Path) -> None:
    with Agent(tmp_path, {"text": "x"}) as agent:
        agent.call("initialize", protocolVersion=1)
        answer = agent.call("session/new", cwd=str(tmp_path), mcpServers=[HUNG])
        assert "sessionId" in answer["result"]
        # And the loop is free while the package is loaded: another session is answered at once.
        assert "result" in agent.call("session/new", cwd=str(tmp_path), mcpServers=[])
        assert agent.close() == 0
