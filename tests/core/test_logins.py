"""Logging in and out on the bare core: what is offered, what is gated, and what each request is answered."""

import json
from typing import Any

import pytest
from msgspec.structs import replace
from support.driver import OPTIONS, SERVER, Driver, with_

from zidane_core.acp.connection import ModelSource, Server, ServerChanged
from zidane_core.agent.events import (
    Asked,
    CheckedPaths,
    Failed,
    LoggedIn,
    LoggedOut,
    Ok,
    Stopped,
)
from zidane_core.agent.work import CheckPaths, LogIn, LogOut
from zidane_core.data.auth import AuthMethod, AuthStanding
from zidane_core.faults import ErrorCode, Fault, provider_fault

KEY = AuthMethod(id="some-api-key", name="Some API key", description="Asks for the key.")
OTHER = AuthMethod(id="other-api-key", name="Other API key")
TERMINAL = AuthMethod(
    id="terminal-login", name="In a terminal", kind="terminal", args=("--login",), env=(("A", "b"),)
)
METHODS = (KEY, OTHER, TERMINAL)
STANDING = AuthStanding(methods=METHODS)
OWN = [
    {"id": "some-api-key", "name": "Some API key", "description": "Asks for the key."},
    {"id": "other-api-key", "name": "Other API key"},
]
IN_TERMINAL = {
    "id": "terminal-login",
    "name": "In a terminal",
    "type": "terminal",
    "args": ["--login"],
    "env": {"A": "b"},
}
PAGES = {"elicitation": {"url": {}}}
QUESTION = {"mode": "url", "url": "http://127.0.0.1:1/x", "message": "Give the key"}


def served(standing: AuthStanding = STANDING, store: bool = True, **capabilities: Any) -> Driver:
    server = replace(SERVER, auth=standing)
    driver = Driver(with_(OPTIONS, store=store), capabilities=capabilities, server=server)
    driver.initialize()
    return driver


def told(driver: Driver) -> Any:
    return next(frame["result"] for frame in driver.frames if "result" in frame)


def answer(driver: Driver, asked: Any) -> Any:
    found = driver.answer_of(asked)
    return None if found is None else found.get("result", found.get("error"))


def logging_in(driver: Driver, method: str = KEY.id) -> tuple[Any, str]:
    asked = driver.request("authenticate", methodId=method)
    return asked, driver.only(lambda what: isinstance(what, LogIn))


def ask(driver: Driver, job: str, number: int = 1, **question: Any) -> None:
    driver.feed(Asked(driver.now, job, number, json.dumps({**QUESTION, **question}), "elicit"))


# What is offered -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("capabilities", "methods"),
    [
        ({}, OWN),
        ({"auth": {}}, OWN),
        ({"auth": {"terminal": False}}, OWN),
        ({"auth": {"terminal": True}}, [*OWN, IN_TERMINAL]),
    ],
)
def test_a_terminal_method_is_for_clients_that_can_run_one(
    capabilities: dict[str, Any], methods: list[Any]
) -> None:
    assert told(served(**capabilities))["authMethods"] == methods


def test_an_agent_without_methods_offers_none_and_takes_none() -> None:
    driver = served(AuthStanding())
    assert told(driver).get("authMethods", []) == []
    error = answer(driver, driver.request("authenticate", methodId="x"))
    assert (error["code"], error["data"]) == (-32602, {"field": "methodId", "valid": []})


@pytest.mark.parametrize("method", ["nonsense", "", TERMINAL.id])
def test_only_an_own_method_can_be_asked_for(method: str) -> None:
    driver = served(auth={"terminal": True})
    error = answer(driver, driver.request("authenticate", methodId=method))
    assert error["code"] == -32602
    assert error["data"] == {"field": "methodId", "valid": [KEY.id, OTHER.id]}
    assert not driver.jobs


@pytest.mark.parametrize("can_forget", [True, False])
def test_logout_is_advertised_where_there_is_something_to_forget(can_forget: bool) -> None:
    driver = served(AuthStanding(methods=METHODS, can_forget=can_forget))
    auth = told(driver)["agentCapabilities"].get("auth", {})
    assert ("logout" in auth) is can_forget
    asked = driver.request("logout")
    if can_forget:
        assert answer(driver, asked) is None
        driver.end(driver.only(lambda what: isinstance(what, LogOut)), Ok(LoggedOut()))
        assert answer(driver, asked) == {}
    else:
        assert answer(driver, asked)["code"] == -32601


def test_logout_stays_once_advertised_and_comes_with_what_there_is_to_forget() -> None:
    driver = served(AuthStanding(can_forget=True))
    driver.feed(ServerChanged(0.0, SERVER))
    assert answer(driver, driver.request("logout")) is None, "it was advertised to this client"
    driver = served(AuthStanding())
    driver.feed(ServerChanged(0.0, replace(SERVER, auth=AuthStanding(can_forget=True))))
    assert answer(driver, driver.request("logout")) is None, "there is something to forget since"


# The gate ------------------------------------------------------------------------------------------

GATED = {
    "session/new": {"cwd": "/project", "mcpServers": []},
    "session/load": {"sessionId": "s", "cwd": "/project", "mcpServers": []},
    "session/resume": {"sessionId": "s", "cwd": "/project"},
}


@pytest.mark.parametrize("method", GATED)
def test_a_login_that_is_needed_comes_before_a_session(method: str) -> None:
    driver = served(replace(STANDING, needed=True), auth={"terminal": True})
    error = answer(driver, driver.request(method, **GATED[method]))
    assert (error["code"], error["message"]) == (-32000, "Authentication required")
    assert error["data"] == {"authMethods": [*OWN, IN_TERMINAL]}
    assert not driver.jobs
    driver.feed(ServerChanged(0.0, replace(SERVER, auth=STANDING)))
    assert answer(driver, driver.request(method, **GATED[method])) is None, "the login is done"
    assert driver.jobs


def test_the_rest_is_never_gated() -> None:
    driver = served(replace(STANDING, needed=True, can_forget=True))
    again = driver.request("initialize", protocolVersion=1)
    assert answer(driver, again)["protocolVersion"] == 1
    logging_in(driver)
    asked = driver.request("logout")
    driver.end(driver.only(lambda what: isinstance(what, LogOut)), Ok(LoggedOut()))
    assert answer(driver, asked) == {}
    driver.request("session/list")
    driver.set_up()
    assert driver.frames[-1]["result"] == {"sessions": []}


def test_the_gate_comes_after_initialize() -> None:
    driver = Driver(OPTIONS, server=replace(SERVER, auth=replace(STANDING, needed=True)))
    assert answer(driver, driver.request("session/new", **GATED["session/new"]))["code"] == -32002


def test_a_refused_key_tells_the_methods_beside_the_kind() -> None:
    driver = served()
    session = driver.session()
    asked = driver.prompt(session)
    driver.store()
    driver.end(driver.model_jobs()[0], Failed(provider_fault("auth", "the key was refused", provider="some")))
    driver.store()
    error = answer(driver, asked)
    assert error["code"] == -32000
    assert error["data"] == {"kind": "auth", "provider": "some", "authMethods": OWN}


def test_another_error_has_no_methods() -> None:
    driver = served()
    asked = driver.request("session/new", **GATED["session/new"])
    driver.end(driver.only(lambda what: isinstance(what, CheckPaths)), Ok(CheckedPaths("does not exist")))
    assert "authMethods" not in answer(driver, asked)["data"]


# Logging in ----------------------------------------------------------------------------------------


def test_a_login_that_needs_no_question_is_answered_when_it_is_done() -> None:
    driver = served(**PAGES)
    asked, job = logging_in(driver)
    assert driver.jobs[job] == LogIn(KEY.id, pages=True)
    assert answer(driver, asked) is None
    driver.end(job, Ok(LoggedIn()))
    assert answer(driver, asked) == {}
    assert driver.notifications == []


@pytest.mark.parametrize("request_id", [7, "seven"])
def test_a_page_belongs_to_the_open_request(request_id: Any) -> None:
    driver = served(**PAGES)
    driver.request("authenticate", request_id, methodId=KEY.id)
    job = driver.only(lambda what: isinstance(what, LogIn))
    ask(driver, job)
    number = driver.only_asked("elicitation/create")
    page = driver.open[number]["params"]
    assert page == {
        "mode": "url",
        "requestId": request_id,
        "url": QUESTION["url"],
        "message": QUESTION["message"],
        "elicitationId": page["elicitationId"],
    }
    driver.reply(number, result={"action": "accept"})
    assert driver.replies[job, 1] == {"action": "accept"}
    driver.end(job, Ok(LoggedIn()))
    assert driver.answers[type(request_id).__name__, request_id]["result"] == {}
    (done,) = driver.notifications
    assert done["method"] == "elicitation/complete"
    assert done["params"] == {"elicitationId": page["elicitationId"]}


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ({"result": {"action": "decline"}}, "decline"),
        ({"result": {"action": "cancel"}}, "cancel"),
        ({"result": {"action": "later"}}, "cancel"),
        ({"result": None}, "cancel"),
        ({"error": {"code": -32603, "message": "no browser"}}, "cancel"),
    ],
)
def test_a_page_that_is_not_opened_ends_the_login(reply: dict[str, Any], action: str) -> None:
    driver = served(**PAGES)
    asked, job = logging_in(driver)
    ask(driver, job)
    driver.reply(driver.only_asked("elicitation/create"), **reply)
    assert driver.replies[job, 1] == {"action": action}
    driver.end(job, Failed(Fault(ErrorCode.AUTH_REQUIRED, "No key was given.", {"variable": "X"})))
    error = answer(driver, asked)
    assert (error["code"], error["message"]) == (-32000, "No key was given.")
    assert error["data"] == {"variable": "X", "authMethods": OWN}
    assert driver.notifications == []


def test_a_key_that_came_before_the_client_answered_withdraws_the_question() -> None:
    driver = served(**PAGES)
    asked, job = logging_in(driver)
    ask(driver, job)
    driver.end(job, Ok(LoggedIn()))
    assert answer(driver, asked) == {}
    assert not driver.open
    assert [frame["method"] for frame in driver.notifications] == ["elicitation/complete"]


@pytest.mark.parametrize(
    ("capabilities", "question"),
    [({}, {}), ({"elicitation": {"form": {}}}, {}), (PAGES, {"mode": "form"}), (PAGES, {"url": 1})],
)
def test_what_cannot_be_shown_is_cancelled_at_once(
    capabilities: dict[str, Any], question: dict[str, Any]
) -> None:
    driver = served(**capabilities)
    _, job = logging_in(driver)
    ask(driver, job, **question)
    assert not driver.open
    assert driver.replies[job, 1] == {"action": "cancel"}


def test_a_withdrawn_login_is_stopped_and_its_question_withdrawn() -> None:
    driver = served(**PAGES)
    asked, job = logging_in(driver)
    ask(driver, job)
    driver.send({"method": "$/cancel_request", "params": {"requestId": asked}})
    assert driver.stopped == {job}
    driver.end(job, Stopped())
    assert not driver.open
    error = answer(driver, asked)
    assert (error["code"], error["message"]) == (-32800, "The login was cancelled")


def test_a_withdrawn_logout_is_done_all_the_same() -> None:
    driver = served(AuthStanding(can_forget=True))
    asked = driver.request("logout")
    driver.send({"method": "$/cancel_request", "params": {"requestId": asked}})
    assert not driver.stopped
    driver.end(driver.only(lambda what: isinstance(what, LogOut)), Ok(LoggedOut()))
    assert answer(driver, asked) == {}


def test_two_logins_at_once_keep_their_questions_apart() -> None:
    driver = served(**PAGES)
    first = driver.request("authenticate", methodId=KEY.id)
    second = driver.request("authenticate", methodId=OTHER.id)
    jobs = {what.method: key for key, what in driver.jobs.items() if isinstance(what, LogIn)}
    ask(driver, jobs[KEY.id])
    ask(driver, jobs[OTHER.id])
    pages = {frame["params"]["requestId"]: number for number, frame in driver.open.items()}
    driver.reply(pages[second], result={"action": "decline"})
    assert driver.replies == {(jobs[OTHER.id], 1): {"action": "decline"}}
    driver.reply(pages[first], result={"action": "accept"})
    assert driver.replies[jobs[KEY.id], 1] == {"action": "accept"}


def test_nobody_waits_for_a_login_when_the_client_is_gone() -> None:
    driver = served(**PAGES)
    asked, job = logging_in(driver)
    ask(driver, job)
    driver.close()
    assert job in driver.stopped
    driver.end(job, Stopped())
    assert answer(driver, asked)["code"] == -32800
    assert driver.exit == 0


def test_a_login_that_hangs_does_not_hold_up_the_end() -> None:
    driver = served()
    asked, _ = logging_in(driver)
    driver.close()
    driver.finish("closing/0")
    assert answer(driver, asked)["code"] == -32800
    assert driver.exit == 0


# What changes --------------------------------------------------------------------------------------


def test_where_the_model_comes_from_follows() -> None:
    driver = Driver(
        OPTIONS, server=Server(info=SERVER.info, source=ModelSource("offline", "offline", "no key"))
    )
    driver.initialize()
    driver.session()
    driver.feed(ServerChanged(0.0, Server(info=SERVER.info, source=ModelSource("some", "m", "SOME_API_KEY"))))
    driver.session()
    told = [
        frame["result"]["_meta"]["zidane"]["provider"]["name"]
        for frame in driver.frames
        if "sessionId" in frame.get("result", {})
    ]
    assert told == ["offline", "some"]


def test_a_question_of_a_login_that_is_over_finds_nobody() -> None:
    driver = served(**PAGES)
    _, job = logging_in(driver)
    driver.end(job, Ok(LoggedIn()))
    before = driver.connection
    ask(driver, job)
    assert driver.connection is before
