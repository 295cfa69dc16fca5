"""Our own agent's sessions: a conversation ends, and another chat goes on with it."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.terminal import Start

PROGRAM = (sys.executable, "-P", "-m", "zidane_acp.main", "chat")
STREAM = b'data: {"choices":[{"delta":{"content":"an answer"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class Model(BaseHTTPRequestHandler):
    """Answers every request with the same words, and keeps the messages that it was given."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body["messages"])  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(STREAM)))
        self.end_headers()
        self.wfile.write(STREAM)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        server.asked = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def chat(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    passed = ("PATH", "HOME", "LANG", "TMPDIR", "ZIDANE_ACP_HOME")
    env = {name: value for name, value in os.environ.items() if name in passed}
    return subprocess.run(
        (*PROGRAM, *words),
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env={**env, "PYTHONUTF8": "1"},
        check=False,
    )


def said(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Who said what, without the system's words."""
    told = [(one["role"], one["content"]) for one in messages if one["role"] != "system"]
    return [(role, words if isinstance(words, str) else words[0]["text"]) for role, words in told]


def test_the_model_gets_the_earlier_messages(tmp_path: Path, model: Any) -> None:
    url = f"http://127.0.0.1:{model.server_address[1]}/v1"
    flags = ("--provider=openai-compatible", f"--base-url={url}", "--model=m", "--plain-titles")
    assert chat(tmp_path, "-p", "one", *flags).stdout == "an answer\n"
    done = chat(tmp_path, "--continue", "-p", "two", *flags)
    assert (done.returncode, done.stdout) == (0, "an answer\n"), done.stderr
    assert "— continued: one, 2 messages, from " in done.stderr
    assert said(model.asked[-1]) == [("user", "one"), ("assistant", "an answer"), ("user", "two")]


def test_a_conversation_on_the_terminal_is_left_and_gone_on_with(start: Start, tmp_path: Path) -> None:
    first = start()
    first.say("/write new.txt hello **there**")
    first.until("[r] Reject")
    first.type("a")
    first.until("✓ Write new.txt")
    first.say("/plan Look; Test")
    first.until("○ Test")
    first.say("/exit")
    first.until("Conversation: /write new.txt hello **there**")
    assert first.exit_code() == 0
    found = re.search(r"Continue with: zidane-acp chat --resume (\S+)\n", first.seen)
    assert found is not None
    second = start("--continue")
    shown = second.until("— continued: /write new.txt hello **there**, ")
    lines = [line.rstrip() for line in shown.splitlines() if line.strip()]
    assert lines[1:-1] == [
        "› /write new.txt hello **there**",
        "Writing new.txt.",
        "✓ Write new.txt",
        "    new file new.txt",
        "    @@ -0,0 +1 @@",
        "    +hello **there**",
        "    Made new.txt (15 bytes).",
        "Made new.txt (15 bytes).",
        "› /plan Look; Test",
        "Showing the plan.",
        "✓ Update the plan",
        "The plan has 2 steps. I only show it: a language model would also work on it.",
        "Plan",
        "  ○ Look",
        "  ○ Test",
    ]
    second.say("/count 2")
    second.until("1 2")
    second.say("/exit")
    second.until(f"Continue with: zidane-acp chat --resume {found.group(1)}")
    assert second.exit_code() == 0
    # From anywhere else the session goes on in its own folder.
    done = chat(tmp_path, "--resume", found.group(1)[:-1], "-p", "/read new.txt")
    assert (done.returncode, "hello **there**" in done.stdout) == (0, True), done.stderr
    assert f", in {os.path.realpath(tmp_path / 'work')} —" in done.stderr


def test_a_long_history_shows_its_end_and_says_where_the_rest_is(start: Start, home: Path) -> None:
    # A home that was typed is part of every command that the chat names.
    elsewhere = str(home.parent / "other home")
    first = start(f"--home={elsewhere}")
    for number in range(12):
        first.say(f"/plan step {number}")
        first.until(f"○ step {number}")
    first.say("/exit")
    assert first.exit_code() == 0
    second = start("--continue", "--home", elsewhere)
    shown = second.until("— continued: /plan step 0, ")
    assert "… 2 earlier turns not shown; `zidane-acp sessions show sess_" in shown
    assert f"'--home={elsewhere}'` shows all …" in shown.replace("\n", " ")
    assert "○ step 1\n" not in shown and "○ step 2\n" in shown and "○ step 11\n" in shown


def test_ctrl_c_twice_still_says_how_to_go_on(start: Start) -> None:
    terminal = start()
    terminal.say("/run echo begun; sleep 600")
    terminal.until("[r] Reject")
    terminal.type("a")
    terminal.until("begun")
    terminal.until("begun")
    terminal.type("\x03")
    terminal.until("Cancelled.")
    terminal.until("›")
    terminal.type("\x03")
    terminal.until("Continue with: zidane-acp chat --resume sess_")
    assert terminal.exit_code() == 0


def test_a_session_whose_folder_is_gone_says_so(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    assert chat(gone, "-p", "/count 2").returncode == 0
    gone.rmdir()
    done = chat(tmp_path, "--resume", "last", "-p", "/count 2")
    assert (done.returncode, done.stdout) == (1, "")
    folder = os.path.realpath(gone)
    assert done.stderr == f"The session's folder {folder} is not there any more; make it again to go on.\n"


def test_the_tour_is_no_session_to_go_on_with(tmp_path: Path, home: Path) -> None:
    assert chat(tmp_path, "--demo").returncode == 0
    assert not list(home.glob("sessions*"))
