"""An editor on the official Python SDK, and the installed program behind a tee: for the looks from outside."""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import acp
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from outside.schema_check import problems, read_log
from support.folding import fold

PATIENCE = 20.0
TEE = Path(__file__).with_name("tee.py")


class ScriptedClient:
    """An editor that answers permission questions in a given order and keeps what it is shown."""

    capabilities: Any = None
    """What it advertises in `initialize`."""

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

    def folded(self) -> list[tuple[str, Any]]:
        """The fold of all updates so far, as they were on the wire."""
        return fold([u.model_dump(mode="json", by_alias=True, exclude_unset=True) for u in self.updates])

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
async def initialized(
    tmp_path: Path, flags: list[str], client: ScriptedClient, log: str, end: int = 0, **env: str
) -> AsyncIterator[tuple[Any, Any]]:
    """The agent with these flags and variables, and its tee; afterwards it must have ended with this code, and every frame is
    checked."""
    command = [str(TEE), str(tmp_path / log), "--", installed(), *flags]
    async with acp.spawn_agent_process(
        cast(acp.Client, client),  # the protocol's other methods are never called
        sys.executable,
        *command,
        env={"ZIDANE_ACP_HOME": str(tmp_path / "home"), **env},
        transport_kwargs={"stderr": None},
    ) as (connection, process):
        greeting = await asyncio.wait_for(
            connection.initialize(
                protocol_version=acp.PROTOCOL_VERSION, client_capabilities=client.capabilities
            ),
            PATIENCE,
        )
        assert greeting.protocol_version == 1
        assert greeting.agent_info is not None and greeting.agent_info.name
        yield connection, process
    assert process.returncode == end, "the agent did not end by itself when its input ended"
    assert problems(read_log(tmp_path / log)) == []


@asynccontextmanager
async def connected(
    tmp_path: Path, flags: list[str], client: ScriptedClient
) -> AsyncIterator[tuple[Any, str, Path]]:
    """The agent with these flags, with one session and an empty folder for it."""
    work = tmp_path / "work"
    work.mkdir()
    async with initialized(tmp_path, flags, client, "frames.log") as (connection, _):
        session = await asyncio.wait_for(connection.new_session(cwd=str(work), mcp_servers=[]), PATIENCE)
        yield connection, session.session_id, work


async def ask(connection: Any, session: str, text: str) -> str:
    answer = await asyncio.wait_for(
        connection.prompt(session_id=session, prompt=[acp.text_block(text)]), PATIENCE
    )
    return str(answer.stop_reason)


def replaying(tmp_path: Path, *turns: dict[str, Any]) -> list[str]:
    """The flags that play these turns."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
    return ["--provider", "replay", "--script", str(script)]
