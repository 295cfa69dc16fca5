"""Models, modes and options of a session: offered whole, checked, remembered, in step both ways."""

from typing import Any

import pytest
from support.driver import MODEL, OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent.events import Failed, ModelsChanged, Ok, ProviderMade
from zidane_core.agent.leaving_plan import AGREED, KEEP_PLANNING
from zidane_core.agent.modes import MODES
from zidane_core.agent.permission import PLANNING
from zidane_core.agent.state import Options
from zidane_core.agent.work import RunFactory, RunModel
from zidane_core.data.models import ModelChoice, ModelOption, ModelRequest, OptionValue
from zidane_core.data.modes import Mode
from zidane_core.data.project import Project, ProjectSettings
from zidane_core.faults import Fault

FAST = ModelOption(
    id="fast",
    name="Fast",
    description="Answers sooner.",
    values=(OptionValue("on", "On", body='{"tier":"fast"}'), OptionValue("off", "Off")),
    default="off",
    switch=True,
)
SIZE = ModelOption(
    id="size",
    name="Size",
    values=(OptionValue("s", "Small", "The cheapest."), OptionValue("l", "Large")),
    default="s",
)
RICH = ModelChoice(value="rich", name="Rich", provider="test", id="rich", options=(FAST, SIZE))
OTHER = ModelChoice(value="other", name="Other model", provider="else", id="o-1", thinking=False)
LATE = ModelChoice(value="late", name="Late", provider="else", id="late", made_late=True)
ALL = with_(OPTIONS, models=(MODEL, RICH, OTHER, LATE), modes=MODES, policy="allow-all")
BOOLEAN = {"session": {"configOptions": {"boolean": {}}}}


def options_of(answer: dict[str, Any] | None) -> dict[str, Any]:
    assert answer is not None
    return {option["id"]: option for option in answer["result"]["configOptions"]}


def choose(driver: Driver, session: str, option: str, value: Any, **more: Any) -> dict[str, Any] | None:
    asked = driver.request(
        "session/set_config_option", sessionId=session, configId=option, value=value, **more
    )
    return driver.answer_of(asked)


def set_mode(driver: Driver, session: str, mode: str) -> dict[str, Any] | None:
    return driver.answer_of(driver.request("session/set_mode", sessionId=session, modeId=mode))


def shown(driver: Driver, kind: str) -> list[dict[str, Any]]:
    return [update for update in driver.updates() if update["sessionUpdate"] == kind]


def requested(driver: Driver) -> ModelRequest:
    (key,) = driver.model_jobs()
    what = driver.jobs[key]
    assert isinstance(what, RunModel)
    return what.request


# What is offered ------------------------------------------------------------------------------------


def test_a_new_session_has_its_modes_and_the_complete_list_of_options() -> None:
    driver = Driver(ALL)
    driver.initialize()
    asked = driver.request("session/new", cwd="/project", mcpServers=[])
    driver.work()
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["result"]["modes"]["currentModeId"] == "build"
    assert [mode["id"] for mode in answer["result"]["modes"]["availableModes"]] == ["build", "plan"]
    found = options_of(answer)
    assert list(found) == ["mode", "model", "thought_level"]
    assert {key: option["category"] for key, option in found.items()} == {
        "mode": "mode",
        "model": "model",
        "thought_level": "thought_level",
    }
    groups = found["model"]["options"]
    assert [group["group"] for group in groups] == ["test", "else"]
    assert [one["value"] for one in groups[1]["options"]] == ["other", "late"]


def test_choices_are_grouped_only_where_there_is_more_than_one_group() -> None:
    driver, session = ready(with_(ALL, models=(MODEL, OTHER)))
    found = options_of(choose(driver, session, "model", "other"))
    assert found["model"]["options"] == [
        {"group": "test", "name": "test", "options": [{"value": "test-model", "name": "Test model"}]},
        {"group": "else", "name": "else", "options": [{"value": "other", "name": "Other model"}]},
    ]
    driver, session = ready(with_(ALL, models=(MODEL, RICH)))
    found = options_of(choose(driver, session, "model", "rich"))
    assert found["model"]["options"] == [
        {"value": "test-model", "name": "Test model"},
        {"value": "rich", "name": "Rich"},
    ]


def test_a_model_brings_its_own_options_and_takes_them_away() -> None:
    driver, session = ready(ALL)
    found = options_of(choose(driver, session, "model", "rich"))
    assert list(found) == ["mode", "model", "thought_level", "model.fast", "model.size"]
    assert found["model.fast"] == {
        "id": "model.fast",
        "name": "Fast",
        "description": "Answers sooner.",
        "category": "model_config",
        "type": "select",
        "currentValue": "off",
        "options": [{"value": "on", "name": "On"}, {"value": "off", "name": "Off"}],
    }
    assert found["model.size"]["options"][0] == {
        "value": "s",
        "name": "Small",
        "description": "The cheapest.",
    }
    assert list(options_of(choose(driver, session, "model", "else/o-1"))) == ["mode", "model"]


def test_a_switch_is_a_boolean_only_for_clients_that_show_it() -> None:
    driver, session = ready(with_(ALL, default_model="rich"), BOOLEAN)
    found = options_of(choose(driver, session, "model.fast", True, type="boolean"))
    assert found["model.fast"] == {
        "id": "model.fast",
        "name": "Fast",
        "description": "Answers sooner.",
        "category": "model_config",
        "type": "boolean",
        "currentValue": True,
    }
    assert found["model.size"]["type"] == "select"


@pytest.mark.parametrize("capabilities", [None, BOOLEAN], ids=["select", "boolean"])
@pytest.mark.parametrize("value", [True, "on"])
def test_a_switch_takes_a_value_and_a_boolean_whatever_the_client_shows(
    capabilities: Any, value: Any
) -> None:
    driver, session = ready(with_(ALL, default_model="rich"), capabilities)
    more = {"type": "boolean"} if value is True else {}
    found = options_of(choose(driver, session, "model.fast", value, **more))
    assert found["model.fast"]["currentValue"] in (True, "on")
    driver.prompt(session)
    assert requested(driver).options == (("fast", FAST.values[0]), ("size", SIZE.values[0]))


@pytest.mark.parametrize(
    ("option", "value", "field", "valid"),
    [
        ("nothing", "x", "configId", ["mode", "model", "model.fast", "model.size", "thought_level"]),
        ("model", "gone", "value", ["test-model", "rich", "other", "late"]),
        ("mode", "nap", "value", ["build", "plan"]),
        ("thought_level", "huge", "value", ["off", "minimal", "low", "medium", "high"]),
        ("model.size", "xl", "value", ["s", "l"]),
        ("model.size", True, "value", ["s", "l"]),
        ("model", True, "value", ["test-model", "rich", "other", "late"]),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    option: str, value: Any, field: str, valid: list[str]
) -> None:
    driver, session = ready(with_(ALL, default_model="rich"))
    before = options_of(choose(driver, session, "model.size", "l"))
    answer = choose(driver, session, option, value, **({"type": "boolean"} if value is True else {}))
    assert answer is not None
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"field": field, "valid": valid}
    assert options_of(choose(driver, session, "model.size", "l")) == before


# Modes ---------------------------------------------------------------------------------------------


def test_the_mode_and_its_option_are_in_step_both_ways() -> None:
    driver, session = ready(ALL)
    answer = set_mode(driver, session, "plan")
    assert answer is not None and answer["result"] == {}
    assert [update["currentModeId"] for update in shown(driver, "current_mode_update")] == ["plan"]
    (update,) = shown(driver, "config_option_update")
    assert {one["id"]: one["currentValue"] for one in update["configOptions"]}["mode"] == "plan"
    found = options_of(choose(driver, session, "mode", "build"))
    assert found["mode"]["currentValue"] == "build"
    assert [update["currentModeId"] for update in shown(driver, "current_mode_update")] == ["plan", "build"]
    assert len(shown(driver, "config_option_update")) == 1


def test_an_unknown_mode_names_its_own_field() -> None:
    driver, session = ready(ALL)
    answer = set_mode(driver, session, "nap")
    assert answer is not None
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"field": "modeId", "valid": ["build", "plan"]}


def test_without_modes_there_is_no_method_for_them() -> None:
    driver, session = ready()
    answer = set_mode(driver, session, "plan")
    assert answer is not None
    assert answer["error"]["code"] == -32601


def planning(policy: Any = "allow-all") -> tuple[Driver, str]:
    driver, session = ready(with_(ALL, mode="plan", policy=policy))
    driver.prompt(session)
    return driver, session


def test_plan_mode_withholds_every_changing_tool() -> None:
    driver, _ = planning()
    tools = {spec.name: spec for spec in requested(driver).tools}
    assert {"read_file", "search", "glob", "list_files", "fetch", "update_plan", "exit_plan"} <= tools.keys()
    assert not [spec for spec in tools.values() if spec.changes]
    built, session = ready(ALL)
    built.prompt(session)
    assert "exit_plan" not in {spec.name for spec in requested(built).tools}


@pytest.mark.parametrize("policy", ["ask", "allow-edits", "allow-all"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("write_file", {"path": "a", "content": "x"}),
        ("shell", {"command": "ls"}),
        ("edit", {"path": "a", "old_string": "x", "new_string": "y"}),
    ],
)
def test_a_withheld_tool_that_is_called_all_the_same_is_refused(
    policy: Any, tool: str, arguments: Any
) -> None:
    driver, _ = planning(policy)
    driver.round(calls((tool, arguments)))
    driver.work()
    assert not driver.open
    assert driver.card()["status"] == "failed"
    assert driver.result() == PLANNING


def test_the_mode_counts_again_right_before_a_call_runs() -> None:
    driver, session = ready(with_(ALL, policy="ask"))
    driver.prompt(session)
    driver.round(calls(("write_file", {"path": "a", "content": "x"})))
    driver.work()
    asked = driver.only_asked("session/request_permission")
    set_mode(driver, session, "plan")
    driver.choose(asked, "allow_once")
    driver.work()
    assert driver.result() == PLANNING


@pytest.mark.parametrize("policy", ["read-only", "ask", "allow-edits", "allow-all"])
def test_the_model_leaves_plan_mode_only_by_the_users_word(policy: Any) -> None:
    driver, session = planning(policy)
    driver.round(calls(("exit_plan", {"plan": "1. Do it."})))
    driver.work()
    card = driver.card()
    assert card["kind"] == "switch_mode"
    assert card["content"] == [{"type": "content", "content": {"type": "text", "text": "1. Do it."}}]
    asked = driver.only_asked("session/request_permission")
    question = driver.open[asked]["params"]
    assert question["toolCall"]["rawInput"] == {"plan": "1. Do it."}
    assert [option["name"] for option in question["options"]] == ["Begin with this plan", "Keep planning"]
    driver.choose(asked, "allow_once")
    driver.work()
    assert driver.result() == AGREED
    assert [update["currentModeId"] for update in shown(driver, "current_mode_update")] == ["build"]
    assert shown(driver, "config_option_update")
    assert "write_file" in {spec.name for spec in requested(driver).tools}
    driver.round(said("done"))
    driver.check_replay()
    assert options_of(choose(driver, session, "thought_level", "low"))["mode"]["currentValue"] == "build"


def test_a_refused_plan_stays_a_plan() -> None:
    driver, session = planning()
    driver.round(calls(("exit_plan", {"plan": "1. Do it."})))
    driver.work()
    driver.choose(driver.only_asked("session/request_permission"), "reject_once")
    driver.work()
    assert driver.result() == KEEP_PLANNING
    assert not shown(driver, "current_mode_update")
    assert not [spec for spec in requested(driver).tools if spec.changes]
    assert options_of(choose(driver, session, "thought_level", "low"))["mode"]["currentValue"] == "plan"


def test_a_host_has_modes_of_its_own() -> None:
    look = Mode(id="look", name="Look", changes=False)
    driver, session = ready(with_(ALL, modes=(look, Mode(id="do", name="Do"))))
    driver.prompt(session)
    assert "exit_plan" not in {spec.name for spec in requested(driver).tools}
    assert not [spec for spec in requested(driver).tools if spec.changes]
    driver.round(said("ok"))
    set_mode(driver, session, "do")
    driver.prompt(session)
    assert "write_file" in {spec.name for spec in requested(driver).tools}


def test_no_tool_of_a_client_takes_the_name_of_the_way_out() -> None:
    driver = Driver(ALL)
    driver.initialize()
    tools = [{"name": "exit_plan", "inputSchema": {"type": "object"}}]
    asked = driver.request(
        "session/new", cwd="/project", mcpServers=[], _meta={"zidane": {"clientTools": tools}}
    )
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["code"] == -32602


# Models that are made late --------------------------------------------------------------------------


def factory(driver: Driver) -> str:
    return driver.only(lambda what: isinstance(what, RunFactory))


def test_a_late_provider_is_made_before_the_answer_and_what_comes_behind_waits() -> None:
    driver, session = ready(ALL)
    first = driver.request("session/set_config_option", sessionId=session, configId="model", value="late")
    second = driver.request("session/set_config_option", sessionId=session, configId="mode", value="plan")
    driver.prompt(session)
    assert driver.answer_of(first) is driver.answer_of(second) is None
    assert not driver.model_jobs()
    driver.end(factory(driver), Ok(ProviderMade()))
    assert options_of(driver.answer_of(first))["model"]["currentValue"] == "late"
    assert options_of(driver.answer_of(second))["mode"]["currentValue"] == "plan"
    assert requested(driver).model is LATE


def test_a_provider_that_cannot_be_made_leaves_the_model_and_is_tried_anew() -> None:
    driver, session = ready(ALL)
    fault = Fault(-32000, "No key for Late; set LATE_KEY.", {"kind": "auth"})
    asked = driver.request("session/set_config_option", sessionId=session, configId="model", value="late")
    driver.end(factory(driver), Failed(fault))
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["message"] == "No key for Late; set LATE_KEY."
    driver.prompt(session)
    assert requested(driver).model == MODEL
    again = driver.request("session/set_config_option", sessionId=session, configId="model", value="late")
    driver.end(factory(driver), Ok(ProviderMade()))
    assert options_of(driver.answer_of(again))["model"]["currentValue"] == "late"


def test_a_model_changes_in_the_middle_of_a_turn() -> None:
    driver, session = ready(ALL)
    driver.prompt(session)
    driver.round(calls(("read_file", {"path": "a"})))
    choose(driver, session, "model", "other")
    driver.work()
    assert requested(driver).model is OTHER


def test_a_request_that_waits_for_a_provider_can_be_withdrawn() -> None:
    driver, session = ready(ALL)
    asked = driver.request("session/set_config_option", sessionId=session, configId="model", value="late")
    made = factory(driver)
    driver.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": asked}})
    answer = driver.answer_of(asked)
    assert answer is not None
    assert answer["error"]["code"] == -32800
    assert made in driver.stopped
    driver.end(made, Ok(ProviderMade()))
    driver.prompt(session)
    assert requested(driver).model == MODEL


@pytest.mark.parametrize("how", ["close", "eof"])
def test_what_waits_for_a_provider_is_answered_at_the_end(how: str) -> None:
    driver, session = ready(ALL)
    asked = driver.request("session/set_config_option", sessionId=session, configId="model", value="late")
    if how == "close":
        driver.request("session/close", sessionId=session)
    else:
        driver.close()
    assert driver.answer_of(asked) is not None
    assert how == "close" or driver.exit == 0


# What is remembered --------------------------------------------------------------------------------


def stored(options: Options = ALL) -> tuple[Driver, str]:
    driver, session = ready(with_(options, store=True))
    driver.store()
    return driver, session


def test_everything_that_was_chosen_is_there_after_a_load() -> None:
    driver, session = stored(with_(ALL, default_model="rich"))
    for option, value in {"mode": "plan", "thought_level": "low", "model.size": "l"}.items():
        asked = driver.request("session/set_config_option", sessionId=session, configId=option, value=value)
        driver.store()
        assert driver.answer_of(asked) is not None
    driver.close()
    again = Driver(with_(ALL, store=True), disk=driver.disk, seed="again")
    again.initialize()
    answer = again.answer_of(again.load(session))
    found = options_of(answer)
    assert {key: one["currentValue"] for key, one in found.items()} == {
        "mode": "plan",
        "model": "test-model",
        "thought_level": "low",
    }
    assert answer is not None and answer["result"]["modes"]["currentModeId"] == "plan"
    asked = again.request("session/set_config_option", sessionId=session, configId="model", value="rich")
    again.store()
    assert options_of(again.answer_of(asked))["model.size"]["currentValue"] == "l"


# Projects ------------------------------------------------------------------------------------------


def opened(options: Options, settings: ProjectSettings) -> tuple[Driver, str]:
    project = Project(folders=("/project",), settings=settings)
    driver = Driver(with_(options, project=True), project=project)
    driver.initialize()
    return driver, driver.session()


def test_a_project_chooses_what_the_command_line_leaves_open() -> None:
    settings = ProjectSettings(default_model="else/o-1", mode="plan", thinking="high")
    driver, session = opened(ALL, settings)
    driver.prompt(session)
    driver.gather()
    assert requested(driver).model is OTHER
    assert not [spec for spec in requested(driver).tools if spec.changes]
    driver, session = opened(with_(ALL, pinned=("model", "mode", "thinking")), settings)
    driver.prompt(session)
    driver.gather()
    assert requested(driver).model == MODEL
    assert requested(driver).thinking == "off"
    assert [spec for spec in requested(driver).tools if spec.changes]


def test_a_project_that_chooses_what_is_not_there_is_told() -> None:
    driver, session = opened(ALL, ProjectSettings(default_model="gone", mode="nap", thinking="huge"))
    driver.prompt(session)
    assert [notice.strip() for notice in driver.notices()] == [
        "The project's default_model 'gone' is not there; test-model is used.",
        "The project's mode 'nap' is not there; build is used.",
        "The project's thinking 'huge' is not there; off is used.",
    ]


# Models that come and go ----------------------------------------------------------------------------


def test_a_key_that_appears_brings_its_models_to_every_session() -> None:
    offline = ModelChoice(value="offline", name="Offline", provider="offline", id="offline", thinking=False)
    driver, session = ready(with_(ALL, models=(offline,), default_model="offline"))
    driver.feed(ModelsChanged(driver.now, (MODEL, OTHER), "test-model"))
    (update,) = shown(driver, "config_option_update")
    assert {one["id"]: one["currentValue"] for one in update["configOptions"]}["model"] == "test-model"
    driver.prompt(session)
    assert requested(driver).model == MODEL


def test_a_session_that_works_keeps_its_model_when_others_come() -> None:
    driver, session = ready(with_(ALL, models=(OTHER,), default_model="other"))
    driver.prompt(session)
    driver.round(said("ok"))
    driver.feed(ModelsChanged(driver.now, (MODEL, OTHER), "test-model"))
    driver.prompt(session)
    assert requested(driver).model == OTHER
    assert driver.connection.agent.options.default_model == "test-model"
    assert options_of(choose(driver, session, "mode", "plan"))["model"]["currentValue"] == "other"


def test_a_model_that_was_chosen_and_is_gone_is_told_once() -> None:
    driver, session = ready(ALL)
    choose(driver, session, "model", "other")
    driver.feed(ModelsChanged(driver.now, (MODEL,), "test-model"))
    driver.prompt(session)
    assert requested(driver).model == MODEL
    assert [notice.strip() for notice in driver.notices()] == [
        "This session used the model other, which is not there any more; test-model is used instead."
    ]


def test_the_same_models_again_change_nothing() -> None:
    driver, _ = ready(ALL)
    before = driver.connection
    driver.feed(ModelsChanged(driver.now, ALL.models, ALL.default_model))
    assert driver.connection is before
