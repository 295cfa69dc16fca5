"""The public library: making servers, serving a transport, a host's own JSON-RPC connection."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from support.driver import OPTIONS, Driver, with_
from support.library import client, opened, prompt

import zidane_acp
from zidane_acp import (
    AcpModelChoice,
    AcpModelOption,
    AcpServerOptions,
    AcpSession,
    JsonRpcError,
    RemoteError,
    create_acp_server,
    run_acp_stdio_server,
)
from zidane_acp.options import choice_of, core_options
from zidane_acp.ports import Model
from zidane_core.acp.wire import Implementation
from zidane_core.agent.modes import MODES
from zidane_core.data.models import (
    Called,
    Finished,
    ModelEvent,
    ModelOption,
    ModelRequest,
    OptionValue,
    Price,
    TextDelta,
)
from zidane_core.data.modes import Mode
from zidane_core.data.rules import Denials
from zidane_core.data.tools import ToolSpec
from zidane_core.models.providers import models


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Echo:
    """Says each round what it is told to say."""

    def __init__(self, *rounds: tuple[ModelEvent, ...]) -> None:
        self.rounds = list(rounds)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        self.requests.append(request)
        if not self.rounds:
            await anyio.sleep_forever()
        yield self.rounds.pop(0)

    async def aclose(self) -> None:
        pass


DONE = (TextDelta("hi"), Finished("stop"))


def test_what_a_table_knows_of_a_model_comes_through_the_options() -> None:
    known = models("anthropic")[0]
    assert known.image_bytes == 15 * 2**18
    options = AcpServerOptions(models=(choice_of(known, Echo()),))
    assert core_options(options).models == (known,)
    assert known.price is not None


def test_the_options_of_a_model_become_those_of_the_core() -> None:
    values = (OptionValue("a", "A", body='{"tier": "a"}'), OptionValue("b", "B"))
    tier = ModelOption(id="tier", name="Tier", values=values, default="b")
    seed = AcpModelOption(id="fast", name="Fast", description="Quicker", default=True)
    bodied = AcpModelOption(id="slow", name="Slow", on={"speed": "slow"}, off={"speed": None})
    choice = AcpModelChoice(
        id="m", provider=Echo(), options=(seed, bodied, tier), price=Price(input=1, output=2)
    )
    (model,) = core_options(AcpServerOptions(models=(choice,))).models
    fast, slow, third = model.options
    assert (fast.id, fast.name, fast.description, fast.switch, fast.default) == (
        "fast",
        "Fast",
        "Quicker",
        True,
        "on",
    )
    assert [(value.value, value.body) for value in fast.values] == [("on", ""), ("off", "")]
    assert (slow.default, [value.body for value in slow.values]) == (
        "off",
        ['{"speed":"slow"}', '{"speed":null}'],
    )
    assert third is tier and model.price == Price(input=1, output=2)


def test_a_provider_that_is_a_factory_is_made_late() -> None:
    choices = (AcpModelChoice(id="a", provider=Echo()), AcpModelChoice(id="b", provider=lambda: Echo()))
    models_ = core_options(AcpServerOptions(models=choices)).models
    assert [model.made_late for model in models_] == [False, True]


def test_what_a_host_chooses_for_its_sessions_reaches_the_core() -> None:
    plain = core_options(AcpServerOptions(provider=Echo()))
    assert plain.modes == MODES and not (plain.mode or plain.slash or plain.project or plain.pinned)
    assert plain.compacts and plain.denials == Denials() and plain.protected == ()
    mode = Mode(id="look", name="Look", changes=False)
    chosen = AcpServerOptions(
        provider=Echo(),
        modes=(mode,),
        mode="look",
        denials=Denials(("x",), ("rm",)),
        protected=("/etc",),
        slash=True,
        project=True,
        pinned=("mode",),
        compacts=False,
    )
    found = core_options(chosen)
    assert (found.modes, found.mode, found.denials, found.protected) == (
        (mode,),
        "look",
        chosen.denials,
        ("/etc",),
    )
    assert (found.slash, found.project, found.pinned, found.compacts) == (True, True, ("mode",), False)


@pytest.mark.anyio
@pytest.mark.parametrize("make", [create_acp_server, run_acp_stdio_server])
async def test_a_server_needs_a_model(make: Any) -> None:
    with pytest.raises(ValueError, match="Set provider or models"):
        make(AcpServerOptions())
    choice = AcpModelChoice(id="a", provider=Echo())
    with pytest.raises(ValueError, match="'b' is not one of the models: a"):
        make(AcpServerOptions(models=(choice,), default_model="b"))
    with pytest.raises(ValueError, match="an id of its own"):
        make(AcpServerOptions(models=(choice, choice)))


@pytest.mark.anyio
async def test_the_options_of_a_host_are_in_force() -> None:
    own = ToolSpec(name="mine", description="Mine.", schema={"type": "object"})
    model = Echo(DONE)
    options = AcpServerOptions(
        provider=model,
        preset=(own,),
        system="Work in {cwd}, politely.",
        info=Implementation(name="host", version="3"),
        thinking="low",
    )
    async with client(options) as (connection, _):
        told: Any = await connection.request("initialize", {"protocolVersion": 1})
        assert told["agentInfo"] == {"name": "host", "version": "3"}
        await prompt(connection, await opened(connection))
    (request,) = model.requests
    assert [tool.name for tool in request.tools] == ["mine"]
    assert request.system.startswith("Work in /, politely.")
    assert request.thinking == "low"


@pytest.mark.anyio
@pytest.mark.parametrize("default", [False, True])
async def test_an_option_of_a_model_is_a_select_and_reaches_its_provider(default: bool) -> None:
    fast = AcpModelOption(id="fast", name="Fast", description="Answers sooner.", default=default)
    model = Echo(DONE, DONE)
    options = AcpServerOptions(models=(AcpModelChoice(id="a", provider=model, options=(fast,)),))
    other = "off" if default else "on"
    async with client(options) as (connection, _):
        session = await opened(connection)
        await prompt(connection, session)
        answer: Any = await connection.request(
            "session/set_config_option", {"sessionId": session, "configId": "model.fast", "value": other}
        )
        (shown,) = [option for option in answer["configOptions"] if option["id"] == "model.fast"]
        assert (shown["type"], shown["name"], shown["currentValue"]) == ("select", "Fast", other)
        assert [choice["value"] for choice in shown["options"]] == ["on", "off"]
        await prompt(connection, session)
    chosen = [[(name, value.value) for name, value in request.options] for request in model.requests]
    assert chosen == [[("fast", "on" if default else "off")], [("fast", other)]]


def test_an_open_session_is_an_acp_session() -> None:
    driver = Driver(with_(OPTIONS, policy="allow-all"))
    driver.initialize()
    session = driver.session("/project", additionalDirectories=["/more"])
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="high")
    driver.prompt(session, "hello")
    state = driver.connection.agent.threads.get(session)
    assert isinstance(state, AcpSession)
    assert (state.id, state.cwd, state.roots) == (session, "/project", ("/project", "/more"))
    assert (state.settings.thinking, state.phase) == ("high", "open")
    assert state.turn is not None
    driver.round((TextDelta("hi"), Finished("stop")))
    state = driver.connection.agent.threads.get(session)
    assert state is not None and state.turn is None
    driver.request("session/close", sessionId=session)
    assert session not in driver.connection.agent.threads


@pytest.mark.anyio
async def test_a_provider_may_be_a_factory_that_is_called_on_first_use() -> None:
    made: list[Model] = []

    def make() -> Model:
        made.append(Echo(DONE, DONE))
        return made[-1]

    async with client(AcpServerOptions(provider=make)) as (connection, _):
        session = await opened(connection)
        assert made == []
        for _ in range(2):
            assert await prompt(connection, session) == {"stopReason": "end_turn"}
        assert len(made) == 1


@pytest.mark.anyio
async def test_the_bridge_carries_requests_updates_and_questions_both_ways() -> None:
    call = (Called("1", "shell", json.dumps({"command": "exit 0"})), Finished("tool-calls"))
    async with client(AcpServerOptions(provider=Echo(call, DONE))) as (connection, seen):
        session = await opened(connection)
        assert await prompt(connection, session) == {"stopReason": "end_turn"}
        assert [u.get("status") for u in seen.updates if u["sessionUpdate"].startswith("tool")][
            -1
        ] == "completed"
        assert seen.updates[-1]["content"]["text"] == "hi"


@pytest.mark.anyio
async def test_errors_pass_the_bridge_with_code_and_data() -> None:
    call = (Called("1", "shell", json.dumps({"command": "exit 0"})), Finished("tool-calls"))
    async with client(AcpServerOptions(provider=Echo(call, DONE))) as (connection, seen):
        with pytest.raises(RemoteError) as caught:
            await connection.request("session/prompt", {"sessionId": "x", "prompt": "go"})
        assert (caught.value.code, caught.value.message) == (-32002, "Server not initialized")
        session = await opened(connection)
        seen.permission = JsonRpcError(-32601, "no such method")
        assert await prompt(connection, session) == {"stopReason": "end_turn"}
        assert seen.updates[-2]["status"] == "failed"


@pytest.mark.anyio
async def test_a_withdrawn_prompt_is_cancelled_in_the_agent() -> None:
    async with client(AcpServerOptions(provider=Echo())) as (connection, _):
        session = await opened(connection)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt, connection, session)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        # The session is free again: a second prompt gets its turn.
        await connection.notify("session/cancel", {"sessionId": session})
        echo = await connection.request(
            "session/set_config_option", {"sessionId": session, "configId": "model", "value": "default"}
        )
        assert echo


@pytest.mark.anyio
async def test_every_public_name_is_there() -> None:
    for name in zidane_acp.__all__:
        assert getattr(zidane_acp, name) is not None
    with pytest.raises(AttributeError):
        zidane_acp.no_such_name  # noqa: B018


def test_importing_the_package_is_cheap() -> None:
    code = "import sys, zidane_acp; print('anyio' in sys.modules, 'msgspec' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20
    )
    assert done.stdout.split() == ["False", "False"]
