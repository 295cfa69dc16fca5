"""`/compact`: the conversation is shortened because the user says so."""

import pytest
from support.conversation import (
    BY_HAND,
    SHOWS,
    compactions,
    entries,
    first_text,
    long,
    read,
    request_of,
    stop_reason,
    talk,
    thread_of,
    transcript_of,
)
from support.driver import ready, said

from zidane_core.agent import compacting
from zidane_core.data import history, models


def test_by_hand_everything_but_the_newest_is_summarised_with_the_users_wishes() -> None:
    driver, session = ready(BY_HAND, SHOWS)
    talk(driver, session, "one", "two", "three")
    asked = driver.prompt(session, "/compact Keep the numbers.")
    assert "The user says of this summary: Keep the numbers." in transcript_of(driver)
    assert "/compact" not in transcript_of(driver)
    driver.round(said("Numbers."))
    assert stop_reason(driver, asked) == "end_turn"
    assert [update["status"] for update in compactions(driver)] == ["in_progress", "completed"]
    driver.prompt(session, "four")
    request = request_of(driver)
    assert first_text(request).endswith("Numbers.")
    assert "/compact" not in str(request.messages), "the model does not see the command"
    driver.round(said("five"))


@pytest.mark.parametrize("texts", [(), ("one",)])
def test_by_hand_one_exchange_is_enough_and_nothing_is_too_little(texts: tuple[str, ...]) -> None:
    driver, session = ready(BY_HAND)
    talk(driver, session, *texts)
    asked = driver.prompt(session, "/compact")
    if texts:
        driver.round(said("Numbers."))
    else:
        assert driver.text() == compacting.TOO_LITTLE
    assert stop_reason(driver, asked) == "end_turn"
    driver.prompt(session, "four")
    driver.round(said("five"))


def test_by_hand_a_failure_is_an_error_and_changes_nothing() -> None:
    driver, session = ready(BY_HAND, SHOWS)
    talk(driver, session, "one", "two")
    driver.prompt(session)
    read(driver, long("result", 3000))
    driver.round(said("done"))
    before = thread_of(driver).view.messages
    asked = driver.prompt(session, "/compact")
    driver.round((models.Finished("stop"),))
    answer = driver.answer_of(asked)
    assert answer is not None
    assert (
        answer["error"]["message"] == "The conversation was not shortened. The model gave no summary of it."
    )
    assert thread_of(driver).view.messages == before
    assert not entries(driver, history.Shortened)


def test_a_cancel_of_it_leaves_the_conversation_as_it_was() -> None:
    driver, session = ready(BY_HAND, SHOWS)
    talk(driver, session, "one", "two")
    before = thread_of(driver).view.messages
    asked = driver.prompt(session, "/compact")
    driver.cancel(session)
    driver.finish(driver.model_jobs()[0])
    assert stop_reason(driver, asked) == "cancelled"
    assert thread_of(driver).view.messages == before


def test_a_long_command_is_no_part_of_what_is_summarised() -> None:
    driver, session = ready(BY_HAND)
    talk(driver, session, "one", "two")
    driver.prompt(session, f"/compact {long('wishes', 500)}")
    assert "User: /compact" not in transcript_of(driver)
    driver.round(said("Numbers."))
    driver.prompt(session, "three")
    assert len(request_of(driver).messages) == 2
