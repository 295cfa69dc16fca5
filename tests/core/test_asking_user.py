"""`ask_user`: a form where the client shows forms, else the question as the last word of the turn."""

from typing import Any

import pytest
from support.driver import Driver, calls, ready, said

FORMS = {"elicitation": {"form": {}}}
ASK = ("ask_user", {"message": "Which one?"})
PICK = (
    "ask_user",
    {
        "message": "Which?",
        "schema": {"type": "object", "properties": {"x": {"type": "string", "enum": ["a"]}}},
    },
)


def asked(call: Any = ASK, capabilities: Any = FORMS) -> tuple[Driver, str]:
    driver, session = ready(capabilities=capabilities)
    driver.prompt(session)
    driver.round(calls(call))
    return driver, session


def test_a_form_is_asked_for_and_its_content_is_the_result() -> None:
    driver, session = asked()
    number = driver.only_asked("elicitation/create")
    assert driver.open[number]["params"] == {
        "mode": "form",
        "sessionId": session,
        "toolCallId": driver.card()["toolCallId"],
        "message": "Which one?",
        "requestedSchema": {
            "type": "object",
            "properties": {"answer": {"type": "string", "title": "Answer"}},
            "required": ["answer"],
        },
    }
    driver.reply(number, result={"action": "accept", "content": {"answer": "the blue one"}})
    assert driver.result() == "The user answered: the blue one"
    assert driver.card()["title"] == "Ask: Which one?"


@pytest.mark.parametrize(
    ("answer", "told", "status"),
    [
        (
            {"result": {"action": "accept", "content": {"x": "a"}}},
            'The user answered: {"x":"a"}',
            "completed",
        ),
        (
            {"result": {"action": "accept", "content": {"x": "b"}}},
            "does not fit the form: `x` must",
            "failed",
        ),
        ({"result": {"action": "accept", "content": None}}, "The user answered: {}", "completed"),
        ({"result": {"action": "decline"}}, "The user declined to answer.", "completed"),
        ({"result": {"action": "cancel"}}, "The user closed the question without an answer.", "completed"),
        ({"error": {"code": -32800, "message": "x"}}, "The user closed the question", "completed"),
        ({"result": {"action": "snooze"}}, "answered with 'snooze', which counts as no answer", "completed"),
        ({"error": {"code": -32602, "message": "bad mode"}}, "could not be asked: bad mode", "failed"),
        ({"result": None}, "could not be read", "failed"),
        ({"result": {"action": "accept", "content": ["x"]}}, "could not be read", "failed"),
    ],
)
def test_every_answer_goes_to_the_model_as_what_it_is(answer: Any, told: str, status: str) -> None:
    driver, _ = asked(PICK)
    driver.reply(driver.only_asked("elicitation/create"), **answer)
    assert told in driver.result()
    assert driver.card()["status"] == status
    driver.round(said("ok"))


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {}}, {"elicitation": {"url": {}}}])
def test_without_forms_the_question_ends_the_turn_as_text(capabilities: Any) -> None:
    driver, session = asked(PICK, capabilities)
    assert not driver.open and not driver.model_jobs()
    assert driver.text() == "Which?\n\n- **x**: one of: a (optional)"
    answer = next(iter(reversed(driver.answers.values())))
    assert answer["result"]["stopReason"] == "end_turn"
    driver.prompt(session, "a")
    driver.round(said("fine"))
    driver.check_replay()


def test_a_form_that_cannot_be_shown_is_a_tool_error() -> None:
    driver, _ = asked(("ask_user", {"message": "?", "schema": {"properties": {"x": {"type": "object"}}}}))
    assert not driver.open and "forms are flat" in driver.result()


def test_a_cancel_withdraws_the_question() -> None:
    driver, session = asked()
    number = driver.only_asked("elicitation/create")
    driver.cancel(session)
    assert {"requestId": number} in [frame.get("params") for frame in driver.frames]


def test_a_question_that_the_model_was_told_of_is_shown_even_when_the_turn_is_cancelled() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(ASK, ("shell", {"command": "a; b"})))
    driver.work()
    driver.only_asked("session/request_permission")
    driver.cancel(session)
    driver.work()
    assert driver.text() == "Which one?"
    driver.check_replay()
