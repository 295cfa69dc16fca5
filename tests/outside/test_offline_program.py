"""The embedded default through the installed program: every command works over the files, with permission."""

from pathlib import Path

import pytest
from outside.sdk_client import ScriptedClient, ask, connected

OFFLINE = ["--provider", "offline"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the SDK knows no other


@pytest.mark.anyio
async def test_the_reading_commands_ask_nothing_and_show_what_is_there(tmp_path: Path) -> None:
    client = ScriptedClient([])
    async with connected(tmp_path, OFFLINE, client) as (connection, session, work):
        (work / "src").mkdir()
        (work / "src" / "app.py").write_text(
            "import re\n\n\nclass App:\n    def run(self):\n        return 41\n"
        )
        for command, shown in (
            ("/list", "src"),
            ("/find **/*.py", "src/app.py"),
            ("/search def r.n", "def run"),
            ("/read src/app.py:4-5", "```python\nclass App:\n    def run(self):\n```"),
            ("/outline src/app.py", "- `class App` line 4\n  - `def run(self)` line 5"),
            ("/plan look; think", "2 steps"),
            ("/count 3", "1\n2\n3\n"),
            ("what is this?", "> what is this?"),
        ):
            before = len(client.text())
            assert await ask(connection, session, command) == "end_turn"
            assert shown in client.text()[before:], command
    assert client.questions == []
    assert [[e.content for e in u.entries] for u in client.updates if u.session_update == "plan"] == [
        ["look", "think"]
    ]


@pytest.mark.anyio
async def test_the_changing_commands_ask_first_and_do_what_they_say(tmp_path: Path) -> None:
    client = ScriptedClient(["allow_once"] * 3 + ["reject_once"])
    async with connected(tmp_path, OFFLINE, client) as (connection, session, work):
        notes = work / "notes.md"
        assert await ask(connection, session, r'/write notes.md "one\ntwo\n"') == "end_turn"
        assert notes.read_bytes() == b"one\ntwo\n"
        assert await ask(connection, session, '/replace notes.md "two" "2"') == "end_turn"
        assert notes.read_bytes() == b"one\n2\n"
        assert (
            await ask(connection, session, "/run wc -l notes.md > count.txt && cat count.txt") == "end_turn"
        )
        assert "2 notes.md" in client.text()
        assert await ask(connection, session, "/run rm notes.md") == "end_turn"
        assert notes.exists() and "did not succeed" in client.text()
    assert len(client.questions) == 4


@pytest.mark.anyio
async def test_the_commands_are_advertised(tmp_path: Path) -> None:
    client = ScriptedClient([])
    async with connected(tmp_path, OFFLINE, client) as (connection, session, _):
        assert await ask(connection, session, "/help") == "end_turn"
    [told] = [u for u in client.updates if u.session_update == "available_commands_update"]
    assert {"help", "read", "write", "run", "setup"} <= {command.name for command in told.available_commands}
