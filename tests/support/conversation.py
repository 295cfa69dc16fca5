"""Conversations that a model has no room for, and what a test looks at in them."""

from typing import Any

from support.driver import MODEL, OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent import budget, condensing
from zidane_core.agent.events import Ok
from zidane_core.agent.shortening import text_of
from zidane_core.agent.state import Options, Thread
from zidane_core.agent.work import RunModel
from zidane_core.data import history, models
from zidane_core.data.content import Text
from zidane_core.data.tools import ToolResult
from zidane_core.faults import provider_fault

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
