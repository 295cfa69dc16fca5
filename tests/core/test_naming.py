"""Titles: from the first prompt, once from the model, and never more than that."""

from typing import Any

import pytest
from support.driver import MODEL, OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent.events import Failed, ModelDone, Ok
from zidane_core.agent.naming import ASK, LENGTH, from_prompt
from zidane_core.agent.work import RunModel
from zidane_core.data import models
from zidane_core.data.content import Document, Image, Link, Text
from zidane_core.faults import provider_fault

STORED = with_(OPTIONS, store=True)
ASKING = with_(STORED, titles=True)


def titles(driver: Driver) -> list[str]:
    return [u["title"] for u in driver.updates() if u["sessionUpdate"] == "session_info_update"]


def title_job(driver: Driver) -> str:
    return driver.only(lambda what: isinstance(what, RunModel) and what.request.system == ASK)


def turn(driver: Driver, session: str, text: str = "fix it", *events: Any) -> None:
    driver.prompt(session, text)
    driver.store()
    driver.round(events or said("Fixed."), driver.model_jobs()[-1])
    driver.store()


@pytest.mark.parametrize(
    ("parts", "title"),
    [
        ((Text("Fix the typo."),), "Fix the typo"),
        ((Text("Why does it fail?"),), "Why does it fail?"),
        ((Text("\n\n  # Fix   the\ttypo\nand more"),), "Fix the typo"),
        ((Text("  "), Text("- second part")), "second part"),
        ((Text("a" * 200),), "a" * (LENGTH - 1) + "…"),
        ((Text("word " * 40),), "word " * 11 + "word…"),
        ((Text("\x1b[31mred\u202e"),), "\\x1b[31mred\\u202e"),
        ((Image("image/png", "aGk="),), "Image"),
        ((Document(name="notes.txt", text="x"),), "notes.txt"),
        ((Link("file:///a/b.py", "b.py"), Text("")), "b.py"),
        ((Text(""),), ""),
        ((), ""),
    ],
)
def test_the_first_prompt_makes_a_short_title(parts: tuple[Any, ...], title: str) -> None:
    made = from_prompt(parts)
    assert made == title and len(made) <= LENGTH


def test_it_is_pushed_once_and_stored_with_the_session() -> None:
    driver, session = ready(STORED)
    turn(driver, session, "fix it")
    turn(driver, session, "something else")
    assert titles(driver) == ["fix it"]
    assert '"title":"fix it"' in driver.disk.rows[session].head


def test_a_prompt_that_is_refused_gives_no_title() -> None:
    driver, session = ready(STORED)
    driver.prompt(session, "not mine")
    driver.fail_save("in_use")
    assert titles(driver) == []


def test_the_model_is_asked_once_after_the_first_answer() -> None:
    driver, session = ready(ASKING)
    asked = driver.prompt(session, "fix it")
    driver.store()
    driver.round(said("Fixed."))
    driver.store()
    key = title_job(driver)
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "end_turn"
    request = driver.jobs[key].request
    assert "fix it" in request.messages[0].parts[0].text and "Fixed." in request.messages[0].parts[0].text
    assert request.tools == () and request.max_tokens <= 1024
    driver.progress(key, models.TextDelta('"Repair of'), models.TextDelta(' the typo"\n'))
    driver.end(key, Ok(ModelDone()))
    driver.store()
    assert titles(driver) == ["fix it", "Repair of the typo"]
    assert '"title":"Repair of the typo"' in driver.disk.rows[session].head
    turn(driver, session, "more")
    assert not driver.model_jobs()
    second = Driver(ASKING, disk=driver.disk, seed="another")
    second.initialize()
    second.load(session)
    assert titles(second)[-1] == "Repair of the typo"
    turn(second, session, "and more")
    assert not second.model_jobs()


def test_a_model_that_fails_leaves_the_title_and_disturbs_nothing() -> None:
    for last in ((), (models.TextDelta("  \n"),), (models.TextDelta("fix it"),)):
        driver, session = ready(ASKING)
        turn(driver, session)
        key = title_job(driver)
        driver.progress(key, *last)
        outcome = Ok(ModelDone()) if last else Failed(provider_fault("server", "No.", provider="test"))
        driver.end(key, outcome)
        driver.store()
        assert titles(driver) == ["fix it"]
        turn(driver, session, "more")


def test_a_title_that_comes_during_the_next_turn_waits_for_the_open_block() -> None:
    driver, session = ready(ASKING)
    turn(driver, session)
    key = title_job(driver)
    driver.prompt(session, "more")
    driver.store()
    job = next(other for other in driver.model_jobs() if other != key)
    driver.progress(job, models.TextDelta("one "))
    driver.progress(key, models.TextDelta("Better"))
    driver.end(key, Ok(ModelDone()))
    driver.progress(job, models.TextDelta("two"))
    driver.round((models.Finished("stop"),), job)
    driver.store()
    assert titles(driver) == ["fix it", "Better"]
    assert driver.text().endswith("one two")


def test_nothing_is_asked_after_a_turn_that_did_not_end_well() -> None:
    driver, session = ready(ASKING)
    driver.prompt(session)
    driver.store()
    driver.round((models.TextDelta("I can"), models.Finished("length")))
    driver.store()
    assert not driver.model_jobs()
    turn(driver, session, "again")
    assert title_job(driver)


def test_closing_and_the_end_do_not_wait_for_a_title() -> None:
    driver, session = ready(ASKING)
    turn(driver, session)
    key = title_job(driver)
    asked = driver.request("session/close", sessionId=session)
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"] == {} and key in driver.stopped
    driver, session = ready(ASKING)
    turn(driver, session)
    driver.close()
    assert driver.exit == 0


def test_a_host_that_did_not_allow_it_is_not_asked() -> None:
    driver, session = ready(STORED)
    turn(driver, session)
    assert not driver.model_jobs()
    assert MODEL.value == "test-model" and calls()
