"""The official Python SDK's client against the installed program, every frame held against the schema."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from outside.sdk_client import ScriptedClient, ask, connected, replaying


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the SDK knows no other


@pytest.mark.anyio
async def test_a_permitted_write_happens_and_its_card_is_shown_first(tmp_path: Path) -> None:
    client = ScriptedClient(["allow_once"])
    turns: list[dict[str, Any]] = [
        {"text": "I write it. ", "tool": "write_file", "args": {"path": "hello.txt", "content": "hi\n"}},
        {"text": "It is written."},
    ]
    async with connected(tmp_path, replaying(tmp_path, *turns), client) as (connection, session, work):
        assert await ask(connection, session, "write a file") == "end_turn"
        assert (work / "hello.txt").read_text() == "hi\n"
    [(card, options)] = client.questions
    assert {"allow_once", "reject_once"} <= {option.kind for option in options}
    assert client.seen_before_question == [[card.tool_call_id]]
    assert client.statuses(card.tool_call_id)[0] == "pending"
    assert client.statuses(card.tool_call_id)[-1] == "completed"
    assert client.text() == "I write it. It is written."


@pytest.mark.anyio
async def test_a_refused_write_does_not_happen_and_the_turn_goes_on(tmp_path: Path) -> None:
    client = ScriptedClient(["reject_once"])
    turns: list[dict[str, Any]] = [
        {"tool": "write_file", "args": {"path": "no.txt", "content": "no\n"}},
        {"text": "Not written."},
    ]
    async with connected(tmp_path, replaying(tmp_path, *turns), client) as (connection, session, work):
        assert await ask(connection, session, "write a file") == "end_turn"
        assert not (work / "no.txt").exists()
    [(card, _)] = client.questions
    assert client.statuses(card.tool_call_id)[-1] == "failed"
    assert client.text() == "Not written."


@pytest.mark.anyio
async def test_a_cancel_ends_the_running_turn_and_the_next_prompt_is_answered(tmp_path: Path) -> None:
    client = ScriptedClient([])
    turns: list[dict[str, Any]] = [
        {"text": "tick ", "repeat": 100_000, "delay_ms": 1},
        {"text": "Still here."},
    ]
    async with connected(tmp_path, replaying(tmp_path, *turns), client) as (connection, session, _):
        running = asyncio.create_task(ask(connection, session, "count for ever"))
        await client.until_text("tick tick ")
        await connection.cancel(session_id=session)
        assert await running == "cancelled"
        assert await ask(connection, session, "are you there?") == "end_turn"
    assert client.text().endswith("Still here.")


@pytest.mark.anyio
async def test_a_dismissed_question_cancels_the_turn(tmp_path: Path) -> None:
    client = ScriptedClient(["cancelled"])
    turns: list[dict[str, Any]] = [
        {"tool": "shell", "args": {"command": "touch made.txt"}},
        {"text": "Never said."},
    ]
    async with connected(tmp_path, replaying(tmp_path, *turns), client) as (connection, session, work):
        assert await ask(connection, session, "run it") == "cancelled"
        assert not (work / "made.txt").exists()
    [(card, _)] = client.questions
    assert card.title is not None and "touch made.txt" in card.title
    assert card.raw_input == {"command": "touch made.txt"}
    assert client.statuses(card.tool_call_id)[-1] == "failed"
