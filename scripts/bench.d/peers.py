"""The agents of the bench, and a client that costs as little as it can."""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from node_packages import TYPESCRIPT_SDK, install, node, place

HERE: Final = Path(__file__).parent
PATIENCE: Final = 300.0
INITIALIZE: Final = {
    "protocolVersion": 1,
    "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Peer(NamedTuple):
    """An agent under measurement."""

    name: str
    command: tuple[str, ...]


def program() -> str:
    """The installed zidane-acp beside this Python."""
    found = shutil.which("zidane-acp", path=str(Path(sys.executable).parent))
    if found is None:
        sys.exit("zidane-acp is not installed beside this Python; run scripts/test or scripts/run once.")
    return found


def echo_agents() -> tuple[Peer, ...]:
    """The three peers that every measure is printed beside."""
    install(TYPESCRIPT_SDK)
    return (
        Peer("TypeScript SDK echo", (node(20), str(place(HERE / "echo_typescript.mjs")))),
        Peer("Python SDK echo", (sys.executable, str(HERE / "echo_python.py"))),
        Peer("bare msgspec loop", (sys.executable, str(HERE / "bare_msgspec.py"))),
    )


def environment(home: Path) -> Mapping[str, str]:
    """The environment of every agent: no keys, no proxy in front of loopback, its own state folder.

    Python may keep what it has compiled, as it does for an installed program.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY")
        and not name.startswith("ZIDANE_ACP_")
        and name != "PYTHONDONTWRITEBYTECODE"
    }
    return kept | {"ZIDANE_ACP_HOME": str(home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class Connection:
    """A client over pipes; it reads bytes and looks only for what it waits for."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None and process.stdout is not None
        self.process = process
        self._input, self._output = process.stdin, process.stdout.fileno()
        self._buffer = b""
        self._id = 0
        self.updates = 0  # message frames so far; fewer than chunks where the agent merged some
        self.told = 0  # updates of every kind

    def request(self, method: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        """The answer, and how many `~` came before it: one for each chunk, however they were merged."""
        self._id += 1
        frame = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._input.write(json.dumps(frame).encode() + b"\n")
        self._input.flush()
        return self._answer(self._id)

    def _answer(self, wanted: int) -> tuple[dict[str, Any], int]:
        chunks = 0
        tail = self._buffer
        while True:
            whole, newline, rest = tail.rpartition(b"\n")
            if newline:
                self.updates += whole.count(b'"agent_message_chunk"')
                self.told += whole.count(b'"session/update"')
                # Only a response lacks a method; looking at every frame as JSON would measure this client.
                for line in whole.split(b"\n") if b'"result"' in whole or b'"error"' in whole else ():
                    if b'"method"' in line[:400] or not line.strip():
                        continue
                    message = json.loads(line)
                    if message.get("id") == wanted:
                        self._buffer = rest
                        return message, chunks + whole.count(b"~")
                chunks += whole.count(b"~")
                tail = rest
            if not select.select([self._output], [], [], PATIENCE)[0]:
                raise RuntimeError(f"no answer to request {wanted} within {PATIENCE:g} s")
            data = os.read(self._output, 1 << 20)
            if not data:
                raise RuntimeError(f"the agent ended with {self.process.wait()}")
            tail += data

    def open(self, cwd: Path) -> str:
        """Initialize and a new session; its id."""
        self.request("initialize", INITIALIZE)
        answer, _ = self.request("session/new", {"cwd": str(cwd), "mcpServers": []})
        return str(answer["result"]["sessionId"])

    def prompt(self, session: str, text: str) -> int:
        """The chunks of a turn that ended well."""
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        answer, chunks = self.request("session/prompt", params)
        if answer.get("result", {}).get("stopReason") != "end_turn":
            raise RuntimeError(f"the prompt {text!r} ended with {json.dumps(answer)[:500]}")
        return chunks


@contextmanager
def started(command: tuple[str, ...], home: Path) -> Iterator[Connection]:
    """The agent as a process, ended by closing its input."""
    log = (home / "stderr.log").open("ab")
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd=home,
        env=dict(environment(home)),
    )
    log.close()
    try:
        yield Connection(process)
    finally:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@contextmanager
def provider() -> Iterator[str]:
    """The base URL of the loopback server, in its own process."""
    command = [sys.executable, str(HERE / "provider.py")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def resident(pid: int) -> float:
    """Resident memory of a process in MiB; children are not counted, none of the agents has any here."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(said.stdout) / 1024


def peak(pid: int) -> float | None:
    """The most resident memory that a process has had so far, in MiB; None where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), None)


def worked(pid: int) -> float:
    """CPU seconds of a process so far, those of ended threads with them."""
    if sys.platform == "linux":
        return time.clock_gettime((~pid << 3) | 2)  # what clock_getcpuclockid(3) makes of a process id
    said = subprocess.run(["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=True)
    minutes, _, seconds = said.stdout.strip().rpartition(":")
    return int(minutes) * 60 + float(seconds)


def clock() -> float:
    """Seconds, for differences."""
    return time.perf_counter()
