"""The official Python SDK's client goes on with a stored session in another process of the installed program."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import acp
import pytest
from outside.sdk_client import PATIENCE, ScriptedClient, ask, initialized, replaying

TURNS: list[dict[str, Any]] = [
    {
        "thinking": "A file is wanted.",
        "text": "I write it. ",
        "tool": "write_file",
        "args": {"path": "hello.txt", "content": "hi\n"},
    },
    {
        "tool": "update_plan",
        "args": {"entries": [{"content": "write it", "priority": "high", "status": "completed"}]},
    },
    {"text": "It is written."},
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the SDK knows no other


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["close", "kill"])
async def test_a_load_in_another_process_shows_what_was_shown_live(tmp_path: Path, how: str) -> None:
    work, live, later = tmp_path / "work", ScriptedClient(["allow_once"]), ScriptedClient([])
    work.mkdir()
    code = {"close": 0, "kill": 128 + signal.SIGKILL}[how]
    flags = replaying(tmp_path, *TURNS)
    async with initialized(tmp_path, flags, live, "first.log", code) as (connection, tee):
        session = (await connection.new_session(cwd=str(work), mcp_servers=[])).session_id
        assert await ask(connection, session, "write a file") == "end_turn"
        if how == "kill":  # right after the answer: whatever was answered is on the disk
            tee.send_signal(signal.SIGUSR1)
            await asyncio.wait_for(tee.wait(), PATIENCE)

    flags = replaying(tmp_path, {"text": "Still here."})
    async with initialized(tmp_path, flags, later, "second.log") as (connection, _):
        for filters in ({}, {"cwd": str(work)}):
            [listed] = (await connection.list_sessions(**filters)).sessions
            assert (listed.session_id, listed.cwd, listed.title) == (session, str(work), "write a file")
        assert (await connection.list_sessions(cwd=str(tmp_path))).sessions == []

        await connection.load_session(cwd=str(work), session_id=session, mcp_servers=[])
        (name, prompt), *rest = later.folded()
        assert name.startswith("user_message_chunk ") and prompt == [{"type": "text", "text": "write a file"}]
        assert rest == live.folded()
        assert {name.split(" ")[0] for name, _ in rest} >= {"agent_thought_chunk", "tool", "plan"}

        assert await ask(connection, session, "are you there?") == "end_turn"
        assert later.text().endswith("Still here.")
        for _ in range(2):
            assert await delete(connection, session) == {}
        assert (await connection.list_sessions()).sessions == []
        with pytest.raises(acp.RequestError) as refused:
            await connection.load_session(cwd=str(work), session_id=session, mcp_servers=[])
        assert refused.value.code == -32002


async def delete(connection: Any, session: str) -> Any:
    """The SDK has no method for it yet, and its `ext_method` would put a line before the name."""
    asked = connection._conn.send_request("session/delete", {"sessionId": session})
    return await asyncio.wait_for(asked, PATIENCE)
