"""The official Python SDK's client against the installed program, every frame held against the schema."""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from outside.schema_check import problems, read_log

PATIENCE = 20.0
TEE = Path(__file__).with_name("tee.py")


class ScriptedClient:
    """An editor that answers permission questions in a given order and keeps what it is shown."""

    def __init__(self, answers: list[str]) -> None:
        self.answers = answers
        self.questions: list[tuple[ToolCallUpdate, list[PermissionOption]]] = []
        self.updates: list[Any] = []
        self.seen_before_question: list[list[str]] = []
        self.arrived = asyncio.Condition()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.questions.append((tool_call, options))
        self.seen_before_question.append(
            [u.tool_call_id for u in self.updates if u.session_update == "tool_call"]
        )
        wanted = self.answers.pop(0)
        if wanted == "cancelled":
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        option = next(option.option_id for option in options if option.kind == wanted)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option))

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        async with self.arrived:
            self.updates.append(update)
            self.arrived.notify_all()

    async def until_text(self, piece: str) -> None:
        """Returns as soon as the agent's text holds the piece."""
        async with self.arrived:
            await asyncio.wait_for(self.arrived.wait_for(lambda: piece in self.text()), PATIENCE)

    def text(self) -> str:
        return "".join(u.content.text for u in self.updates if u.session_update == "agent_message_chunk")

    def statuses(self, call: str) -> list[str | None]:
        return [
            u.status
            for u in self.updates
            if u.session_update in {"tool_call", "tool_call_update"} and u.tool_call_id == call and u.status
        ]


def installed() -> str:
    program = shutil.which("zidane-acp", path=str(Path(sys.executable).parent))
    assert program is not None, "zidane-acp is not installed beside this Python"
    return program


@asynccontextmanager
async def connected(
    tmp_path: Path, turns: list[dict[str, Any]], client: ScriptedClient
) -> AsyncIterator[tuple[Any, str, Path]]:
    """An initialized connection with one session; afterwards every frame is checked."""
    work, log, script = tmp_path / "work", tmp_path / "frames.log", tmp_path / "script.json"
    work.mkdir()
    script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
    command = [str(TEE), str(log), "--", installed(), "--provider", "replay", "--script", str(script)]
    async with acp.spawn_agent_process(
        client,  # pyright: ignore[reportArgumentType]  # the protocol's other methods are never called
        sys.executable,
        *command,
        env={"ZIDANE_ACP_HOME": str(tmp_path / "home")},
        transport_kwargs={"stderr": None},
    ) as (connection, process):
        greeting = await asyncio.wait_for(
            connection.initialize(protocol_version=acp.PROTOCOL_VERSION), PATIENCE
        )
        assert greeting.protocol_version == 1
        assert greeting.agent_info is not None and greeting.agent_info.name
        session = await asyncio.wait_for(connection.new_session(cwd=str(work), mcp_servers=[]), PATIENCE)
        yield connection, session.session_id, work
    assert process.returncode == 0, "the agent did not end by itself when its input ended"
    assert problems(read_log(log)) == []


async def ask(connection: Any, session: str, text: str) -> str:
    answer = await asyncio.wait_for(
        connection.prompt(session_id=session, prompt=[acp.text_block(text)]), PATIENCE
    )
    return answer.stop_reason


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the SDK knows no other


@pytest.mark.anyio
async def test_a_permitted_write_happens_and_its_card_is_shown_first(tmp_path: Path) -> None:
    client = ScriptedClient(["allow_once"])
    turns = [
        {"text": "I write it. ", "tool": "write_file", "args": {"path": "hello.txt", "content": "hi\n"}},
        {"text": "It is written."},
    ]
    async with connected(tmp_path, turns, client) as (connection, session, work):
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
    turns = [{"tool": "write_file", "args": {"path": "no.txt", "content": "no\n"}}, {"text": "Not written."}]
    async with connected(tmp_path, turns, client) as (connection, session, work):
        assert await ask(connection, session, "write a file") == "end_turn"
        assert not (work / "no.txt").exists()
    [(card, _)] = client.questions
    assert client.statuses(card.tool_call_id)[-1] == "failed"
    assert client.text() == "Not written."


@pytest.mark.anyio
async def test_a_cancel_ends_the_running_turn_and_the_next_prompt_is_answered(tmp_path: Path) -> None:
    client = ScriptedClient([])
    turns = [{"text": "tick ", "repeat": 100_000, "delay_ms": 1}, {"text": "Still here."}]
    async with connected(tmp_path, turns, client) as (connection, session, _):
        running = asyncio.create_task(ask(connection, session, "count for ever"))
        await client.until_text("tick tick ")
        await connection.cancel(session_id=session)
        assert await running == "cancelled"
        assert await ask(connection, session, "are you there?") == "end_turn"
    assert client.text().endswith("Still here.")


@pytest.mark.anyio
async def test_a_dismissed_question_cancels_the_turn(tmp_path: Path) -> None:
    client = ScriptedClient(["cancelled"])
    turns = [{"tool": "shell", "args": {"command": "touch made.txt"}}, {"text": "Never said."}]
    async with connected(tmp_path, turns, client) as (connection, session, work):
        assert await ask(connection, session, "run it") == "cancelled"
        assert not (work / "made.txt").exists()
    [(card, _)] = client.questions
    assert card.title is not None and "touch made.txt" in card.title
    assert card.raw_input == {"command": "touch made.txt"}
    assert client.statuses(card.tool_call_id)[-1] == "failed"
