"""An editor on the official Python SDK that reads and writes files and runs commands for the agent."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from acp.schema import (
    ClientCapabilities,
    CreateTerminalResponse,
    FileSystemCapabilities,
    KillTerminalResponse,
    ReadTextFileResponse,
    ReleaseTerminalResponse,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)
from outside.sdk_client import ScriptedClient, ask, connected, replaying


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the SDK knows no other


def read(path: str) -> str:
    return Path(path).read_text()


def write(path: str, content: str) -> None:
    Path(path).write_text(content)


class Hands(ScriptedClient):
    """Unsaved buffers over real files, and real processes in terminals."""

    capabilities = ClientCapabilities(
        fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
    )

    def __init__(self) -> None:
        super().__init__([])
        self.buffers: dict[str, str] = {}
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self.outputs: dict[str, asyncio.Task[tuple[bytes, bytes]]] = {}
        self.calls: list[str] = []

    async def read_text_file(self, path: str, session_id: str, **_: Any) -> ReadTextFileResponse:
        self.calls.append("read")
        return ReadTextFileResponse(content=self.buffers.get(path) or read(path))

    async def write_text_file(
        self, content: str, path: str, session_id: str, **_: Any
    ) -> WriteTextFileResponse | None:
        self.calls.append("write")
        self.buffers[path] = content
        write(path, content)
        return None

    async def create_terminal(
        self, command: str, session_id: str, args: list[str] | None = None, cwd: str | None = None, **_: Any
    ) -> CreateTerminalResponse:
        self.calls.append("create")
        process = await asyncio.create_subprocess_exec(
            command, *(args or ()), cwd=cwd, stdout=asyncio.subprocess.PIPE, start_new_session=True
        )
        name = f"t{len(self.processes)}"
        self.processes[name] = process
        self.outputs[name] = asyncio.create_task(process.communicate())
        return CreateTerminalResponse(terminal_id=name)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> WaitForTerminalExitResponse:
        self.calls.append("wait")
        return WaitForTerminalExitResponse(exit_code=await self.processes[terminal_id].wait())

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> TerminalOutputResponse:
        self.calls.append("output")
        out, _none = await self.outputs[terminal_id]
        return TerminalOutputResponse(output=out.decode(), truncated=False)

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> KillTerminalResponse:
        self.calls.append("kill")
        self.end(terminal_id)
        return KillTerminalResponse()

    async def release_terminal(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> ReleaseTerminalResponse | None:
        self.calls.append("release")
        self.end(terminal_id)
        return None

    def end(self, terminal: str) -> None:
        if self.processes[terminal].returncode is None:
            os.killpg(self.processes[terminal].pid, signal.SIGKILL)


@pytest.mark.anyio
async def test_the_agent_works_through_the_editor(tmp_path: Path) -> None:
    client = Hands()
    turns: list[dict[str, Any]] = [
        {"tool": "edit", "args": {"path": "a.txt", "old_string": "draft", "new_string": "final"}},
        {"tool": "shell", "args": {"command": "cat a.txt; pwd"}},
        {"text": "Done."},
    ]
    flags = [*replaying(tmp_path, *turns), "--permission", "allow-all"]
    async with connected(tmp_path, flags, client) as (connection, session, work):
        (work / "a.txt").write_text("on disk\n")
        client.buffers[str(work / "a.txt")] = "draft\n"
        assert await ask(connection, session, "go") == "end_turn"
        assert (work / "a.txt").read_text() == "final\n"
    assert client.calls == ["read", "read", "write", "create", "wait", "output", "release"]
    contents = [update.content for update in client.updates if getattr(update, "status", "") == "completed"]
    assert contents[0][0].old_text == "draft\n"
    assert contents[1][0].type == "terminal"


@pytest.mark.anyio
async def test_a_cancel_ends_the_terminal(tmp_path: Path) -> None:
    client = Hands()
    turns: list[dict[str, Any]] = [{"tool": "shell", "args": {"command": "sleep 300; true"}}]
    flags = [*replaying(tmp_path, *turns), "--permission", "allow-all"]
    async with connected(tmp_path, flags, client) as (connection, session, _):
        running = asyncio.create_task(ask(connection, session, "go"))
        async with client.arrived:
            shown = client.arrived.wait_for(
                lambda: any(getattr(update, "content", None) for update in client.updates)
            )
            await asyncio.wait_for(shown, 20)
        await connection.cancel(session_id=session)
        assert await running == "cancelled"
        await asyncio.wait_for(client.processes["t0"].wait(), 20)
    assert "release" in client.calls
