"""The conversation on a pseudo terminal: what stands on the screen, and what the keys do."""

import json
import os
import sys
from pathlib import Path

import pytest
from support.terminal import Start, Terminal

FAKE = Path(__file__).with_name("fake_agent.py")


@pytest.fixture
def fake(start: Start) -> Terminal:
    return start("--", sys.executable, str(FAKE))


def test_a_turn_is_shown_and_ctrl_d_leaves(fake: Terminal) -> None:
    fake.until("fake 9 · fakery · m-1 · key from FAKE_API_KEY")
    fake.say("show")
    fake.until("The end.")
    fake.say("")
    fake.type("\x04")
    assert fake.exit_code() == 0
    for shown in (
        "Let me think about it.",
        "Title",
        "Some bold words go on.",
        "✓ cat a.py",
        "red line",
        "✓ First step",
    ):
        assert shown in fake.seen
    assert "**" not in fake.seen.replace("› show", "")


def test_escapes_of_the_agent_do_not_reach_the_terminal(fake: Terminal) -> None:
    fake.say("escape")
    fake.until("␛]0;owned␇b␛[2Jc")
    assert "\x1b]0;owned" not in fake.raw


def outcome(terminal: Terminal) -> object:
    terminal.until("outcome={")
    return json.loads("{" + terminal.until("}"))


def test_a_question_is_answered_by_one_key(fake: Terminal) -> None:
    fake.say("edit")
    shown = fake.until("[r] Reject")
    assert "-two" in shown and "+2" in shown and "[a] Allow once   [A] Always allow edits here" in shown
    fake.type("x\x1b[A\r")
    fake.type("A")
    fake.until("→ Always allow edits here")
    assert outcome(fake) == {"outcome": "selected", "optionId": "ever"}


def test_rejecting_by_key(fake: Terminal) -> None:
    fake.say("edit")
    fake.until("[r] Reject")
    fake.type("rmore")
    assert outcome(fake) == {"outcome": "selected", "optionId": "no"}
    assert "✗ Edit a.py" in fake.seen
    fake.until("› more")


def test_what_was_typed_before_a_question_does_not_answer_it(fake: Terminal, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    fake.say(f"askwhen {gate}")
    fake.until("working")
    fake.type("a")
    gate.write_text("")
    fake.until("[r] Reject")
    fake.type("r")
    assert outcome(fake) == {"outcome": "selected", "optionId": "no"}
    fake.until("› a")


def test_ctrl_c_cancels_the_turn_and_the_chat_goes_on(fake: Terminal) -> None:
    fake.say("wait")
    fake.until("waiting")
    fake.type("typed ahead")
    fake.type("\x03")
    fake.until("Cancelled.")
    # What was typed during the turn stands on the next line.
    fake.until("› typed ahead")
    fake.type("\r")
    fake.until("echo:typed ahead")


def test_ctrl_c_during_a_question_cancels_the_turn(fake: Terminal) -> None:
    fake.say("edit")
    fake.until("[r] Reject")
    fake.type("\x03")
    fake.until("→ cancelled")
    assert outcome(fake) == {"outcome": "cancelled"}
    fake.until("Cancelled.")


def test_a_withdrawn_question_goes_away(fake: Terminal) -> None:
    fake.say("withdrawn")
    fake.until("reply=-32800")


def test_a_second_ctrl_c_leaves(fake: Terminal) -> None:
    fake.say("stubborn")
    fake.until("never ends")
    fake.type("\x03")
    fake.until("Ctrl-C again leaves")
    fake.type("\x03")
    assert fake.exit_code() == 130


def test_slash_commands_complete(fake: Terminal) -> None:
    fake.say("commands")
    fake.until("commands sent")
    fake.until("›")
    fake.type("/re")
    fake.until("Read a file")
    fake.type("\t")
    fake.type("x.py\r")
    fake.until("echo:/read x.py")


def test_an_agent_that_dies_is_reported(fake: Terminal) -> None:
    fake.say("die")
    fake.until("The agent has ended with exit code 7. Its last words:")
    fake.until("something broke inside")
    assert fake.exit_code() == 1


def test_wrong_flags_are_said_as_they_are(start: Start) -> None:
    terminal = start("--provider", "nope")
    terminal.until("There is no provider named nope")
    assert terminal.exit_code() == 2
    assert "last words" not in terminal.seen


def test_the_history_is_private(fake: Terminal, tmp_path: Path) -> None:
    fake.say("hello")
    fake.until("echo:hello")
    path = tmp_path / "home/chat_history"
    assert "hello" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_our_own_agent_asks_and_writes(start: Start, tmp_path: Path) -> None:
    terminal = start()
    terminal.until("· offline · no provider key was found")
    terminal.say("/write new.txt hello")
    terminal.until("[r] Reject")
    assert not (tmp_path / "work/new.txt").exists()
    terminal.type("a")
    terminal.until("✓ Write new.txt")
    assert (tmp_path / "work/new.txt").read_text().strip() == "hello"


def test_ctrl_c_stops_a_running_command_of_our_own_agent(start: Start) -> None:
    terminal = start()
    terminal.say("/run echo begun; sleep 600")
    terminal.until("[r] Reject")
    terminal.type("a")
    terminal.until("begun")
    terminal.until("begun")
    terminal.type("\x03")
    terminal.until("Cancelled.")
    terminal.say("/plan A; B")
    terminal.until("○ B")


def test_one_prompt_on_a_terminal_may_ask(start: Start, tmp_path: Path) -> None:
    terminal = start("-p", "/write new.txt hello")
    terminal.until("[r] Reject")
    terminal.type("a")
    assert terminal.exit_code() == 0
    assert (tmp_path / "work/new.txt").exists()


def test_the_tour_asks_for_the_edit_and_the_command(start: Start) -> None:
    terminal = start("--demo")
    terminal.until("? Edit basket.py")
    terminal.until("[r] Reject")
    terminal.type("a")
    terminal.until("-m unittest")
    terminal.until("[r] Reject")
    terminal.type("a")
    terminal.until("OK")
    terminal.until("zidane-acp doctor")
    assert terminal.exit_code() == 0


def test_our_own_agent_is_put_into_plan_mode_and_led_out_of_it(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    turns = [
        {"tool": "exit_plan", "args": {"plan": "# The plan\n\nWrite **it**."}},
        {"text": "Now I begin."},
    ]
    script.write_text(json.dumps({"turns": turns}))
    terminal = start("--plain-titles", "--provider", "replay", "--script", str(script))
    terminal.until("Build · ")
    terminal.until("›")
    terminal.type("\x1b[Z")
    terminal.until("Plan · ")
    terminal.type("go\r")
    shown = terminal.until("[r] Keep planning")
    assert "  Write it." in shown and "**" not in shown
    terminal.type("a")
    terminal.until("· Mode: Build")
    terminal.until("Now I begin.")
    terminal.until("Build · ")
