"""The agent as a child process: descriptors, signals, the end of everything it started."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.process import COMMAND, Process, alive

RUN = ("--provider", "offline", "--permission", "allow-all")
INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'


def gone(pid: int, within: float = 5.0) -> bool:
    end = time.monotonic() + within
    while alive(pid):
        if time.monotonic() > end:
            return False
        os.sched_yield()
    return True


def tree(agent: Process, session: str, folder: Path) -> list[int]:
    """Start a command with a child in the same group and a grandchild that left it; gives their ids."""
    pids = folder / "pids"
    line = f"(setsid sh -c 'echo $$ >> {pids}; exec sleep 600' &) ; echo $$ >> {pids}; sleep 601 & echo $! >> {pids}; echo ready; wait"
    agent.prompt(session, f"/run {line}")
    while "ready" not in str(agent.update("tool_call_update").get("content")):
        pass
    end = time.monotonic() + 10
    while len(found := pids.read_text().split()) < 3:
        assert time.monotonic() < end, found
        os.sched_yield()
    return [int(pid) for pid in found]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see that processes are gone")
@pytest.mark.parametrize(
    ("end", "code"),
    [("eof", 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["eof", "sigterm", "sighup"],
)
def test_the_end_takes_the_whole_tree_along(tmp_path: Path, end: str | signal.Signals, code: int) -> None:
    with Process(*RUN) as agent:
        session = agent.session(tmp_path)
        pids = tree(agent, session, tmp_path)
        assert all(alive(pid) for pid in pids)
        if isinstance(end, signal.Signals):
            agent.child.send_signal(end)
            assert agent.child.wait(10) == code
        else:
            assert agent.close() == code
        assert all(gone(pid) for pid in pids)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see that processes are gone")
def test_a_cancel_kills_the_tree_and_the_session_goes_on(tmp_path: Path) -> None:
    with Process(*RUN) as agent:
        session = agent.session(tmp_path)
        pids = tree(agent, session, tmp_path)
        agent.send(method="session/cancel", params={"sessionId": session})
        answer = agent.until(lambda frame: "result" in frame)
        assert answer["result"]["stopReason"] == "cancelled"
        assert all(gone(pid) for pid in pids)
        asked = agent.prompt(session, "/run echo back")
        assert agent.until(lambda frame: frame.get("id") == asked)["result"]["stopReason"] == "end_turn"


def test_a_client_that_no_longer_reads_ends_the_process() -> None:
    with Process(*RUN) as agent:
        session = agent.session("/")
        agent.prompt(session, "/count 100000")
        agent.update("agent_message_chunk")
        assert agent.child.stdout is not None
        agent.child.stdout.close()
        assert agent.child.wait(10) == 0


def test_the_input_may_be_a_regular_file(tmp_path: Path) -> None:
    frames = tmp_path / "frames"
    # The last line has no newline.
    frames.write_bytes(
        INITIALIZE + b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}'
    )
    out = tmp_path / "out"
    with frames.open("rb") as source, out.open("wb") as sink:
        done = subprocess.run([*COMMAND, *RUN], stdin=source, stdout=sink, timeout=20, check=False)
    assert done.returncode == 0
    assert out.read_bytes().count(b'"result"') == 2


def test_the_input_may_be_a_socket() -> None:
    import socket

    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen([*COMMAND, *RUN], stdin=theirs, stdout=theirs) as child:
        theirs.close()
        ours.sendall(INITIALIZE)
        assert b'"protocolVersion":1' in ours.recv(65536)
        ours.shutdown(socket.SHUT_WR)
        assert child.wait(10) == 0


def test_stdin_that_is_the_null_device_ends_at_once() -> None:
    done = subprocess.run(
        [*COMMAND, *RUN], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_stray_print_cannot_break_the_stream(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        "import anyio\n"
        "run = anyio.run\n"
        "def noisy(*a, **k):\n"
        "    print('a stray print'); sys.stdout.flush(); os.write(1, b'a stray write'); os.system('echo a child')\n"
        "    return run(*a, **k)\n"
        "anyio.run = noisy\n"
    )
    # Without -P, so that the site customisation above is found.
    command = [sys.executable, "-m", "zidane_acp.main", "serve", *RUN]
    done = subprocess.run(
        command,
        input=INITIALIZE,
        capture_output=True,
        timeout=20,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert b"stray" not in done.stdout and b"child" not in done.stdout
    assert done.stdout.count(b"\n") == 1
    assert b"a stray print" in done.stderr and b"a stray write" in done.stderr and b"a child" in done.stderr


def test_tools_do_not_read_the_protocol(tmp_path: Path) -> None:
    with Process(*RUN) as agent:
        session = agent.session(tmp_path)
        asked = agent.prompt(session, "/run cat")
        assert agent.until(lambda frame: frame.get("id") == asked)["result"]["stopReason"] == "end_turn"


def test_nothing_heavy_is_loaded_before_the_first_answer(tmp_path: Path) -> None:
    probe = (
        "import sys, threading, time\n"
        "from zidane_acp import beginning\n"
        "write = beginning._write\n"
        "def spy(sink, data):\n"
        "    print('LOADED', ' '.join(sorted(sys.modules)), file=sys.stderr)\n"
        "    return write(sink, data)\n"
        "beginning._write = spy\n"
        "from zidane_acp.main import main\n"
        "sys.exit(main(['serve', '--provider', 'offline']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe],
        input=INITIALIZE,
        capture_output=True,
        timeout=20,
        check=False,
        cwd=tmp_path,
    )
    loaded = set(done.stderr.decode().partition("LOADED ")[2].split())
    assert "zidane_core.acp.step" in loaded
    heavy = {
        "typer",
        "click",
        "rich",
        "pydantic",
        "httpx2",
        "httpx",
        "sqlite3",
        "prompt_toolkit",
        "pathspec",
        "bs4",
        "trio",
        "anyio",
        "asyncio",
    }
    assert not heavy & loaded


@pytest.mark.skipif(sys.platform != "linux", reason="reads the processor time from /proc")
def test_an_idle_agent_uses_no_processor_time() -> None:
    with Process(*RUN) as agent:
        agent.session("/")
        agent.update("available_commands_update")

        def switches() -> int:
            status = Path(f"/proc/{agent.child.pid}/status").read_text()
            return int(status.partition("voluntary_ctxt_switches:")[2].split()[0])

        # An agent that polls wakes up again and again; an idle one sleeps through.
        agent.call("session/new", cwd="/", mcpServers=[])
        agent.update("available_commands_update")
        time.sleep(0.2)  # there is no event for "nothing happened"
        before = switches()
        time.sleep(1.0)
        assert switches() - before <= 1


def test_a_trace_holds_both_directions(tmp_path: Path) -> None:
    trace = tmp_path / "trace.ndjson"
    with Process(*RUN, "--trace", str(trace)) as agent:
        agent.call("initialize", protocolVersion=1)
        assert agent.child.stdin is not None
        agent.child.stdin.write(b"{broken\n")
        agent.child.stdin.flush()
        agent.read()
        agent.close()
    lines = trace.read_text().splitlines()
    assert [('"dir":"in"' in line, '"raw"' in line) for line in lines] == [
        (True, False), (False, False), (True, True), (False, False)
    ]  # fmt: skip


def test_bad_flags_end_with_a_sentence_and_code_2() -> None:
    done = subprocess.run(
        [*COMMAND, "--provider", "nope"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"no provider named nope" in done.stderr


def test_the_environment_of_a_dock_and_a_plain_locale_are_enough(tmp_path: Path) -> None:
    with Process(*RUN, env={"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}) as agent:
        session = agent.session(tmp_path)
        asked = agent.prompt(session, '/write ž.txt "žluťoučký 🐎\\n"')
        assert agent.until(lambda frame: frame.get("id") == asked)["result"]["stopReason"] == "end_turn"
    assert (tmp_path / "ž.txt").read_text("utf-8") == "žluťoučký 🐎\n"


def test_a_thread_that_hangs_does_not_keep_the_process(tmp_path: Path) -> None:
    probe = (
        "import os, sys, threading, time\n"
        "from zidane_acp import perform\n"
        "def hang(path):\n"
        "    if path == '/hang':\n"
        "        print('HANGS', file=sys.stderr, flush=True)\n"
        "        threading.Event().wait()\n"
        "perform._problem = hang\n"
        "from zidane_acp.main import main\n"
        "sys.exit(main(['serve', '--provider', 'offline']))\n"
    )
    frames = (
        INITIALIZE
        + b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/hang","mcpServers":[]}}\n'
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], input=frames, capture_output=True, timeout=20, check=False
    )
    assert done.returncode == 0
    assert b"HANGS" in done.stderr


HOST = """
import os, sys
from zidane_acp import AcpServerOptions, StdioOptions, run_acp_stdio_server
from zidane_acp.models.offline import OfflineModel
server = AcpServerOptions(provider=OfflineModel())
given = {given}
sys.exit(run_acp_stdio_server(given))
"""


def test_a_host_serves_its_agent_on_the_standard_streams(tmp_path: Path) -> None:
    path = tmp_path / "host.py"
    path.write_text(HOST.format(given="server"))
    done = subprocess.run(
        [COMMAND[0], str(path)], input=INITIALIZE, capture_output=True, timeout=20, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["result"]["protocolVersion"] == 1


def test_a_host_chooses_descriptors_framing_bound_and_trace(tmp_path: Path) -> None:
    path, trace = tmp_path / "host.py", tmp_path / "trace"
    to, source = os.pipe()
    back, sink = os.pipe()
    options = (
        f"StdioOptions(server=server, input={to}, output={sink}, framing='content-length', max_frame=500, "
        f"trace={str(trace)!r})"
    )
    path.write_text(HOST.format(given=options))
    child = subprocess.Popen([COMMAND[0], str(path)], pass_fds=(to, sink), stdout=subprocess.PIPE)
    os.close(to)
    os.close(sink)
    with child, os.fdopen(source, "wb", buffering=0) as out, os.fdopen(back, "rb") as answers:
        for body in (
            INITIALIZE.strip(),
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":["' + b"x" * 600 + b'"]}',
        ):
            out.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        out.close()
        frames = answers.read()
        assert child.stdout is not None and child.stdout.read() == b""
        assert child.wait(10) == 0
    assert frames.count(b"Content-Length: ") == 2
    assert b'"protocolVersion":1' in frames and b"-32600" in frames
    assert {json.loads(line)["dir"] for line in trace.read_text().splitlines()} == {"in", "out"}
