"""Tools that the client declares: declared, called, cancelled, behind the same gate as all others."""

from typing import Any

import pytest
from support.driver import OPTIONS, Driver, calls, said, with_

ALLOW = with_(OPTIONS, policy="allow-all")
SCHEMA = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
PICK = {"name": "pick", "description": "Pick one.", "inputSchema": SCHEMA}
CALL = ("pick", {"of": "these"})


def meta(*tools: Any) -> dict[str, Any]:
    return {"zidane": {"clientTools": list(tools)}}


def ready(*tools: Any, options: Any = ALLOW) -> tuple[Driver, str]:
    driver = Driver(options)
    driver.initialize()
    return driver, driver.session(_meta=meta(*(tools or (PICK,))))


def called(options: Any = ALLOW) -> tuple[Driver, str]:
    driver, session = ready(options=options)
    driver.prompt(session)
    driver.round(calls(CALL))
    return driver, session


def tools(driver: Driver, session: str) -> list[str]:
    """The tools that the model is given with the next prompt."""
    driver.prompt(session)
    (key,) = driver.model_jobs()
    found = [tool.name for tool in driver.jobs[key].request.tools]
    driver.round(said("ok"))
    return [name for name in found if name in {"pick", "other"}]


def test_the_extension_is_advertised() -> None:
    driver = Driver()
    driver.initialize()
    (answer,) = driver.answers.values()
    told = answer["result"]["agentCapabilities"]["_meta"]["zidane"]["clientTools"]
    assert told == {"call": "_zidane/client_tool/call", "cancel": "_zidane/client_tool/cancel"}


def test_a_call_is_a_request_and_the_reply_its_result() -> None:
    driver, session = called()
    number = driver.only_asked("_zidane/client_tool/call")
    assert driver.open[number]["params"] == {
        "sessionId": session,
        "toolCallId": driver.card()["toolCallId"],
        "name": "pick",
        "input": {"of": "these"},
    }
    driver.reply(number, result={"content": "the third"})
    assert driver.result() == "the third" and driver.card()["status"] == "completed"


@pytest.mark.parametrize(
    ("answer", "told", "status"),
    [
        ({"result": {"content": "no", "isError": True}}, "no", "failed"),
        ({"result": {"content": [{"type": "text", "text": "a"}]}}, "a", "completed"),
        ({"result": {"content": []}}, "[The tool gave no output.]", "completed"),
        ({"result": {"content": [{"type": "text"}]}}, "could not be read", "failed"),
        ({"result": {"content": 7}}, "could not be read", "failed"),
        ({"result": None}, "could not be read", "failed"),
        ({"error": {"code": -32603, "message": "it broke"}}, "failed in the client: it broke", "failed"),
        ({"error": {"code": -32800, "message": "x"}}, "The client cancelled the tool pick.", "failed"),
    ],
)
def test_every_reply_has_a_result(answer: Any, told: str, status: str) -> None:
    driver, _ = called()
    driver.reply(driver.only_asked("_zidane/client_tool/call"), **answer)
    assert told in driver.result() and driver.card()["status"] == status


def test_a_picture_goes_to_the_model_and_the_card() -> None:
    driver, _ = called()
    picture = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    driver.reply(driver.only_asked("_zidane/client_tool/call"), result={"content": [picture]})
    assert driver.card()["content"] == [{"type": "content", "content": picture}]
    (key,) = driver.model_jobs()
    final = driver.jobs[key].request.messages[-1]
    assert "aGk=" in str(final.results[0].content)


def test_they_pass_the_same_gate() -> None:
    driver, _ = called(OPTIONS)
    number = driver.only_asked("session/request_permission")
    assert [one["name"] for one in driver.open[number]["params"]["options"]][1] == (
        "Always allow the tool pick (this session)"
    )
    driver.choose(number, "reject_once")
    assert not driver.open and driver.card()["status"] == "failed"
    driver.round(calls(CALL))
    driver.choose(driver.only_asked("session/request_permission"), "allow_always")
    driver.answer(driver.only_asked("_zidane/client_tool/call"))
    driver.round(calls(CALL))
    driver.only_asked("_zidane/client_tool/call")
    driver, _ = called(with_(OPTIONS, policy="read-only"))
    assert not driver.open and "read-only" in driver.result()


def test_an_abort_tells_the_client_and_a_late_reply_is_ignored() -> None:
    driver, session = called()
    number = driver.only_asked("_zidane/client_tool/call")
    call = driver.card()["toolCallId"]
    driver.cancel(session)
    (told,) = driver.notifications
    assert (told["method"], told["params"]) == (
        "_zidane/client_tool/cancel",
        {"sessionId": session, "toolCallId": call},
    )
    assert driver.card()["status"] == "failed"
    before = driver.connection
    driver.send({"id": number, "result": {"content": "late"}})
    assert driver.connection is before


def test_arguments_are_checked_before_the_client_is_asked() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(("pick", {})))
    assert not driver.open and "`of` is missing" in driver.result()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (7, ""),
        ([7], "[0]"),
        ([{"name": "a"}], "[0]"),
        ([PICK, {**PICK, "name": ""}], "[1].name"),
        ([PICK, {**PICK, "name": "two words"}], "[1].name"),
        ([PICK, {**PICK, "name": "x" * 65}], "[1].name"),
        ([PICK, PICK], "[1].name"),
        ([{**PICK, "name": "read_file"}], "[0].name"),
        ([{**PICK, "inputSchema": {"type": "string"}}], "[0].inputSchema.type"),
        ([{**PICK, "inputSchema": {"properties": []}}], "[0].inputSchema.properties"),
        (
            [{**PICK, "inputSchema": {"properties": {"a": {"type": "text"}}}}],
            "[0].inputSchema.properties.a.type",
        ),
        ([{**PICK, "inputSchema": {"required": "a"}}], "[0].inputSchema.required"),
        (
            [{**PICK, "inputSchema": {"properties": {"a": {"items": 7}}}}],
            "[0].inputSchema.properties.a.items",
        ),
        (
            [{**PICK, "inputSchema": {"properties": {"a": {"anyOf": [{"minimum": "1"}]}}}}],
            "[0].inputSchema.properties.a.anyOf[0].minimum",
        ),
    ],
)
@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume"])
def test_a_malformed_declaration_is_refused_and_names_the_entry(method: str, given: Any, field: str) -> None:
    driver = Driver(with_(OPTIONS, store=True))
    driver.initialize()
    session = {} if method == "session/new" else {"sessionId": "s"}
    asked = driver.request(
        method, cwd="/project", mcpServers=[], _meta={"zidane": {"clientTools": given}}, **session
    )
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["code"] == -32602
    where = answer["error"]["data"]["field"]
    assert where.startswith(f"_meta.zidane.clientTools{field}"), where
    assert not driver.jobs


def test_a_resume_keeps_what_it_does_not_name_and_clears_with_an_empty_list() -> None:
    driver = Driver(with_(OPTIONS, store=True))
    driver.initialize()
    session = driver.session(_meta=meta(PICK))
    driver.store()

    def model_sees() -> list[str]:
        driver.prompt(session)
        driver.store()
        (key,) = driver.model_jobs()
        found = [tool.name for tool in driver.jobs[key].request.tools]
        driver.round(said("ok"))
        driver.store()
        return [name for name in found if name in {"pick", "other"}]

    assert model_sees() == ["pick"]
    driver.load(session, method="session/resume")
    assert model_sees() == ["pick"]
    driver.load(session, method="session/load")
    assert model_sees() == ["pick"]
    driver.load(session, method="session/resume", _meta=meta({**PICK, "name": "other"}))
    assert model_sees() == ["other"]
    driver.load(session, method="session/resume", _meta=meta())
    assert model_sees() == []


def test_a_grant_does_not_hold_for_another_tool_of_the_same_name() -> None:
    driver = Driver(with_(OPTIONS, store=True))
    driver.initialize()
    session = driver.session(_meta=meta(PICK))
    driver.store()
    for option in ("allow_always", "reject_once"):
        driver.prompt(session)
        driver.store()
        driver.round(calls(CALL))
        driver.store()
        driver.choose(driver.only_asked("session/request_permission"), option)
        if option == "allow_always":
            driver.answer(driver.only_asked("_zidane/client_tool/call"))
        driver.store()
        driver.round(said("ok"))
        driver.store()
        driver.load(session, method="session/resume", _meta=meta({**PICK, "description": "Another."}))


def test_another_session_does_not_have_them() -> None:
    driver, session = ready()
    other = driver.session("/other")
    assert tools(driver, session) == ["pick"]
    assert tools(driver, other) == []


def test_a_bare_schema_is_one_of_an_object() -> None:
    driver, session = ready({"name": "pick", "inputSchema": {}})
    driver.prompt(session)
    (key,) = driver.model_jobs()
    (spec,) = [tool for tool in driver.jobs[key].request.tools if tool.name == "pick"]
    assert spec.schema == {"type": "object"}
