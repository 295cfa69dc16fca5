"""Sessions over the whole shell: another server on the same file, two clients at once, a store that fails."""

import json
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.folding import fold

from zidane_acp import AcpServer, AcpServerOptions, create_acp_server
from zidane_acp.ports import Store
from zidane_acp.store import MemoryStore, SqliteStore
from zidane_acp.transports.memory import MemoryTransport, memory_pair
from zidane_core.agent.effects import Save
from zidane_core.data.models import (
    AssistantMessage,
    Called,
    Finished,
    ModelEvent,
    ModelRequest,
    Said,
    TextDelta,
    ThoughtDelta,
    UserMessage,
)
from zidane_core.data.stored import Behind, Refusal

TOOLS = (
    ThoughtDelta("Look first."),
    TextDelta("I write a file."),
    Called("a", "write_file", '{"path": "a.txt", "content": "new\\n"}'),
    Called("b", "shell", '{"command": "echo out; false"}'),
    Called("c", "update_plan", '{"entries": [{"content": "a", "status": "completed", "priority": "low"}]}'),
    Called("d", "read_file", '{"path": "missing.txt"}'),
    Finished("tool-calls"),
)
DONE = (TextDelta("Done."), Finished("stop"))


class Rounds:
    """Says each round what it is told to say; then nothing, until it is stopped."""

    def __init__(self, *rounds: tuple[ModelEvent, ...]) -> None:
        self.rounds = list(rounds)
        self.requests: list[ModelRequest] = []
        self.asked = anyio.Event()

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        self.requests.append(request)
        if self.rounds:
            yield self.rounds.pop(0)
            return
        self.asked.set()
        yield (TextDelta("I am thin"),)
        await anyio.sleep_forever()

    async def aclose(self) -> None:
        pass


class Client:
    """One client of a server over memory."""

    def __init__(self, end: MemoryTransport) -> None:
        self._end = end
        self._waiting = bytearray()
        self._last = 0
        self.frames: list[dict[str, Any]] = []

    async def send(self, **frame: Any) -> None:
        await self._end.send(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")

    async def ask(self, method: str, **params: Any) -> int:
        self._last += 1
        await self.send(id=self._last, method=method, params=params)
        return self._last

    async def read(self) -> dict[str, Any]:
        while b"\n" not in self._waiting:
            data = await self._end.receive()
            assert data, "the agent is gone"
            self._waiting += data
        line, _, rest = bytes(self._waiting).partition(b"\n")
        self._waiting[:] = rest
        frame: dict[str, Any] = json.loads(line)
        self.frames.append(frame)
        if frame.get("method") == "session/request_permission":
            chosen = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
            await self.send(id=frame["id"], result=chosen)
        return frame

    async def answer(self, asked: int) -> dict[str, Any]:
        while (frame := await self.read()).get("id") != asked or "method" in frame:
            pass
        return frame

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        return await self.answer(await self.ask(method, **params))

    async def prompt(self, session: str, text: str) -> dict[str, Any]:
        return await self.call("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def updates(self, after: int = 0) -> list[dict[str, Any]]:
        updates = [f for f in self.frames[after:] if f.get("method") == "session/update"]
        return [frame["params"]["update"] for frame in updates]

    def said(self) -> str:
        chunks = [u for u in self.updates() if u["sessionUpdate"] == "agent_message_chunk"]
        return "".join(update["content"]["text"] for update in chunks)


@asynccontextmanager
async def connected(server: AcpServer) -> AsyncIterator[Client]:
    near, far = memory_pair()
    client = Client(near)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, far)
            await client.call("initialize", protocolVersion=1, clientCapabilities={})
            yield client
            await near.aclose()
    await far.aclose()


def server_of(store: Store | None, *rounds: tuple[ModelEvent, ...]) -> tuple[AcpServer, Rounds]:
    model = Rounds(*rounds)
    return create_acp_server(AcpServerOptions(provider=model, store=store, permission="allow-all")), model


async def new(client: Client, cwd: Path, **more: Any) -> str:
    session: str = (await client.call("session/new", cwd=str(cwd), mcpServers=[], **more))["result"][
        "sessionId"
    ]
    return session


async def load(client: Client, session: str, cwd: Path, method: str = "session/load") -> dict[str, Any]:
    return await client.call(method, sessionId=session, cwd=str(cwd), mcpServers=[])


def with_prompts(client: Client, prompts: dict[str, str]) -> list[tuple[str, Any]]:
    """The fold of what a client was shown; the text of its own prompts stands where they were replayed."""
    return [one for one in fold(client.updates()) if not one[0].startswith("user_message_chunk") or prompts]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.anyio
async def test_another_program_shows_what_was_shown_live(tmp_path: Path) -> None:
    path = tmp_path / "home" / "sessions.db"
    first, _ = server_of(SqliteStore(path), TOOLS, DONE)
    async with connected(first) as client:
        session = await new(client, tmp_path)
        assert (await client.prompt(session, "Please."))["result"]["stopReason"] == "end_turn"
        live = fold(client.updates())
    await first.aclose()
    second, model = server_of(SqliteStore(path), DONE)
    async with connected(second) as client:
        assert "error" not in await load(client, session, tmp_path)
        replayed = fold(client.updates())
        user, rest = replayed[0], replayed[1:]
        assert user[1] == [{"type": "text", "text": "Please."}]
        assert rest == live
        tools = [state["status"] for name, state in rest if name.startswith("tool ")]
        assert tools == ["completed", "failed", "completed", "failed"]
        await client.prompt(session, "Thanks.")
    messages = model.requests[0].messages
    assert [type(message).__name__ for message in messages] == [
        "UserMessage",
        "AssistantMessage",
        "ResultsMessage",
        "AssistantMessage",
        "UserMessage",
    ]
    await second.aclose()


@pytest.mark.anyio
async def test_without_a_store_of_its_own_a_server_keeps_sessions_while_it_lives(tmp_path: Path) -> None:
    server, _ = server_of(None, DONE)
    async with connected(server) as client:
        session = await new(client, tmp_path)
        await client.prompt(session, "Please.")
        assert (await client.call("session/close", sessionId=session))["result"] == {}
    async with connected(server) as client:
        listed = await client.call("session/list")
        assert [one["sessionId"] for one in listed["result"]["sessions"]] == [session]
        assert "error" not in await load(client, session, tmp_path)
        assert client.said() == "Done."


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_two_clients_load_one_session_and_one_of_them_prompts(tmp_path: Path, kind: str) -> None:
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "home" / "sessions.db")
    server, model = server_of(store, DONE)
    async with connected(server) as one, connected(server) as other:
        session = await new(one, tmp_path)
        await one.prompt(session, "first")
        await load(other, session, tmp_path)
        running = await one.ask(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "second"}]
        )
        await model.asked.wait()
        refused = await other.prompt(session, "mine")
        assert refused["error"]["data"] == {"kind": "in_use"}
        assert "Another program works in this session" in refused["error"]["message"]
        await one.send(method="session/cancel", params={"sessionId": session})
        assert (await one.answer(running))["result"]["stopReason"] == "cancelled"
        model.rounds.append(DONE)
        assert (await other.prompt(session, "third"))["result"]["stopReason"] == "end_turn"
        texts = [m.parts[0].text for m in model.requests[-1].messages if isinstance(m, UserMessage)]  # type: ignore[union-attr]
        assert texts == ["first", "second", "third"]
        said = [b for m in model.requests[-1].messages if isinstance(m, AssistantMessage) for b in m.blocks]
        assert said[-1] == Said("I am thin")
    await server.aclose()


@pytest.mark.anyio
async def test_the_end_of_the_connection_saves_what_was_going_on(tmp_path: Path) -> None:
    path = tmp_path / "home" / "sessions.db"
    server, model = server_of(SqliteStore(path))
    async with connected(server) as client:
        session = await new(client, tmp_path)
        await client.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Please."}])
        await model.asked.wait()
        while not client.said():
            await client.read()
    await server.aclose()
    server, _ = server_of(SqliteStore(path))
    async with connected(server) as client:
        await load(client, session, tmp_path)
        assert client.said() == "I am thin"
    await server.aclose()


# A store that fails --------------------------------------------------------------------------------


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE sessions (id TEXT)")
        file.execute("PRAGMA user_version = 99")
        file.execute("PRAGMA application_id = 0")


def no_database(path: Path) -> None:
    path.write_bytes(b"not a database at all, but a text that is long enough to be looked at" * 20)


def a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.anyio
@pytest.mark.parametrize("spoil", [newer, no_database, a_folder])
async def test_a_turn_goes_on_in_memory_and_the_user_is_told_once(tmp_path: Path, spoil: Any) -> None:
    path = tmp_path / "home" / "sessions.db"
    path.parent.mkdir()
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    server, _ = server_of(SqliteStore(path), DONE, DONE)
    async with connected(server) as client:
        session = await new(client, tmp_path)
        for text in ("first", "second"):
            assert (await client.prompt(session, text))["result"]["stopReason"] == "end_turn"
        assert client.said().count("it goes on in memory") == 1
        assert str(path) in client.said()
        listed = await client.call("session/list")
        assert listed["error"]["data"] == {"kind": "store"} and str(path) in listed["error"]["message"]
        start = len(client.frames)
        assert "error" not in await load(client, session, tmp_path)
        texts = [s for name, s in fold(client.updates(start)) if name.startswith("user_message_chunk")]
        assert [text[0]["text"] for text in texts] == ["first", "second"]
    await server.aclose()
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [entry.name for entry in path.parent.iterdir()] == ["sessions.db"]


class Stuck(MemoryStore):
    """A store on a drive that does not answer."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()

    def append(self, save: Save, owner: str) -> Refusal | Behind | None:
        self.free.wait(20)
        return super().append(save, owner)


@pytest.mark.anyio
async def test_a_store_that_hangs_does_not_hold_up_a_cancel_or_the_end(tmp_path: Path) -> None:
    store = Stuck()
    server, _ = server_of(store, DONE)
    async with connected(server) as client:
        session = await new(client, tmp_path)
        asked = await client.ask(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Please."}]
        )
        await client.send(method="session/cancel", params={"sessionId": session})
        assert (await client.answer(asked))["result"]["stopReason"] == "cancelled"
    store.free.set()
    await server.aclose()


class Broken(MemoryStore):
    """A store with a bug."""

    def append(self, save: Save, owner: str) -> Refusal | Behind | None:
        raise ZeroDivisionError("not for the user")


class NoEntry(MemoryStore):
    """A store with another one."""

    def enter(self) -> str:
        raise ZeroDivisionError("not for the user")


class NoExit(MemoryStore):
    """A store with one at the end."""

    def leave(self, owner: str) -> None:
        raise ZeroDivisionError("not for the user")


@pytest.mark.anyio
@pytest.mark.parametrize("store", [Broken, NoEntry, NoExit])
async def test_a_bug_of_a_store_leaves_the_session_in_memory(
    tmp_path: Path, store: type[MemoryStore]
) -> None:
    server, _ = server_of(store(), DONE)
    async with connected(server) as client:
        session = await new(client, tmp_path)
        assert (await client.prompt(session, "first"))["result"]["stopReason"] == "end_turn"
        assert ("it goes on in memory" in client.said()) == (store is not NoExit)
        assert "not for the user" not in client.said()
        assert "error" not in await load(client, session, tmp_path)
    await server.aclose()


class Full(MemoryStore):
    """A store whose disk is full for a while."""

    full = False

    def append(self, save: Save, owner: str) -> Refusal | Behind | None:
        return Refusal("disk", "The disk is full.") if self.full else super().append(save, owner)


@pytest.mark.anyio
async def test_a_session_that_went_to_memory_is_free_for_others(tmp_path: Path) -> None:
    store = Full()
    server, model = server_of(store)
    async with connected(server) as one, connected(server) as other:
        session = await new(one, tmp_path)
        asked = await one.ask(
            "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Please."}]
        )
        await model.asked.wait()
        store.full = True
        await one.send(method="session/cancel", params={"sessionId": session})
        assert (await one.answer(asked))["result"]["stopReason"] == "cancelled"
        assert "The disk is full." in one.said(), "it is told before the answer"
        store.full = False
        await load(other, session, tmp_path)
        model.rounds.append(DONE)
        assert (await other.prompt(session, "mine"))["result"]["stopReason"] == "end_turn"
    await server.aclose()


@pytest.mark.anyio
async def test_a_connection_that_is_cancelled_leaves_its_sessions_free(tmp_path: Path) -> None:
    server, model = server_of(SqliteStore(tmp_path / "home" / "sessions.db"))
    near, far = memory_pair()
    client = Client(near)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, far)
            await client.call("initialize", protocolVersion=1, clientCapabilities={})
            session = await new(client, tmp_path)
            await client.ask(
                "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Please."}]
            )
            await model.asked.wait()
            tasks.cancel_scope.cancel()
    for end in (near, far):
        await end.aclose()
    async with connected(server) as other:
        await load(other, session, tmp_path)
        model.rounds.append(DONE)
        assert (await other.prompt(session, "mine"))["result"]["stopReason"] == "end_turn"
    await server.aclose()


# Further folders -----------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_further_folder_is_in_reach_of_the_tools_and_does_not_come_back_by_itself(
    tmp_path: Path,
) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    (other / "b.txt").write_text("beside\n")
    (project / "way").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "c.txt").write_text("hidden\n")
    read = (Called("a", "read_file", json.dumps({"path": str(other / "b.txt")})), Finished("tool-calls"))
    around = (Called("a", "read_file", '{"path": "way/c.txt"}'), Finished("tool-calls"))
    server, _ = server_of(None, read, DONE, read, DONE, around, DONE)
    async with connected(server) as client:
        session = await new(client, project, additionalDirectories=[str(other)])
        await client.prompt(session, "first")
        asked = [f for f in client.frames if f.get("method") == "session/request_permission"]
        assert not asked
        await load(client, session, project)
        for count, text in enumerate(("second", "third"), 1):
            await client.prompt(session, text)
            asked = [f for f in client.frames if f.get("method") == "session/request_permission"]
            assert len(asked) == count, (
                "outside of the folders of the session, it is asked for under every policy"
            )
    await server.aclose()


@pytest.mark.anyio
async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    server, _ = server_of(None)
    async with connected(server) as client:
        for bad, problem in ((tmp_path / "none", "does not exist"), (tmp_path / "file", "is not a folder")):
            (tmp_path / "file").touch()
            answer = await client.call(
                "session/new",
                cwd=str(tmp_path),
                mcpServers=[],
                additionalDirectories=[str(tmp_path), str(bad)],
            )
            assert answer["error"]["code"] == -32602
            assert answer["error"]["message"] == f"Invalid params: additionalDirectories[1] {problem}: {bad}"
    await server.aclose()
