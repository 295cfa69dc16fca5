"""`chat` without a terminal, as a program, against a small agent on the standard library and our own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).with_name("fake_agent.py")
PROGRAM = (sys.executable, "-P", "-m", "zidane_acp.main", "chat")
AGENT = ("--", sys.executable, str(FAKE))


def environment(**extra: str) -> dict[str, str]:
    passed = ("PATH", "HOME", "LANG", "TMPDIR", "ZIDANE_ACP_HOME")
    kept = {name: value for name, value in os.environ.items() if name in passed}
    return {**kept, "PYTHONUTF8": "1", **extra}


def chat(*words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (*PROGRAM, *words),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(**env),
        check=False,
    )


def test_the_answer_is_on_stdout_and_the_rest_on_stderr() -> None:
    done = chat("-p", "show", *AGENT)
    assert done.returncode == 0
    assert done.stdout == "# Title\n\nSome **bold** words go on.\n\n\nThe end.\n"
    assert done.stderr.splitlines() == [
        "fake 9 · fakery · m-1 · key from FAKE_API_KEY",
        "plan: ✓ First step",
        "✓ cat a.py",
    ]


def test_standard_input_is_one_prompt() -> None:
    assert chat(*AGENT, stdin="two\nlines\n").stdout == "echo:two\nlines\n"
    assert chat("-p", "given", *AGENT, stdin="not used").stdout == "echo:given\n"
    assert chat(*AGENT, stdin=" \n").returncode == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("stop end_turn", 0, ""),
        ("stop refusal", 3, "The model refused"),
        ("stop max_tokens", 3, "token limit"),
        ("stop max_turn_requests", 3, "limit of model rounds"),
        ("stop from_the_future", 3, "The turn ended: from_the_future."),
        ("stop cancelled", 130, "Cancelled."),
        ("fail", 1, "Fake is busy, try again in 5 s."),
        ("die", 1, "The agent has ended with exit code 7. Its last words:\n  something broke inside"),
    ],
)
def test_the_exit_code_tells_how_the_turn_ended(words: str, code: int, said: str) -> None:
    done = chat("-p", words, *AGENT)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_terminal_escapes_are_made_visible() -> None:
    assert chat("-p", "escape", *AGENT).stdout == "a␛]0;owned␇b␛[2Jc\n"


@pytest.mark.parametrize(
    ("flags", "option", "line"),
    [
        ((), "no", "refused: Edit a.py (needs permission; see --permission)"),
        (("--permission", "read-only"), "no", "refused: Edit a.py (needs permission; see --permission)"),
        (("--permission", "allow-edits"), "yes", "allowed by --permission: Edit a.py"),
        (("--permission", "allow-all"), "yes", "allowed by --permission: Edit a.py"),
    ],
)
def test_permission_without_a_terminal(flags: tuple[str, ...], option: str, line: str) -> None:
    done = chat("-p", "edit", *flags, *AGENT)
    assert done.returncode == 0
    assert json.loads(done.stdout.removeprefix("outcome=")) == {"outcome": "selected", "optionId": option}
    assert line in done.stderr.splitlines()


@pytest.mark.parametrize(
    ("words", "answer"),
    [("junk", "after junk"), ("unknown", "code=-32601"), ("withdrawn", "reply="), ("big", "xxx")],
)
def test_odd_agents_are_survived(words: str, answer: str) -> None:
    done = chat("-p", words, *AGENT)
    assert (done.returncode, answer in done.stdout) == (0, True), done


def test_a_big_message_is_whole() -> None:
    assert chat("-p", "big", *AGENT).stdout == "x" * 300_000 + "done\n"


def test_an_agent_that_wants_a_login() -> None:
    done = chat("-p", "hi", *AGENT, "login")
    assert done.returncode == 1
    assert "wants a login first" in done.stderr and "Fake login" in done.stderr


def test_an_agent_that_is_not_there() -> None:
    done = chat("-p", "hi", "--", "/no/such/agent")
    assert done.returncode == 1
    assert done.stderr == (
        "The agent '/no/such/agent' cannot be started: No such file or directory. Check the command after --.\n"
    )


def test_the_agent_is_ended_by_closing_its_input(tmp_path: Path) -> None:
    path = tmp_path / "ended"
    assert chat("-p", "hi", *AGENT, "log", str(path)).returncode == 0
    assert path.read_text() == "ended by end of input"


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        (*PROGRAM, *words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def test_ctrl_c_cancels_the_turn() -> None:
    with started("-p", "wait", *AGENT) as process:
        assert process.stdout is not None and process.stdout.read(7) == "waiting"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Cancelled." in err


def test_a_second_ctrl_c_does_not_wait_for_the_agent() -> None:
    with started("-p", "stubborn", *AGENT) as process:
        assert process.stdout is not None and process.stdout.read(10) == "never ends"
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.readline().startswith("fake")
        assert process.stderr.readline().startswith("Cancelling")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130


def test_sigterm_ends_it() -> None:
    with started("-p", "stubborn", *AGENT) as process:
        assert process.stdout is not None and process.stdout.read(10) == "never ends"
        process.terminate()
        process.communicate(timeout=30)
    assert process.returncode == 143


def test_a_reader_that_leaves_is_no_crash() -> None:
    with started("-p", "show", *AGENT) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.wait(timeout=30)
    assert process.returncode == 1
    assert "Traceback" not in err and "Exception" not in err


def test_variables_of_our_own_agent_do_not_stop_another() -> None:
    assert chat("-p", "hi", *AGENT, ZIDANE_ACP_PROVIDER="openai").stdout == "echo:hi\n"


# Our own agent -------------------------------------------------------------------------------------


def test_our_own_agent_answers_without_a_key(tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hi there\n")
    done = chat("--cwd", str(tmp_path), "-p", "/read hello.txt")
    assert done.returncode == 0
    assert "hi there" in done.stdout
    assert done.stderr.splitlines()[0].endswith("· offline · no provider key was found")


def test_our_own_agent_is_refused_and_allowed(tmp_path: Path) -> None:
    done = chat("--cwd", str(tmp_path), "-p", "/write new.txt hello")
    assert (done.returncode, (tmp_path / "new.txt").exists()) == (0, False)
    assert "refused: Write new.txt" in done.stderr
    done = chat("--cwd", str(tmp_path), "--permission", "allow-edits", "-p", "/write new.txt hello")
    assert (done.returncode, (tmp_path / "new.txt").read_text().strip()) == (0, "hello")


def test_whom_to_trust_is_no_matter_of_the_policy(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "AGENTS.md").write_text("Be brief.\n")
    done = chat("--cwd", str(tmp_path), "--permission", "allow-edits", "-p", "/count 2")
    assert (done.returncode, done.stdout.split()) == (0, ["1", "2"])
    refused = f"refused: Use the instructions of {os.path.realpath(tmp_path)}"
    assert f"{refused} (only you can answer this; run it on a terminal)" in done.stderr.splitlines()


def test_the_tour_runs_and_its_test_passes() -> None:
    done = chat("--demo")
    assert done.returncode == 0
    assert "✓ Edit basket.py" in done.stderr and "-m unittest" in done.stderr and "✗" not in done.stderr
    assert "1125" in done.stdout
