"""Cancel after every event of every script, against outsiders that cooperate, hang, or answer late.

Whatever happens the prompt is answered with `cancelled` within the bound, the rules of the driver hold, and the
session takes another prompt.
"""

from collections.abc import Callable
from typing import Any

import pytest
from support.driver import OPTIONS, PROJECT, Driver, calls, ready, said, with_

from zidane_core.agent.events import Closed, Ok, Stopped
from zidane_core.agent.work import RunModel, RunTool, Wait
from zidane_core.data import models
from zidane_core.data.content import Text
from zidane_core.data.rules import Policy
from zidane_core.data.tools import ToolOutput, ToolResult
from zidane_core.faults import provider_fault

SHELL = ("shell", {"command": "touch a"})
READ = ("read_file", {"path": "a"})
WRITE = ("write_file", {"path": "a", "content": "x"})
DOWN = models.Broke(provider_fault("server", "Down.", provider="test"), retryable=True)
LONG = models.Broke(provider_fault("context_overflow", "Too long.", provider="test"))

SCRIPTS: dict[str, tuple[Policy, tuple[tuple[models.ModelEvent, ...], ...]]] = {
    "text": ("ask", (said("hello"),)),
    "thought": ("ask", ((models.ThoughtDelta("hm"), models.BlockEnded(), *said("x")),)),
    "one call": ("ask", (calls(SHELL), said("done"))),
    "two calls": ("ask", (calls(SHELL, WRITE, text="first"), said("done"))),
    "reads": ("ask", (calls(READ, READ, SHELL, READ), said("done"))),
    "allowed": ("allow-all", (calls(WRITE, SHELL), calls(READ), said("done"))),
    "refused": ("read-only", (calls(WRITE), said("no"))),
    "retry": ("ask", ((DOWN,), (DOWN,), said("back"))),
    "cut": ("ask", ((models.TextDelta("half"), DOWN),)),
    "bad calls": ("ask", (calls(("nope", {}), ("read_file", {"path": 1})), said("sorry"))),
    "plan": ("ask", (calls(("update_plan", {"entries": []})), said("ok"))),
    "filtered": ("ask", ((models.Finished("content-filter", "no"),),)),
    "compacts": ("allow-all", (calls(READ), calls(READ), (LONG,), said("summary"), said("done"))),
    "compacts later": (
        "allow-all",
        (calls(READ), calls(READ), (LONG,), (DOWN,), said("short"), said("done")),
    ),
    "no summary": ("allow-all", (calls(READ), calls(READ), (LONG,), (models.Finished("stop"),))),
    "too long": ("allow-all", (calls(READ), calls(READ), (LONG,), said("summary"), (LONG,))),
    "length": ("ask", ((models.TextDelta("a"), models.Finished("length")),)),
    "trust": ("ask", (said("hello"),)),
}


class Outside:
    """Everything outside of the core, one event at a time in a fixed order."""

    def __init__(self, driver: Driver, rounds: tuple[tuple[models.ModelEvent, ...], ...]) -> None:
        self.driver = driver
        self.rounds = list(rounds)
        self.said: dict[str, int] = {}
        self.streamed: set[str] = set()

    def next(self) -> bool:
        """Let the next thing happen; False when nothing is left to happen."""
        driver = self.driver
        if driver.saves:
            driver.store()
            return True
        for question in driver.asked():
            driver.choose(question, "allow_once")
            return True
        for key, what in list(driver.jobs.items()):
            if isinstance(what, RunModel):
                self._model(key)
            elif isinstance(what, RunTool) and what.stage == "run" and key not in self.streamed:
                self.streamed.add(key)
                driver.progress(key, ToolOutput("output"))
            else:
                driver.finish(key)
            return True
        return False

    def _model(self, key: str) -> None:
        if key not in self.said:
            self.said[key] = 0
            if not self.rounds:
                self.rounds.append(said("again"))
        position, events = self.said[key], self.rounds[0]
        if position < len(events):
            self.said[key] += 1
            self.driver.progress(key, events[position])
        else:
            self.rounds.pop(0)
            self.driver.round((), key)


def played(name: str, upto: int, store: bool = False) -> tuple[Driver, str, Any, Outside, bool]:
    policy, rounds = SCRIPTS[name]
    project = name == "trust"
    options = with_(OPTIONS, policy=policy, store=store, project=project, remembers=project)
    driver, session = ready(options, {"session": {"compaction": {}}}, project=PROJECT if project else None)
    asked = driver.prompt(session)
    outside = Outside(driver, rounds)
    for _ in range(upto):
        if not outside.next():
            return driver, session, asked, outside, True
    return driver, session, asked, outside, False


def has_ended(driver: Driver) -> bool:
    (thread,) = driver.connection.agent.threads.values()
    return thread.turn is None or thread.turn.value is not None


def cooperate(driver: Driver) -> None:
    """Everything that was stopped ends, then everything else."""
    while driver.jobs:
        key = next((key for key in driver.jobs if key in driver.stopped), None)
        driver.finish(key or next(iter(driver.jobs)))


def hang(driver: Driver) -> None:
    """Only the clock goes on."""
    for key, what in list(driver.jobs.items()):
        if isinstance(what, Wait) and key in driver.jobs:
            driver.stopped.discard(key)
            driver.finish(key)


def late(driver: Driver) -> None:
    """The bound passes, then everything ends and succeeds after all."""
    hang(driver)
    for key, what in list(driver.jobs.items()):
        if isinstance(what, RunTool):
            driver.end(key, Ok(ToolResult(content=(Text("late"),))))
        elif isinstance(what, RunModel):
            driver.progress(key, models.TextDelta("late"))
            driver.end(key, Stopped())
        else:
            driver.finish(key)
    for number in range(1, driver.connection.last_id + 1):
        driver.send({"id": number, "result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}})


def locked(driver: Driver) -> None:
    """Everything cooperates but the store, which answers nothing."""
    cooperate(driver)


OUTSIDERS: dict[str, Callable[[Driver], None]] = {
    "cooperate": cooperate,
    "hang": hang,
    "late": late,
    "locked": locked,
}


@pytest.mark.parametrize("store", [False, True], ids=["unstored", "stored"])
@pytest.mark.parametrize("outsider", OUTSIDERS)
@pytest.mark.parametrize("name", SCRIPTS)
def test_cancel_after_every_event(name: str, outsider: str, store: bool) -> None:
    upto = 0
    while True:
        driver, session, asked, _, over = played(name, upto, store)
        # A turn that has ended and only waits to be stored keeps the answer it has.
        answered = driver.answer_of(asked) is not None or has_ended(driver)
        queued = driver.prompt(session, "queued")
        driver.cancel(session)
        if answered:
            driver.stopping.discard(session)
        OUTSIDERS[outsider](driver)
        if outsider != "locked":
            driver.store()
        elif store:
            hang(driver)  # the queued prompt has its bound as well
        first, second = driver.answer_of(asked), driver.answer_of(queued)
        assert first is not None and second is not None, (upto, driver.jobs)
        assert answered or first["result"]["stopReason"] == "cancelled", first
        assert second["result"]["stopReason"] == "cancelled", second
        assert not driver.open
        again = driver.prompt(session, "again")
        driver.set_up()  # an idle session has given back its history
        driver.store()
        driver.gather()
        driver.round(said("fine"), driver.model_jobs()[-1])
        driver.store()
        final = driver.answer_of(again)
        assert final is not None and final["result"]["stopReason"] == "end_turn"
        if over:
            return
        upto += 1


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_end_of_the_connection_after_every_event(name: str) -> None:
    upto = 0
    while True:
        driver, session, asked, _, over = played(name, upto)
        driver.stopping.add(session)
        driver.feed(Closed(driver.now, "terminated"))
        for key in list(driver.jobs):
            if driver.exit is None and key in driver.jobs:
                driver.finish(key)
        assert driver.exit == 143
        assert driver.answer_of(asked) is not None
        if over:
            return
        upto += 1


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_ends_by_itself(name: str) -> None:
    for store in (False, True):
        driver, session, asked, outside, _ = played(name, 0, store)
        while outside.next():
            pass
        answer = driver.answer_of(asked)
        assert answer is not None
        assert not driver.jobs and not driver.open and not driver.saves
        (thread,) = driver.connection.agent.threads.values()
        assert len(driver.disk.entries.get(session, [])) == thread.store.seq
        assert bool(thread.store.seq) == store
