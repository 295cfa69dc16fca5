"""Commands in terminals of the client: made, shown, waited for, released, whatever happens."""

from typing import Any

import pytest
from support.driver import HANDS, OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent.client_terminal import ANSWERED_WITHIN, ENVIRONMENT, MADE_WITHIN, OUTPUT_BYTES
from zidane_core.agent.events import Ok, Stopped, WaitDone
from zidane_core.data.tools import Preview, ResolvedPath
from zidane_core.models.providers import HIDDEN_VARIABLES

RUN = ("shell", {"command": "echo a | wc -c"})
ALLOW = with_(OPTIONS, policy="allow-all")
BROKEN = {"error": {"code": -32603, "message": "no terminals today"}}


def begun(
    *made: tuple[str, dict[str, object]], options: Any = ALLOW, cwd: str = "/project"
) -> tuple[Driver, str, Any]:
    driver = Driver(options, HANDS)
    driver.initialize()
    session = driver.session(cwd)
    asked = driver.prompt(session)
    driver.round(calls(*(made or (RUN,))))
    driver.work()
    return driver, session, asked


def step(driver: Driver, method: str, result: Any) -> None:
    driver.reply(driver.only_asked(method), result=result)
    driver.work()


def methods(driver: Driver) -> list[str]:
    return [frame["method"] for frame in driver.frames if frame.get("method", "").startswith("terminal/")]


def test_the_shell_runs_the_line_and_the_terminal_is_on_the_card_at_once() -> None:
    driver, session, _ = begun()
    request = driver.open[driver.only_asked("terminal/create")]["params"]
    env = request.pop("env")
    assert request == {
        "sessionId": session,
        "command": "/bin/sh",
        "args": ["-c", "echo a | wc -c"],
        "cwd": "/project",
        "outputByteLimit": OUTPUT_BYTES,
    }
    assert {"name": "PAGER", "value": "cat"} in env
    assert {one["name"] for one in env if not one["value"]} == set(HIDDEN_VARIABLES)
    step(driver, "terminal/create", {"terminalId": "t1"})
    shown = [{"type": "terminal", "terminalId": "t1"}]
    assert (driver.card()["status"], driver.card()["content"]) == ("in_progress", shown)
    step(driver, "terminal/wait_for_exit", {"exitCode": 0})
    step(driver, "terminal/output", {"output": "\x1b[1m2\x1b[0m\n", "truncated": False})
    assert methods(driver)[-1] == "terminal/release"
    step(driver, "terminal/release", None)
    assert driver.result() == "2\n"
    assert (driver.card()["status"], driver.card()["content"]) == ("completed", shown)
    raw = {"exitCode": 0, "signal": None, "timedOut": False, "truncated": False}
    assert driver.card()["rawOutput"] == raw


def test_a_replay_names_no_terminal() -> None:
    driver, session, _ = begun()
    step(driver, "terminal/create", {"terminalId": "t1"})
    step(driver, "terminal/wait_for_exit", {"exitCode": 3})
    step(driver, "terminal/output", {"output": "said", "truncated": True})
    assert driver.result() == "said\n[Exit code 3.]" and driver.card()["status"] == "failed"
    step(driver, "terminal/release", {})
    driver.round(said("ok"))
    driver.check_replay()
    assert "said" in str(list(driver.connection.agent.threads.get(session).log))
    assert "t1" not in str(list(driver.connection.agent.threads.get(session).log))


@pytest.mark.parametrize(
    ("result", "said_of_it"),
    [
        ({"exitCode": None, "signal": "SIGKILL"}, "x\n[The command was ended by SIGKILL.]"),
        ({"signal": "TERM"}, "x\n[The command was ended by TERM.]"),
        ({}, "x\n[The command has ended; how is not known.]"),
        (None, "x\n[The command has ended; how is not known.]"),
        ({"exitCode": True}, "x\n[The command has ended; how is not known.]"),
    ],
)
def test_every_end_of_a_command_is_told(result: Any, said_of_it: str) -> None:
    driver, _, _ = begun()
    step(driver, "terminal/create", {"terminalId": "t1"})
    step(driver, "terminal/wait_for_exit", result)
    step(driver, "terminal/output", {"output": "x"})
    assert driver.result() == said_of_it
    assert driver.card()["status"] == "failed"


def test_how_a_command_ended_may_come_with_its_output() -> None:
    driver, _, _ = begun()
    step(driver, "terminal/create", {"terminalId": "t1"})
    step(driver, "terminal/wait_for_exit", None)
    step(driver, "terminal/output", {"output": "", "truncated": False, "exitStatus": {"exitCode": 0}})
    assert driver.result() == "[The command gave no output.]"


def test_a_timeout_gives_kill_output_release_in_this_order() -> None:
    driver, _, _ = begun(("shell", {"command": "sleep 99; x", "timeout": 7}))
    step(driver, "terminal/create", {"terminalId": "t1"})
    driver.bound(7.0)
    kill = next(number for number, frame in driver.open.items() if frame["method"] == "terminal/kill")
    driver.reply(kill, result={})
    output = next(number for number, frame in driver.open.items() if frame["method"] == "terminal/output")
    driver.reply(output, result={"output": "so far", "truncated": False})
    assert methods(driver) == [
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/output",
        "terminal/release",
    ]
    assert driver.result().startswith("so far\n[The command was ended after 7 s.")
    assert driver.card()["rawOutput"]["timedOut"] is True


def test_a_client_that_hangs_on_the_way_is_not_waited_for() -> None:
    driver, _, _ = begun(("shell", {"command": "sleep 99; x", "timeout": 7}))
    step(driver, "terminal/create", {"terminalId": "t1"})
    driver.bound(7.0)
    driver.bound(ANSWERED_WITHIN)  # the kill
    driver.bound(ANSWERED_WITHIN)  # the output
    assert methods(driver)[-3:] == ["terminal/kill", "terminal/output", "terminal/release"]
    assert driver.result().startswith("[The output could not be read.]")


def test_a_client_that_makes_no_terminal_is_not_asked_again_and_the_command_runs_here() -> None:
    driver, _, _ = begun()
    driver.reply(driver.only_asked("terminal/create"), **BROKEN)
    assert driver.tool_jobs("run")
    driver.work()
    assert driver.result() == "done"
    driver.round(calls(RUN))
    driver.work()
    assert methods(driver) == ["terminal/create"]
    driver.round(said("ok"))
    (notice,) = driver.notices()
    assert notice.startswith("Commands now run without a terminal") and "no terminals today" in notice


def test_a_terminal_that_comes_too_late_is_released_and_the_command_ran_here_once() -> None:
    driver, _, _ = begun()
    create = driver.only_asked("terminal/create")
    driver.bound(MADE_WITHIN)
    driver.work()
    driver.send({"id": create, "result": {"terminalId": "late"}})
    assert driver.frames[-1]["method"] == "terminal/release"
    assert driver.frames[-1]["params"]["terminalId"] == "late"


def test_bounds_that_end_in_the_same_moment_as_the_answer_do_not_count() -> None:
    driver, _, _ = begun(("shell", {"command": "a; b", "timeout": 7}))
    made = next(key for key, what in driver.jobs.items() if getattr(what, "seconds", 0) == MADE_WITHIN)
    driver.reply(driver.only_asked("terminal/create"), result={"terminalId": "t1"})
    driver.end(made, Ok(WaitDone()))
    assert not driver.tool_jobs("run")
    late = next(key for key, what in driver.jobs.items() if getattr(what, "seconds", 0) == 7)
    driver.reply(driver.only_asked("terminal/wait_for_exit"), result={"exitCode": 0})
    driver.end(late, Ok(WaitDone()))
    step(driver, "terminal/output", {"output": "built\n", "truncated": False})
    assert driver.result() == "built\n" and "terminal/kill" not in methods(driver)


def test_a_terminal_that_the_user_turned_down_runs_nothing() -> None:
    driver, _, _ = begun()
    driver.reply(driver.only_asked("terminal/create"), error={"code": -32800, "message": "no"})
    assert not driver.tool_jobs("run") and "the command was not run" in driver.result()
    driver.round(calls(RUN))
    driver.work()
    driver.only_asked("terminal/create")


def test_a_command_that_has_begun_is_never_run_a_second_time() -> None:
    driver, _, _ = begun()
    step(driver, "terminal/create", {"terminalId": "t1"})
    driver.reply(driver.only_asked("terminal/wait_for_exit"), **BROKEN)
    step(driver, "terminal/kill", None)
    step(driver, "terminal/output", {"output": "half"})
    assert not driver.tool_jobs("run") and driver.result().startswith("half\n[The command has ended")
    assert methods(driver)[-1] == "terminal/release"


@pytest.mark.parametrize("after", ["create", "wait", "exit"])
def test_a_cancel_kills_and_releases_and_does_not_wait_for_the_client(after: str) -> None:
    driver, session, asked = begun()
    create = driver.only_asked("terminal/create")
    if after != "create":
        step(driver, "terminal/create", {"terminalId": "t1"})
    if after == "exit":
        step(driver, "terminal/wait_for_exit", {"exitCode": 0})
    waiting = list(driver.open)
    driver.cancel(session)
    for key in [key for key in driver.jobs if key in driver.stopped]:
        driver.end(key, Stopped())
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"
    withdrawn = [f["params"]["requestId"] for f in driver.frames if f.get("method") == "$/cancel_request"]
    assert withdrawn == waiting
    if after == "create":
        driver.send({"id": create, "result": {"terminalId": "t1"}})
        assert methods(driver)[-1] == "terminal/release"
    else:
        assert methods(driver)[-2:] == ["terminal/kill", "terminal/release"]


def test_a_harmless_command_is_looked_at_once_more_and_runs_hardened() -> None:
    driver, session = ready(OPTIONS, HANDS)
    driver.prompt(session)
    driver.round(calls(("shell", {"command": "git status"})))
    found = Preview(paths=(ResolvedPath(".", "/project", True),), environment=(("GIT_PAGER", "x"),))
    driver.end(driver.tool_jobs("prepare")[0], Ok(found))
    driver.end(driver.tool_jobs("prepare")[0], Ok(found))
    env = driver.open[driver.only_asked("terminal/create")]["params"]["env"]
    assert env[len(ENVIRONMENT) :] == [{"name": "GIT_PAGER", "value": "x"}]


def test_a_command_that_is_harmless_no_more_does_not_run() -> None:
    driver, session = ready(OPTIONS, HANDS)
    driver.prompt(session)
    driver.round(calls(("shell", {"command": "git status"})))
    paths = (ResolvedPath(".", "/project", True),)
    driver.end(driver.tool_jobs("prepare")[0], Ok(Preview(paths=paths)))
    driver.end(driver.tool_jobs("prepare")[0], Ok(Preview(paths=paths, harmless=False)))
    assert "has changed since it was looked at" in driver.result() and not driver.open


def test_another_folder_is_named_by_its_real_path_and_windows_has_its_own_shell() -> None:
    driver, _, _ = begun(("shell", {"command": "x; y", "cwd": "sub"}))
    assert driver.open[driver.only_asked("terminal/create")]["params"]["cwd"] == "/project/sub"
    driver, _, _ = begun(("shell", {"command": "dir && x"}), cwd="C:\\project")
    request = driver.open[driver.only_asked("terminal/create")]["params"]
    assert (request["command"], request["args"]) == ("cmd.exe", ["/d", "/s", "/c", "dir && x"])


def test_a_hundred_terminals_in_a_turn_are_all_released() -> None:
    driver, _, _ = begun(*[RUN] * 100)
    while driver.open or [key for key in driver.jobs if driver.tool_jobs("prepare")]:
        for number in list(driver.open):
            driver.answer(number)
        driver.work()
    assert methods(driver).count("terminal/create") == methods(driver).count("terminal/release") == 100
    driver.round(said("ok"))
