"""One gate: whichever way a tool comes, what is denied does not run and what is guarded is asked about."""

from typing import Any

import pytest
from support.driver import HANDS, OPTIONS, Driver, calls, said, with_

from zidane_core.agent.events import Ok
from zidane_core.agent.state import Options
from zidane_core.agent.work import LookAtFile, ReadAttachments, RunMcpCall, RunTool
from zidane_core.data.project import Project, ProjectSettings
from zidane_core.data.rules import Denials, Grant, Policy
from zidane_core.data.tools import Preview, ResolvedPath, ToolSpec

DENIED = Denials(("secrets/**", "*.pem"), ("git push", "rm -rf *"))
ONE = {"name": "one", "command": "/bin/one", "args": [], "env": []}
PICK = {"zidane": {"clientTools": [{"name": "pick", "inputSchema": {"type": "object"}}]}}
HOSTS = ToolSpec(name="hosts", description="", schema={"type": "object"}, access="other")
READS = ToolSpec(
    name="reads",
    description="",
    schema={"type": "object"},
    access="none",
    changes=False,
    path_arguments=("at",),
)
OPEN = with_(
    OPTIONS, tools=(*OPTIONS.tools, HOSTS, READS), policy="allow-all", denials=DENIED, trust_read_only=True
)

DENIED_CALLS = [
    ("read_file", {"path": "secrets/key"}),
    ("read_file", {"path": "src/../secrets/key"}),
    ("write_file", {"path": "secrets/key", "content": "a"}),
    ("edit", {"path": "k.pem", "old_string": "a", "new_string": "b"}),
    ("multi_edit", {"path": "k.pem", "edits": [{"old_string": "a", "new_string": "b"}]}),
    ("list_files", {"path": "secrets"}),
    ("glob", {"pattern": "*", "path": "secrets/sub"}),
    ("search", {"pattern": "x", "path": "/project/secrets"}),
    ("shell", {"command": "git push"}),
    ("shell", {"command": "cat secrets/key"}),
    ("shell", {"command": "ls", "cwd": "secrets"}),
    ("shell", {"command": "sh -c 'rm -rf x'"}),
    ("one__look", {"path": "secrets/key"}),
    ("one__change", {"path": "/project/secrets/key"}),
    ("one__change", {"command": "git push"}),
    ("pick", {"of": "file:///project/secrets/key"}),
    ("hosts", {"files": ["a", "k.pem"]}),
    ("reads", {"at": "secrets/key"}),
]


def begun(
    options: Options = OPEN, capabilities: Any = None, project: Project | None = None
) -> tuple[Driver, str]:
    driver = Driver(options, capabilities)
    driver.project = project
    driver.initialize()
    session = driver.session(mcpServers=[ONE], _meta=PICK)
    for key in driver.server_jobs():
        driver.offer(key)
    return driver, session


def called(driver: Driver, session: str, *made: tuple[str, dict[str, object]]) -> None:
    driver.prompt(session)
    driver.gather()
    driver.round(calls(*made))


def work(driver: Driver) -> list[Any]:
    """The jobs of the calls."""
    return [what for what in driver.jobs.values() if isinstance(what, RunTool | RunMcpCall | LookAtFile)]


@pytest.mark.parametrize("policy", ["allow-all", "allow-edits", "ask", "read-only"])
@pytest.mark.parametrize("capabilities", [None, HANDS], ids=["here", "through the client"])
@pytest.mark.parametrize("call", DENIED_CALLS, ids=lambda call: f"{call[0]} {call[1]}")
def test_what_is_denied_is_refused_before_anything_is_looked_at(
    call: tuple[str, dict[str, object]], capabilities: Any, policy: Policy
) -> None:
    driver, session = begun(with_(OPEN, policy=policy), capabilities)
    called(driver, session, call)
    assert not work(driver) and not driver.open
    assert "denied by the user's rule" in driver.result() and "Do not try it another way" in driver.result()
    assert driver.card()["status"] == "failed"


def test_a_grant_does_not_win_over_a_denial() -> None:
    grants = (Grant("command", ("git push",)), Grant("prefix", ("git",)), Grant("edits"))
    project = Project(folders=("/project",), grants=grants)
    driver, session = begun(with_(OPEN, remembers=True), project=project)
    called(driver, session, ("shell", {"command": "git push"}), DENIED_CALLS[2])
    assert not work(driver) and not driver.open


def test_a_project_denies_more_and_never_less() -> None:
    settings = ProjectSettings(denials=Denials(("notes.md",), ("make",)))
    driver, session = begun(
        with_(OPEN, project=True), project=Project(folders=("/project",), settings=settings)
    )
    called(
        driver, session, ("read_file", {"path": "notes.md"}), ("shell", {"command": "make"}), DENIED_CALLS[0]
    )
    assert not work(driver) and not driver.open


def test_a_link_to_something_denied_is_refused_once_it_is_known() -> None:
    driver, session = begun()
    called(driver, session, ("read_file", {"path": "innocent"}))
    found = Preview(paths=(ResolvedPath("innocent", "/project/secrets/key", True),))
    driver.end(driver.tool_jobs("prepare")[0], Ok(found))
    assert not work(driver) and "denied by the user's rule" in driver.result()


def test_what_tools_and_prompts_read_knows_what_is_denied() -> None:
    driver, session = begun()
    driver.request(
        "session/prompt",
        sessionId=session,
        prompt=[{"type": "resource_link", "uri": "file:///project/a", "name": "a"}],
    )
    attach = driver.only(lambda what: isinstance(what, ReadAttachments))
    assert driver.jobs[attach].denied == DENIED.paths
    driver.finish(attach)
    driver.round(calls(("glob", {"pattern": "*"})))
    (prepare,) = driver.tool_jobs("prepare")
    assert driver.jobs[prepare].denied == DENIED.paths
    driver.finish(prepare)
    (run,) = driver.tool_jobs()
    assert driver.jobs[run].denied == DENIED.paths


@pytest.mark.parametrize(
    ("line", "asked"), [("rg x", True), ("git diff", True), ("git status", False), ("cat a", False)]
)
def test_a_command_that_may_read_what_is_denied_unnamed_is_asked_about(line: str, asked: bool) -> None:
    driver, session = begun(with_(OPEN, policy="ask"))
    called(driver, session, ("shell", {"command": line}))
    driver.finish(driver.tool_jobs("prepare")[0])
    assert bool(driver.open) is asked
    without, session = begun(with_(OPEN, policy="ask", denials=Denials()))
    called(without, session, ("shell", {"command": line}))
    without.finish(without.tool_jobs("prepare")[0])
    assert not without.open


# Guarded -------------------------------------------------------------------------------------------

GUARDED_CALLS = [
    ("write_file", {"path": ".git/config", "content": "a"}),
    ("write_file", {"path": "sub/.git/hooks/x", "content": "a"}),
    ("edit", {"path": ".env", "old_string": "a", "new_string": "b"}),
    ("multi_edit", {"path": ".zidane/config.toml", "edits": [{"old_string": "a", "new_string": "b"}]}),
    ("write_file", {"path": "state/rules.db", "content": "a"}),
    ("write_file", {"path": "keys/id_ed25519", "content": "a"}),
    ("shell", {"command": "rm -rf .git"}),
    ("shell", {"command": "echo A=1 > .env"}),
    ("shell", {"command": "sqlite3 state/rules.db"}),
    ("shell", {"command": "touch config", "cwd": ".git"}),
]
EVERYTHING = (Grant("edits"), Grant("command", ("rm -rf .git",)), Grant("command", ("echo A=1 > .env",)))


@pytest.mark.parametrize("policy", ["allow-all", "allow-edits", "ask"])
@pytest.mark.parametrize("call", GUARDED_CALLS, ids=lambda call: f"{call[0]} {call[1]}")
def test_what_is_guarded_is_asked_about_whatever_allows_it(
    call: tuple[str, dict[str, object]], policy: Policy
) -> None:
    options = with_(OPTIONS, policy=policy, protected=("/project/state",), remembers=True)
    driver, session = begun(options, project=Project(folders=("/project",), grants=EVERYTHING))
    called(driver, session, call)
    driver.finish(driver.tool_jobs("prepare")[0])
    question = driver.open[driver.only_asked("session/request_permission")]
    assert [one["optionId"] for one in question["params"]["options"]] == ["allow_once", "reject_once"]
    driver.choose(driver.asked()[0], "allow_once")
    assert driver.tool_jobs()


@pytest.mark.parametrize("call", GUARDED_CALLS, ids=lambda call: f"{call[0]} {call[1]}")
def test_read_only_refuses_it_as_any_change(call: tuple[str, dict[str, object]]) -> None:
    driver, session = begun(with_(OPTIONS, policy="read-only", protected=("/project/state",)))
    called(driver, session, call)
    driver.finish(driver.tool_jobs("prepare")[0])
    assert not driver.open and "read-only" in driver.result()


@pytest.mark.parametrize(
    "call",
    [
        ("read_file", {"path": ".env"}),
        ("write_file", {"path": ".env.example", "content": "a"}),
        ("shell", {"command": "cat .env"}),
        ("shell", {"command": "git commit -m a"}),
    ],
)
def test_reading_it_is_not(call: tuple[str, dict[str, object]]) -> None:
    driver, session = begun(with_(OPTIONS, policy="allow-all"))
    called(driver, session, call)
    driver.finish(driver.tool_jobs("prepare")[0])
    assert not driver.open and driver.tool_jobs()


# Every way -----------------------------------------------------------------------------------------

WAYS = [
    ("write_file", {"path": "a", "content": "b"}),
    ("edit", {"path": "a", "old_string": "a", "new_string": "b"}),
    ("shell", {"command": "make"}),
    ("shell", {"command": "touch a"}),
    ("fetch", {"url": "https://example.com"}),
    ("read_file", {"path": "/elsewhere"}),
    ("pick", {}),
    ("one__change", {}),
    ("hosts", {}),
]


@pytest.mark.parametrize("capabilities", [None, HANDS], ids=["here", "through the client"])
@pytest.mark.parametrize("call", WAYS, ids=lambda call: f"{call[0]} {call[1]}")
def test_every_tool_that_may_change_something_asks_and_a_no_is_a_no(
    call: tuple[str, dict[str, object]], capabilities: Any
) -> None:
    driver, session = begun(with_(OPEN, policy="ask"), capabilities)
    driver.files["/project/a"] = "a"
    called(driver, session, call)
    while not any("options" in one["params"] for one in driver.open.values()):
        if driver.open:
            driver.answer(driver.asked()[0])
        else:
            driver.finish(
                next(key for key, what in driver.jobs.items() if isinstance(what, RunTool | LookAtFile))
            )
    number = driver.only_asked("session/request_permission")
    assert not [what for what in work(driver) if isinstance(what, RunMcpCall) or what.stage == "run"]
    driver.choose(number, "reject_once")
    assert not work(driver) and not driver.open
    assert "The user refused this call" in driver.result()
    driver.round(said("ok"))
