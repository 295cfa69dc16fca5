"""The judge of the outside looks must itself see what is wrong."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from outside.schema_check import Frame, problems, read_log

TEE = Path(__file__).with_name("tee.py")


def out(**message: Any) -> Frame:
    return Frame("out", json.dumps({"jsonrpc": "2.0", **message}))


def into(**message: Any) -> Frame:
    return Frame("in", json.dumps({"jsonrpc": "2.0", **message}))


PROMPT = into(
    id=1, method="session/prompt", params={"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]}
)
CHUNK = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}
DONE = out(id=1, result={"stopReason": "end_turn"})


def test_a_good_conversation_has_no_problems() -> None:
    update = out(method="session/update", params={"sessionId": "s", "update": CHUNK})
    assert problems((PROMPT, update, DONE)) == []


WRONG: tuple[tuple[str, tuple[Frame, ...], str], ...] = (
    ("a stop reason that is none", (PROMPT, out(id=1, result={"stopReason": "error"})), "PromptResponse"),
    ("a field of our own", (PROMPT, out(id=1, result={"stopReason": "end_turn", "mine": 1})), "'mine'"),
    (
        "a field of our own deep inside",
        (out(method="session/update", params={"sessionId": "s", "update": {**CHUNK, "mine": 1}}),),
        "'mine'",
    ),
    ("no answer", (PROMPT,), "no answer to session/prompt"),
    ("two answers", (PROMPT, DONE, DONE), "a second answer"),
    ("an answer with an id of another type", (PROMPT, out(id="1", result={}), DONE), "an answer to nothing"),
    ("result and error", (PROMPT, DONE, out(id=1, result={}, error={})), "either result or error"),
    ("an error without message", (PROMPT, out(id=1, error={"code": -32603})), "Error"),
    (
        "an update of no kind",
        (out(method="session/update", params={"sessionId": "s", "update": {}}),),
        "update",
    ),
    ("a method that is not in the schema", (out(method="session/unknown", params={}),), "not in the schema"),
    ("no JSON", (Frame("out", "hello"),), "no strict JSON"),
    ("NaN", (Frame("out", '{"jsonrpc": "2.0", "method": "_x", "params": {"a": NaN}}'),), "NaN"),
    (
        "a lone surrogate",
        (Frame("out", r'{"jsonrpc": "2.0", "method": "_x", "params": {"a": "\ud800"}}'),),
        "surrogate",
    ),
    ("no object", (Frame("out", "[]"),), "no object"),
    ("no version", (Frame("out", '{"method": "_x"}'),), "jsonrpc"),
)


@pytest.mark.parametrize(("frames", "named"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_what_is_wrong_is_found(frames: tuple[Frame, ...], named: str) -> None:
    found = problems(frames)
    assert any(named in problem for problem in found), found


def test_the_tee_passes_bytes_on_and_writes_down_every_line(tmp_path: Path) -> None:
    log = tmp_path / "frames.log"
    echo = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()); sys.exit(7)"
    sent = b'{"a": 1}\n\xff\n' + b"x" * 200_000 + b"\nno end"
    command = [sys.executable, str(TEE), str(log), "--", sys.executable, "-c", echo]
    done = subprocess.run(command, input=sent, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (7, sent)
    lines = [line.decode("utf-8", "surrogateescape") for line in sent.split(b"\n")]
    frames = read_log(log)
    assert [f.line for f in frames if f.direction == "in"] == lines
    assert [f.line for f in frames if f.direction == "out"] == lines


def test_the_tee_kills_its_agent_and_each_run_has_its_file(tmp_path: Path) -> None:
    started = []
    for _ in range(2):
        echo = "print('{}', flush=True); input()"
        command = [sys.executable, str(TEE), str(tmp_path), "--", sys.executable, "-c", echo]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tee:
            assert tee.stdout is not None and tee.stdout.readline() == b"{}\n"
            tee.send_signal(signal.SIGUSR1)
            assert tee.wait(60) == 128 + signal.SIGKILL
        started.append(tee.pid)
    logs = sorted(tmp_path.iterdir())
    assert [int(log.stem.split("-")[1]) for log in logs] == started
    assert [read_log(log) for log in logs] == [(Frame("out", "{}"),)] * 2
