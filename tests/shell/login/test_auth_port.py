"""A host's own way to log in, through the whole server: what a client sees, and models that become others."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from support.library import client, opened, prompt

from zidane_acp import AcpModelChoice, AcpServerOptions, Auth, AuthMethod, AuthProblem, RemoteError
from zidane_acp.ports import Ask
from zidane_core.data.models import Finished, ModelEvent, ModelRequest, TextDelta


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Named:
    """A model that says its name, and holds its end back until it may."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.may_end = anyio.Event()
        self.began = anyio.Event()
        self.closed = 0

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        self.began.set()
        await self.may_end.wait()
        yield (TextDelta(self.name), Finished("stop"))

    async def aclose(self) -> None:
        self.closed += 1


class Door:
    """Opens once."""

    def __init__(self) -> None:
        self.inside = False
        self.wrong = ""
        self.asked: list[Ask | None] = []

    def methods(self) -> tuple[AuthMethod, ...]:
        return (AuthMethod(id="door", name="The door"),)

    def needed(self) -> bool:
        return not self.inside

    def can_forget(self) -> bool:
        return self.inside

    async def authenticate(self, method: str, ask: Ask | None) -> None:
        self.asked.append(ask)
        if self.wrong:
            raise AuthProblem(self.wrong, {"why": "wrong"})
        self.inside = True

    async def logout(self) -> None:
        self.inside = False
        if self.wrong:
            raise AuthProblem(self.wrong)


async def refused(connection: Any, method: str, **params: Any) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        await connection.request(method, params)
    return caught.value


NEW = {"cwd": "/", "mcpServers": []}
METHODS = [{"id": "door", "name": "The door"}]


@pytest.mark.anyio
async def test_the_same_connection_works_after_a_login_and_is_gated_after_a_logout() -> None:
    door: Auth = Door()
    async with client(AcpServerOptions(provider=Named("m"), auth=door)) as (connection, _):
        answer: Any = await connection.request("initialize", {"protocolVersion": 1})
        assert answer["authMethods"] == METHODS
        assert (await refused(connection, "logout")).code == -32601
        gated = await refused(connection, "session/new", **NEW)
        assert (gated.code, gated.message) == (-32000, "Authentication required")
        assert gated.data == {"authMethods": METHODS}
        assert await connection.request("authenticate", {"methodId": "door"}) == {}
        session: Any = await connection.request("session/new", NEW)
        assert session["sessionId"]
        assert await connection.request("logout", {}) == {}
        assert (await refused(connection, "session/new", **NEW)).code == -32000


@pytest.mark.anyio
async def test_a_failed_login_or_logout_is_a_sentence() -> None:
    door = Door()
    door.wrong = "The door is shut; push harder."
    async with client(AcpServerOptions(provider=Named("m"), auth=door)) as (connection, _):
        await connection.request("initialize", {"protocolVersion": 1})
        error = await refused(connection, "authenticate", methodId="door")
        assert (error.code, error.message) == (-32000, door.wrong)
        assert error.data == {"why": "wrong", "authMethods": METHODS}
        assert door.asked == [None], "the client opens no pages"


@pytest.mark.anyio
async def test_a_logout_that_fails_is_no_call_for_a_login() -> None:
    door = Door()
    door.inside = True
    async with client(AcpServerOptions(provider=Named("m"), auth=door)) as (connection, _):
        await connection.request("initialize", {"protocolVersion": 1})
        door.wrong = "It sticks."
        error = await refused(connection, "logout")
        assert (error.code, error.message) == (-32603, "It sticks.")


@pytest.mark.anyio
async def test_models_become_others_while_an_answer_is_under_way() -> None:
    first, second = Named("first"), Named("second")
    second.may_end.set()
    current = [first]
    door = Door()

    def options() -> AcpServerOptions:
        (model,) = current
        choice = AcpModelChoice(id=model.name, provider=model)
        return AcpServerOptions(models=(choice,), auth=door, renewed=options)

    async with client(options()) as (connection, seen):
        door.inside = True
        session = await opened(connection)
        answers: list[Any] = []

        async def run() -> None:
            answers.append(await prompt(connection, session))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await first.began.wait()
            current[:] = [second]
            await connection.request("authenticate", {"methodId": "door"})
            first.may_end.set()
        assert answers == [{"stopReason": "end_turn"}]
        await prompt(connection, session)
    said = [one["content"]["text"] for one in seen.updates if one["sessionUpdate"] == "agent_message_chunk"]
    assert said[0] == "first" and said[-1] == "second"


@pytest.mark.anyio
async def test_all_models_that_there_were_are_closed_once() -> None:
    from zidane_acp import create_acp_server

    first, second = Named("first"), Named("second")
    options = AcpServerOptions(provider=first, renewed=lambda: AcpServerOptions(provider=second))
    server = create_acp_server(options)
    server.refresh()
    server.refresh()
    await server.aclose()
    assert (first.closed, second.closed) == (1, 1)
