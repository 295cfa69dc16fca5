"""A model's provider that is made when the model is selected: through the whole server, by a client."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest
from support.library import client, opened, prompt

from zidane_acp import AcpModelChoice, AcpServerOptions, JsonRpcError, RemoteError
from zidane_acp.ports import Model
from zidane_core.data.models import Finished, ModelEvent, ModelRequest, TextDelta


class Named:
    """A model that says its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        yield (TextDelta(self.name), Finished("stop"))

    async def aclose(self) -> None:
        pass


def options(factory: Callable[[], Any]) -> AcpServerOptions:
    return AcpServerOptions(
        models=(
            AcpModelChoice(id="first", provider=Named("first")),
            AcpModelChoice(id="late", provider=factory, name="Late"),
        )
    )


async def choose(connection: Any, session: str, model: str) -> str:
    answer = await connection.request(
        "session/set_config_option", {"sessionId": session, "configId": "model", "value": model}
    )
    found = {option["id"]: option["currentValue"] for option in answer["configOptions"]}
    value: str = found["model"]
    return value


def said(seen: Any) -> str:
    updates = seen.updates
    return "".join(
        update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"
    )


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.anyio
async def test_a_provider_is_made_once_when_its_model_is_selected() -> None:
    made: list[Model] = []

    def make() -> Model:
        made.append(Named("late"))
        return made[-1]

    async with client(options(make)) as (connection, seen):
        session = await opened(connection)
        assert made == []
        assert await choose(connection, session, "late") == "late"
        assert len(made) == 1
        await prompt(connection, session)
        assert said(seen) == "late"
        await choose(connection, session, "first")
        await choose(connection, session, "late")
        assert len(made) == 1


@pytest.mark.anyio
async def test_a_provider_may_be_made_by_an_async_function() -> None:
    async def make() -> Model:
        await anyio.lowlevel.checkpoint()
        return Named("slowly")

    async with client(options(make)) as (connection, seen):
        session = await opened(connection)
        await choose(connection, session, "late")
        await prompt(connection, session)
        assert said(seen) == "slowly"


@pytest.mark.anyio
async def test_a_provider_that_cannot_be_made_leaves_the_model_and_is_tried_again() -> None:
    tries = 0

    def make() -> Model:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ValueError("the key is swordfish")
        if tries == 2:
            raise JsonRpcError(-32000, "Log in to Acme first.", {"kind": "auth"})
        return Named("late")

    async with client(options(make)) as (connection, seen):
        session = await opened(connection)
        with pytest.raises(RemoteError) as unknown:
            await choose(connection, session, "late")
        assert unknown.value.code == -32603
        assert "could not be made (ValueError)" in str(unknown.value)
        assert "swordfish" not in str(unknown.value)
        with pytest.raises(RemoteError) as refused:
            await choose(connection, session, "late")
        assert (refused.value.code, str(refused.value)) == (-32000, "Log in to Acme first.")
        await prompt(connection, session)
        assert said(seen) == "first"
        assert await choose(connection, session, "late") == "late"
        await prompt(connection, session)
        assert said(seen) == "firstlate"
