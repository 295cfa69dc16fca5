"""The process ends when its client is gone, whatever hangs, and what was said arrives as long as it is read."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.process import COMMAND, Process, alive

from zidane_acp.ending import FLUSH_WITHIN, STALLED, Ending

WRITE = {"tool": "write_file", "args": {"path": "new.txt", "content": "x"}}
FETCH = {"tool": "fetch", "args": {"url": "http://example.invalid/"}}
SHIELDED = """
import sys
import anyio
from zidane_acp.models import replay
class Hanging(replay.ReplayModel):
    count = 0
    async def stream(self, request, session):
        Hanging.count += 1
        if Hanging.count >= int({last!r}):
            print("HANGS", file=sys.stderr, flush=True)
            with anyio.CancelScope(shield=True):
                await anyio.sleep_forever()
        async for batch in super().stream(request, session):
            yield batch
replay.ReplayModel = Hanging
"""
HANG = """
import sys, threading
def hang(*given, **named):
    print("HANGS", file=sys.stderr, flush=True)
    threading.Event().wait()
"""


def script(folder: Path, *turns: object) -> tuple[str, ...]:
    path = folder / "script.json"
    path.write_text(json.dumps({"turns": turns}))
    return "--provider", "replay", "--script", str(path), "--permission", "allow-all"


def until_it_hangs(agent: Process) -> None:
    assert agent.child.stderr is not None
    while b"HANGS" not in (line := agent.child.stderr.readline()):
        assert line, "the agent is gone"


@pytest.mark.parametrize(("end", "code"), [("eof", 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize(
    ("before", "turn"),
    [
        pytest.param(HANG + "import socket; socket.getaddrinfo = hang", FETCH, id="name server"),
        pytest.param(HANG + "import os; os.fsync = hang", WRITE, id="disk"),
        pytest.param(SHIELDED.format(last=1), {"text": "never"}, id="model"),
    ],
)
def test_what_hangs_does_not_keep_the_process(
    tmp_path: Path, before: str, turn: object, end: str | signal.Signals, code: int
) -> None:
    with Process(*script(tmp_path, turn, {"text": "done"}), before=before) as agent:
        agent.prompt(agent.session(tmp_path), "go")
        until_it_hangs(agent)
        if isinstance(end, signal.Signals):
            agent.child.send_signal(end)
            assert agent.child.wait(10) == code
        else:
            assert agent.close() == code
        assert agent.child.stderr is not None
        assert b"something still hangs" in agent.child.stderr.read()


def test_what_commands_left_running_ends_even_when_a_model_hangs(tmp_path: Path) -> None:
    left = {"tool": "shell", "args": {"command": "setsid sleep 600 > /dev/null 2>&1 & echo $! > pid"}}
    flags = script(tmp_path, left, {"text": "never"})
    with Process(*flags, before=SHIELDED.format(last=2)) as agent:
        agent.prompt(agent.session(tmp_path), "go")
        until_it_hangs(agent)
        pid = int((tmp_path / "pid").read_text())
        assert alive(pid)
        assert agent.close() == 0
        assert not alive(pid)


def test_a_host_that_serves_and_returns_goes_on(tmp_path: Path) -> None:
    program = (
        "import time\n"
        "from zidane_acp import AcpServerOptions, run_acp_stdio_server\n"
        "from zidane_acp.models.offline import OfflineModel\n"
        "code = run_acp_stdio_server(AcpServerOptions(provider=OfflineModel()))\n"
        "from zidane_acp import process\n"
        "import sys, threading\n"
        "[thread.join() for thread in threading.enumerate() if thread.name == 'leaving']\n"
        "sys.exit(40 + code)\n"
    )
    path = tmp_path / "host.py"
    path.write_text(program)
    done = subprocess.run([COMMAND[0], str(path)], input=b"", capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stderr) == (40, b"")


def test_a_slow_reader_gets_everything(tmp_path: Path) -> None:
    frames = tmp_path / "frames"
    count = 12000
    frames.write_bytes(b"{bad\n" * count)
    with frames.open("rb") as source:
        child = subprocess.Popen([*COMMAND, "--provider", "offline"], stdin=source, stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        got = bytearray()
        while data := os.read(child.stdout.fileno(), 100_000):
            got += data
            time.sleep(0.25)  # that the reader is slow is what is tested
        assert got.count(b"\n") == count
        assert child.wait(10) == 0


# How long the end may take ---------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time


def test_after_the_end_of_the_input_each_byte_taken_gives_more_time() -> None:
    clock, begun = Clock(), list[int]()
    ending = Ending(clock.now, lambda: begun.append(1))
    ending.closed("eof")
    ending.closed("eof")
    for _ in range(20):
        clock.time += FLUSH_WITHIN / 2
        ending.moved()
    assert ending.left() >= STALLED and begun == [1]
    clock.time += STALLED
    assert ending.left() <= 0


@pytest.mark.parametrize("reason", ["terminated", "hung_up", "broken_pipe"])
def test_after_a_signal_the_time_is_fixed(reason: str) -> None:
    clock = Clock()
    ending = Ending(clock.now)
    ending.closed(reason)
    for _ in range(4):
        clock.time += FLUSH_WITHIN / 4
        ending.moved()
        ending.closed("eof")
    assert ending.left() <= 1e-9


def test_a_signal_ends_the_patience_with_a_slow_reader() -> None:
    clock = Clock()
    ending = Ending(clock.now)
    ending.closed("eof")
    ending.closed("terminated")
    clock.time += FLUSH_WITHIN
    ending.moved()
    assert ending.left() <= 0


def test_once_all_is_read_nothing_gives_more_time() -> None:
    clock = Clock()
    ending = Ending(clock.now)
    ending.closed("eof")
    clock.time += FLUSH_WITHIN - 0.1
    ending.moved()
    ending.drained()
    assert ending.left() < STALLED / 2


def test_where_pipes_cannot_be_polled_threads_read_and_write(tmp_path: Path) -> None:
    """As on Windows: the agent answers, streams, and ends with its input."""
    with Process("--provider", "offline", before="import select\ndel select.poll") as agent:
        session = agent.session(tmp_path)
        asked = agent.prompt(session, "/count 300")
        answer = agent.until(lambda frame: frame.get("id") == asked)
        assert answer["result"]["stopReason"] == "end_turn"
        assert agent.close() == 0
