"""Instructions and commands in files: asked about once, used only then, told of, and never kept open by a card."""

from typing import Any

import pytest
from msgspec.structs import replace
from support.driver import OPTIONS, PROJECT, Driver, said, with_

from zidane_core.agent import trusting
from zidane_core.agent.events import Failed
from zidane_core.agent.state import Thread
from zidane_core.agent.work import KeepTrust, LookAround
from zidane_core.data.content import Text
from zidane_core.data.project import Project, UserCommand
from zidane_core.faults import Fault

ON = with_(OPTIONS, project=True, remembers=True)
READ_BOTH = "Instructions read: /home/AGENTS.md (9 bytes), AGENTS.md (2 KiB)."
READ_OWN = "Instructions read: /home/AGENTS.md (9 bytes)."
NOT_USED = "The instructions and commands of /project are not used in this session; a new one asks again."


def opened(options: Any = ON, project: Project = PROJECT) -> tuple[Driver, str]:
    driver = Driver(options, project=project)
    driver.initialize()
    return driver, driver.session()


def prompted(options: Any = ON, project: Project = PROJECT) -> tuple[Driver, str, Any]:
    driver, session = opened(options, project)
    asked = driver.prompt(session)
    driver.finish(driver.only(lambda what: isinstance(what, LookAround)))
    return driver, session, asked


def system(driver: Driver) -> str:
    (key,) = driver.model_jobs()
    text: str = driver.jobs[key].request.system
    return text


def thread_of(driver: Driver) -> Thread:
    (thread,) = driver.connection.agent.threads.values()
    return thread


def question(driver: Driver) -> dict[str, Any]:
    params: dict[str, Any] = driver.open[driver.only_asked("session/request_permission")]["params"]
    return params


def choose(driver: Driver, option: str) -> None:
    driver.choose(driver.only_asked("session/request_permission"), option)


# The question --------------------------------------------------------------------------------------


def test_the_first_prompt_asks_by_a_card_that_names_every_file() -> None:
    driver, _, _ = prompted()
    assert not driver.model_jobs()
    asked = question(driver)
    card = asked["toolCall"]
    assert card["title"] == "Use the instructions and commands of /project"
    assert card["kind"] == "other", "clients allow reading without a word"
    assert card["rawInput"] == {
        "folders": ["/project"],
        "instructions": ["/project/AGENTS.md"],
        "commands": ["/fix"],
    }
    paths = [place["path"] for place in card["locations"]]
    assert paths == ["/project/AGENTS.md", "/project/.zidane/commands/fix.md"]
    assert [option["optionId"] for option in asked["options"]] == [
        "allow_once",
        "allow_always",
        "reject_once",
    ]
    assert driver.card()["status"] == "pending"


@pytest.mark.parametrize(
    ("options", "project", "title"),
    [
        (with_(ON, remembers=False), replace(PROJECT, commands=()), "Use the instructions of /project"),
        (with_(ON, remembers=False), replace(PROJECT, instructions=()), "Use the commands of /project"),
    ],
)
def test_what_nobody_can_remember_is_not_offered(options: Any, project: Project, title: str) -> None:
    driver, _, _ = prompted(options, project)
    asked = question(driver)
    assert [option["optionId"] for option in asked["options"]] == ["allow_once", "reject_once"]
    assert asked["toolCall"]["title"] == title
    choose(driver, "allow_always")
    assert NOT_USED in driver.notices() and not trusting.commands(thread_of(driver))


@pytest.mark.parametrize("option", ["allow_once", "allow_always"])
def test_allowed_it_is_used_and_told_and_not_asked_again(option: str) -> None:
    driver, session, _ = prompted()
    choose(driver, option)
    assert driver.card()["status"] == "completed"
    assert "Use tabs." in system(driver) and "Be kind." in system(driver)
    assert [one.name for one in trusting.commands(thread_of(driver))] == ["fix"]
    assert driver.notices() == [READ_BOTH]
    driver.round(said("ok"))
    driver.prompt(session, "again")
    assert "Use tabs." in system(driver) and driver.notices() == [READ_BOTH]
    driver.round(said("ok"))
    driver.check_replay()


REFUSALS: list[dict[str, Any]] = [
    {"result": {"outcome": {"outcome": "selected", "optionId": "reject_once"}}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "nonsense"}}},
    {"result": {}},
    {"result": None},
    {"error": {"code": -32601, "message": "Method not found"}},
]


@pytest.mark.parametrize("answer", REFUSALS)
def test_anything_but_a_yes_leaves_it_out_for_this_session(answer: dict[str, Any]) -> None:
    driver, session, _ = prompted()
    driver.reply(driver.only_asked("session/request_permission"), **answer)
    assert driver.card()["status"] == "failed"
    assert "Use tabs." not in system(driver) and "Be kind." in system(driver)
    assert not trusting.commands(thread_of(driver))
    assert driver.notices() == [NOT_USED, READ_OWN]
    driver.round(said("ok"))
    driver.prompt(session, "again")
    assert "Use tabs." not in system(driver) and driver.notices() == [NOT_USED, READ_OWN]


def test_dismissed_the_turn_is_cancelled_and_the_next_prompt_asks_again() -> None:
    driver, session, asked = prompted()
    driver.reply(
        driver.only_asked("session/request_permission"), result={"outcome": {"outcome": "cancelled"}}
    )
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"
    assert driver.card()["status"] == "failed" and not driver.notices()
    driver.prompt(session, "again")
    choose(driver, "allow_once")
    assert "Use tabs." in system(driver)
    driver.check_replay()


@pytest.mark.parametrize("how", ["cancel", "close"])
def test_a_turn_that_ends_meanwhile_withdraws_the_question_and_closes_the_card(how: str) -> None:
    driver, session, asked = prompted()
    if how == "cancel":
        driver.cancel(session)
    else:
        driver.stopping.add(session)
        driver.request("session/close", sessionId=session)
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"
    assert not driver.open and driver.card()["status"] == "failed"


def test_a_cancel_stops_the_look_at_the_place_and_the_next_prompt_looks_again() -> None:
    driver, session = opened()
    driver.prompt(session)
    first = driver.only(lambda what: isinstance(what, LookAround))
    driver.cancel(session)
    assert first in driver.stopped
    driver.finish(first)
    driver.prompt(session, "again")
    driver.finish(driver.only(lambda what: isinstance(what, LookAround)))
    choose(driver, "allow_once")
    assert "Linux" in system(driver)


def test_nothing_is_asked_where_there_is_nothing_to_use_or_all_is_trusted() -> None:
    own = replace(PROJECT, instructions=PROJECT.instructions[:1], commands=())
    for project in (
        own,
        replace(PROJECT, untrusted=()),
        Project(folders=("/project",), untrusted=("/project",)),
    ):
        driver, _, _ = prompted(project=project)
        assert not driver.open
        assert ("Use tabs." in system(driver)) == (not project.untrusted)


def test_without_the_option_nothing_of_it_is_looked_at_or_used() -> None:
    driver, session = opened(with_(OPTIONS, remembers=True))
    thread = thread_of(driver)
    assert thread.project == Project(folders=("/project",))
    driver.prompt(session)
    assert not driver.open and system(driver) == "Work in /project."
    assert thread_of(opened(OPTIONS)[0]).project is None


# Commands ------------------------------------------------------------------------------------------


def test_commands_of_files_are_told_again_when_they_come_into_force() -> None:
    driver, _, _ = prompted()
    before = [u for u in driver.updates() if u["sessionUpdate"] == "available_commands_update"]
    choose(driver, "allow_once")
    after = [u for u in driver.updates() if u["sessionUpdate"] == "available_commands_update"]
    assert len(after) == len(before) + 1


@pytest.mark.parametrize(("option", "given"), [("allow_once", "Fix it."), ("reject_once", "/fix it")])
def test_a_command_of_the_folder_stands_for_its_text_once_that_was_allowed(option: str, given: str) -> None:
    driver, session = opened()
    driver.prompt(session, "/fix it")
    driver.finish(driver.only(lambda what: isinstance(what, LookAround)))
    choose(driver, option)
    (key,) = driver.model_jobs()
    assert driver.jobs[key].request.messages[0].parts == (Text(given),)


def test_what_the_agent_answers_alone_waits_for_nothing() -> None:
    driver, session = opened(with_(ON, slash=True))
    asked = driver.prompt(session, "/help")
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "end_turn"
    assert not driver.open and not driver.waits() and "/fix" not in driver.text()
    driver.prompt(session, "hello")
    driver.finish(driver.only(lambda what: isinstance(what, LookAround)))
    choose(driver, "allow_once")
    assert "Use tabs." in system(driver)


def command(name: str, folder: str = "", template: str = "x") -> UserCommand:
    return UserCommand(name=name, template=template, source="project" if folder else "user", folder=folder)


@pytest.mark.parametrize(
    ("untrusted", "used"),
    [
        ((), ["own", "one", "two"]),
        (("/a",), ["own", "two /b", "one hidden"]),
        (("/b",), ["own", "one", "two"]),
        (("/a", "/b"), ["own"]),
    ],
)
def test_of_one_name_the_first_that_is_trusted_is_used(untrusted: tuple[str, ...], used: list[str]) -> None:
    found = (
        command("own"),
        command("own", "/a", "hidden"),
        command("one", "/a"),
        command("two", "/a"),
        command("two", "/b", "x /b"),
        command("one", "/b", "x hidden"),
        UserCommand(name="stray", template="x", source="project"),
    )
    project = Project(folders=("/a", "/b"), untrusted=untrusted, commands=found)
    thread = Thread(id="t", epoch=1, tag="t", cwd="/a", roots=("/a",), settings=None, project=project)  # type: ignore[arg-type]
    told = [one.name + one.template.removeprefix("x") for one in trusting.commands(thread)]
    assert told == used


# Kept ----------------------------------------------------------------------------------------------


def test_trust_that_is_to_be_kept_is_kept_and_nobody_hears_of_it() -> None:
    driver, _, _ = prompted()
    choose(driver, "allow_always")
    key = driver.only(lambda what: isinstance(what, KeepTrust))
    assert driver.jobs[key].folders == ("/project",)
    driver.finish(key)
    driver.round(said("ok"))
    assert driver.notices() == [READ_BOTH]


@pytest.mark.parametrize("late", [False, True])
def test_trust_that_cannot_be_kept_holds_for_the_session_and_the_user_is_told_once(late: bool) -> None:
    driver, session, _ = prompted()
    choose(driver, "allow_always")
    key = driver.only(lambda what: isinstance(what, KeepTrust))
    if late:
        driver.round(said("ok"))
    driver.end(key, Failed(Fault(-32603, "The disk is full; make room.")))
    if not late:
        driver.round(said("ok"))
    driver.prompt(session, "again")
    assert "Use tabs." in system(driver)
    assert driver.notices() == [READ_BOTH, f"{trusting.NOT_KEPT} The disk is full; make room."]


# Sessions that are opened again --------------------------------------------------------------------

STORED = with_(ON, store=True)


def ended(option: str) -> tuple[Driver, str]:
    """A stored session with one turn, in which the question was answered."""
    driver, session = opened(STORED)
    driver.prompt(session)
    driver.store()
    driver.finish(driver.only(lambda what: isinstance(what, LookAround)))
    choose(driver, option)
    driver.store()
    driver.round(said("ok"))
    driver.store()
    return driver, session


@pytest.mark.parametrize("option", ["allow_once", "reject_once"])
def test_an_open_session_that_is_loaded_again_keeps_the_answer(option: str) -> None:
    driver, session = ended(option)
    driver.load(session)
    driver.prompt(session, "again")
    driver.store()
    assert not driver.open
    assert ("Use tabs." in system(driver)) == (option == "allow_once")


def test_another_program_that_loads_it_asks_again_and_shows_the_old_card() -> None:
    driver, session = ended("allow_once")
    again = Driver(STORED, disk=driver.disk, seed="another", project=PROJECT)
    again.initialize()
    again.load(session)
    assert again.card()["status"] == "completed" and again.card()["title"].startswith("Use the instructions")
    again.prompt(session, "again")
    again.store()
    again.finish(again.only(lambda what: isinstance(what, LookAround)))
    choose(again, "reject_once")
    assert "Use tabs." not in system(again)


def test_a_new_root_that_brings_more_is_asked_about_alone() -> None:
    driver, session = ended("reject_once")
    other = replace(PROJECT.instructions[1], path="/other/AGENTS.md", text="Other.\n", folder="/other")
    driver.project = Project(
        folders=("/project", "/other"),
        untrusted=("/project", "/other"),
        instructions=(*PROJECT.instructions, other),
    )
    driver.load(session, additionalDirectories=["/other"])
    driver.prompt(session, "again")
    driver.store()
    assert question(driver)["toolCall"]["rawInput"]["folders"] == ["/other"]
    choose(driver, "allow_once")
    driver.store()
    assert "Other." in system(driver) and "Use tabs." not in system(driver)


def test_the_model_sees_nothing_of_the_question() -> None:
    driver, _, _ = prompted()
    choose(driver, "allow_once")
    (key,) = driver.model_jobs()
    assert len(driver.jobs[key].request.messages) == 1


def test_what_was_left_out_is_told_once() -> None:
    driver, session, _ = prompted(project=Project(warnings=("/a is no text; it is not used.",)))
    driver.round(said("ok"))
    driver.prompt(session, "again")
    assert driver.notices() == ["/a is no text; it is not used."]
