"""Permissions that outlive their question: for the session in its log, for the project by a job."""

from typing import Any

import pytest
from support.driver import OPTIONS, Driver, calls, said, with_

from zidane_core.agent.events import Ended, Failed, Ok, RuleKept, Stopped
from zidane_core.agent.state import Options, Thread
from zidane_core.agent.work import KeepGrant, RunMcpCall
from zidane_core.data import history
from zidane_core.data.project import Project, ProjectSettings
from zidane_core.data.rules import Grant, Policy
from zidane_core.faults import Fault

REMEMBERS = with_(OPTIONS, store=True, remembers=True)
PROJECT = Project(folders=("/project",))
COMMIT = ("shell", {"command": "git commit -m a"})
AGAIN = ("shell", {"command": "git commit -m b"})
WRITE = ("write_file", {"path": "a.txt", "content": "b"})
FETCH = ("fetch", {"url": "https://example.com/a"})
PREFIX = Grant("prefix", ("git", "commit"))
BROKEN = Failed(Fault(-32603, "The disk is full; free some space.", {"kind": "store"}))
ONE = {"name": "one", "command": "/bin/one", "args": [], "env": []}
PICK = {"zidane": {"clientTools": [{"name": "pick", "inputSchema": {"type": "object"}}]}}


def opened(
    options: Options = REMEMBERS, project: Project | None = PROJECT, **more: Any
) -> tuple[Driver, str]:
    driver = Driver(options)
    driver.project = project
    driver.initialize()
    return driver, driver.session(**more)


def called(driver: Driver, session: str, *made: tuple[str, dict[str, object]]) -> None:
    """A turn in which the model makes these calls; their preparations end."""
    driver.prompt(session)
    driver.store()
    driver.gather()
    driver.round(calls(*made))
    prepared(driver)


def prepared(driver: Driver) -> None:
    while jobs := driver.tool_jobs("prepare"):
        driver.finish(jobs[0])


def ended(driver: Driver) -> None:
    """Every call that runs ends, and then the turn."""
    while jobs := driver.tool_jobs():
        driver.finish(jobs[0])
        prepared(driver)
    driver.round(said("done"))
    driver.store()


def options_of(driver: Driver) -> list[tuple[str, str]]:
    question = driver.open[driver.only_asked("session/request_permission")]
    return [(one["optionId"], one["name"]) for one in question["params"]["options"]]


def ids(driver: Driver) -> list[str]:
    return [name for name, _ in options_of(driver)]


def keeping(driver: Driver) -> str:
    return driver.only(lambda what: isinstance(what, KeepGrant))


def thread_of(driver: Driver, session: str) -> Thread:
    thread = driver.connection.agent.threads.get(session)
    assert thread is not None
    return thread


def logged(driver: Driver, session: str) -> list[Grant]:
    return [entry.grant for entry in thread_of(driver, session).log if isinstance(entry, history.Granted)]


def asks(driver: Driver, session: str, *made: tuple[str, dict[str, object]]) -> bool:
    """Whether a further turn with these calls asks the user, who says no."""
    called(driver, session, *made)
    asked = [number for number in driver.open if "options" in driver.open[number]["params"]]
    for number in asked:
        driver.choose(number, "reject_once")
    ended(driver)
    return bool(asked)


# The question --------------------------------------------------------------------------------------


def test_the_project_is_offered_between_the_session_and_no() -> None:
    driver, session = opened()
    called(driver, session, COMMIT)
    assert options_of(driver) == [
        ("allow_once", "Allow once"),
        ("allow_always", "Always allow `git commit *` (this session)"),
        ("allow_project", "Always allow `git commit *` (this project)"),
        ("reject_once", "Reject"),
    ]
    (question,) = driver.open.values()
    kinds = [option["kind"] for option in question["params"]["options"]]
    assert kinds == ["allow_once", "allow_always", "allow_always", "reject_once"]


@pytest.mark.parametrize(
    ("options", "project"),
    [(with_(REMEMBERS, remembers=False), PROJECT), (REMEMBERS, None), (REMEMBERS, Project())],
    ids=["nothing remembers", "no project", "a project without a folder"],
)
def test_without_a_place_for_it_the_project_is_not_offered(options: Options, project: Project | None) -> None:
    driver, session = opened(options, project)
    called(driver, session, COMMIT)
    assert ids(driver) == ["allow_once", "allow_always", "reject_once"]
    driver.choose(driver.only_asked("session/request_permission"), "allow_project")
    assert "named no offered option" in driver.result() and not driver.tool_jobs()
    assert not [what for what in driver.jobs.values() if isinstance(what, KeepGrant)]


@pytest.mark.parametrize(
    ("call", "offered"),
    [
        (WRITE, True),
        (FETCH, True),
        (COMMIT, True),
        (("shell", {"command": "a && b"}), True),
        (("one__change", {}), True),
        (("pick", {}), False),
        (("read_file", {"path": "/elsewhere"}), False),
        (("write_file", {"path": ".env", "content": ""}), False),
        (("shell", {"command": "touch .git/x"}), False),
    ],
)
def test_what_may_be_kept_for_a_project(call: tuple[str, dict[str, object]], offered: bool) -> None:
    driver, session = opened(mcpServers=[ONE], _meta=PICK)
    for key in driver.server_jobs():
        driver.offer(key)
    called(driver, session, call)
    assert ("allow_project" in ids(driver)) is offered


# For the project -----------------------------------------------------------------------------------


def test_a_permission_of_the_project_holds_at_once_and_is_kept() -> None:
    driver, session = opened()
    called(driver, session, COMMIT, AGAIN)
    first, _ = driver.asked()
    driver.choose(first, "allow_project")
    assert not driver.open, "the other question is covered"
    assert driver.jobs[keeping(driver)] == KeepGrant("/project", PREFIX)
    ended(driver)
    assert not asks(driver, session, COMMIT), "it holds although nothing has been kept yet"
    driver.finish(keeping(driver))
    thread = thread_of(driver, session)
    assert (thread.grants, thread.keeping, logged(driver, session)) == ((), (), [])
    assert thread.project is not None and thread.project.grants == (PREFIX,)


@pytest.mark.parametrize("outcome", [BROKEN, Stopped()], ids=["failed", "stopped"])
@pytest.mark.parametrize("late", [False, True])
def test_what_cannot_be_kept_holds_for_the_session_and_the_user_is_told(outcome: Any, late: bool) -> None:
    driver, session = opened()
    called(driver, session, COMMIT)
    driver.choose(driver.only_asked("session/request_permission"), "allow_project")
    if late:
        ended(driver)
    driver.end(keeping(driver), outcome)
    if not late:
        ended(driver)
    driver.store()
    assert not asks(driver, session, AGAIN)
    told = [notice for notice in driver.text().splitlines() if "for this session only" in notice]
    assert told and ("The disk is full" in told[0]) is (outcome is BROKEN), driver.text()
    thread = thread_of(driver, session)
    assert thread.grants == (PREFIX,) and logged(driver, session) == [PREFIX]
    assert thread.project is not None and thread.project.grants == ()


def test_the_end_of_a_job_that_nobody_knows_changes_nothing() -> None:
    driver, session = opened()
    before = driver.connection
    driver.feed(Ended(driver.now, f"{session}/1.99", Ok(RuleKept())))
    assert driver.connection is before


def test_once_kept_it_holds_in_the_other_sessions_of_the_project() -> None:
    driver, session = opened()
    other = driver.session("/project/sub")
    driver.project = Project(folders=("/elsewhere",))
    third = driver.session("/elsewhere")
    called(driver, session, COMMIT)
    driver.choose(driver.only_asked("session/request_permission"), "allow_project")
    driver.finish(keeping(driver))
    ended(driver)
    grants = [thread_of(driver, one).project for one in (session, other, third)]
    assert [project.grants for project in grants if project] == [(PREFIX,), (PREFIX,), ()]
    assert not asks(driver, other, AGAIN)
    assert asks(driver, third, AGAIN)


def test_a_project_that_was_read_before_it_was_kept_has_it_all_the_same() -> None:
    driver, session = opened()
    called(driver, session, COMMIT)
    driver.choose(driver.only_asked("session/request_permission"), "allow_project")
    ended(driver)
    driver.load(session, method="session/resume")
    assert thread_of(driver, session).project == PROJECT
    driver.finish(keeping(driver))
    project = thread_of(driver, session).project
    assert project is not None and project.grants == (PREFIX,)


def test_the_session_may_be_closed_before_it_is_kept() -> None:
    driver, session = opened()
    called(driver, session, COMMIT)
    driver.choose(driver.only_asked("session/request_permission"), "allow_project")
    key = keeping(driver)
    driver.stopping.add(session)
    driver.request("session/close", sessionId=session)
    while jobs := driver.tool_jobs():
        driver.finish(jobs[0])
    driver.store()
    assert key not in driver.stopped
    before = driver.connection
    driver.end(key, BROKEN)
    assert driver.connection is before


def test_permissions_of_the_project_come_with_it() -> None:
    server = Grant("tool", ("mcp_tool", "one", "change"))
    given = Project(
        folders=("/project",), grants=(PREFIX, Grant("edits"), Grant("host", ("example.com",)), server)
    )
    driver, session = opened(project=given, mcpServers=[ONE])
    for key in driver.server_jobs():
        driver.offer(key)
    called(driver, session, AGAIN, WRITE, FETCH, ("one__change", {}))
    assert not driver.open
    while jobs := driver.tool_jobs():
        driver.finish(jobs[0])
        prepared(driver)
    assert [what.tool for what in driver.jobs.values() if isinstance(what, RunMcpCall)] == ["change"]


# What a project tightens ---------------------------------------------------------------------------

POLICIES: tuple[Policy, ...] = ("allow-all", "allow-edits", "ask", "read-only")


@pytest.mark.parametrize("own", POLICIES)
@pytest.mark.parametrize("project", POLICIES)
def test_the_tighter_policy_is_in_force(own: Policy, project: Policy) -> None:
    settings = ProjectSettings(policy=project)
    driver, session = opened(
        with_(REMEMBERS, policy=own, project=True), Project(folders=("/project",), settings=settings)
    )
    called(driver, session, WRITE, ("shell", {"command": "make"}))
    asked = [question["params"]["toolCall"]["name"] for question in driver.open.values()]
    expected = {
        "allow-all": [],
        "allow-edits": ["shell"],
        "ask": ["write_file", "shell"],
        "read-only": [],
    }[max(own, project, key=POLICIES.index)]
    assert asked == expected
    refused = "read-only" in str(driver.updates())
    assert refused is ("read-only" in (own, project))


# For the session -----------------------------------------------------------------------------------


def test_a_permission_of_the_session_holds_in_another_program() -> None:
    driver, session = opened()
    called(driver, session, COMMIT)
    driver.choose(driver.only_asked("session/request_permission"), "allow_always")
    assert logged(driver, session) == [PREFIX]
    ended(driver)
    for method in ("session/load", "session/resume"):
        other = Driver(REMEMBERS, disk=driver.disk, seed=method)
        other.initialize()
        other.load(session, method=method)
        assert thread_of(other, session).grants == (PREFIX,)
        assert not asks(other, session, AGAIN)
        assert asks(other, session, WRITE)
        assert logged(other, session) == [PREFIX]


def test_a_permission_for_a_tool_of_the_client_is_not_stored() -> None:
    driver, session = opened(_meta=PICK)
    called(driver, session, ("pick", {}))
    driver.choose(driver.only_asked("session/request_permission"), "allow_always")
    driver.answer(driver.only_asked("_zidane/client_tool/call"))
    driver.round(calls(("pick", {})))
    driver.answer(driver.only_asked("_zidane/client_tool/call"))
    driver.round(said("done"))
    driver.store()
    assert logged(driver, session) == []
    other = Driver(REMEMBERS, disk=driver.disk, seed="other")
    other.initialize()
    other.load(session, _meta=PICK)
    called(other, session, ("pick", {}))
    assert other.only_asked("session/request_permission")


def test_two_answers_that_give_the_same_are_logged_once() -> None:
    driver, session = opened(with_(REMEMBERS, remembers=False))
    called(driver, session, WRITE)
    driver.choose(driver.only_asked("session/request_permission"), "allow_always")
    ended(driver)
    assert not asks(driver, session, WRITE)
    assert logged(driver, session) == [Grant("edits")]
