"""`session/close`: what runs is cancelled, what waits is answered, then the session is gone."""

from typing import Any

from support.driver import OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent.events import Stopped
from zidane_core.agent.work import Wait

STORED = with_(OPTIONS, store=True)


def close(driver: Driver, session: str) -> Any:
    driver.stopping.add(session)
    return driver.request("session/close", sessionId=session)


def code(driver: Driver, asked: Any) -> int | None:
    answer = driver.answer_of(asked)
    return None if answer is None else answer.get("error", {}).get("code", 0)


def test_an_idle_session_is_closed_at_once_and_unknown_from_then_on() -> None:
    driver, session = ready()
    assert code(driver, close(driver, session)) == 0
    assert not len(driver.connection.agent.threads)
    assert code(driver, driver.prompt(session)) == -32002
    assert code(driver, close(driver, session)) == -32002


def test_the_running_and_the_waiting_prompts_are_answered_before() -> None:
    driver, session = ready()
    first, second = driver.prompt(session, "one"), driver.prompt(session, "two")
    asked = close(driver, session)
    late = driver.prompt(session, "three")
    assert (code(driver, asked), code(driver, late)) == (None, -32002)
    driver.end(driver.model_jobs()[0], Stopped())
    order = [frame["id"] for frame in driver.frames if "method" not in frame]
    assert order[-3:] == [first, second, asked]
    for prompt in (first, second):
        answer = driver.answer_of(prompt)
        assert answer is not None and answer["result"]["stopReason"] == "cancelled"


def test_an_open_question_and_a_hung_tool_do_not_hold_it_up() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    prompt = driver.prompt(session)
    driver.round(calls(("shell", {"command": "sleep 600"})))
    driver.finish(driver.tool_jobs("prepare")[0])
    asked = close(driver, session)
    for key in [key for key, what in driver.jobs.items() if isinstance(what, Wait)]:
        driver.finish(key)
    assert (code(driver, prompt), code(driver, asked)) == (0, 0)


def bounds(driver: Driver) -> None:
    for key in [key for key, what in driver.jobs.items() if isinstance(what, Wait)]:
        driver.finish(key)


def test_it_waits_for_the_store_within_a_bound() -> None:
    for finish in (lambda driver: driver.store(), bounds):
        driver, session = ready(STORED)
        driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="low")
        asked = close(driver, session)
        assert code(driver, asked) is None
        finish(driver)
        assert code(driver, asked) == 0


def test_other_sessions_are_not_touched() -> None:
    driver, session = ready()
    other = driver.session("/other")
    prompt = driver.prompt(other)
    assert code(driver, close(driver, session)) == 0
    driver.round(said("hi"))
    assert code(driver, prompt) == 0
