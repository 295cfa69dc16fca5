"""Stored sessions on the bare core: loaded, resumed, re-attached, given back and read again, closed, deleted."""

from typing import Any

import pytest
from support.disk import Disk
from support.driver import OPTIONS, Driver, calls, ready, said, with_
from support.folding import fold

from zidane_core.agent import records
from zidane_core.agent.events import CheckedPaths, Failed, ModelDone, Ok, Stopped
from zidane_core.agent.modes import MODES
from zidane_core.agent.state import Thread
from zidane_core.agent.work import CheckPaths, FindThread, LoadThread, Rest, RunModel, Wait
from zidane_core.data import history, models
from zidane_core.data.content import Text
from zidane_core.data.outcome import Usage
from zidane_core.faults import Fault

STORED = with_(OPTIONS, store=True, policy="allow-all")
READ = ("read_file", {"path": "a"})
EDIT = ("edit", {"path": "a", "old_string": "old", "new_string": "new"})
UNREADABLE = Fault(-32603, "The file cannot be read.", {"kind": "store"})
PLAN = ("update_plan", {"entries": [{"content": "a", "status": "pending", "priority": "low"}]})


def answered(driver: Driver, asked: Any) -> dict[str, Any]:
    answer = driver.answer_of(asked)
    assert answer is not None
    return answer


def code(driver: Driver, asked: Any) -> int:
    return answered(driver, asked).get("error", {}).get("code", 0)


def conversation(driver: Driver, session: str) -> None:
    """A turn with thinking, text, a read, a change, a plan; all of it is stored."""
    driver.prompt(session, "Please change it.")
    driver.store()
    driver.round((models.ThoughtDelta("Hm."), *calls(READ, EDIT, PLAN, text="I look.")))
    while jobs := [*driver.tool_jobs("prepare"), *driver.tool_jobs()]:
        driver.finish(jobs[0])
        driver.store()
    driver.round((models.TextDelta("Done."), models.Used(Usage(30, 4)), models.Finished("stop")))
    driver.store()


def again(disk: Disk, options: Any = STORED, seed: str = "another") -> Driver:
    driver = Driver(options, disk=disk, seed=seed)
    driver.initialize()
    return driver


def says_fine(driver: Driver) -> None:
    """The model ends the turn, and all of it is stored."""
    driver.round(said("fine"))
    driver.store()


def thread_of(driver: Driver, session: str) -> Thread:
    thread = driver.connection.agent.threads.get(session)
    assert thread is not None
    return thread


def request_of(driver: Driver) -> Any:
    return driver.jobs[driver.model_jobs()[0]].request


def texts(request: Any) -> list[str]:
    return [m.parts[0].text for m in request.messages if isinstance(m, models.UserMessage)]


def test_a_session_that_was_never_used_can_be_opened_by_another_program() -> None:
    driver, session = ready(STORED)
    second = again(driver.disk)
    for method in ("session/load", "session/resume"):
        assert code(second, second.load(session, method=method)) == 0
    listed = second.request("session/list")
    second.set_up()
    assert answered(second, listed)["result"]["sessions"][0]["sessionId"] == session, "it is open here"
    third = again(driver.disk, seed="third")
    listed = third.request("session/list")
    third.set_up()
    assert answered(third, listed)["result"]["sessions"] == []
    second.prompt(session, "Please.")
    second.store()
    second.round(said("Done."))
    second.store()
    assert texts_of(second.disk, session) == ["Please."]


def texts_of(disk: Disk, session: str) -> list[str]:
    entries = [records.entry_of(text) for text in disk.entries[session]]
    return [entry.parts[0].text for entry in entries if isinstance(entry, history.UserSaid)]  # type: ignore[union-attr]


# Load and resume -----------------------------------------------------------------------------------


def test_a_load_shows_what_was_shown_live() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    live = fold(driver.shown[session])
    second = again(driver.disk)
    asked = second.load(session)
    assert code(second, asked) == 0
    assert fold(second.updates(session)) == live
    assert {kind.split()[0] for kind, _ in live} == {
        "user_message_chunk",
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool",
        "plan",
        "session_info_update",
    }


def test_all_of_a_replay_comes_before_the_answer() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    second = again(driver.disk)
    asked = second.load(session)
    position = second.frames.index(answered(second, asked))
    later = [frame["params"]["update"]["sessionUpdate"] for frame in second.frames[position + 1 :]]
    assert not {"user_message_chunk", "tool_call", "agent_message_chunk"} & set(later)


def test_the_answer_of_a_load_has_no_id_and_no_history() -> None:
    driver, session = ready(with_(STORED, modes=MODES))
    conversation(driver, session)
    result = answered(driver, driver.load(session))["result"]
    assert result.keys() == {"modes", "configOptions"}
    assert "change it" not in str(result) and session not in str(result)


def test_a_resume_is_answered_with_the_same_fields_as_a_load() -> None:
    driver, session = ready(with_(STORED, modes=MODES))
    driver.request("session/set_mode", sessionId=session, modeId="plan")
    load, resume = (
        answered(second, second.load(session, method=method))["result"]
        for second, method in ((driver, "session/load"), (driver, "session/resume"))
    )
    assert load == resume and resume["modes"]["currentModeId"] == "plan"


def test_after_a_load_the_model_sees_the_earlier_messages() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    second = again(driver.disk)
    second.load(session)
    second.prompt(session, "And now?")
    second.store()
    request = request_of(second)
    assert texts(request) == ["Please change it.", "And now?"]
    assert len(request.messages) == len(thread_of(driver, session).view.messages) + 1


def test_a_resume_shows_nothing_before_its_answer_and_the_model_sees_all() -> None:
    driver, session = ready(with_(STORED, models=(with_window(),)))
    conversation(driver, session)
    second = again(driver.disk, with_(STORED, models=(with_window(),)))
    asked = second.load(session, method="session/resume")
    first = next(frame for frame in second.frames if frame.get("id") != 1)
    assert first == answered(second, asked) and code(second, asked) == 0
    assert [u["sessionUpdate"] for u in second.updates(session)] == ["session_info_update", "usage_update"]
    second.prompt(session, "And now?")
    second.store()
    assert texts(request_of(second)) == ["Please change it.", "And now?"]


def with_window() -> models.ModelChoice:
    return with_(OPTIONS.models[0], context_window=1000)


def test_the_tokens_in_context_are_shown_again() -> None:
    options = with_(STORED, models=(with_window(),))
    driver, session = ready(options)
    conversation(driver, session)
    second = again(driver.disk, options)
    second.load(session)
    usage = [u for u in second.updates(session) if u["sessionUpdate"] == "usage_update"]
    assert [(u["used"], u["size"]) for u in usage] == [(34, 1000)]


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_an_unknown_session_is_not_found(method: str) -> None:
    driver = again(Disk())
    asked = driver.load("sess_none", method=method)
    assert answered(driver, asked)["error"] == {
        "code": -32002,
        "message": "Resource not found",
        "data": {"sessionId": "sess_none"},
    }


def test_another_folder_than_the_stored_one_is_refused_and_named() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    for asked_driver in (again(driver.disk), driver):
        asked = asked_driver.load(session, "/elsewhere")
        error = answered(asked_driver, asked)["error"]
        assert error["code"] == -32602
        assert error["data"] == {"field": "cwd", "cwd": "/elsewhere", "expected": "/project"}
        assert code(asked_driver, asked_driver.load(session, "/project/")) == 0


def test_stored_roots_do_not_come_back_by_themselves() -> None:
    driver = again(Disk(), seed="seed")
    driver.request("session/new", cwd="/project", mcpServers=[], additionalDirectories=["/b"])
    driver.set_up()
    (session,) = [thread.id for thread in driver.connection.agent.threads.values()]
    assert thread_of(driver, session).roots == ("/project", "/b")
    driver.prompt(session)
    driver.store()
    assert "/b" in request_of(driver).system
    driver.round(said("hi"))
    driver.store()
    second = again(driver.disk)
    second.load(session)
    assert thread_of(second, session).roots == ("/project",)
    second.load(session, additionalDirectories=["/c"])
    assert thread_of(second, session).roots == ("/project", "/c")
    second.load(session, method="session/resume")
    assert thread_of(second, session).roots == ("/project",)


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume"])
def test_a_root_that_cannot_be_opened_fails_the_request_and_is_named(method: str) -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    second = again(driver.disk)
    known = {} if method == "session/new" else {"sessionId": session}
    asked = second.request(
        method, cwd="/project", mcpServers=[], additionalDirectories=["/b", "/none"], **known
    )
    while not [key for key, what in second.jobs.items() if isinstance(what, CheckPaths)]:
        second.finish(second.only(lambda what: isinstance(what, FindThread)))
    key = second.only(lambda what: isinstance(what, CheckPaths))
    assert second.jobs[key].paths == ("/project", "/b", "/none")
    second.end(key, Ok(CheckedPaths("does not exist", 2)))
    error = answered(second, asked)["error"]
    assert error["code"] == -32602
    assert error["data"] == {"field": "additionalDirectories[1]", "path": "/none"}
    assert not list(second.connection.agent.threads.values())


@pytest.mark.parametrize("bad", [["a"], [""], [1], "x", ["/a\0b"]])
def test_a_malformed_root_is_refused_before_anything_is_done(bad: Any) -> None:
    driver, session = ready(STORED)
    for method in ("session/new", "session/load", "session/resume"):
        asked = driver.request(
            method, sessionId=session, cwd="/project", mcpServers=[], additionalDirectories=bad
        )
        assert code(driver, asked) == -32602
    assert not driver.jobs


def test_settings_come_back_and_a_model_that_is_gone_is_told() -> None:
    other = models.ModelChoice(value="other", name="Other", provider="second", id="o")
    both = with_(STORED, models=(OPTIONS.models[0], other))
    driver, session = ready(both)
    driver.request("session/set_config_option", sessionId=session, configId="model", value="other")
    driver.store()
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="high")
    driver.store()
    conversation(driver, session)
    second = again(driver.disk, both)
    asked = second.load(session)
    options = {o["id"]: o["currentValue"] for o in answered(second, asked)["result"]["configOptions"]}
    assert options == {"model": "other", "thought_level": "high"}
    third = again(driver.disk)
    third.load(session)
    third.prompt(session, "go on")
    third.store()
    assert request_of(third).model.value == "test-model"
    assert "the model other, which is not there any more; test-model is used" in third.text()


def test_a_model_that_is_gone_is_told_once_also_when_the_history_is_read_again() -> None:
    other = models.ModelChoice(value="other", name="Other", provider="second", id="o")
    driver, session = ready(with_(STORED, models=(OPTIONS.models[0], other)))
    driver.request("session/set_config_option", sessionId=session, configId="model", value="other")
    driver.store()
    conversation(driver, session)
    second = again(driver.disk)
    second.load(session)
    for _ in range(2):
        second.prompt(session, "go on")
        second.set_up()
        second.store()
        second.round(said("fine"))
        second.store()
        rest(second)
    assert second.text().count("which is not there any more") == 1


# What waits for what -------------------------------------------------------------------------------


def test_requests_behind_a_load_wait_for_it_in_order() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    second = again(driver.disk)
    load = second.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
    option = second.request(
        "session/set_config_option", sessionId=session, configId="thought_level", value="low"
    )
    prompt = second.prompt(session, "And now?")
    assert [second.answer_of(asked) for asked in (load, option, prompt)] == [None] * 3
    second.set_up()
    second.store()
    assert (code(second, load), code(second, option)) == (0, 0)
    request = request_of(second)
    assert (request.thinking, texts(request)) == ("low", ["Please change it.", "And now?"])
    second.round(said("Now."))
    second.store()
    ids = [frame["id"] for frame in second.frames if "method" not in frame]
    assert ids[-3:] == [load, option, prompt]


def test_requests_behind_a_load_that_fails_find_no_session() -> None:
    driver = again(Disk())
    load = driver.request("session/load", sessionId="x", cwd="/project", mcpServers=[])
    prompt = driver.prompt("x")
    option = driver.request("session/set_config_option", sessionId="x", configId="model", value="test-model")
    second = driver.request("session/resume", sessionId="x", cwd="/project", mcpServers=[])
    driver.set_up()
    assert [code(driver, asked) for asked in (load, prompt, option, second)] == [-32002] * 4


def test_a_load_behind_a_close_opens_the_session_again() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    prompt = driver.prompt(session, "go on")
    driver.store()
    close = driver.request("session/close", sessionId=session)
    load = driver.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
    behind = driver.prompt(session, "and on")
    assert [driver.answer_of(asked) for asked in (prompt, close, load)] == [None] * 3
    driver.end(driver.model_jobs()[0], Stopped())
    driver.store()
    driver.set_up()
    assert (code(driver, close), code(driver, load)) == (0, 0)
    assert answered(driver, prompt)["result"]["stopReason"] == "cancelled"
    driver.store()
    assert texts(request_of(driver)) == ["Please change it.", "go on", "and on"]
    says_fine(driver)
    assert code(driver, behind) == 0


def test_a_request_that_waits_behind_a_load_can_be_withdrawn() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    second = again(driver.disk)
    load = second.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
    prompt = second.prompt(session, "no")
    resume = second.request("session/resume", sessionId=session, cwd="/project", mcpServers=[])
    for asked in (prompt, resume):
        second.send({"method": "$/cancel_request", "params": {"requestId": asked}})
    assert answered(second, prompt)["result"]["stopReason"] == "cancelled"
    assert code(second, resume) == -32800
    second.set_up()
    second.store()
    assert code(second, load) == 0 and not second.model_jobs()
    kept = [e.parts[0].text for e in thread_of(second, session).log if isinstance(e, history.UserSaid)]
    assert kept == ["Please change it.", "no"]


def test_a_cancel_reaches_prompts_behind_a_load_within_the_bound() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    second = again(driver.disk)
    second.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
    prompt = second.prompt(session, "no")
    second.send({"method": "session/cancel", "params": {"sessionId": session}})
    assert second.answer_of(prompt) is None
    second.finish(second.only(lambda what: isinstance(what, Wait)))
    assert answered(second, prompt)["result"]["stopReason"] == "cancelled"
    second.set_up()
    second.store()
    assert not second.model_jobs()


def test_a_session_that_is_being_loaded_can_be_closed_whatever_the_store_does() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    second = again(driver.disk)
    load = second.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
    prompt = second.prompt(session, "no")
    close = second.request("session/close", sessionId=session)
    for key in [key for key, what in second.jobs.items() if isinstance(what, Wait)]:
        second.finish(key)
    assert code(second, load) == -32800
    assert answered(second, prompt)["result"]["stopReason"] == "cancelled"
    assert code(second, close) == 0
    before = second.connection
    second.finish(second.only(lambda what: isinstance(what, FindThread)))
    assert second.connection is before


def test_the_end_of_the_connection_answers_a_load_that_hangs() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    second = again(driver.disk)
    load = second.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
    behind = second.request("session/resume", sessionId=session, cwd="/project", mcpServers=[])
    listed = second.request("session/list")
    deleted = second.request("session/delete", sessionId="sess_other")
    second.close()
    assert second.exit is None
    second.finish(second.only(lambda what: isinstance(what, Wait)))
    assert second.exit == 0
    assert [code(second, asked) for asked in (load, behind, listed, deleted)] == [-32800] * 4


# An open session -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_running_turn_is_not_disturbed_and_goes_on_streaming(method: str) -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    prompt = driver.prompt(session, "go on")
    driver.store()
    driver.progress(driver.model_jobs()[0], models.TextDelta("one "))
    seen = len(driver.frames)
    asked = driver.load(session, method=method)
    assert code(driver, asked) == 0
    shown = [f["params"]["update"] for f in driver.frames[seen:] if f.get("method") == "session/update"]
    streamed = [u["content"]["text"] for u in shown if u["sessionUpdate"] == "agent_message_chunk"]
    assert streamed == (["I look.", "Done.", "one "] if method == "session/load" else [])
    driver.progress(driver.model_jobs()[0], models.TextDelta("two"))
    driver.round((models.Finished("stop"),))
    driver.store()
    assert code(driver, prompt) == 0
    if method == "session/load":
        assert fold(driver.shown[session]) == fold(driver.updates(session)[seen_updates(driver, seen) :])


def seen_updates(driver: Driver, frames: int) -> int:
    return sum(frame.get("method") == "session/update" for frame in driver.frames[:frames])


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_load_of_an_idle_session_has_what_another_program_added(method: str) -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    other = again(driver.disk)
    other.load(session)
    other.prompt(session, "from elsewhere")
    other.store()
    other.round(said("Seen."))
    other.store()
    seen = len(driver.updates(session))
    if method == "session/resume":
        driver.conflicts.add(session)  # its client is not shown what the other program did
    assert code(driver, driver.load(session, method=method)) == 0
    if method == "session/load":
        assert fold(driver.updates(session)[seen:]) == fold(other.shown[session])
    driver.prompt(session, "and here")
    driver.store()
    assert texts(request_of(driver)) == ["Please change it.", "from elsewhere", "and here"]


def test_a_load_of_an_idle_session_that_was_deleted_elsewhere_shows_what_there_is() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    live = fold(driver.shown[session])
    driver.disk.rows.clear()
    driver.disk.entries.clear()
    seen = len(driver.updates(session))
    assert code(driver, driver.load(session)) == 0
    assert fold(driver.updates(session)[seen:]) == live


def test_a_turn_can_still_be_cancelled_after_a_load() -> None:
    driver, session = ready(STORED)
    prompt = driver.prompt(session)
    driver.store()
    driver.load(session)
    driver.cancel(session)
    driver.end(driver.model_jobs()[0], Stopped())
    driver.store()
    assert answered(driver, prompt)["result"]["stopReason"] == "cancelled"


def test_a_card_in_the_middle_of_its_call_is_shown_as_it_stands() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.store()
    driver.round(calls(("shell", {"command": "sleep 9"})))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.store()
    seen = len(driver.updates(session))
    driver.load(session)
    card = dict(fold(driver.updates(session)[seen:]))
    (state,) = [state for name, state in card.items() if name.startswith("tool ")]
    assert (state["status"], state["title"]) == ("in_progress", "sleep 9")


# Half-done work ------------------------------------------------------------------------------------


def journaled(driver: Driver) -> None:
    """The wait of the journal is over."""
    for key in [key for key, what in driver.jobs.items() if what == Wait(OPTIONS.limits.journal_every)]:
        driver.finish(key)
    driver.store()


def killed(upto: str) -> tuple[Driver, str]:
    """A program that is killed in the middle of a turn, and what it had stored."""
    driver, session = ready(STORED)
    driver.prompt(session, "Please.")
    driver.store()
    if upto == "streaming":
        driver.progress(driver.model_jobs()[0], models.ThoughtDelta("Hm."), models.TextDelta("I wi"))
        journaled(driver)
    if upto == "calling":
        driver.round(calls(READ, EDIT, text="I look."))
        driver.store()
        driver.finish(driver.tool_jobs("prepare")[0])
        driver.finish(driver.tool_jobs()[0])
        driver.store()
    return driver, session


def test_an_open_call_ends_as_interrupted() -> None:
    driver, session = killed("calling")
    second = again(driver.disk)
    second.load(session)
    cards = {n: s for n, s in fold(second.updates(session)) if n.startswith("tool ")}
    assert [card["status"] for card in cards.values()] == ["completed", "failed"]
    assert "interrupted" in str(list(cards.values())[1]["content"])
    second.prompt(session, "go on")
    second.store()
    results = [
        r for m in request_of(second).messages if isinstance(m, models.ResultsMessage) for r in m.results
    ]
    assert [r.failed for r in results] == [False, True]
    assert isinstance(results[1].content[0], Text) and "interrupted" in results[1].content[0].text


def test_what_had_been_streamed_is_kept() -> None:
    driver, session = killed("streaming")
    second = again(driver.disk)
    second.load(session)
    assert fold(second.updates(session)) == fold(driver.shown[session])
    assert second.text() == "I wi"
    second.prompt(session, "go on")
    second.store()
    said_so_far = [
        b for m in request_of(second).messages if isinstance(m, models.AssistantMessage) for b in m.blocks
    ]
    assert said_so_far[-1] == models.Said("I wi")
    assert not second.disk.journal(session)
    third = again(second.disk, seed="third")
    third.load(session)
    assert fold(third.updates(session))[:3] == fold(second.updates(session))[:3]


def test_a_program_that_was_loaded_before_takes_over_what_the_other_left() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    other = again(driver.disk)
    other.load(session)
    driver.prompt(session, "go on")
    driver.store()
    driver.progress(driver.model_jobs()[0], models.TextDelta("I wi"))
    journaled(driver)
    other.prompt(session, "mine")
    other.store()
    request = request_of(other)
    assert texts(request) == ["Please change it.", "go on", "mine"]
    blocks = [b for m in request.messages if isinstance(m, models.AssistantMessage) for b in m.blocks]
    assert blocks[-1] == models.Said("I wi")
    says_fine(other)
    assert sum(isinstance(e, history.TurnEnded) for e in thread_of(other, session).log) == 3


def test_a_journal_that_grew_after_the_load_is_not_lost() -> None:
    driver, session = killed("streaming")
    other = again(driver.disk)
    other.load(session)
    driver.progress(driver.model_jobs()[0], models.TextDelta("ll do it"))
    journaled(driver)
    other.prompt(session, "mine")
    other.store()
    blocks = [
        b for m in request_of(other).messages if isinstance(m, models.AssistantMessage) for b in m.blocks
    ]
    assert blocks[-1] == models.Said("I will do it")
    (ended,) = [e for e in thread_of(other, session).log if isinstance(e, history.TurnEnded)]
    assert ended.fault is not None and ended.fault.data == {"kind": "interrupted"}


def test_rows_of_a_journal_that_nobody_needs_are_cleared_by_the_next_turn() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    driver.disk.journals[session] = {("msg_old", 0): records.piece_text("agent", "old")}
    second = again(driver.disk)
    second.load(session)
    assert "old" not in second.text()
    second.prompt(session, "go on")
    second.store()
    assert not second.conflicts and not second.disk.journal(session)
    says_fine(second)


def test_entries_of_a_newer_program_keep_their_place_and_are_told() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    strange = '{"v":2,"type":"user","message":"m","parts":[],"turn":9}'
    driver.disk.entries[session][2:2] = ["", '{"type":"from the future"}', strange]
    second = again(driver.disk)
    assert code(second, second.load(session)) == 0
    second.prompt(session, "go on")
    second.store()
    assert "3 entries of this session could not be read" in second.text()
    assert second.disk.entries[session][2:5] == ["", '{"type":"from the future"}', strange]


def test_what_was_read_of_a_session_that_could_not_be_opened_is_not_saved() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    for how in ("fails", "is closed"):
        second = again(driver.disk)
        asked = second.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
        second.finish(second.only(lambda what: isinstance(what, FindThread)))
        second.finish(second.only(lambda what: isinstance(what, CheckPaths)))
        key = second.only(lambda what: isinstance(what, LoadThread))
        second.read_some(key, second.jobs[key])
        if how == "fails":
            second.end(key, Failed(UNREADABLE))
        else:
            second.request("session/close", sessionId=session)
            second.finish(second.only(lambda what: isinstance(what, Wait)))
        assert code(second, asked) in {-32603, -32800}
        assert not second.saves and session not in second.leases


# History that is given back ------------------------------------------------------------------------


def rest(driver: Driver) -> None:
    waiting = [
        key for key, what in driver.jobs.items() if isinstance(what, Rest) and key not in driver.stopped
    ]
    (key,) = waiting
    driver.finish(key)


def test_an_idle_session_gives_back_its_history_and_reads_it_again() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    rest(driver)
    thread = thread_of(driver, session)
    assert thread.phase == "cold" and not len(thread.log) and not len(thread.view.messages)
    asked = driver.prompt(session, "go on")
    driver.set_up()
    driver.store()
    assert texts(request_of(driver)) == ["Please change it.", "go on"]
    says_fine(driver)
    assert code(driver, asked) == 0


def test_an_option_set_while_the_history_is_away_is_in_force_and_stored() -> None:
    driver, session = ready(STORED)
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="low")
    driver.store()
    conversation(driver, session)
    rest(driver)
    asked = driver.request(
        "session/set_config_option", sessionId=session, configId="thought_level", value="high"
    )
    assert driver.answer_of(asked) is None
    driver.set_up()
    driver.store()
    assert answered(driver, asked)["result"]["configOptions"][1]["currentValue"] == "high"
    assert thread_of(driver, session).settings.thinking == "high"
    second = again(driver.disk)
    second.load(session)
    assert thread_of(second, session).settings.thinking == "high"


def test_a_load_of_a_session_whose_history_is_away_shows_all() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    live = fold(driver.shown[session])
    rest(driver)
    seen = len(driver.updates(session))
    driver.load(session)
    assert fold(driver.updates(session)[seen:]) == live


def test_a_history_that_cannot_be_read_again_is_told_and_the_next_try_may_work() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    rest(driver)
    asked = driver.prompt(session, "go on")
    driver.finish(driver.only(lambda what: isinstance(what, FindThread)))
    key = driver.only(lambda what: isinstance(what, LoadThread))
    driver.read_some(key, driver.jobs[key])
    driver.end(key, Failed(UNREADABLE))
    assert answered(driver, asked)["error"]["message"] == "The file cannot be read."
    second = driver.prompt(session, "go on")
    driver.set_up()
    driver.store()
    assert texts(request_of(driver)) == ["Please change it.", "go on"]
    says_fine(driver)
    assert code(driver, second) == 0


def test_what_waits_for_a_history_that_cannot_be_read_is_cancelled_or_kept_as_it_was_asked() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    rest(driver)
    option = driver.request(
        "session/set_config_option", sessionId=session, configId="thought_level", value="high"
    )
    prompt = driver.prompt(session, "no")
    driver.send({"method": "session/cancel", "params": {"sessionId": session}})
    driver.end(driver.only(lambda what: isinstance(what, FindThread)), Failed(UNREADABLE))
    assert answered(driver, prompt)["result"]["stopReason"] == "cancelled"
    assert code(driver, option) == 0
    driver.prompt(session, "yes")
    driver.set_up()
    driver.store()
    assert request_of(driver).thinking == "high"
    second = again(driver.disk)
    second.load(session)
    assert thread_of(second, session).settings.thinking == "high"


def test_a_better_title_that_comes_during_a_load_stays() -> None:
    driver, session = ready(with_(STORED, titles=True))
    driver.prompt(session, "fix it")
    driver.store()
    driver.round(said("Fixed."))
    driver.store()
    (key,) = driver.model_jobs()
    asked = driver.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
    driver.finish(driver.only(lambda what: isinstance(what, FindThread)))
    driver.progress(key, models.TextDelta("Better title"))
    driver.end(key, Ok(ModelDone()))
    driver.set_up()
    assert code(driver, asked) == 0
    titles = [u["title"] for u in driver.updates() if u["sessionUpdate"] == "session_info_update"]
    assert titles[-1] == "Better title"


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_an_open_session_is_loaded_from_memory_when_the_store_cannot_be_asked(method: str) -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    live, seen = fold(driver.shown[session]), len(driver.updates(session))
    asked = driver.request(method, sessionId=session, cwd="/project", mcpServers=[])
    driver.end(driver.only(lambda what: isinstance(what, FindThread)), Failed(UNREADABLE))
    driver.set_up()
    assert code(driver, asked) == 0
    assert fold(driver.updates(session)[seen:]) == (live if method == "session/load" else live[-1:])


def test_a_cold_session_can_be_closed_deleted_and_ended() -> None:
    for method in ("session/close", "session/delete"):
        driver, session = ready(STORED)
        conversation(driver, session)
        rest(driver)
        asked = driver.request(method, sessionId=session)
        driver.set_up()
        assert code(driver, asked) == 0
        assert (session in driver.disk.rows) == (method == "session/close")
    driver, session = ready(STORED)
    conversation(driver, session)
    rest(driver)
    driver.close()
    assert driver.exit == 0


# Deleting ------------------------------------------------------------------------------------------


def test_deleting_is_idempotent() -> None:
    driver, session = ready(STORED)
    conversation(driver, session)
    for gone in (session, session, "sess_never"):
        asked = driver.request("session/delete", sessionId=gone)
        driver.set_up()
        assert answered(driver, asked)["result"] == {}
    assert not driver.disk.rows
    assert code(driver, driver.load(session)) == -32002


def test_deleting_an_open_session_ends_its_turn_first() -> None:
    driver, session = ready(STORED)
    prompt = driver.prompt(session)
    driver.store()
    driver.stopping.add(session)
    first = driver.request("session/delete", sessionId=session)
    second = driver.request("session/delete", sessionId=session)
    load = driver.request("session/load", sessionId=session, cwd="/project", mcpServers=[])
    assert driver.answer_of(first) is None
    driver.end(driver.model_jobs()[0], Stopped())
    driver.store()
    driver.set_up()
    assert answered(driver, prompt)["result"]["stopReason"] == "cancelled"
    assert (code(driver, first), code(driver, second), code(driver, load)) == (0, 0, -32002)
    assert not driver.disk.rows and not driver.disk.entries
    assert not [what for what in driver.jobs.values() if isinstance(what, RunModel)]


def test_without_a_store_the_methods_do_not_exist() -> None:
    driver, session = ready()
    capabilities = driver.frames[0]["result"]["agentCapabilities"]
    assert "loadSession" not in capabilities
    assert capabilities["sessionCapabilities"].keys() == {"close", "additionalDirectories"}
    for method in ("session/load", "session/resume", "session/list", "session/delete"):
        asked = driver.request(method, sessionId=session, cwd="/project", mcpServers=[])
        assert code(driver, asked) == -32601
