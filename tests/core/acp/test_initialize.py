"""The first exchange: what the agent says of itself holds, and what the client says of itself decides."""

from typing import Any

import pytest
from support.driver import HANDS, OPTIONS, Driver, calls, ready, with_

from zidane_core.acp import wire
from zidane_core.agent.work import RunMcpServer
from zidane_core.data import models
from zidane_core.data.content import Audio, Document, Image

STORED = with_(OPTIONS, store=True)
PARAMS: dict[str, Any] = {
    "sessionId": "none",
    "cwd": "/project",
    "mcpServers": [],
    "methodId": "none",
    "prompt": [],
}


def initialized(options: Any = OPTIONS, **params: Any) -> tuple[Driver, dict[str, Any]]:
    driver = Driver(options)
    asked = driver.request("initialize", **{"protocolVersion": 1, **params})
    answer = driver.answer_of(asked)
    assert answer is not None
    return driver, answer["result"]


def exists(driver: Driver, method: str) -> bool:
    asked = driver.request(method, **PARAMS)
    driver.set_up()
    answer = driver.answer_of(asked)
    assert answer is not None
    return answer.get("error", {}).get("code") != -32601


@pytest.mark.parametrize("version", [0, 1, 2, 65535])
def test_every_version_is_answered_with_the_one_that_is_spoken(version: int) -> None:
    _, result = initialized(protocolVersion=version)
    assert result["protocolVersion"] == wire.PROTOCOL_VERSION == 1


def test_the_agent_names_itself_and_never_tells_of_the_client() -> None:
    editor = {"name": "some editor", "version": "7", "title": "Some Editor", "more": 1}
    driver, result = initialized(clientInfo=editor)
    assert result["agentInfo"] == {"name": "zidane-acp", "version": "0"}
    assert "ditor" not in str(driver.frames)


def test_the_answer_holds_what_a_client_has_to_know() -> None:
    driver, result = initialized()
    assert driver.frames == [{"jsonrpc": "2.0", "id": 1, "result": result}]
    assert {"protocolVersion", "agentCapabilities", "agentInfo"} <= result.keys()


@pytest.mark.parametrize("capabilities", [HANDS, {}])
def test_nothing_is_taken_before_it_and_what_the_client_can_do_counts_from_then_on(capabilities: Any) -> None:
    driver = Driver(capabilities=capabilities)
    for method in ("session/new", "session/prompt", "authenticate"):
        answer = driver.answer_of(driver.request(method, **PARAMS))
        assert answer is not None
        assert answer["error"] == {"code": -32002, "message": "Server not initialized"}
    driver.initialize()
    driver.prompt(driver.session())
    driver.round(calls(("read_file", {"path": "a"})))
    driver.work()
    assert [frame["method"] for frame in driver.open.values()] == (
        ["fs/read_text_file"] if capabilities else []
    )


@pytest.mark.parametrize("stored", [True, False])
def test_each_session_method_exists_where_it_is_advertised_and_nowhere_else(stored: bool) -> None:
    driver, result = initialized(with_(OPTIONS, store=stored))
    told = result["agentCapabilities"]["sessionCapabilities"]
    advertised = {name for name in ("list", "delete", "resume", "close") if told.get(name) is not None}
    assert advertised == {
        name for name in ("list", "delete", "resume", "close") if exists(driver, f"session/{name}")
    }
    assert advertised == ({"list", "delete", "resume", "close"} if stored else {"close"})


@pytest.mark.parametrize("stored", [True, False])
def test_a_load_is_advertised_exactly_where_there_is_one(stored: bool) -> None:
    driver, result = initialized(with_(OPTIONS, store=stored))
    assert result["agentCapabilities"].get("loadSession", False) == exists(driver, "session/load") == stored


@pytest.mark.parametrize(
    ("capability", "block", "kind"),
    [
        ("image", {"type": "image", "data": "aGk=", "mimeType": "image/png"}, Image),
        ("audio", {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}, Audio),
        ("embeddedContext", {"type": "resource", "resource": {"uri": "file:///a", "text": "b"}}, Document),
    ],
)
def test_every_advertised_kind_of_prompt_is_taken(capability: str, block: Any, kind: type) -> None:
    driver, result = initialized()
    assert result["agentCapabilities"]["promptCapabilities"][capability] is True
    driver.request("session/prompt", sessionId=driver.session(), prompt=[block])
    (key,) = driver.model_jobs()
    message = driver.jobs[key].request.messages[-1]
    assert isinstance(message, models.UserMessage)
    assert [type(part) for part in message.parts] == [kind]
    assert not driver.text()


@pytest.mark.parametrize(
    ("server", "transport"),
    [
        ({"name": "a", "command": "/bin/a", "args": [], "env": []}, "stdio"),
        ({"type": "http", "name": "a", "url": "https://a", "headers": []}, "streamable-http"),
        ({"type": "sse", "name": "a", "url": "https://a", "headers": []}, "sse"),
    ],
)
def test_every_advertised_transport_of_servers_is_used(server: dict[str, Any], transport: str) -> None:
    driver, result = initialized()
    kind = server.get("type")
    assert kind is None or result["agentCapabilities"]["mcpCapabilities"][kind] is True
    driver.session(mcpServers=[server])
    (started,) = [what for what in driver.jobs.values() if isinstance(what, RunMcpServer)]
    assert (started.config.name, started.config.transport) == ("a", transport)


# Logging in ----------------------------------------------------------------------------------------


def test_a_logout_is_advertised_exactly_where_there_is_one() -> None:
    driver, result = initialized()
    told = result["agentCapabilities"].get("auth", {}).get("logout")
    assert (told is not None) == exists(driver, "logout")


def test_a_way_to_log_in_that_was_not_offered_is_refused() -> None:
    driver, result = initialized()
    assert "none" not in [method["id"] for method in result.get("authMethods", ())]
    answer = driver.answer_of(driver.request("authenticate", methodId="none"))
    assert answer is not None
    assert (answer["error"]["code"], answer["error"]["data"]["field"]) == (-32602, "methodId")


def test_the_ways_to_log_in_that_are_offered_are_those_that_a_refusal_names() -> None:
    driver, result = initialized()
    answer = driver.answer_of(driver.request("authenticate", methodId="none"))
    assert answer is not None
    assert answer["error"]["data"]["valid"] == [method["id"] for method in result.get("authMethods", ())]


# Extensions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["_example.com/do", "_", "_zidane/client_tool/call", "$/unheard_of"])
def test_a_request_of_an_unknown_extension_is_refused_and_a_notification_ignored(method: str) -> None:
    driver, session = ready()
    answer = driver.answer_of(driver.request(method, sessionId=session))
    assert answer is not None
    assert answer["error"] == {
        "code": -32601,
        "message": f"Method not found: {method}",
        "data": {"method": method},
    }
    before, frames = driver.connection, len(driver.frames)
    driver.send({"method": method, "params": {"sessionId": session}})
    assert driver.connection is before and len(driver.frames) == frames


@pytest.mark.parametrize(
    "meta", [{"example.com/x": {"cwd": "/etc"}, "zidane": {"unheard": 1}}, 7, "x", None, []]
)
def test_a_meta_that_is_not_ours_changes_nothing(meta: Any) -> None:
    plain, session = ready(STORED)
    noted = Driver(STORED)
    noted.request("initialize", protocolVersion=1, clientCapabilities={}, _meta=meta)
    assert noted.session(_meta=meta) == session
    for driver, more in ((plain, {}), (noted, {"_meta": meta})):
        driver.request("session/list", **more)
        driver.request(
            "session/set_config_option", sessionId=session, configId="thought_level", value="low", **more
        )
        driver.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "a"}], **more)
        driver.work()
        driver.store()
    assert noted.frames == plain.frames
    assert noted.connection.agent == plain.connection.agent
