"""The agent killed by SIGKILL: nothing that it started outlives it."""

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.process import Process as Agent
from support.process import alive

from zidane_acp.tools import families
from zidane_acp.tools.families import Process, told

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see that processes are gone")

RUN = ("--provider", "offline", "--permission", "allow-all")
COMMANDS = {
    "group": "sleep 600 & echo $! >> pids; echo $$ >> pids; wait",
    "own session": "setsid sh -c 'echo $$ >> pids; exec sleep 600' & wait",
    "own session, deaf, orphan": "(setsid sh -c \"trap '' TERM HUP; echo \\$\\$ >> pids; while :; do sleep 1; done\" &); sleep 601",
    "own session, clean environment": "env -i setsid sh -c 'echo $$ >> pids; exec sleep 600' & wait",
    "clean environment": "exec env -i sh -c 'echo $$ >> pids; exec sleep 600'",
    "stopped": "sleep 600 & echo $! >> pids; kill -STOP $!; wait",
}
LEFT = {
    "left": "sleep 600 & echo $! >> pids",
    "left, clean environment": "env -i sleep 600 & echo $! >> pids",
}


def until(holds: Any) -> None:
    end = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < end
        os.sched_yield()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def guard_of(agent: Agent) -> int:
    def is_guard(pid: int) -> bool:
        return families.__file__.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()

    (guard,) = filter(is_guard, children(agent.child.pid))
    return guard


@pytest.mark.parametrize("how", [*COMMANDS, *LEFT])
def test_a_killed_agent_leaves_nothing_running(tmp_path: Path, how: str) -> None:
    pids = tmp_path / "pids"
    with Agent(*RUN) as agent:
        asked = agent.prompt(agent.session(tmp_path), f"/run echo rea''dy; {COMMANDS.get(how) or LEFT[how]}")
        if how in LEFT:
            agent.until(lambda frame: frame.get("id") == asked)
        else:  # from its first output on the agent has told the guard of it
            agent.until(
                lambda frame: "ready" in str(frame.get("params", {}).get("update", {}).get("content"))
            )
        expected = 2 if how == "group" else 1
        until(lambda: pids.exists() and len(pids.read_text().split()) == expected)
        running = [int(pid) for pid in pids.read_text().split()]
        guard = guard_of(agent)
        assert all(map(alive, [*running, guard]))
        agent.child.kill()
        until(lambda: not any(map(alive, running)))
        until(lambda: not alive(guard))


def test_a_killed_agent_leaves_no_search_running(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a" * 60 + "!")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    with Agent(*RUN, env={"PATH": str(tmp_path / "bin")}) as agent:
        agent.prompt(agent.session(tmp_path), "/search (a+)+$")
        until(lambda: len(children(agent.child.pid)) == 2)
        running = children(agent.child.pid)
        agent.child.kill()
        until(lambda: not any(map(alive, running)))


@pytest.mark.parametrize("end", ["eof", "terminated"])
def test_an_agent_that_ends_by_itself_lets_its_guard_go(tmp_path: Path, end: str) -> None:
    with Agent(*RUN) as agent:
        asked = agent.prompt(agent.session(tmp_path), "/run true")
        agent.until(lambda frame: frame.get("id") == asked)
        guard = guard_of(agent)
        if end == "eof":
            agent.close()
        else:
            agent.child.send_signal(signal.SIGTERM)
            agent.child.wait(10)
        assert not alive(guard), "it is waited for"


def test_a_guard_that_was_killed_is_replaced(tmp_path: Path) -> None:
    with Agent(*RUN) as agent:
        session = agent.session(tmp_path)
        for _ in range(2):
            asked = agent.prompt(session, "/run echo back")
            assert agent.until(lambda frame: frame.get("id") == asked)["result"]["stopReason"] == "end_turn"  # noqa: B023
            os.kill(guard_of(agent), signal.SIGKILL)
            until(lambda: not any(map(alive, children(agent.child.pid))))
        assert agent.close() == 0


def test_what_the_guard_is_told() -> None:
    lines = io.BytesIO(b"+12\n+13\n-12\n=14 99\n")
    assert told(lines) == (frozenset({13}), frozenset({Process(14, "99")}))
    assert told(io.BytesIO(b"+12\nbye\n")) is None
    assert told(io.BytesIO(b"")) == (frozenset(), frozenset())


def test_the_guard_spares_all_others() -> None:
    """A process with the number of one that was left, but a later one, and one with another marker."""
    environment = {**os.environ, families.MARKER: "other-1;"}
    with subprocess.Popen(["sleep", "600"], env=environment, start_new_session=True) as other:
        subprocess.run(
            [sys.executable, "-I", "-S", families.__file__, "token-"],
            input=f"={other.pid} 1\n+{other.pid}\n-{other.pid}\n".encode(),
            check=True,
        )
        assert other.poll() is None
        subprocess.run([sys.executable, "-I", "-S", families.__file__, "other-"], input=b"", check=True)
        assert other.wait(10) == -signal.SIGKILL
