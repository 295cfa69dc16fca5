"""The registry of machines, with a machine that asks the client: rules 3, 6 and 7 of the turn."""

import json
from typing import Any

import pytest
from support.driver import HANDS, OPTIONS, Driver, calls, ready, said, with_

from zidane_core.acp import outgoing
from zidane_core.agent import registry
from zidane_core.agent.effects import AskPeer, Send
from zidane_core.agent.events import Ok, Stopped, WaitDone
from zidane_core.agent.local_machine import failed
from zidane_core.agent.machines import (
    Ask,
    Card,
    Detach,
    Done,
    DropAsk,
    Got,
    Job,
    Machine,
    Ready,
    Signal,
    State,
    Stateless,
    StopJob,
    Turned,
    Work,
)
from zidane_core.agent.peer import CreateTerminal, ReadTerminal, ReleaseTerminal, TerminalText, Unanswerable
from zidane_core.agent.work import Wait
from zidane_core.data.content import Text
from zidane_core.data.tools import ToolResult, ToolSpec

PROBE = ToolSpec(name="probe", description="", schema={"type": "object"}, access="none", machine="probe")
CALL = ("probe", {})
CREATE = CreateTerminal(command="/bin/sh", arguments=("-c", "x"), environment=(), cwd="/", output_bytes=9)


def _begin(work: Work) -> Turned:
    return Stateless(), (Ready(),)


def _go(state: State, work: Work) -> Turned:
    return state, (Ask("create", CREATE), Job("bound", Wait(60.0)))


def _got(state: State, work: Work, tag: str, got: Got) -> Turned:
    if isinstance(got, Unanswerable):
        return state, (Done(failed(f"no terminal: {got.reason}")),)
    if isinstance(got, Stopped):
        return state, (Done(failed("stopped")),)
    if tag == "bound":
        late = (DropAsk("output"), Detach(ReleaseTerminal("t1")))
        return state, (*late, Done(failed("too slow")))
    answers: dict[str, tuple[Signal, ...]] = {
        "create": (Card(content=(Text("terminal"),)), Ask("output", ReadTerminal("t1"))),
        "output": (
            StopJob("bound"),
            Detach(ReleaseTerminal("t1")),
            Done(ToolResult(content=(Text(got.text if isinstance(got, TerminalText) else ""),))),
        ),
    }
    return state, answers[tag]


def _halt(state: State, work: Work) -> Turned:
    return state, (Detach(ReleaseTerminal("t1")),)


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> tuple[Driver, str, Any]:
    machine = Machine(_begin, _go, _got, _halt)
    monkeypatch.setattr(registry, "MACHINES", {**registry.MACHINES, "probe": machine})
    driver, session = ready(with_(OPTIONS, tools=(PROBE,)), HANDS)
    asked = driver.prompt(session)
    driver.round(calls(CALL))
    return driver, session, asked


def methods(driver: Driver) -> list[str]:
    return [driver.open[number]["method"] for number in driver.asked()]


def test_each_answer_leads_to_the_next_request_and_the_end_stops_what_is_left(probe: Any) -> None:
    driver, _, _ = probe
    assert methods(driver) == ["terminal/create"]
    (bound,) = [key for key, what in driver.jobs.items() if isinstance(what, Wait)]
    driver.reply(driver.asked()[0], result={"terminalId": "t1"})
    assert methods(driver) == ["terminal/output"]
    driver.reply(driver.asked()[0], result={"output": "x"})
    assert bound in driver.stopped
    driver.answer(driver.only_asked("terminal/release"))
    assert driver.updates()[-1]["status"] == "completed"
    driver.round(said("ok"))


def test_a_failed_request_is_a_tool_error(probe: Any) -> None:
    driver, _, _ = probe
    driver.reply(driver.asked()[0], error={"code": -32603, "message": "no terminals here"})
    assert "no terminals here" in str(driver.updates()[-1]["content"])
    assert not driver.open


def test_the_bound_of_a_machine_withdraws_and_detaches(probe: Any) -> None:
    driver, _, _ = probe
    driver.reply(driver.asked()[0], result={"terminalId": "t1"})
    driver.finish(next(key for key, what in driver.jobs.items() if isinstance(what, Wait)))
    assert methods(driver) == ["terminal/release"]
    driver.reply(driver.asked()[0], result={})
    driver.round(said("ok"))
    assert not driver.open


def test_a_withdrawn_request_that_succeeds_late_is_undone(probe: Any) -> None:
    driver, session, asked = probe
    (create,) = driver.asked()
    driver.cancel(session)
    driver.finish(next(key for key in driver.jobs if key in driver.stopped))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"
    assert methods(driver) == ["terminal/release"]
    driver.send({"id": create, "result": {"terminalId": "t9", "other": 1}})
    undo = driver.frames[-1]
    assert (undo["method"], undo["params"]) == (
        "terminal/release",
        {"sessionId": session, "terminalId": "t9"},
    )
    driver.open.pop(undo["id"])
    driver.send({"id": undo["id"], "result": None})
    assert [known.key for known in driver.connection.open.values() if not known.key] == []


def test_a_withdrawn_request_that_fails_late_needs_no_undo(probe: Any) -> None:
    driver, session, _ = probe
    (create,) = driver.asked()
    driver.cancel(session)
    frames = len(driver.frames)
    driver.send({"id": create, "error": {"code": -32800, "message": "cancelled"}})
    assert len(driver.frames) == frames


def test_a_tool_that_nothing_can_run_is_a_tool_error() -> None:
    driver, session = ready(with_(OPTIONS, tools=(PROBE,)), HANDS)
    asked = driver.prompt(session)
    driver.round(calls(CALL))
    assert "nothing runs 'probe'" in str(driver.updates()[-1]["content"])
    driver.round(said("ok"))
    assert driver.answer_of(asked) is not None


def test_the_trace_context_of_the_turn_goes_along() -> None:
    asked = AskPeer("k", "s", ReadTerminal("t1"), trace='{"traceparent":"t"}')
    _, (sent,) = outgoing.ask(Driver().connection, asked)
    assert isinstance(sent, Send)
    params = json.loads(sent.frame)["params"]
    assert params == {"sessionId": "s", "terminalId": "t1", "_meta": {"traceparent": "t"}}


def test_while_stopping_no_new_request_or_job_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def got(state: State, work: Work, tag: str, value: Got) -> Turned:
        return state, (Ask("more", ReadTerminal("t1")), Job("more", Wait(1.0)))

    def go(state: State, work: Work) -> Turned:
        return state, (Job("first", Wait(60.0)),)

    machine = Machine(_begin, go, got, lambda state, work: (state, ()))
    monkeypatch.setattr(registry, "MACHINES", {**registry.MACHINES, "probe": machine})
    driver, session = ready(with_(OPTIONS, tools=(PROBE,)), HANDS)
    asked = driver.prompt(session)
    driver.round(calls(CALL))
    (job,) = driver.jobs
    driver.cancel(session)
    driver.end(job, Ok(WaitDone()))
    assert not driver.open
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"
