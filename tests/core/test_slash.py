"""Slash commands: listed when they change, answered by the agent itself, or filled in for the model."""

from typing import Any

import pytest
from msgspec.structs import replace
from support.driver import MODEL, OFFER, OPTIONS, Driver, ready, said, with_

from zidane_core.agent import slash, trusting
from zidane_core.agent.events import Failed, Ok, PromptGot, ProviderMade
from zidane_core.agent.modes import MODES
from zidane_core.agent.slash_answers import INIT
from zidane_core.agent.state import Command
from zidane_core.agent.work import GetMcpPrompt, RunFactory, RunModel
from zidane_core.data.content import Text
from zidane_core.data.models import ModelChoice, ModelRequest, Price, Used, UserMessage
from zidane_core.data.outcome import Usage
from zidane_core.data.project import Project, UserCommand
from zidane_core.faults import Fault

PRICED = replace(MODEL, context_window=200_000, price=Price(input=3.0, output=15.0, cached_read=0.3))
OTHER = ModelChoice(value="other", name="Other model", provider="else", id="o-1", thinking=False)
LATE = ModelChoice(value="late", name="Late one", provider="else", id="late", made_late=True)
ALL = with_(OPTIONS, models=(PRICED, OTHER, LATE), modes=MODES, slash=True)
REVIEW = UserCommand(
    name="review", template="Review $1 and mind $ARGUMENTS.", description="Look again.", hint="FILE"
)
NAMES = ["model", "mode", "thinking", "compact", "usage", "mcp", "init", "help"]
SERVER = {"name": "one", "command": "/bin/one", "args": [], "env": []}


def opened(project: Project | None = None, options: Any = ALL) -> tuple[Driver, str]:
    driver = Driver(with_(options, project=project is not None), project=project)
    driver.initialize()
    return driver, driver.session()


def listed(driver: Driver) -> list[list[str]]:
    """The names of every list that the client was told, in order."""
    return [
        [command["name"] for command in update["availableCommands"]]
        for update in driver.updates()
        if update["sessionUpdate"] == "available_commands_update"
    ]


def requested(driver: Driver) -> ModelRequest:
    driver.gather()
    (key,) = driver.model_jobs()
    what = driver.jobs[key]
    assert isinstance(what, RunModel)
    return what.request


def last_text(driver: Driver) -> str:
    final = requested(driver).messages[-1]
    assert isinstance(final, UserMessage) and isinstance(final.parts[0], Text)
    return final.parts[0].text


def answered(driver: Driver, session: str, text: str) -> str:
    """What the agent itself says to a command; the turn is over then."""
    asked = driver.prompt(session, text)
    answer = driver.answer_of(asked)
    assert answer is not None, "the command waits for something"
    assert answer["result"]["stopReason"] == "end_turn"
    assert not driver.model_jobs()
    return driver.text()


# The list ------------------------------------------------------------------------------------------


def test_the_list_comes_behind_the_answer_of_a_new_session_with_hints() -> None:
    driver, _ = opened()
    assert listed(driver) == [NAMES]
    kinds = [frame.get("method", "answer") for frame in driver.frames]
    assert kinds[-1] == "session/update" and kinds[-2] == "answer"
    (update,) = [u for u in driver.updates() if u["sessionUpdate"] == "available_commands_update"]
    hints = {one["name"]: one.get("input") for one in update["availableCommands"]}
    assert hints["model"] == {"hint": "[model]"} and hints["help"] is None


def test_a_command_that_takes_something_has_a_hint() -> None:
    host = (Command("count", "Count.", "UP TO"), Command("rest", "Rest."))
    driver, _ = opened(Project(commands=(REVIEW,)), with_(ALL, commands=host))
    (update,) = [u for u in driver.updates() if u["sessionUpdate"] == "available_commands_update"]
    assert {one["name"]: one["input"]["hint"] for one in update["availableCommands"] if "input" in one} == {
        "model": "[model]",
        "mode": "[mode]",
        "thinking": "[off|minimal|low|medium|high]",
        "compact": "[what to keep]",
        "init": "[what to mind]",
        "review": "FILE",
        "count": "UP TO",
    }


def test_of_one_name_the_built_in_command_wins_then_the_users_then_the_hosts() -> None:
    mine = (replace(REVIEW, name="help"), REVIEW)
    host = (Command("review", "The host's."), Command("count", "Count."), Command("help", "The host's."))
    driver, session = opened(Project(commands=mine), with_(ALL, commands=host))
    assert listed(driver) == [
        ["model", "mode", "thinking", "compact", "usage", "mcp", "init", "help", "review", "count"]
    ]
    driver.prompt(session, "/review a")
    assert last_text(driver) == "Review a and mind a."


def test_commands_of_a_provider_are_there_while_its_model_is_chosen() -> None:
    driver, session = opened(None, with_(ALL, commands=(Command("count", "Count.", provider="else"),)))
    driver.request("session/set_config_option", sessionId=session, configId="model", value="other")
    driver.request("session/set_config_option", sessionId=session, configId="model", value=MODEL.value)
    assert listed(driver) == [NAMES, [*NAMES, "count"], NAMES]


def test_commands_of_a_folder_that_is_not_trusted_are_not_there() -> None:
    theirs = replace(REVIEW, source="project", folder="/project")
    untrusted = Project(folders=("/project",), untrusted=("/project",), commands=(theirs,))
    driver, session = opened(untrusted)
    assert listed(driver) == [NAMES]
    thread = driver.connection.agent.threads.get(session)
    assert thread is not None
    assert trusting.commands(thread) == ()
    assert trusting.commands(replace(thread, project=replace(untrusted, untrusted=()))) == (theirs,)


# Built-in ones --------------------------------------------------------------------------------------


def test_help_shows_all_of_them_once() -> None:
    driver, session = opened(Project(commands=(REVIEW,)))
    text = answered(driver, session, "/help")
    assert text.count("\n") == len(NAMES)
    assert "- `/review FILE` Look again." in text


def test_a_command_leaves_nothing_for_the_model_and_all_for_the_user() -> None:
    driver, session = opened()
    answered(driver, session, "/help")
    driver.prompt(session, "hello")
    assert requested(driver).messages == (UserMessage((Text("hello"),)),)
    driver.round(said("hi"))
    answered(driver, session, "/usage")
    driver.prompt(session, "again")
    assert len(requested(driver).messages) == 3
    driver.round(said("yes"))
    driver.check_replay()


def test_a_command_is_no_title() -> None:
    driver, session = opened()
    answered(driver, session, "/help")
    driver.prompt(session, "Fix the door")
    titles = [u["title"] for u in driver.updates() if u["sessionUpdate"] == "session_info_update"]
    assert titles == ["Fix the door"]


@pytest.mark.parametrize("said_as", ["other", "OTHER", "else/o-1", "ther mod"])
def test_a_model_is_chosen_by_any_name_that_fits_one(said_as: str) -> None:
    driver, session = opened()
    assert answered(driver, session, f"/model {said_as}") == "Model: Other model."
    (update,) = [u for u in driver.updates() if u["sessionUpdate"] == "config_option_update"]
    assert {one["id"]: one["currentValue"] for one in update["configOptions"]}["model"] == "other"
    driver.prompt(session)
    assert requested(driver).model is OTHER


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("/model", "Model; `/model VALUE`"),
        ("/model zzz", "There is no model like `zzz`"),
        ("/model e", "Several models fit `e`"),
    ],
)
def test_a_model_that_is_not_clear_is_asked_for(text: str, begins: str) -> None:
    driver, session = opened()
    told = answered(driver, session, text)
    assert told.startswith(begins)
    assert "`test-model` Test model" in told and "`late`" in told
    assert not [u for u in driver.updates() if u["sessionUpdate"] == "config_option_update"]


def factory(driver: Driver) -> str:
    return driver.only(lambda what: isinstance(what, RunFactory))


def test_a_late_provider_is_made_within_the_turn() -> None:
    driver, session = opened()
    asked = driver.prompt(session, "/model late")
    assert driver.answer_of(asked) is None
    driver.end(factory(driver), Ok(ProviderMade()))
    assert driver.text() == "Model: Late one."
    assert driver.answer_of(asked) is not None


def test_a_late_provider_that_cannot_be_made_is_explained() -> None:
    driver, session = opened()
    driver.prompt(session, "/model late")
    driver.end(factory(driver), Failed(Fault(-32000, "Set LATE_KEY.")))
    assert driver.text() == "The model stays Test model. Set LATE_KEY."


def test_a_cancel_ends_the_wait_for_a_provider() -> None:
    driver, session = opened()
    asked = driver.prompt(session, "/model late")
    made = factory(driver)
    driver.cancel(session)
    assert made in driver.stopped
    driver.finish(made)
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/mode plan", "Mode: Plan."),
        ("/mode PLAN", "Mode: Plan."),
        ("/thinking high", "Thinking: High."),
    ],
)
def test_a_setting_is_chosen_by_its_command(text: str, told: str) -> None:
    driver, session = opened()
    assert answered(driver, session, text) == told
    assert [u for u in driver.updates() if u["sessionUpdate"] == "config_option_update"]


@pytest.mark.parametrize("text", ["/mode", "/mode nap", "/thinking", "/thinking 7"])
def test_a_setting_that_is_not_clear_is_asked_for(text: str) -> None:
    driver, session = opened()
    told = answered(driver, session, text)
    assert "VALUE` chooses another one:" in told and "(in force)" in told


def test_a_model_that_does_not_think_has_no_level() -> None:
    driver, session = opened(None, with_(ALL, models=(OTHER,), default_model="other"))
    assert answered(driver, session, "/thinking high") == "There is nothing to choose with /thinking here."


def test_usage_counts_what_is_known() -> None:
    driver, session = opened()
    assert answered(driver, session, "/usage") == (
        "- Context: nothing was sent yet\n- Input of all requests: 0 tokens\n- Output: 0 tokens\n- Cost: $0.0000"
    )
    driver.prompt(session)
    driver.round((Used(Usage(input=20_000, output=1_000, cached_read=10_000)), *said("ok")))
    told = answered(driver, session, "/usage")
    assert told.endswith(
        "- Context: 21,000 of 200,000 (10%) tokens\n"
        "- Input of all requests: 20,000 tokens, 10,000 of them from the cache\n"
        "- Output: 1,000 tokens\n"
        "- Cost: $0.0480"
    )


def test_mcp_shows_every_server() -> None:
    driver = Driver(ALL)
    driver.initialize()
    session = driver.session(mcpServers=[SERVER])
    (job,) = driver.server_jobs()
    driver.offer(job, OFFER)
    assert answered(driver, session, "/mcp") == "- one: ready, 2 tools, 1 prompts"
    other = driver.session()
    assert answered(driver, other, "/mcp").endswith("No MCP server is configured for this session.")


def test_init_is_a_prompt_to_the_model() -> None:
    driver, session = opened()
    driver.prompt(session, "/init mind the tests")
    assert last_text(driver) == f"{INIT}\n\nmind the tests"
    driver.round(said("ok"))
    driver.check_replay()


# Commands in files, of servers, and none -------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "rest", "text"),
    [
        ("Plain.", "", "Plain."),
        ("Plain.", "more of it", "Plain.\n\nmore of it"),
        ("$1 then $2, all: $ARGUMENTS", "a b c", "a then b, all: a b c"),
        ("$1 and $2", "a", "a and "),
        ("$ARGUMENTS", "$1 stays", "$1 stays"),
        ("costs $10", "a", "costs a0"),
        ("$x $", "", "$x $"),
    ],
)
def test_a_template_is_filled_in_once(template: str, rest: str, text: str) -> None:
    assert slash.expanded(UserCommand(name="x", template=template), rest) == text


@pytest.mark.parametrize("text", ["/review a.py", "/review\ta.py", "/review\na.py", "/review  a.py "])
def test_a_command_in_a_file_stands_for_its_text(text: str) -> None:
    driver, session = opened(Project(commands=(REVIEW,)))
    driver.prompt(session, text)
    assert last_text(driver) == "Review a.py and mind a.py."
    driver.round(said("ok"))
    driver.check_replay()


@pytest.mark.parametrize(
    "text", ["/unknown x", "/usr/bin/env", "/", "/ help", "say /help", "//help", "/help/me", " /help"]
)
def test_what_is_no_command_goes_to_the_model_as_it_is(text: str) -> None:
    driver, session = opened()
    driver.prompt(session, text)
    assert last_text(driver) == text


def test_without_built_in_commands_their_names_are_text() -> None:
    driver, session = ready(with_(ALL, slash=False))
    assert listed(driver) == []
    driver.prompt(session, "/help")
    assert last_text(driver) == "/help"


def test_a_prompt_of_a_server_is_still_a_command() -> None:
    driver = Driver(ALL)
    driver.initialize()
    session = driver.session(mcpServers=[SERVER])
    (job,) = driver.server_jobs()
    driver.offer(job, OFFER)
    assert listed(driver) == [NAMES, [*NAMES, "one__greet"]]
    driver.prompt(session, "/one__greet who=me")
    key = driver.only(lambda what: isinstance(what, GetMcpPrompt))
    driver.end(key, Ok(PromptGot((Text("Greet me."),))))
    assert last_text(driver) == "Greet me."


def test_the_model_may_answer_while_a_command_waits_behind_it() -> None:
    driver, session = opened()
    driver.prompt(session)
    queued = driver.prompt(session, "/mode plan")
    assert driver.answer_of(queued) is None
    driver.round(said("ok"))
    answer = driver.answer_of(queued)
    assert answer is not None and answer["result"]["stopReason"] == "end_turn"


def test_what_is_no_language_model_is_asked_for_no_title_and_no_summary() -> None:
    plain = replace(OTHER, language=False)
    driver, session = opened(None, with_(ALL, models=(plain,), default_model="other", titles=True))
    driver.prompt(session)
    driver.round(said("ok"))
    assert not driver.model_jobs()
    told = answered(driver, session, "/compact")
    assert told.endswith("Other model cannot summarise; choose another model first.")
