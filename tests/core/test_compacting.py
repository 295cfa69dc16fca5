"""A conversation that the model has no room for: what is asked, what is shown, how it ends."""

from typing import Any

import pytest
from support.driver import MODEL, OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent import budget, compacting, condensing
from zidane_core.agent.events import Failed, Ok
from zidane_core.agent.shortening import text_of
from zidane_core.agent.state import Options, Thread
from zidane_core.agent.work import RunModel, Wait
from zidane_core.data import history, models
from zidane_core.data.content import Text
from zidane_core.data.outcome import Usage
from zidane_core.data.tools import ToolResult
from zidane_core.faults import provider_fault
from zidane_core.models.openai_chat_request import build
from zidane_core.models.providers import PROVIDERS

WINDOW = 16_000
SMALL = with_(MODEL, context_window=WINDOW)
OPTIONS_SMALL = with_(OPTIONS, models=(SMALL,), policy="allow-all")
BY_HAND = with_(OPTIONS, slash=True, policy="allow-all")
SHOWS = {"session": {"compaction": {}}}
READ = ("read_file", {"path": "a.txt"})
OVERFLOW = models.Broke(provider_fault("context_overflow", "Too long.", provider="test", status=400))
DOWN = models.Broke(provider_fault("server", "Down.", provider="test"), retryable=True)


def long(name: str, tokens: int) -> str:
    """A text of so many estimated tokens that says its name at both ends."""
    filling = "x" * (tokens * budget.BYTES - 2 * len(name) - 2)
    return f"{name} {filling} {name}"


def stop_reason(driver: Driver, asked: object) -> str | None:
    answer = driver.answer_of(asked)
    return None if answer is None else answer.get("result", {}).get("stopReason")


def request_of(driver: Driver) -> models.ModelRequest:
    (key,) = driver.model_jobs()
    what = driver.jobs[key]
    assert isinstance(what, RunModel)
    return what.request


def thread_of(driver: Driver) -> Thread:
    (thread,) = driver.connection.agent.threads.values()
    return thread


def is_summary(request: models.ModelRequest) -> bool:
    return request.system == condensing.SYSTEM


def transcript_of(driver: Driver) -> str:
    request = request_of(driver)
    assert is_summary(request)
    (message,) = request.messages
    assert isinstance(message, models.UserMessage)
    return text_of(message.parts)


def first_text(request: models.ModelRequest) -> str:
    message = request.messages[0]
    assert isinstance(message, models.UserMessage)
    return text_of(message.parts)


def size_of(request: models.ModelRequest) -> int:
    return budget.size_around(request.system, request.tools) + sum(map(budget.size_of, request.messages))


def compactions(driver: Driver) -> list[dict[str, Any]]:
    return [u for u in driver.updates() if u["sessionUpdate"] == "compaction_update"]


def entries(driver: Driver, kind: type) -> list[history.Entry]:
    return [entry for entry in thread_of(driver).log if isinstance(entry, kind)]


def talk(driver: Driver, session: str, *texts: str) -> None:
    """A turn for each text, which the model repeats."""
    for text in texts:
        driver.prompt(session, text)
        driver.store()
        driver.round(said(text))
        driver.store()


def full(capabilities: dict[str, Any] | None = None, options: Options = OPTIONS_SMALL) -> tuple[Driver, Any]:
    """A conversation whose next request does not fit, so that a summary is asked for."""
    driver, session = ready(options, capabilities)
    talk(driver, session, long("one", 1500), long("two", 1500))
    asked = driver.prompt(session, long("three", 4500))
    driver.store()
    assert is_summary(request_of(driver))
    return driver, asked


def read(driver: Driver, text: str) -> None:
    """The model reads a file, and this is in it."""
    driver.round(calls(READ))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.end(driver.tool_jobs()[0], Ok(ToolResult(content=(Text(text),))))


# Before a request that would not fit -------------------------------------------------------------------


def test_a_request_that_fits_is_asked_at_once() -> None:
    driver, session = ready(OPTIONS_SMALL)
    talk(driver, session, long("one", 1500))
    driver.prompt(session, long("two", 1500))
    request = request_of(driver)
    assert len(request.messages) == 3
    assert request.max_tokens == WINDOW // 4


def test_old_results_are_shortened_first_and_the_newest_stay_whole() -> None:
    driver, session = ready(OPTIONS_SMALL, SHOWS)
    driver.prompt(session)
    read(driver, long("old", 5000))
    read(driver, long("older", 3000))
    driver.round(said("so far"))
    driver.prompt(session, long("next", 800))
    read(driver, long("new", 1200))
    request = request_of(driver)
    assert not is_summary(request)
    assert size_of(request) <= WINDOW * 3 // 4
    results = [
        text_of(message.results[0].content)
        for message in request.messages
        if isinstance(message, models.ResultsMessage)
    ]
    assert ["left out here" in text for text in results] == [True, True, False]
    assert [text[:3] for text in results] == ["old", "old", "new"]
    assert len(entries(driver, history.Shortened)) == 1
    assert not compactions(driver)


def test_a_summary_takes_the_place_of_the_older_part() -> None:
    driver, asked = full(SHOWS)
    transcript = transcript_of(driver)
    assert "User: one" in transcript
    assert "User: three" not in transcript
    request = request_of(driver)
    assert (request.tools, request.thinking) == ((), "off")
    assert request.max_tokens <= WINDOW // 4
    assert size_of(request) + request.max_tokens <= WINDOW
    assert driver.jobs[driver.model_jobs()[0]].session.endswith("/summary")
    driver.round((models.ThoughtDelta("hm"), models.TextDelta("They "), *said("talked.")))
    request = request_of(driver)
    assert first_text(request) == f"{condensing.PREFACE}\n\nThey talked."
    last = request.messages[-1]
    assert isinstance(last, models.UserMessage)
    assert text_of(last.parts) == long("three", 4500), "the newest prompt is there word for word"
    assert size_of(request) <= WINDOW * 3 // 4
    driver.round(said("done"))
    assert stop_reason(driver, asked) == "end_turn"
    assert driver.text() == long("one", 1500) + long("two", 1500) + "done", "nothing of the summary is said"
    assert [update["status"] for update in compactions(driver)] == ["in_progress", "completed"]
    assert compactions(driver)[1]["summary"] == [{"type": "text", "text": "They talked."}]


def test_other_clients_get_one_line_at_the_end() -> None:
    driver, _ = full()
    before = len(driver.updates())
    driver.round(said("They talked."))
    (line,) = driver.updates()[before:]
    assert line["sessionUpdate"] == "agent_message_chunk"
    assert line["_meta"]["zidane"] == {"notice": "info", "kind": "compaction"}
    assert "summarised" in line["content"]["text"]
    assert not compactions(driver)


def test_the_log_stays_whole_and_a_load_shows_it() -> None:
    for capabilities in ({}, SHOWS):
        driver, _ = full(capabilities, with_(OPTIONS_SMALL, store=True))
        driver.round(said("They talked."))
        driver.store()
        driver.round(said("done"))
        driver.store()
        before = driver.updates()
        session = thread_of(driver).id
        view = thread_of(driver).view
        again = Driver(with_(OPTIONS_SMALL, store=True), capabilities, disk=driver.disk, seed="again")
        again.initialize()
        again.load(session)
        assert thread_of(again).view.messages == view.messages
        ends = [u for u in again.updates() if u.get("status") == "completed"]
        lines = [u for u in again.updates() if u.get("_meta", {}).get("zidane", {}).get("notice")]
        assert (len(ends), len(lines)) == ((1, 0) if capabilities else (0, 1))
        assert [u for u in again.updates() if u["sessionUpdate"] == "user_message_chunk"]
        assert again.text() == "".join(
            u["content"]["text"] for u in before if u["sessionUpdate"] == "agent_message_chunk"
        )


def test_the_cut_is_never_between_calls_and_their_results_and_the_prompt_is_repeated() -> None:
    driver, session = ready(OPTIONS_SMALL, SHOWS)
    asked = driver.prompt(session, "Find the fault in the parser.")
    for at in range(60):
        if is_summary(request_of(driver)):
            break
        driver.round((models.TextDelta(long(f"step {at}", 400)), *calls(READ)))
        driver.finish(driver.tool_jobs("prepare")[0])
        driver.end(driver.tool_jobs()[0], Ok(ToolResult(content=(Text("short"),))))
    driver.round(said("Looked at files."))
    request = request_of(driver)
    assert not any(isinstance(message, models.UserMessage) for message in request.messages[1:])
    assert isinstance(request.messages[1], models.AssistantMessage)
    assert "Find the fault in the parser." in first_text(request)
    assert first_text(request).startswith(f"{condensing.PREFACE}\n\nLooked at files.")
    # A second compaction of the same turn still has the prompt.
    for at in range(60):
        if is_summary(request_of(driver)):
            break
        driver.round((models.TextDelta(long(f"step {at}", 400)), *calls(READ)))
        driver.finish(driver.tool_jobs("prepare")[0])
        driver.end(driver.tool_jobs()[0], Ok(ToolResult(content=(Text("short"),))))
    assert "Looked at files." in transcript_of(driver)
    driver.round(said("Looked at more."))
    assert first_text(request_of(driver)).count("Find the fault in the parser.") == 1
    driver.round(said("Found."))
    assert stop_reason(driver, asked) == "end_turn"


def test_results_that_fill_the_window_alone_are_shortened_too() -> None:
    driver, session = ready(OPTIONS_SMALL)
    driver.prompt(session)
    read(driver, long("huge", 20_000))
    request = request_of(driver)
    assert not is_summary(request)
    assert size_of(request) <= WINDOW * 3 // 4
    driver.round(said("ok"))


def test_results_that_fill_the_window_beside_a_summary_are_shortened_after_it() -> None:
    driver, session = ready(OPTIONS_SMALL)
    talk(driver, session, long("one", 3400))
    driver.prompt(session)
    read(driver, long("huge", 20_000))
    assert is_summary(request_of(driver))
    driver.round(said("They talked."))
    request = request_of(driver)
    assert size_of(request) <= WINDOW * 3 // 4
    assert text_of(request.messages[-1].results[0].content).startswith("huge")  # type: ignore[union-attr]


def test_a_prompt_that_is_too_long_by_itself_is_for_the_model_to_refuse() -> None:
    driver, session = ready(OPTIONS_SMALL)
    asked = driver.prompt(session, long("huge", 20_000))
    assert not is_summary(request_of(driver))
    driver.round((OVERFLOW,))
    error = driver.answer_of(asked)
    assert error is not None
    assert error["error"]["data"]["kind"] == "context_overflow"
    assert "larger window" in error["error"]["message"]


def test_without_a_window_or_with_the_option_off_nothing_is_shortened() -> None:
    for options in (with_(OPTIONS_SMALL, models=(MODEL,)), with_(OPTIONS_SMALL, compacts=False)):
        driver, session = ready(options)
        talk(driver, session, long("one", 9000))
        driver.prompt(session, long("two", 9000))
        assert not is_summary(request_of(driver))


def test_what_the_provider_counted_decides() -> None:
    """The estimate would fit; the provider says that there are far more tokens."""
    driver, session = ready(OPTIONS_SMALL)
    driver.prompt(session)
    driver.round((models.TextDelta("a"), models.Used(Usage(11_990, 20)), models.Finished("stop")))
    driver.prompt(session)
    assert is_summary(request_of(driver))
    driver.round(said("A greeting."))
    driver.round((models.TextDelta("b"), models.Used(Usage(5000, 20)), models.Finished("stop")))
    driver.prompt(session)
    assert not is_summary(request_of(driver))


def test_a_model_with_a_smaller_window_gets_a_shorter_conversation() -> None:
    large = with_(MODEL, value="large", context_window=200_000)
    options = with_(OPTIONS_SMALL, models=(large, SMALL), default_model="large")
    driver, session = ready(options)
    talk(driver, session, long("one", 9000), long("two", 9000))
    driver.request("session/set_config_option", sessionId=session, configId="model", value="test-model")
    driver.prompt(session, "and now?")
    request = request_of(driver)
    assert is_summary(request)
    assert request.model is not large
    assert size_of(request) + request.max_tokens <= WINDOW
    driver.round(said("Long texts."))
    assert size_of(request_of(driver)) <= WINDOW * 3 // 4


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


# By hand -------------------------------------------------------------------------------------------------


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


# Long conversations ----------------------------------------------------------------------------------------


def bytes_of(request: models.ModelRequest) -> int:
    """What a provider would really get."""
    return len(build(PROVIDERS["openai"], request)[0].body)


@pytest.mark.parametrize(
    ("per_token", "is_counted"),
    [(3.5, False), (4.0, True), (2.5, True)],
    ids=["uncounted", "counted", "dense"],
)
def test_three_hundred_rounds_with_a_small_window(per_token: float, is_counted: bool) -> None:
    """Every request really fits, the newest prompt is never lost, histories are valid (the driver looks), the log is whole."""
    driver, session = ready(OPTIONS_SMALL, SHOWS)
    driver.replays_every = 100
    summaries = rounds = 0

    def answer(*events: models.ModelEvent) -> None:
        request = request_of(driver)
        tokens = bytes_of(request) / per_token
        assert tokens + request.max_tokens <= WINDOW
        used = (models.Used(Usage(round(tokens), 50)),) if is_counted else ()
        driver.round((*used, *events))

    for turn in range(60):
        prompt = f"Prompt {turn}: look at part {turn * 7}."
        asked = driver.prompt(session, prompt)
        for step in range(5):
            while is_summary(request_of(driver)):
                summaries += 1
                answer(*said(long(f"summary {summaries}", 900)))
            assert prompt in str(request_of(driver).messages)
            rounds += 1
            if step == 4:
                answer(*said(long(f"answer {turn}", 120)))
                continue
            answer(*calls(READ))
            driver.finish(driver.tool_jobs("prepare")[0])
            text = long(f"part {turn}.{step}", 100 + 37 * turn)
            driver.end(driver.tool_jobs()[0], Ok(ToolResult(content=(Text(text),))))
        assert stop_reason(driver, asked) == "end_turn"
    assert rounds == 300
    assert 5 <= summaries <= 100, summaries
    assert len(entries(driver, history.UserSaid)) == 60
    assert len(entries(driver, history.ResultMade)) == 240
    assert f"summary {summaries}" in str(thread_of(driver).view.messages), "each summary is in the next one"
