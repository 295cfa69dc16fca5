"""What the user sets and watches, against a small agent with modes and options: on a terminal and in a pipe."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.terminal import Start, Terminal

STEERING = Path(__file__).with_name("steering_agent.py")
PROGRAM = (sys.executable, "-P", "-m", "zidane_acp.main", "chat")
Chat = Callable[..., Terminal]


def agent(tmp_path: Path, how: str) -> tuple[str, ...]:
    return ("--", sys.executable, str(STEERING), how, str(tmp_path / "asked"))


def asked(tmp_path: Path, method: str) -> list[dict[str, Any]]:
    """The parameters of the requests with this method."""
    frames = (json.loads(line) for line in (tmp_path / "asked").read_text().splitlines())
    return [params for named, params in frames if named == method]


@pytest.fixture
def chat(start: Start, tmp_path: Path) -> Chat:
    def run(how: str, *flags: str, columns: int = 100) -> Terminal:
        return start(*flags, *agent(tmp_path, how), columns=columns)

    return run


# The line above the prompt -------------------------------------------------------------------------


def test_how_the_session_stands_is_above_the_prompt_and_grows_with_what_is_told(
    chat: Chat, tmp_path: Path
) -> None:
    terminal = chat("options")
    terminal.until("Build · Big One\n")
    terminal.say("use")
    # What was sent stands alone.
    assert "Build" not in terminal.until("did use")
    terminal.until("Build · Big One · 15% of 200k · $0.25\n")
    assert asked(tmp_path, "initialize")[0]["clientCapabilities"]["auth"] == {"terminal": True}


def test_a_narrow_terminal_shows_what_matters_most_on_one_line(chat: Chat) -> None:
    terminal = chat("options", columns=40)
    terminal.until("› Ask something · / lists commands · C…")
    terminal.type("use\r")
    terminal.until("did use")
    terminal.until("Build · Big One · 15% of 200k · $0.25\n")
    terminal.say("change")
    terminal.until("did change")
    terminal.until("Plan␛]0;owned␇ · 15% of 200k\n")


def test_an_agent_that_tells_nothing_has_no_line(start: Start) -> None:
    terminal = start("--", sys.executable, str(Path(__file__).with_name("fake_agent.py")))
    before = terminal.until("›")
    assert before.splitlines()[-2:] == ["", "›"]


@pytest.mark.parametrize(
    ("how", "method", "params"),
    [
        ("options", "session/set_config_option", {"configId": "mode"}),
        ("modes", "session/set_mode", {}),
    ],
)
def test_shift_tab_goes_through_the_modes(
    chat: Chat, tmp_path: Path, how: str, method: str, params: dict[str, str]
) -> None:
    terminal = chat(how)
    terminal.until("Build · Big One")
    terminal.until("›")
    terminal.type("\x1b[Z")
    terminal.until("Plan␛]0;owned␇")
    terminal.type("\x1b[Z")
    terminal.until("Build")
    terminal.type("\x1b[Z")
    terminal.until("Plan␛]0;owned␇")
    terminal.type("use\r")
    terminal.until("did use")
    assert "\x1b]0;owned" not in terminal.raw and "Mode:" not in terminal.seen
    key = "value" if how == "options" else "modeId"
    wanted = [{"sessionId": "s", **params, key: mode} for mode in ("plan", "build", "plan")]
    assert asked(tmp_path, method) == wanted


def test_a_mode_that_the_agent_refuses_is_taken_back(chat: Chat) -> None:
    terminal = chat("refusing")
    terminal.until("Build · Big One")
    terminal.until("›")
    # It may be back before it was painted.
    terminal.type("\x1b[Zuse\r")
    terminal.until("! The mode stays as it was: Not now.")
    terminal.until("Build · Big One")


# During a turn -------------------------------------------------------------------------------------


def test_what_changes_in_a_turn_is_a_line_and_so_is_a_compaction(chat: Chat) -> None:
    terminal = chat("options")
    terminal.say("change")
    terminal.until("· Mode: Plan␛]0;owned␇ · Model: Small One · Fast: on\n")
    terminal.until("did change")
    terminal.until("Plan␛]0;owned␇ · Small One\n")
    terminal.say("shorten")
    terminal.until("· The conversation was shortened for the model.\n")
    terminal.until("    What was said.")
    terminal.until("did shorten")


def test_plans_are_asked_about_as_markdown_and_folders_with_a_file_a_line(chat: Chat) -> None:
    terminal = chat("options")
    terminal.say("plan")
    shown = terminal.until("[r] Not yet")
    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    assert lines[-4:] == ["The plan", "Look first.", "? Begin with this plan?", "[a] Begin   [r] Not yet"]
    terminal.type("a")
    terminal.until("✓ Begin with this plan?")
    assert "The plan" not in terminal.until("agreed")
    terminal.say("trust")
    shown = terminal.until("[r] Not yet")
    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    assert lines[-6:] == [
        "? Use the instructions of /w",
        "folders: /w",
        "instructions:",
        "/w/AGENTS.md",
        "/w/b/AGENTS.md",
        "[a] Begin   [r] Not yet",
    ]
    terminal.type("r")
    terminal.until("refused")


def test_a_replay_shows_modes_and_compactions_at_their_places(chat: Chat) -> None:
    terminal = chat("options", "--resume", "s")
    shown = terminal.until("— continued:")
    lines = [line.strip() for line in shown.splitlines() if line.strip()]
    assert lines[1:-1] == [
        "› old prompt",
        "· Mode: Plan␛]0;owned␇",
        "old answer",
        "· The conversation was shortened for the model.",
        "What was said.",
    ]
    # What the answer says is in force, and not what was replayed.
    terminal.until("Build · Big One · 50% of 200k\n")


# Logging in ----------------------------------------------------------------------------------------


def test_the_user_logs_in_by_the_agent_itself(chat: Chat, tmp_path: Path) -> None:
    terminal = chat("login")
    terminal.until("? Authentication required. How do you want to log in?")
    terminal.until("[1] In the browser␛]0;owned␇   [2] In the shell   [r] Not now")
    terminal.type("1")
    terminal.until("steering 1")
    terminal.say("use")
    terminal.until("did use")
    assert asked(tmp_path, "authenticate") == [{"methodId": "browser"}]
    assert len(asked(tmp_path, "initialize")) == 1


def test_the_user_logs_in_by_a_program_and_the_agent_starts_again(chat: Chat, tmp_path: Path) -> None:
    terminal = chat("login")
    terminal.until("[r] Not now")
    terminal.type("2")
    terminal.until("logging in, the way is a b")
    terminal.until("steering 1")
    terminal.say("use")
    terminal.until("did use")
    assert len(asked(tmp_path, "initialize")) == 2
    terminal.say("/exit")
    assert terminal.exit_code() == 0


def test_without_a_login_the_chat_says_how_and_leaves(chat: Chat, tmp_path: Path) -> None:
    terminal = chat("login")
    terminal.until("[r] Not now")
    terminal.type("r")
    terminal.until("The agent wants a login first: Authentication required. It offers: In the")
    assert terminal.exit_code() == 1
    assert len(asked(tmp_path, "session/new")) == 1


# Without a terminal --------------------------------------------------------------------------------


def piped(tmp_path: Path, words: str, *flags: str, how: str = "options") -> subprocess.CompletedProcess[str]:
    passed = ("PATH", "HOME", "LANG", "TMPDIR", "ZIDANE_ACP_HOME")
    env = {name: value for name, value in os.environ.items() if name in passed}
    return subprocess.run(
        (*PROGRAM, "-p", words, *flags, *agent(tmp_path, how)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        env={**env, "PYTHONUTF8": "1"},
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("use", []),
        ("change", ["Mode: Plan␛]0;owned␇; Model: Small One; Fast: on"]),
        ("shorten", ["The conversation was shortened for the model."]),
    ],
)
def test_in_a_pipe_only_the_answer_is_on_stdout(tmp_path: Path, words: str, lines: list[str]) -> None:
    done = piped(tmp_path, words)
    assert (done.returncode, done.stdout) == (0, f"did {words}\n")
    assert done.stderr.splitlines() == ["steering 1 · big", *lines]


def test_what_the_chat_can_show_is_told_to_the_agent(tmp_path: Path) -> None:
    piped(tmp_path, "use")
    told = asked(tmp_path, "initialize")[0]["clientCapabilities"]
    assert told["session"] == {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}}
    # In a pipe nobody can log in by a program.
    assert told["auth"] == {"terminal": False}


def test_a_login_that_a_prompt_wants_is_said_with_the_command(tmp_path: Path) -> None:
    done = piped(tmp_path, "login")
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith(
        "The agent wants a login first: No key is there. It offers: In the browser␛]0;owned␇,"
    )
    assert said.endswith(f"{tmp_path / 'asked'} login`, then start the chat again.")
    assert "Run `WAY='a b' " in said
