"""Turns on the bare core: what a client sees, round by round."""

import json

import pytest
from msgspec.structs import replace
from support.driver import MODEL, OPTIONS, Driver, calls, ready, said, with_

from zidane_core import buckets
from zidane_core.agent.events import Failed, Ok, Stopped
from zidane_core.agent.state import Limits
from zidane_core.agent.work import RunModel, Wait
from zidane_core.data import models
from zidane_core.data.content import Text
from zidane_core.data.outcome import Usage
from zidane_core.data.rules import Policy
from zidane_core.data.tools import Diff, Location, Preview, ResolvedPath, ToolOutput, ToolResult
from zidane_core.faults import provider_fault

WRITE = ("write_file", {"path": "a.txt", "content": "new\n"})
SHELL = ("shell", {"command": "touch a.txt"})
READ = ("read_file", {"path": "a.txt"})


def stop_reason(driver: Driver, asked: object) -> str | None:
    answer = driver.answer_of(asked)
    return None if answer is None else answer.get("result", {}).get("stopReason")


def request_of(driver: Driver) -> models.ModelRequest:
    (key,) = driver.model_jobs()
    what = driver.jobs[key]
    assert isinstance(what, RunModel)
    return what.request


def test_text_streams_and_the_answer_comes_last() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.progress(
        driver.model_jobs()[0], models.ThoughtDelta("hm"), models.TextDelta("Hel"), models.TextDelta("lo")
    )
    assert stop_reason(driver, asked) is None
    driver.round((models.Used(Usage(10, 5)), models.Finished("stop")))
    assert (driver.text("agent_thought_chunk"), driver.text()) == ("hm", "Hello")
    assert stop_reason(driver, asked) == "end_turn"
    assert driver.frames[-1]["result"]["_meta"]["zidane"]["usage"]["totalTokens"] == 15


def test_every_update_names_its_session() -> None:
    driver, one = ready()
    two = driver.session("/other")
    driver.prompt(one)
    driver.prompt(two)
    first, second = driver.model_jobs()
    for text in ("a", "b"):
        driver.progress(second, models.TextDelta(f"two {text} "))
        driver.progress(first, models.TextDelta(f"one {text} "))
    for session, text in ((one, "one a one b "), (two, "two a two b ")):
        chunks = [u for u in driver.updates(session) if u["sessionUpdate"] == "agent_message_chunk"]
        assert "".join(chunk["content"]["text"] for chunk in chunks) == text


def test_message_ids_are_the_same_in_a_message_and_new_for_the_next() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round((models.TextDelta("a"), models.TextDelta("b"), *calls(READ)))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.finish(driver.tool_jobs()[0])
    driver.round(said("c"))
    ids = [u["messageId"] for u in driver.updates() if u["sessionUpdate"] == "agent_message_chunk"]
    assert ids[0] == ids[1] != ids[2]


def test_a_call_is_asked_for_run_and_told_to_the_model() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round(calls(SHELL))
    driver.finish(driver.tool_jobs("prepare")[0])
    (question,) = driver.asked()
    card = driver.open[question]["params"]["toolCall"]
    assert (card["title"], card["rawInput"], card["kind"]) == ("touch a.txt", SHELL[1], "execute")
    assert not driver.tool_jobs()
    driver.choose(question, "allow_once")
    driver.finish(driver.tool_jobs()[0])
    statuses = [u.get("status") for u in driver.updates() if u["sessionUpdate"].startswith("tool_call")]
    assert statuses == ["pending", "in_progress", "completed"]
    results = request_of(driver).messages[-1]
    assert isinstance(results, models.ResultsMessage)
    assert results.results[0].content == (Text("done"),)
    driver.round(said("ok"))
    assert stop_reason(driver, asked) == "end_turn"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"result": {"outcome": {"outcome": "selected", "optionId": "reject_once"}}}, "refused"),
        ({"result": {"outcome": {"outcome": "selected", "optionId": "made-up"}}}, "no offered option"),
        ({"result": {"outcome": {"outcome": "unheard-of"}}}, "could not be read"),
        ({"result": None}, "could not be read"),
        ({"result": {"outcome": {"outcome": "selected"}}}, "could not be read"),
        ({"error": {"code": -32601, "message": "Method not found"}}, "cannot ask"),
        ({"error": "broken"}, "cannot ask"),
    ],
)
def test_anything_but_an_offered_allow_is_a_refusal(reply: dict[str, object], words: str) -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round(calls(SHELL))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.reply(driver.asked()[0], **reply)
    assert not driver.tool_jobs()
    results = request_of(driver).messages[-1]
    assert isinstance(results, models.ResultsMessage)
    assert results.results[0].failed
    text = results.results[0].content[0]
    assert isinstance(text, Text)
    assert words in text.text
    driver.round(said("ok"))
    assert stop_reason(driver, asked) == "end_turn"


@pytest.mark.parametrize(
    "reply",
    [{"result": {"outcome": {"outcome": "cancelled"}}}, {"error": {"code": -32800, "message": "cancelled"}}],
)
def test_a_dismissed_question_ends_the_turn_as_cancelled(reply: dict[str, object]) -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round(calls(SHELL, READ))
    for key in driver.tool_jobs("prepare"):
        driver.finish(key)
    driver.reply(driver.asked()[0], **reply)
    for key in driver.tool_jobs():
        driver.finish(key)
    assert stop_reason(driver, asked) == "cancelled"
    driver.prompt(session)
    driver.round(said("still here"))


def test_always_covers_the_other_open_questions_and_later_calls() -> None:
    driver, session = ready()
    driver.prompt(session)
    test = ("shell", {"command": "git commit -m a"})
    driver.round(calls(test, ("shell", {"command": "git commit -m b"}), ("shell", {"command": "touch x"})))
    for key in driver.tool_jobs("prepare"):
        driver.finish(key)
    first, _second, third = driver.asked()
    names = [option["name"] for option in driver.open[first]["params"]["options"]]
    assert any("`git commit *`" in name for name in names), names
    driver.choose(first, "allow_always")
    assert driver.asked() == [third]
    driver.choose(third, "reject_once")
    driver.finish(driver.tool_jobs()[0])
    driver.finish(driver.tool_jobs()[0])
    driver.round(
        calls(("shell", {"command": "git commit --amend"}), ("shell", {"command": "git commit && rm x"}))
    )
    for key in driver.tool_jobs("prepare"):
        driver.finish(key)
    assert len(driver.asked()) == 1, "a command with an operator is never covered by a prefix"


def test_questions_overlap_and_may_be_answered_in_any_order() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(SHELL, ("shell", {"command": "touch b"})))
    for key in driver.tool_jobs("prepare"):
        driver.finish(key)
    first, second = driver.asked()
    driver.choose(second, "reject_once")
    driver.choose(first, "allow_once")
    (job,) = driver.tool_jobs()
    assert driver.jobs[job].arguments == SHELL[1]


def test_questions_come_in_call_order_whichever_preparation_ends_first() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(SHELL, ("shell", {"command": "touch b"})))
    first, second = driver.tool_jobs("prepare")
    driver.finish(second)
    assert not driver.asked()
    driver.finish(first)
    titles = [driver.open[question]["params"]["toolCall"]["title"] for question in driver.asked()]
    assert titles == ["touch a.txt", "touch b"]


def test_a_command_that_only_reads_is_looked_at_after_earlier_changes() -> None:
    driver, session = ready(with_(OPTIONS, policy="ask"))
    driver.prompt(session)
    driver.round(calls(("shell", {"command": "ln -s /etc/passwd x"}), ("shell", {"command": "cat x"})))
    assert [driver.jobs[key].arguments["command"] for key in driver.tool_jobs("prepare")] == [
        "ln -s /etc/passwd x"
    ]
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.choose(driver.asked()[0], "allow_once")
    assert [driver.jobs[key].granted for key in driver.tool_jobs()] == [True]
    driver.finish(driver.tool_jobs()[0])
    driver.finish(driver.tool_jobs("prepare")[0])
    assert [driver.jobs[key].granted for key in driver.tool_jobs()] == [False]


@pytest.mark.parametrize(
    "seen",
    [
        Preview(paths=(ResolvedPath("/project", "/project", True), ResolvedPath("x", "/etc/x", False))),
        Preview(
            paths=(ResolvedPath("/project", "/project", True), ResolvedPath("x", "/project/x", True)),
            harmless=False,
        ),
        Preview(),
    ],
    ids=["outside", "configured by the folder", "not resolved"],
)
def test_a_command_that_only_reads_is_asked_about_when_its_preparation_says_so(seen: Preview) -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(("shell", {"command": "cat x"})))
    driver.end(driver.tool_jobs("prepare")[0], Ok(seen))
    assert len(driver.asked()) == 1


def test_a_shell_in_a_folder_outside_of_the_roots_is_asked_about_without_always() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(("shell", {"command": "git commit", "cwd": "/elsewhere"})))
    driver.finish(driver.tool_jobs("prepare")[0])
    (question,) = driver.asked()
    assert [o["kind"] for o in driver.open[question]["params"]["options"]] == ["allow_once", "reject_once"]
    driver.choose(question, "allow_once")
    assert driver.jobs[driver.tool_jobs()[0]].outside


def test_the_question_shows_where_a_path_really_leads() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(("read_file", {"path": "link/f"})))
    real = ResolvedPath("link/f", "/other/f", False)
    seen = Preview(paths=(real,), locations=(Location("/other/f"),), title="Read link/f (outside: /other/f)")
    driver.end(driver.tool_jobs("prepare")[0], Ok(seen))
    card = driver.open[driver.asked()[0]]["params"]["toolCall"]
    assert (card["title"], card["locations"]) == ("Read link/f (outside: /other/f)", [{"path": "/other/f"}])


def test_a_broken_meta_does_not_turn_an_allow_into_a_refusal() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(SHELL))
    driver.finish(driver.tool_jobs("prepare")[0])
    outcome = {"outcome": "selected", "optionId": "allow_once", "_meta": 5}
    driver.reply(driver.asked()[0], result={"outcome": outcome, "_meta": "x"})
    assert len(driver.tool_jobs()) == 1


def test_a_changing_call_waits_for_all_earlier_ones_and_a_reading_one_for_changing_ones() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    driver.prompt(session)
    driver.round(calls(READ, READ, SHELL, READ))
    for key in driver.tool_jobs("prepare"):
        driver.finish(key)
    first, second = driver.tool_jobs()
    assert {driver.jobs[first].name, driver.jobs[second].name} == {"read_file"}
    driver.finish(second)
    assert [driver.jobs[key].name for key in driver.tool_jobs()] == ["read_file"]
    driver.finish(first)
    assert [driver.jobs[key].name for key in driver.tool_jobs()] == ["shell"]
    driver.finish(driver.tool_jobs()[0])
    assert [driver.jobs[key].name for key in driver.tool_jobs()] == ["read_file"]


def test_a_preparation_that_reads_waits_for_earlier_changes() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    driver.prompt(session)
    driver.round(calls(WRITE, ("edit", {"path": "a.txt", "old_string": "a", "new_string": "b"})))
    assert [driver.jobs[key].name for key in driver.tool_jobs("prepare")] == ["write_file"]
    driver.finish(driver.tool_jobs("prepare")[0])
    assert not driver.tool_jobs("prepare")
    driver.finish(driver.tool_jobs()[0])
    assert [driver.jobs[key].name for key in driver.tool_jobs("prepare")] == ["edit"]


def test_strictly_sequential_starts_one_call_at_a_time() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all", sequential=True))
    driver.prompt(session)
    driver.round(calls(READ, READ))
    assert len(driver.tool_jobs("prepare")) == 1
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.finish(driver.tool_jobs()[0])
    assert len(driver.tool_jobs("prepare")) == 1


def test_an_edit_shows_its_diff_in_the_question_and_at_the_end() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(calls(WRITE))
    driver.finish(driver.tool_jobs("prepare")[0])
    (question,) = driver.asked()
    diff = {"type": "diff", "path": "/project/a.txt", "oldText": "old\n", "newText": "new\n"}
    assert driver.open[question]["params"]["toolCall"]["content"] == [diff]
    driver.choose(question, "allow_once")
    driver.finish(driver.tool_jobs()[0])
    assert diff in driver.updates()[-1]["content"]


def test_the_diff_of_the_result_stands_over_that_of_the_preview() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-edits"))
    driver.prompt(session)
    driver.round(calls(WRITE))
    driver.finish(driver.tool_jobs("prepare")[0])
    made = ToolResult(content=(Text("ok"),), diffs=(Diff("/project/a.txt", "was", "is"),))
    driver.end(driver.tool_jobs()[0], Ok(made))
    diffs = [item for item in driver.updates()[-1]["content"] if item["type"] == "diff"]
    assert diffs == [{"type": "diff", "path": "/project/a.txt", "oldText": "was", "newText": "is"}]


def test_outside_of_the_roots_is_asked_each_time() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-edits"))
    driver.prompt(session)
    driver.round(
        calls(("read_file", {"path": "/etc/passwd"}), ("write_file", {"path": "/etc/x", "content": ""}))
    )
    for key in driver.tool_jobs("prepare"):
        driver.finish(key)
    for question in driver.asked():
        kinds = [option["kind"] for option in driver.open[question]["params"]["options"]]
        assert kinds == ["allow_once", "reject_once"]
    first, second = driver.asked()
    driver.choose(first, "allow_once")
    assert driver.jobs[driver.tool_jobs()[0]].outside
    driver.choose(second, "allow_always")
    assert "no offered option" in str(driver.updates()[-1]["content"])


@pytest.mark.parametrize("policy", ["allow-edits", "allow-all"])
def test_a_repository_s_own_folder_is_never_written_without_a_question(policy: Policy) -> None:
    driver, session = ready(with_(OPTIONS, policy=policy))
    driver.prompt(session)
    driver.round(calls(("write_file", {"path": "sub/.git/config", "content": ""})))
    driver.finish(driver.tool_jobs("prepare")[0])
    (question,) = driver.asked()
    assert [o["kind"] for o in driver.open[question]["params"]["options"]] == ["allow_once", "reject_once"]


@pytest.mark.parametrize(
    ("policy", "asked", "runs"),
    [
        ("ask", ["write_file", "shell"], ["read_file"]),
        ("allow-edits", ["shell"], ["read_file", "write_file"]),
        ("allow-all", [], ["read_file", "write_file", "shell"]),
        ("read-only", [], ["read_file"]),
    ],
)
def test_the_policy_decides_what_is_asked_for(policy: Policy, asked: list[str], runs: list[str]) -> None:
    driver, session = ready(with_(OPTIONS, policy=policy))
    questions: list[str] = []
    done: list[str] = []
    driver.prompt(session)
    for call in (READ, WRITE, SHELL):
        driver.round(calls(call))
        while driver.tool_jobs("prepare"):
            driver.finish(driver.tool_jobs("prepare")[0])
        questions += [call[0] for _ in driver.asked()]
        for question in driver.asked():
            driver.choose(question, "reject_once")
        done += [driver.jobs[job].name for job in driver.tool_jobs()]
        for job in driver.tool_jobs():
            driver.finish(job)
    assert (questions, done) == (asked, runs)


def test_read_only_refuses_changes_without_a_question() -> None:
    driver, session = ready(with_(OPTIONS, policy="read-only"))
    driver.prompt(session)
    driver.round(calls(READ, WRITE, SHELL, ("shell", {"command": "ls src"})))
    while driver.tool_jobs("prepare"):
        driver.finish(driver.tool_jobs("prepare")[0])
    assert not driver.asked()
    assert [driver.jobs[key].name for key in driver.tool_jobs()] == ["read_file"]
    driver.finish(driver.tool_jobs()[0])
    assert [driver.jobs[key].arguments for key in driver.tool_jobs()] == [{"command": "ls src"}]


def test_unknown_tools_and_bad_arguments_go_back_to_the_model() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(
        (
            models.Called("1", "no_such_tool", "{}"),
            models.Called("1", "read_file", '{"path": '),
            models.Called("1", "read_file", '{"path": 7}'),
            models.Finished("tool-calls"),
        )
    )
    results = request_of(driver).messages[-1]
    assert isinstance(results, models.ResultsMessage)
    texts = [part.text for result in results.results for part in result.content if isinstance(part, Text)]
    assert "no_such_tool" in texts[0]
    assert "path" in texts[2]
    assert all(result.failed for result in results.results)
    assert len({result.id for result in results.results}) == 3


def test_the_plan_is_shown_whole() -> None:
    driver, session = ready()
    driver.prompt(session)
    entries = [{"content": "look", "status": "in_progress", "priority": "high"}]
    driver.round(calls(("update_plan", {"entries": entries})))
    assert {"sessionUpdate": "plan", "entries": entries} in driver.updates()
    driver.round(said("ok"))


def test_output_of_a_running_tool_is_redrawn_and_bounded_in_time() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    driver.prompt(session)
    driver.round(calls(SHELL))
    driver.finish(driver.tool_jobs("prepare")[0])
    (job,) = driver.tool_jobs()
    driver.now = 1.0
    driver.progress(job, ToolOutput("one\n"))
    driver.now = 1.01
    driver.progress(job, ToolOutput("two\n"))
    driver.progress(job, ToolOutput("three\n"))
    shown = [
        u["content"][0]["content"]["text"] for u in driver.updates() if u.get("content") and "status" not in u
    ]
    assert shown == ["one\n"]
    (wait,) = [key for key, what in driver.jobs.items() if isinstance(what, Wait)]
    driver.finish(wait)
    assert driver.updates()[-1]["content"][0]["content"]["text"] == "one\ntwo\nthree\n"
    driver.finish(job)


# How turns end -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "end_turn"), ("other", "end_turn"), ("length", "max_tokens"), ("content-filter", "refusal")],
)
def test_the_finish_reason_decides_the_stop_reason(finish: models.FinishReason, stop: str) -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round((models.TextDelta("x"), models.Finished(finish)))
    assert stop_reason(driver, asked) == stop


def test_a_refused_prompt_is_not_part_of_the_next_one() -> None:
    driver, session = ready()
    driver.prompt(session, "bad")
    driver.round((models.Finished("content-filter", "I cannot help with that."),))
    assert driver.text() == "I cannot help with that."
    driver.prompt(session, "good")
    assert request_of(driver).messages == (models.UserMessage((Text("good"),)),)


def test_an_answer_that_ends_with_an_error_is_an_error() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round((models.Finished("error"),))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["data"]["kind"] == "bad_response"


def test_the_round_limit_ends_the_turn() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all", limits=Limits(rounds=2)))
    asked = driver.prompt(session)
    for _ in range(2):
        driver.round(calls(READ))
        driver.finish(driver.tool_jobs("prepare")[0])
        driver.finish(driver.tool_jobs()[0])
    assert stop_reason(driver, asked) == "max_turn_requests"


def test_an_empty_answer_is_said_to_be_empty() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round((models.Finished("stop"),))
    assert "empty" in driver.text()
    assert stop_reason(driver, asked) == "end_turn"


# Failures and retries ------------------------------------------------------------------------------

SERVER_DOWN = models.Broke(
    provider_fault("server", "Test is down. Try again later.", provider="test", status=500), retryable=True
)
LIMITED = models.Broke(
    provider_fault("rate_limit", "Test limits requests.", provider="test", status=429), True, retry_after=7.0
)
DENIED = models.Broke(
    provider_fault("auth", "Test did not accept the key. Set TEST_API_KEY.", provider="test", status=401)
)


def waits(driver: Driver) -> list[float]:
    return [what.seconds for what in driver.jobs.values() if isinstance(what, Wait)]


def test_retries_wait_longer_each_time_are_visible_and_end() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    waited: list[float] = []
    for _ in range(4):
        driver.round((SERVER_DOWN,))
        waited += waits(driver)
        driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    driver.round((SERVER_DOWN,))
    assert len(waited) == 4
    assert all(0.25 * 2**n <= seconds <= 0.5 * 2**n for n, seconds in enumerate(waited))
    assert driver.text().count("Trying again in") == 4
    error = driver.answer_of(asked)
    assert error is not None
    assert error["error"]["message"] == "Test is down. Try again later."
    assert error["error"]["data"] == {"kind": "server", "provider": "test", "status": 500}
    driver.prompt(session)
    driver.round(said("back"))


def test_retry_after_is_obeyed_up_to_a_minute() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round((LIMITED,))
    assert waits(driver) == [7.0]
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round((models.Broke(LIMITED.fault, True, 61.0),))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["data"]["kind"] == "rate_limit"


def test_what_only_the_provider_understands_is_dropped_by_a_retry_and_kept_otherwise() -> None:
    opaque = models.Opaque("test", "{}")
    driver, session = ready()
    driver.prompt(session)
    driver.round((models.ForeignBlock(opaque), SERVER_DOWN))
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    assert request_of(driver).messages == (models.UserMessage((Text("hello"),)),)
    driver.round((models.ForeignBlock(opaque), *said("ok")))
    driver.prompt(session)
    assert models.AssistantMessage((models.Foreign(opaque), models.Said("ok"))) in request_of(driver).messages


def test_a_cancel_ends_the_wait_at_once() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round((LIMITED,))
    driver.cancel(session)
    (wait,) = [key for key in driver.jobs if key in driver.stopped]
    driver.end(wait, Stopped())
    assert stop_reason(driver, asked) == "cancelled"


def test_auth_is_not_tried_again_and_has_its_code() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round((DENIED,))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["code"] == -32000


def test_after_content_nothing_is_tried_again_and_the_text_stays() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.round((models.TextDelta("half"), models.Called("1", "read_file", '{"path":"a"}'), SERVER_DOWN))
    answer = driver.answer_of(asked)
    assert answer is not None
    assert "cut off" in answer["error"]["message"] and answer["error"]["data"]["cut"] is True
    driver.prompt(session)
    assert any(
        isinstance(message, models.AssistantMessage) and models.Said("half") in message.blocks
        for message in request_of(driver).messages
    )
    driver.round(said("ok"))


def test_a_stream_that_ends_without_a_finish_is_tried_again_when_nothing_came() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round(())
    assert len(waits(driver)) == 1


def test_an_exception_of_a_port_is_an_internal_error() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.end(driver.model_jobs()[0], Failed(provider_fault("server", "It broke.", provider="test")))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["code"] == -32603


# Cancel --------------------------------------------------------------------------------------------


def test_a_cancel_answers_the_running_and_the_queued_prompts_and_keeps_their_text() -> None:
    driver, session = ready()
    first, second = driver.prompt(session, "one"), driver.prompt(session, "two")
    driver.progress(driver.model_jobs()[0], models.TextDelta("part"))
    driver.cancel(session)
    driver.end(driver.model_jobs()[0], Stopped())
    assert (stop_reason(driver, first), stop_reason(driver, second)) == ("cancelled", "cancelled")
    driver.prompt(session, "three")
    texts = [
        p.text
        for m in request_of(driver).messages
        if isinstance(m, models.UserMessage)
        for p in m.parts
        if isinstance(p, Text)
    ]
    assert texts == ["one", "two", "three"]


def test_cancel_request_on_a_queued_prompt_drops_that_one_only() -> None:
    driver, session = ready()
    first, second, third = (driver.prompt(session, text) for text in ("one", "two", "three"))
    driver.send({"method": "$/cancel_request", "params": {"requestId": second}})
    assert stop_reason(driver, second) == "cancelled"
    assert stop_reason(driver, first) is None
    driver.round(said("1"))
    driver.round(said("3"))
    assert (stop_reason(driver, first), stop_reason(driver, third)) == ("end_turn", "end_turn")


def test_cancel_request_on_the_running_prompt_is_a_cancel() -> None:
    driver, session = ready()
    asked = driver.prompt(session)
    driver.send({"method": "$/cancel_request", "params": {"requestId": asked}})
    driver.end(driver.model_jobs()[0], Stopped())
    assert stop_reason(driver, asked) == "cancelled"


def test_a_result_that_came_while_stopping_is_kept() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    asked = driver.prompt(session)
    driver.round(calls(SHELL))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.cancel(session)
    driver.end(driver.tool_jobs()[0], Ok(ToolResult(content=(Text("it happened"),))))
    assert stop_reason(driver, asked) == "cancelled"
    driver.prompt(session)
    assert any("it happened" in repr(message) for message in request_of(driver).messages)


def test_a_hung_tool_does_not_hold_the_answer_and_the_model_is_told_the_outcome_is_unknown() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    asked = driver.prompt(session)
    driver.round(calls(SHELL))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.cancel(session)
    assert stop_reason(driver, asked) is None
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    assert stop_reason(driver, asked) == "cancelled"
    driver.prompt(session)
    assert any("outcome is unknown" in repr(message) for message in request_of(driver).messages)


def test_a_cancel_of_an_idle_or_unknown_session_is_silent() -> None:
    driver, session = ready()
    frames = len(driver.frames)
    for name in (session, "unknown"):
        driver.send({"method": "session/cancel", "params": {"sessionId": name}})
    driver.send({"method": "session/cancel", "params": {}})
    assert len(driver.frames) == frames
    driver.prompt(session)
    driver.round(said("ok"))


def test_a_cancel_touches_only_its_session() -> None:
    driver, one = ready()
    other = driver.session()
    first, second = driver.prompt(one), driver.prompt(other)
    driver.cancel(one)
    driver.end(next(key for key in driver.model_jobs() if key.startswith(one)), Stopped())
    driver.round(said("done"))
    assert (stop_reason(driver, first), stop_reason(driver, second)) == ("cancelled", "end_turn")


@pytest.mark.parametrize(
    ("reason", "code"), [("eof", 0), ("broken_pipe", 0), ("terminated", 143), ("hung_up", 129)]
)
def test_the_end_of_the_connection_stops_all_turns_and_gives_the_exit_code(reason: str, code: int) -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.close(reason)
    assert driver.exit is None
    driver.end(driver.model_jobs()[0], Stopped())
    assert driver.exit == code


def test_the_end_of_an_idle_connection_exits_at_once() -> None:
    driver, _ = ready()
    driver.close()
    assert driver.exit == 0


def test_after_the_end_nothing_new_is_taken() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    asked = driver.prompt(session)
    driver.round(calls(SHELL))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.close("terminated")
    late = driver.prompt(session)
    answer = driver.answer_of(late)
    assert answer is not None and answer["error"]["code"] == -32600
    other = driver.request("session/new", cwd="/project", mcpServers=[])
    assert driver.answer_of(other) is not None
    driver.finish(driver.tool_jobs()[0])
    assert stop_reason(driver, asked) == "cancelled"
    assert driver.exit == 143


def test_the_end_is_bounded_whatever_hangs() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.close()
    driver.close("terminated")
    for key in [key for key, what in driver.jobs.items() if isinstance(what, Wait)]:
        if driver.exit is None:
            driver.finish(key)
    assert driver.exit == 0


def test_a_session_that_is_being_opened_is_still_answered_at_the_end() -> None:
    driver = Driver()
    driver.initialize()
    asked = driver.request("session/new", cwd="/project", mcpServers=[])
    driver.close()
    assert driver.exit is None
    driver.finish(next(iter(driver.jobs)))
    answer = driver.answer_of(asked)
    assert answer is not None and "result" in answer
    assert driver.exit == 0


def test_a_folder_that_cannot_be_looked_at_does_not_hold_up_the_end() -> None:
    driver = Driver()
    driver.initialize()
    asked = driver.request("session/new", cwd="/project", mcpServers=[])
    driver.close()
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    assert driver.exit == 0
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["code"] == -32800


def test_what_a_cancelled_command_had_said_stays_on_its_card_and_for_the_model() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    driver.prompt(session)
    driver.round(calls(("shell", {"command": "make"})))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.progress(driver.tool_jobs()[0], ToolOutput("half "), ToolOutput("way\n"))
    driver.cancel(session)
    driver.end(driver.tool_jobs()[0], Stopped())
    card = driver.updates()[-1]
    assert card["content"][0]["content"]["text"] == "half way\n"
    assert "outcome is unknown" in card["rawOutput"]["error"]
    driver.prompt(session)
    (result,) = [m for m in request_of(driver).messages if isinstance(m, models.ResultsMessage)]
    assert result.results[0].content[0] == Text("half way\n")


def test_a_second_cancel_changes_nothing() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.cancel(session)
    before = driver.connection
    driver.cancel(session)
    assert driver.connection is before


# Options and order ---------------------------------------------------------------------------------

OTHER = models.ModelChoice(value="other", name="Other", provider="second", id="other")


def test_an_option_set_right_before_a_prompt_is_in_force_for_it() -> None:
    driver, session = ready(with_(OPTIONS, models=(MODEL, OTHER)))
    asked = driver.request("session/set_config_option", sessionId=session, configId="model", value="other")
    driver.prompt(session)
    assert request_of(driver).model == OTHER
    answer = driver.answer_of(asked)
    assert answer is not None
    assert [o["currentValue"] for o in answer["result"]["configOptions"] if o["id"] == "model"] == ["other"]


def test_an_option_may_change_during_a_turn_and_holds_from_the_next_round() -> None:
    driver, session = ready(with_(OPTIONS, models=(MODEL, OTHER), policy="allow-all"))
    driver.prompt(session)
    asked = driver.request(
        "session/set_config_option", sessionId=session, configId="model", value="second/other"
    )
    assert driver.answer_of(asked) is not None
    driver.round(calls(READ))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.finish(driver.tool_jobs()[0])
    assert request_of(driver).model == OTHER


@pytest.mark.parametrize(
    ("option", "value"), [("nope", "x"), ("model", "nope"), ("thought_level", "hard"), ("model", True)]
)
def test_an_unknown_option_or_value_changes_nothing(option: str, value: object) -> None:
    driver, session = ready()
    before = driver.connection.agent
    asked = driver.request("session/set_config_option", sessionId=session, configId=option, value=value)
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["code"] == -32602
    assert driver.connection.agent == before


def test_an_option_set_while_text_streams_is_logged_behind_the_block() -> None:
    driver, session = ready(with_(OPTIONS, models=(MODEL, OTHER)))
    driver.prompt(session)
    driver.progress(driver.model_jobs()[0], models.TextDelta("a"))
    driver.request("session/set_config_option", sessionId=session, configId="model", value="other")
    driver.progress(driver.model_jobs()[0], models.TextDelta("b"))
    driver.round((models.Finished("stop"),))
    (thread,) = driver.connection.agent.threads.values()
    kinds = [type(entry).__name__ for entry in thread.log]
    assert kinds == ["UserSaid", "TitleSet", "TextSaid", "SettingChanged", "TurnEnded"]


def test_a_second_prompt_waits_and_is_answered_in_order() -> None:
    driver, session = ready()
    first, second = driver.prompt(session, "one"), driver.prompt(session, "two")
    assert len(driver.model_jobs()) == 1
    driver.round(said("1"))
    assert (stop_reason(driver, first), stop_reason(driver, second)) == ("end_turn", None)
    driver.round(said("2"))
    assert stop_reason(driver, second) == "end_turn"


def test_trace_context_is_passed_on() -> None:
    driver, session = ready()
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    driver.request(
        "session/prompt",
        sessionId=session,
        prompt=[{"type": "text", "text": "x"}],
        _meta={"traceparent": trace, "cwd": "/elsewhere"},
    )
    driver.round(calls(SHELL))
    driver.finish(driver.tool_jobs("prepare")[0])
    assert driver.open[driver.asked()[0]]["params"]["_meta"] == {"traceparent": trace}


def test_what_the_model_cannot_take_is_said_once() -> None:
    driver, session = ready()
    for _ in range(2):
        driver.prompt(session)
        driver.round((models.Warned("Test model takes no audio."), *said("ok")))
    assert driver.text().count("Test model takes no audio.") == 1


def test_a_bare_thread_says_nothing_to_the_client() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-all"))
    agent = driver.connection.agent
    thread = agent.threads.get(session)
    assert thread is not None
    bare = replace(agent, threads=buckets.put(agent.threads, session, replace(thread, outlet=False)))
    driver.connection = replace(driver.connection, agent=bare)
    asked = driver.prompt(session)
    driver.round((models.ThoughtDelta("hm"), *calls(READ, text="look")))
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.finish(driver.tool_jobs()[0])
    driver.round(said("hi"))
    assert driver.updates() == []
    assert stop_reason(driver, asked) == "end_turn"


def test_notices_go_to_clients_that_show_them() -> None:
    driver, session = ready(capabilities={"session": {"notices": {}}})
    driver.prompt(session)
    driver.round((models.Finished("stop"),))
    assert [u["severity"] for u in driver.updates() if u["sessionUpdate"] == "notice"] == ["warning"]
    assert json.dumps(driver.frames[-2]).count("notice") == 1
