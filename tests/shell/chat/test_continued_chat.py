"""`chat --continue` and `chat --resume`, against a small agent that stores sessions, in a pipe and on a terminal."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.terminal import Start

STORING = Path(__file__).with_name("storing_agent.py")
PROGRAM = (sys.executable, "-P", "-m", "zidane_acp.main", "chat")
EVERYTHING = "list,load,resume,additionalDirectories"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def agent(tmp_path: Path, offers: str, folder: str = "") -> tuple[str, ...]:
    newer = folder or str(tmp_path / "project")
    return ("--", sys.executable, str(STORING), offers, str(tmp_path / "asked"), newer)


def asked(tmp_path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The requests of the chat, without the first and the prompts."""
    lines = (tmp_path / "asked").read_text().splitlines()
    frames = [tuple(json.loads(line)) for line in lines]
    return [frame for frame in frames if frame[0] not in ("initialize", "session/prompt")]


def chat(work: Path, *words: str) -> subprocess.CompletedProcess[str]:
    passed = ("PATH", "HOME", "LANG", "TMPDIR", "ZIDANE_ACP_HOME")
    env = {name: value for name, value in os.environ.items() if name in passed}
    return subprocess.run(
        (*PROGRAM, *words),
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        cwd=work,
        env={**env, "PYTHONUTF8": "1", "TZ": "UTC"},
        check=False,
    )


def test_the_newest_session_of_the_folder_is_loaded_and_only_the_answer_printed(
    tmp_path: Path, work: Path
) -> None:
    done = chat(work, "--continue", "-p", "more", *agent(tmp_path, EVERYTHING))
    assert (done.returncode, done.stdout) == (0, "echo:more\n")
    assert done.stderr.splitlines() == [
        "storing 1",
        "— continued: Fixed it, 4 messages, from 2026-11-30 12:00 —",
    ]
    pages = [
        ("session/list", {"cwd": str(work)}),
        ("session/list", {"cwd": str(work), "cursor": "1"}),
        ("session/list", {"cwd": str(work), "cursor": "2"}),
    ]
    opened = {
        "sessionId": "new-1",
        "cwd": str(work),
        "mcpServers": [],
        "additionalDirectories": ["/more"],
    }
    assert asked(tmp_path) == [*pages, ("session/load", opened)]


def test_without_a_session_of_the_folder_a_new_one_begins(tmp_path: Path, work: Path) -> None:
    done = chat(work, "-c", "-p", "hi", *agent(tmp_path, "list,load", "/far"))
    assert (done.returncode, done.stdout) == (0, "echo:hi\n")
    assert done.stderr.splitlines()[1] == "There is no session of this folder yet; this is a new one."
    assert asked(tmp_path)[-1] == ("session/new", {"cwd": str(work), "mcpServers": []})


@pytest.mark.parametrize(
    ("offers", "flags", "method", "session"),
    [
        ("list,load", ("--resume", "new-2"), "session/load", "new-2"),
        ("list,load", ("-r", "old"), "session/load", "old-1"),
        ("list,load", ("--resume", "last"), "session/load", "new-1"),
        ("list,load", ("--resume", "new-2", "--cwd", "."), "session/load", "new-2"),
        ("list,resume", ("--continue",), "session/resume", "new-1"),
        ("load", ("--resume", "any id"), "session/load", "any id"),
    ],
)
def test_a_session_is_opened_in_its_own_folder_with_what_the_agent_offers(
    tmp_path: Path, work: Path, offers: str, flags: tuple[str, ...], method: str, session: str
) -> None:
    done = chat(work, *flags, "-p", "more", *agent(tmp_path, offers))
    assert (done.returncode, done.stdout) == (0, "echo:more\n"), done.stderr
    folder = "/elsewhere" if session == "old-1" else str(work)
    assert asked(tmp_path)[-1] == (method, {"sessionId": session, "cwd": folder, "mcpServers": []})
    assert (", in /elsewhere" in done.stderr) == (session == "old-1")
    assert ("which the agent does not show again" in done.stderr) == (method == "session/resume")


@pytest.mark.parametrize(
    ("offers", "flags", "said"),
    [
        ("-", ("--continue",), "This agent cannot open stored sessions;"),
        ("list", ("--resume", "last"), "This agent cannot open stored sessions;"),
        ("load", ("--continue",), "This agent does not list its sessions; name one with --resume"),
        ("load", ("--resume", "last"), "This agent does not list its sessions; name one with --resume"),
        (
            "list,load",
            ("--resume", "nope"),
            "There is no session 'nope'; `--resume last` takes the newest one.",
        ),
        ("list,load", ("--resume", "new"), "2 sessions begin with 'new': new-1, new-2; give more of the id."),
        (
            "list,load",
            ("--resume", "old-1", "--cwd", "."),
            "This session belongs to the folder /elsewhere; leave --cwd out to go on there.",
        ),
    ],
)
def test_what_cannot_be_continued_is_one_sentence_and_one(
    tmp_path: Path, work: Path, offers: str, flags: tuple[str, ...], said: str
) -> None:
    done = chat(work, *flags, "-p", "more", *agent(tmp_path, offers))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(said) and len(done.stderr.splitlines()) == 1
    assert {method for method, _ in asked(tmp_path)} <= {"session/list"}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--continue", "--resume", "x"), "--continue and --resume exclude each other"),
        (("--demo", "--continue"), "--demo plays a conversation of its own"),
        (("--demo", "-r", "x"), "--demo plays a conversation of its own"),
        (("--resume", " "), "--resume needs the id of a session"),
        (("--resume",), "requires an argument"),
    ],
)
def test_flags_that_do_not_go_together_are_wrong_usage(work: Path, flags: tuple[str, ...], said: str) -> None:
    done = chat(work, *flags)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_the_replay_stands_on_the_terminal_as_a_conversation(start: Start, tmp_path: Path) -> None:
    foreign = agent(tmp_path, "list,load")
    terminal = start("--resume", "new-1", "--permission", "ask", *foreign)
    shown = terminal.until("— continued: Fixed it, 4 messages, from 2026-11-30")
    lines = [line.rstrip() for line in shown.splitlines() if line.strip()]
    assert lines[:-1] == [
        "storing 1",
        "› please ␛]0;owned␇fix",
        "  hm",
        "✓ cat ␛]0;owned␇",
        "    line one",
        "It is fixed.",
        "Plan",
        "  ✓ First step",
        "› thanks",
        "You are welcome.",
    ]
    assert "\x1b]0;owned" not in terminal.raw
    terminal.say("more")
    terminal.until("echo:more")
    terminal.say("/exit")
    terminal.until("Conversation: Named later")
    command = " ".join(foreign)
    terminal.until(f"Continue with: zidane-acp chat --resume new-1 --permission=ask {command}")
    assert terminal.exit_code() == 0


def test_a_conversation_without_a_turn_says_nothing_of_going_on(start: Start, tmp_path: Path) -> None:
    terminal = start("--resume", "last", *agent(tmp_path, "list,load"))
    terminal.say("/exit")
    assert terminal.exit_code() == 0
    assert "Continue with" not in terminal.seen


def test_an_agent_that_stores_nothing_promises_nothing(start: Start, tmp_path: Path) -> None:
    terminal = start(*agent(tmp_path, "list"))
    terminal.say("hi")
    terminal.until("echo:hi")
    terminal.say("/exit")
    assert terminal.exit_code() == 0
    assert "Continue with" not in terminal.seen


def test_without_a_list_the_folder_is_part_of_how_to_go_on(start: Start, tmp_path: Path) -> None:
    terminal = start(*agent(tmp_path, "load"))
    terminal.say("hi")
    terminal.until("echo:hi")
    terminal.say("/exit")
    terminal.until(f"--resume fresh --cwd {os.path.realpath(tmp_path / 'work')} -- ")
    assert terminal.exit_code() == 0
