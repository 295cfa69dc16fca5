"""The official Python SDK's client on logging in: the ways that are offered, a gate, a key that another program keeps.

The SDK has no `logout` yet; that is looked at with the TypeScript one.
"""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import AuthCapabilities, ClientCapabilities
from outside.sdk_client import PATIENCE, ScriptedClient, ask, initialized, installed
from support.loopback import said, serving

KEY = "sk-outside-0123456789"
NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # the SDK knows no other


def login(tmp_path: Path, key: str) -> None:
    """What a user does in a terminal beside the editor."""
    subprocess.run(
        [installed(), "login", "openai", "--key-from-stdin"],
        env={"ZIDANE_ACP_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), **NO_KEYRING},
        input=key.encode(),
        timeout=PATIENCE,
        check=True,
        capture_output=True,
    )


async def refused(awaited: Any) -> acp.RequestError:
    with pytest.raises(acp.RequestError) as problem:
        await asyncio.wait_for(awaited, PATIENCE)
    return problem.value


@pytest.mark.anyio
async def test_a_login_that_is_required_opens_the_same_process(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("require_login = true\nplain_titles = true\n")
    client = ScriptedClient([])
    client.capabilities = ClientCapabilities(auth=AuthCapabilities(terminal=True))
    with serving(lambda _: said("with the key")) as server:
        env = {"OPENAI_BASE_URL": server.url, **NO_KEYRING}
        flags = ["--config", str(file)]
        async with initialized(tmp_path, flags, client, "frames.log", **env) as (agent, _):
            gate = await refused(agent.new_session(cwd=str(tmp_path), mcp_servers=[]))
            methods = {method["id"]: method for method in gate.data["authMethods"]}
            assert gate.code == -32000
            assert methods["terminal-login"]["type"] == "terminal" and methods["terminal-login"]["args"]
            nowhere = await refused(agent.authenticate(method_id="openai-api-key"))
            assert nowhere.code == -32000 and "zidane-acp login openai" in str(nowhere)
            assert (await refused(agent.authenticate(method_id="terminal-login"))).code == -32602
            assert (await refused(agent.authenticate(method_id="gone"))).code == -32602
            login(tmp_path, KEY)
            await asyncio.wait_for(agent.authenticate(method_id="openai-api-key"), PATIENCE)
            made = await asyncio.wait_for(agent.new_session(cwd=str(tmp_path), mcp_servers=[]), PATIENCE)
            assert await ask(agent, made.session_id, "hello") == "end_turn"
    assert server.keys == [KEY]
    assert client.text() == "with the key"
    assert KEY not in (tmp_path / "frames.log").read_text("utf-8")


@pytest.mark.anyio
async def test_without_a_gate_the_offline_model_answers_and_a_login_is_offered(tmp_path: Path) -> None:
    client = ScriptedClient([])
    async with initialized(tmp_path, [], client, "frames.log", **NO_KEYRING) as (agent, _):
        made = await asyncio.wait_for(agent.new_session(cwd=str(tmp_path), mcp_servers=[]), PATIENCE)
        assert await ask(agent, made.session_id, "/usage") == "end_turn"
        (model,) = [option for option in made.config_options if option.id == "model"]
        assert model.current_value == "offline"
