"""The process with odd descriptors, files that cannot be opened, and clients that go before they begin."""

import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tty
from pathlib import Path

import pytest
from support.process import COMMAND, Process

RUN = ("--provider", "offline")
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
NEW = b'{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}\n'


def done(*flags: str, shell: str = "", given: bytes = INITIALIZE + NEW) -> subprocess.CompletedProcess[bytes]:
    command = ["sh", "-c", f'exec "$@" {shell}', "sh", *COMMAND, *RUN, *flags]
    return subprocess.run(command, input=given, capture_output=True, timeout=20, check=False)


# Descriptors -----------------------------------------------------------------------------------------


def test_without_stdin_the_end_is_there_at_once() -> None:
    ended = done(shell="<&-")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_without_stdout_there_is_no_client() -> None:
    ended = done(shell=">&-")
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_without_stderr_nothing_but_the_protocol_is_on_stdout() -> None:
    ended = done("--log-level", "debug", shell="2>&-", given=INITIALIZE + NEW + b'{"id":9,"result":{}}\n')
    assert ended.returncode == 0
    assert ended.stdout.count(b'"result"') == 2
    assert all(line.startswith(b'{"jsonrpc"') for line in ended.stdout.splitlines())


def test_without_stderr_a_refusal_does_not_go_to_stdout() -> None:
    ended = done("--provider", "nope", shell="2>&-")
    assert (ended.returncode, ended.stdout) == (2, b"")


def test_stdin_that_does_not_wait_is_waited_for() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with Process(*RUN, stdin=reader) as agent:
        os.close(reader)
        until_it_listens(agent.child.pid)
        os.write(writer, INITIALIZE)
        assert agent.read()["id"] == 1
        os.close(writer)
        assert agent.child.wait(10) == 0


def test_a_frame_of_which_a_part_is_out_is_not_sent_again() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    count = 8000
    # In one read, so that all of them are answered before the loop runs.
    with Process(*RUN, stdout=writer, stdin=subprocess.PIPE) as agent:
        os.close(writer)
        assert agent.child.stdin is not None
        agent.child.stdin.write(b"{bad\n" * count)
        agent.child.stdin.close()
        with os.fdopen(reader, "rb") as file:
            lines = file.read().splitlines()
        assert len(lines) == count and len(set(lines)) == 1


@pytest.mark.parametrize("begun", [False, True], ids=["before initialize", "after it"])
def test_a_terminal_that_is_closed_ends_the_process(begun: bool) -> None:
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    with subprocess.Popen([*COMMAND, *RUN], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as child:
        os.close(theirs)
        until_it_listens(child.pid)
        if begun:
            os.write(ours, INITIALIZE)
            while b"\n" not in os.read(ours, 65536):
                pass
        os.close(ours)
        assert child.wait(10) == 0
        assert child.stderr is not None
        assert b"Traceback" not in child.stderr.read()


@pytest.mark.parametrize("begun", [False, True], ids=["before initialize", "after it"])
def test_a_connection_that_is_reset_ends_the_process(begun: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        theirs = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
    with subprocess.Popen([*COMMAND, *RUN], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as child:
        theirs.close()
        until_it_listens(child.pid)
        if begun:
            ours.sendall(INITIALIZE)
            assert ours.recv(65536)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        ours.close()
        assert child.wait(10) == 0
        assert child.stderr is not None
        assert b"Traceback" not in child.stderr.read()


# Signals ---------------------------------------------------------------------------------------------


def until_it_listens(pid: int) -> None:
    """Wait until the process has its handlers, which is right before it reads."""
    if sys.platform != "linux":
        pytest.skip("reads /proc to see the handlers of a process")
    while True:
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return
        os.sched_yield()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGTERM, 143)]
)
@pytest.mark.parametrize("begun", [False, True], ids=["before initialize", "after it"])
def test_a_signal_ends_the_process_with_its_code(number: signal.Signals, code: int, begun: bool) -> None:
    with Process(*RUN) as agent:
        until_it_listens(agent.child.pid)
        if begun:
            agent.session("/")
        agent.child.send_signal(number)
        assert agent.child.wait(10) == code
        assert agent.child.stderr is not None
        assert agent.child.stderr.read() == b""


def test_a_signal_while_the_agent_loads_is_no_traceback() -> None:
    before = (
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'zidane_acp.stdio': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
    )
    with Process(*RUN, before=before) as agent:
        assert agent.child.wait(10) == 130
        assert agent.child.stderr is not None
        assert agent.child.stderr.read() == b""


def test_an_ignored_signal_stays_ignored() -> None:
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *COMMAND, *RUN]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(INITIALIZE + NEW)
        child.stdin.flush()
        assert child.stdout.readline() and child.stdout.readline()  # the loop runs
        child.send_signal(signal.SIGHUP)
        child.stdin.close()
        assert child.wait(10) == 0


# Files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--trace", "--log-file"])
def test_a_file_that_cannot_be_opened_is_told_before_the_first_answer(flag: str) -> None:
    ended = done(flag, "/nonexistent/x")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.decode().splitlines() == [
        f"zidane-acp: The file of {flag} cannot be opened: No such file or directory: /nonexistent/x. Give another one."
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_trace_that_cannot_be_written_is_switched_off() -> None:
    ended = done("--trace", "/dev/full")
    assert ended.returncode == 0
    assert ended.stdout.count(b'"result"') == 2
    assert ended.stderr.count(b"the trace stops here") == 1 and b"Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_log_that_cannot_be_written_disturbs_nothing() -> None:
    ended = done(
        "--log-file", "/dev/full", "--log-level", "debug", given=INITIALIZE + b'{"id":9,"result":{}}\n' + NEW
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.count(b'"result"') == 2


# Readers that do not read ----------------------------------------------------------------------------


def test_a_client_that_does_not_read_stderr_is_answered() -> None:
    with Process(*RUN, "--log-level", "debug") as agent:
        agent.call("initialize", protocolVersion=1)
        for number in range(5000):  # each makes a line of the log; a pipe holds some hundreds
            agent.send(id=100000 + number, result={})
        assert "result" in agent.call("session/new", cwd="/", mcpServers=[])
        assert agent.close() == 0


def test_stderr_in_the_pipe_of_stdout_does_not_hold_up_the_loop(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    with Process(*RUN, "--trace", str(trace), stderr=subprocess.STDOUT) as agent:
        session = agent.session("/")
        agent.prompt(session, "/count 100000")
        until_it_is_full(agent)
        # Nobody reads; that this is read all the same stands in the trace.
        agent.send(method="session/cancel", params={"sessionId": session})
        while b"session/cancel" not in trace.read_bytes():
            os.sched_yield()


def until_it_is_full(agent: Process) -> None:
    """Wait until the pipe that the agent writes to has no room."""
    assert agent.child.stdout is not None
    if sys.platform != "linux":
        pytest.skip("opens the other end of a pipe through /proc")
    writer = os.open(f"/proc/self/fd/{agent.child.stdout.fileno()}", os.O_WRONLY | os.O_NONBLOCK)
    while select.select([], [writer], [], 0)[1]:
        os.sched_yield()
    os.close(writer)


def test_garbage_is_collected_once_the_first_answer_is_out() -> None:
    told = (
        "import gc, sys\n"
        "from zidane_acp import log\n"
        "configure = log.configure\n"
        "def seen(*given, **named):\n"
        "    configure(*given, **named)\n"
        "    print('collects:', gc.isenabled(), file=sys.stderr)\n"
        "log.configure = seen\n"
        "assert gc.isenabled()\n"
    )
    with Process("--provider", "offline", before=told) as agent:
        agent.call("initialize", protocolVersion=1)
        assert agent.close() == 0
        assert agent.child.stderr is not None
        assert b"collects: True" in agent.child.stderr.read()
