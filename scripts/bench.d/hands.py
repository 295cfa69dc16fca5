"""The measures of the editor's hands: MCP servers beside a session, a large edit through the client, many terminals."""

import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from peers import Connection, Peer, clock, program, started, worked
from rows import Row, at_most
from setting import OURS, Bench

TINY: Final = Path(__file__).with_name("tiny_mcp.py")
SERVERS: Final = 5
LARGE: Final = 5 * 2**20
HANDS: Final = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
}


class Editor(Connection):
    """A client that answers what the agent asks: one file in memory, terminals that end at once."""

    file = ""
    made = 0
    released = 0

    def _answer(self, wanted: int) -> tuple[dict[str, Any], int]:
        while True:
            line = self.process.stdout.readline() if self.process.stdout is not None else b""
            if not line:
                raise RuntimeError(f"the agent ended with {self.process.wait()}")
            message = json.loads(line)
            if "method" not in message and message["id"] == wanted:
                return message, 0
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": self._do(message["method"], message["params"])})

    def _send(self, frame: Mapping[str, Any]) -> None:
        self._input.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
        self._input.flush()

    def _do(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if method == "fs/write_text_file":
            self.file = params["content"]
        self.made += method == "terminal/create"
        self.released += method == "terminal/release"
        answers: dict[str, dict[str, Any]] = {
            "fs/read_text_file": {"content": self.file},
            "terminal/create": {"terminalId": f"t{self.made}"},
            "terminal/wait_for_exit": {"exitCode": 0},
            "terminal/output": {"output": "ok\n", "truncated": False},
        }
        return answers.get(method, {})


def scripted(bench: Bench, *turns: Mapping[str, Any]) -> Peer:
    """Our agent with these turns, which asks nobody."""
    script = bench.home() / "script.json"
    script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
    return Peer(
        OURS, (program(), "--provider", "replay", "--script", str(script), "--permission", "allow-all")
    )


def servers(bench: Bench) -> list[Row]:
    """`session/new` with five MCP servers, one of which never answers, beside one without; and the first prompt."""
    found: dict[int, list[float]] = {0: [], SERVERS: []}
    prompts: list[float] = []
    for run in range(bench.times(9) + 1):
        for count, times in found.items():
            home = bench.home()
            with started(scripted(bench, {"text": "ok"}).command, home) as connection:
                connection.request("initialize", HANDS)
                begin = clock()
                session = _opened(connection, home, _servers(count))
                middle = clock()
                connection.prompt(session, "hello")
                if run:  # the first round fills the file caches
                    times.append((middle - begin) * 1000)
                    prompts += [clock() - middle] if count else []
    plain, five = (statistics.median(found[count]) for count in (0, SERVERS))
    what = f"session/new, {SERVERS} MCP servers"
    slowest = max(prompts)
    return [
        Row("session/new", OURS, plain, "ms"),
        Row(what, OURS, five, "ms"),
        Row(f"{what}, more than without", OURS, five - plain, "ms", *at_most(20, five - plain)),
        Row("first prompt, one server never answers", OURS, slowest, "s", *at_most(5.2, slowest)),
    ]


def _servers(count: int) -> Sequence[Mapping[str, Any]]:
    kinds = [["silent"], *[["good"]] * (count - 1)][:count]
    return [
        {"name": f"s{number}", "command": sys.executable, "args": [str(TINY), *kind], "env": []}
        for number, kind in enumerate(kinds)
    ]


def _opened(connection: Connection, cwd: Path, mcp: Sequence[Mapping[str, Any]]) -> str:
    answer, _ = connection.request("session/new", {"cwd": str(cwd), "mcpServers": mcp})
    return str(answer["result"]["sessionId"])


def client_edit(bench: Bench) -> list[Row]:
    """The agent's CPU for one edit of a large file through the client, in seconds; what a small one takes is left out."""
    text = "".join(f"line {number} of a file that is long\n" for number in range(LARGE // 34))
    edit = {"path": "a.txt", "old_string": "line 70000 of", "new_string": "line seventy thousand of"}
    used: list[float] = []
    for _ in range(bench.times(5)):
        home = bench.home()
        (home / "a.txt").write_text(text, encoding="utf-8")
        agent = scripted(bench, {"text": "ok"}, {"tool": "edit", "args": edit}, {"text": "ok"})
        with started(agent.command, home) as connection:
            editor = Editor(connection.process)
            editor.file = text
            editor.request("initialize", HANDS)
            session = _opened(editor, home, ())
            editor.prompt(session, "warm up")
            before = worked(connection.process.pid)
            editor.prompt(session, "edit")
            used.append(worked(connection.process.pid) - before)
            if "line seventy thousand of" not in editor.file:
                raise RuntimeError("the edit did not arrive at the editor")
    cpu = statistics.median(used)
    return [Row("edit of 5 MiB through the client, CPU", OURS, cpu, "s", *at_most(0.5, cpu))]


def terminals(bench: Bench) -> list[Row]:
    """A hundred commands in terminals of the client in one turn: how many of them are released."""
    count = 100
    calls = [{"tool": "shell", "args": {"command": "true; true"}}] * count
    home = bench.home()
    with started(scripted(bench, {"tools": calls}, {"text": "ok"}).command, home) as connection:
        editor = Editor(connection.process)
        editor.request("initialize", HANDS)
        session = _opened(editor, home, ())
        begin = clock()
        editor.prompt(session, "run them")
        seconds = clock() - begin
        made, released = editor.made, editor.released
    return [
        Row(
            f"{count} terminals in a turn, released",
            OURS,
            released,
            "",
            f"all {count}",
            made == released == count,
        ),
        Row(f"{count} terminals in a turn", OURS, seconds, "s"),
    ]
