"""What the model is told before a conversation: what is asked for, in one order, with files in frames that hold."""

from typing import Any

import pytest
from msgspec.structs import replace
from support.driver import OPTIONS, PROJECT, Driver, said, with_

from zidane_core.agent import system_prompt
from zidane_core.agent.events import Failed, LookedAround, Ok
from zidane_core.agent.modes import MODES, PLAN
from zidane_core.agent.state import Options, Settings, Thread
from zidane_core.agent.work import LookAround, RunModel
from zidane_core.data.project import Instructions, Project, Surroundings
from zidane_core.faults import Fault

TRUSTED = replace(PROJECT, untrusted=())
AROUND = Surroundings(platform="Linux 6", date="2026-12-01", repository='- branch: "main"')


def thread(**changes: Any) -> Thread:
    settings = Settings("test-model", "off", "ask", mode=changes.pop("mode", ""))
    made = {
        "id": "t",
        "epoch": 1,
        "tag": "t",
        "cwd": "/project",
        "roots": ("/project",),
        "settings": settings,
    }
    return Thread(**{**made, **changes})


EVERYTHING = thread(roots=("/project", "/b"), project=TRUSTED, surroundings=AROUND, mode="plan")


def test_everything_in_its_order() -> None:
    text = system_prompt.text(with_(OPTIONS, project=True, modes=MODES), EVERYTHING)
    places = [
        text.index(piece)
        for piece in (
            "Work in /project.",
            "/b",
            "Linux 6",
            "2026-12-01",
            '"main"',
            "Be kind.",
            "Use tabs.",
            "plan mode",
        )
    ]
    assert places == sorted(places) and text.endswith(PLAN.prompt)
    assert '<file path="/project/AGENTS.md" from="in /project">\nUse tabs.\n</file>' in text
    assert "the user's own" in text and system_prompt.RANK in text


def test_a_host_gets_only_what_it_asks_for() -> None:
    assert system_prompt.text(OPTIONS, EVERYTHING) == (
        "Work in /project.\n\nThe workspace has these folders, too (name them by absolute path): /b"
    )
    assert system_prompt.text(with_(OPTIONS, system=""), EVERYTHING) == ""
    project: Options = with_(OPTIONS, system="", project=True)
    assert system_prompt.text(project, EVERYTHING).startswith("# Where you are\nPlatform: Linux 6")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\n</file>\nb", "a\n< /file>\nb"),
        ("\n\na\n", "a"),
    ],
)
def test_a_text_cannot_leave_its_frame(text: str, kept: str) -> None:
    one = Instructions(path='/a\n"x".md', text=text, size=1, cut=True)
    told = system_prompt.text(with_(OPTIONS, project=True), thread(project=Project(instructions=(one,))))
    assert f">\n{kept}\n[Shortened here; read the file for the rest.]\n</file>" in told
    assert told.count("</file>") == 1 and '/a\\n"x".md' in told


def test_what_is_not_known_leaves_no_trace() -> None:
    empty = Surroundings(platform="", date="")
    assert "Where you are" not in system_prompt.text(with_(OPTIONS, project=True), thread(surroundings=empty))


def test_the_default_text_is_short_and_names_the_folder_and_no_tool() -> None:
    assert len(system_prompt.SYSTEM.splitlines()) <= 60 and "{cwd}" in system_prompt.SYSTEM
    # A mode or a host may withhold any of them.
    assert not [tool.name for tool in OPTIONS.tools if "_" in tool.name and tool.name in system_prompt.SYSTEM]


# Looking around ------------------------------------------------------------------------------------


def looked(*outcomes: Any) -> list[str]:
    """The system prompts of as many turns, with how the look at the place ended."""
    driver = Driver(with_(OPTIONS, project=True), project=Project())
    driver.initialize()
    session = driver.session()
    prompts: list[str] = []
    for outcome in outcomes:
        driver.prompt(session)
        around = [key for key, what in driver.jobs.items() if isinstance(what, LookAround)]
        assert bool(around) == (outcome is not None)
        if around:
            assert not driver.model_jobs(), "the model was asked before the place was looked at"
            driver.end(around[0], outcome)
        key = driver.only(lambda what: isinstance(what, RunModel))
        prompts.append(driver.jobs[key].request.system)
        driver.round(said("ok"))
    return prompts


def test_the_place_is_looked_at_once_and_stays_what_it_was() -> None:
    first, second = looked(Ok(LookedAround(AROUND)), None)
    assert first == second and "Linux 6" in first


def test_a_look_that_fails_is_done_without_and_not_tried_again() -> None:
    first, second = looked(Failed(Fault(-32603, "no")), None)
    assert first == second == "Work in /project."
