"""Room is made before a request that would not fit: what is asked, what is shown."""

import pytest
from support.conversation import (
    OPTIONS_SMALL,
    OVERFLOW,
    READ,
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
    size_of,
    stop_reason,
    talk,
    thread_of,
    transcript_of,
)
from support.driver import MODEL, Driver, calls, ready, said, with_

from zidane_core.agent import condensing
from zidane_core.agent.events import Ok
from zidane_core.agent.shortening import text_of
from zidane_core.data import history, models
from zidane_core.data.content import Text
from zidane_core.data.outcome import Usage
from zidane_core.data.tools import ToolResult
from zidane_core.models.openai_chat_request import build
from zidane_core.models.providers import PROVIDERS


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


def test_what_is_for_the_user_alone_is_in_no_summary() -> None:
    driver, session = ready(OPTIONS_SMALL, SHOWS)
    secret = {"type": "text", "text": "my secret", "annotations": {"audience": ["user"]}}
    driver.request("session/prompt", sessionId=session, prompt=[secret, {"type": "text", "text": "Find it."}])
    for at in range(60):
        if is_summary(request_of(driver)):
            break
        driver.round((models.TextDelta(long(f"step {at}", 400)), *calls(READ)))
        driver.finish(driver.tool_jobs("prepare")[0])
        driver.end(driver.tool_jobs()[0], Ok(ToolResult(content=(Text("short"),))))
    assert "my secret" not in transcript_of(driver)
    driver.round(said("Looked at files."))
    assert "Find it." in first_text(request_of(driver))
    assert "my secret" not in first_text(request_of(driver))


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
