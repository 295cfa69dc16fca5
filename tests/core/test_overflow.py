"""A provider that says that a request was too long, summaries that fail or are cancelled, and what is counted."""

import pytest
from support.conversation import (
    BY_HAND,
    DOWN,
    OPTIONS_SMALL,
    OVERFLOW,
    SHOWS,
    SMALL,
    WINDOW,
    compactions,
    entries,
    first_text,
    full,
    is_summary,
    long,
    read,
    request_of,
    stop_reason,
    talk,
    thread_of,
    transcript_of,
)
from support.driver import OPTIONS, Driver, ready, said, with_

from zidane_core.agent.events import Failed
from zidane_core.agent.shortening import text_of
from zidane_core.agent.work import Wait
from zidane_core.data import history, models
from zidane_core.data.outcome import Usage
from zidane_core.faults import provider_fault

# What a provider says ------------------------------------------------------------------------------------


def test_an_overflow_answer_compacts_and_asks_once_more() -> None:
    driver, session = ready(capabilities=SHOWS)
    talk(driver, session, "one", "two")
    asked = driver.prompt(session, "three")
    driver.round((OVERFLOW,))
    assert "User: one" in transcript_of(driver)
    driver.round(said("Numbers."))
    request = request_of(driver)
    assert first_text(request).endswith("Numbers.")
    driver.round(said("four"))
    assert stop_reason(driver, asked) == "end_turn"


def test_a_second_overflow_answer_is_a_clear_error() -> None:
    driver, session = ready()
    talk(driver, session, "one", "two")
    asked = driver.prompt(session, "three")
    driver.round((OVERFLOW,))
    driver.round(said("Numbers."))
    driver.fail(OVERFLOW)
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["data"] == {"kind": "context_overflow", "provider": "test", "status": 400}
    assert answer["error"]["message"] == (
        "The conversation is too long for Test model and could not be shortened enough. "
        "Start a new session, or choose a model with a larger window."
    )
    # The next prompt may try again.
    driver.prompt(session, "four")
    driver.round((OVERFLOW,))
    assert is_summary(request_of(driver))


def test_an_overflow_with_nothing_to_shorten_is_an_error_at_once() -> None:
    driver, session = ready(capabilities=SHOWS)
    asked = driver.prompt(session, "one")
    driver.round((OVERFLOW,))
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["data"]["kind"] == "context_overflow"
    assert not driver.model_jobs()
    assert not compactions(driver)


def test_an_overflow_that_shorter_results_mend_needs_no_summary() -> None:
    driver, session = ready()
    driver.prompt(session)
    read(driver, long("huge", 20_000))
    driver.round((OVERFLOW,))
    request = request_of(driver)
    assert not is_summary(request)
    assert "left out here" in text_of(request.messages[-1].results[0].content)  # type: ignore[union-attr]


def test_an_answer_that_has_begun_is_not_asked_for_again() -> None:
    driver, session = ready()
    talk(driver, session, "one", "two")
    asked = driver.prompt(session, "three")
    driver.round((models.TextDelta("half"), OVERFLOW))
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["data"]["cut"] is True
    assert not driver.model_jobs()


def test_without_the_option_an_overflow_is_what_the_provider_says() -> None:
    driver, session = ready(with_(OPTIONS, compacts=False))
    talk(driver, session, "one", "two")
    asked = driver.prompt(session, "three")
    driver.round((OVERFLOW,))
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["message"] == "Too long."


def test_a_long_turn_may_compact_again_after_rounds_that_went_well() -> None:
    driver, session = ready()
    talk(driver, session, "one", "two")
    driver.prompt(session, "three")
    for _ in range(3):
        driver.round((OVERFLOW,))
        assert is_summary(request_of(driver))
        driver.round(said("Short."))
        for _ in range(2):
            read(driver, "found")
    assert len(entries(driver, history.Compacted)) == 3


# A summary that fails ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("round_", "kind", "words"),
    [
        ((OVERFLOW,), "context_overflow", "larger window"),
        ((models.Finished("stop"),), "context_overflow", "larger window"),
        ((models.TextDelta("no"), models.Finished("content-filter")), "context_overflow", "larger window"),
        ((models.Finished("error"),), "bad_response", "could not be summarised"),
        (
            (models.Broke(provider_fault("billing", "No credit.", provider="test", status=402)),),
            "billing",
            "could not be summarised. No credit.",
        ),
    ],
)
def test_a_summary_that_fails_ends_the_turn_with_what_to_do(
    round_: tuple[models.ModelEvent, ...], kind: str, words: str
) -> None:
    driver, asked = full(SHOWS)
    driver.round(round_)
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["data"]["kind"] == kind
    assert answer["error"]["data"]["provider"] == "test"
    assert words in answer["error"]["message"]
    assert [update["status"] for update in compactions(driver)] == ["in_progress", "failed"]
    assert not driver.model_jobs()
    assert not entries(driver, history.Compacted)


def test_clients_without_compactions_are_told_of_a_failed_one_in_a_line() -> None:
    driver, _ = full()
    driver.round((models.Finished("error"),))
    assert "could not be summarised" in driver.notices()[-1]


def test_where_shorter_results_are_enough_a_failed_summary_is_no_error() -> None:
    driver, session = ready(OPTIONS_SMALL, SHOWS)
    driver.prompt(session, long("one", 2500))
    read(driver, long("old", 3400))
    driver.round(said(long("two", 3000)))
    asked = driver.prompt(session, long("three", 2000))
    assert is_summary(request_of(driver)), "shorter results would leave no room to spare"
    driver.round((models.Finished("error"),))
    assert not is_summary(request_of(driver))
    assert [update["status"] for update in compactions(driver)] == ["in_progress", "failed"]
    driver.round(said("done"))
    assert stop_reason(driver, asked) == "end_turn"


def test_a_summary_is_tried_again_like_a_round() -> None:
    driver, asked = full(SHOWS)
    driver.round((models.TextDelta("half "), DOWN))
    assert "Trying again" in driver.notices()[-1]
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    assert is_summary(request_of(driver))
    driver.end(driver.model_jobs()[0], Failed(DOWN.fault, True, 7.0))
    driver.bound(7.0)
    driver.round(said("whole"))
    assert first_text(request_of(driver)).endswith("\n\nwhole")
    driver.round(said("done"))
    assert stop_reason(driver, asked) == "end_turn"
    assert [update["status"] for update in compactions(driver)] == ["in_progress", "completed"]


def test_the_tries_of_a_summary_are_counted() -> None:
    driver, asked = full()
    for _ in range(4):
        driver.round((DOWN,))
        driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    driver.round((DOWN,))
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["data"]["kind"] == "server"


# Cancelling, counting ------------------------------------------------------------------------------------


def test_a_cancel_leaves_nothing_of_it() -> None:
    driver, asked = full(SHOWS)
    session = thread_of(driver).id
    before = thread_of(driver).view.messages
    driver.progress(driver.model_jobs()[0], models.TextDelta("They"))
    driver.cancel(session)
    driver.finish(driver.model_jobs()[0])
    assert stop_reason(driver, asked) == "cancelled"
    assert [update["status"] for update in compactions(driver)] == ["in_progress", "cancelled"]
    assert thread_of(driver).view.messages == before
    assert not entries(driver, history.Compacted)
    assert not entries(driver, history.Shortened)
    driver.prompt(session, "again")
    driver.round(said("They talked."))
    driver.round(said("fine"))


def test_a_load_during_a_compaction_shows_that_it_goes_on() -> None:
    driver, _ = full(SHOWS, with_(OPTIONS_SMALL, store=True))
    before = len(driver.updates())
    driver.load(thread_of(driver).id)
    assert [u["status"] for u in driver.updates()[before:] if u["sessionUpdate"] == "compaction_update"] == [
        "in_progress"
    ]
    driver.round(said("They talked."))
    driver.round(said("fine"))


def test_the_tokens_of_the_summary_count_and_the_context_is_not_guessed() -> None:
    driver, asked = full(
        options=with_(OPTIONS_SMALL, models=(with_(SMALL, price=models.Price(input=1, output=2)),))
    )
    before = len([u for u in driver.updates() if u["sessionUpdate"] == "usage_update"])
    driver.round((models.TextDelta("They."), models.Used(Usage(9000, 300)), models.Finished("stop")))
    assert thread_of(driver).context == 0
    assert len([u for u in driver.updates() if u["sessionUpdate"] == "usage_update"]) == before
    driver.round((models.TextDelta("ok"), models.Used(Usage(5000, 10)), models.Finished("stop")))
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["result"]["_meta"]["zidane"]["usage"]["inputTokens"] == 14_000
    shown = [u for u in driver.updates() if u["sessionUpdate"] == "usage_update"][-1]
    assert (shown["used"], shown["size"]) == (5010, WINDOW)
    assert shown["cost"]["amount"] == pytest.approx((14_000 + 2 * 310) / 1_000_000)


def test_after_a_load_the_count_from_before_a_compaction_is_not_shown() -> None:
    options = with_(BY_HAND, models=(SMALL,), store=True)
    driver, session = ready(options, SHOWS)
    driver.prompt(session, "one")
    driver.store()
    driver.round((models.TextDelta("1"), models.Used(Usage(3000, 20)), models.Finished("stop")))
    driver.store()
    driver.prompt(session, "/compact")
    driver.store()
    assert thread_of(driver).context == 3020
    driver.round(said("A number."))
    driver.store()
    assert thread_of(driver).context == 0
    driver.prompt(session, "/usage")
    driver.store()
    assert "- Context: known after the next answer" in driver.text()
    again = Driver(options, SHOWS, disk=driver.disk, seed="again")
    again.initialize()
    again.load(thread_of(driver).id)
    assert not [u for u in again.updates() if u["sessionUpdate"] == "usage_update"]
