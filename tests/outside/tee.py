"""Stands between a client and an agent on stdio and writes down every line of both directions.

    python tee.py LOG -- COMMAND [ARGUMENT...]

LOG gets one JSON object a line, {"dir": "in" | "out", "line": TEXT}, before the line is passed on, so that the
order in it is the order on the wire. Bytes that are no UTF-8 stand in it as lone surrogates.

When LOG is a folder, each run gets a file of its own in it, named START-TEE-AGENT.log: the time, which sorts them, and
the process ids of the two. SIGTERM is passed on; SIGUSR1 kills the agent.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import IO


class LineLog:
    """Cuts a stream of reads into lines and writes each whole one."""

    def __init__(self, log: IO[str], lock: threading.Lock, direction: str) -> None:
        self._log, self._lock, self._direction = log, lock, direction
        self._pieces: list[bytes] = []  # of the open line; joined once, a line may be very long

    def feed(self, data: bytes) -> None:
        first, *rest = data.split(b"\n")
        self._pieces.append(first)
        for piece in rest:
            self.end()
            self._pieces = [piece]

    def end(self) -> None:
        line = b"".join(self._pieces)
        self._pieces = []
        if line:
            self._write(line)

    def _write(self, line: bytes) -> None:
        record = {"dir": self._direction, "line": line.decode("utf-8", "surrogateescape")}
        with self._lock:
            self._log.write(json.dumps(record) + "\n")
            self._log.flush()


def pump(source: int, sink: int, log: LineLog) -> None:
    """Copies until the source ends or the sink is gone, then closes the sink."""
    try:
        while data := os.read(source, 1 << 16):
            log.feed(data)
            view = memoryview(data)
            while view:
                view = view[os.write(sink, view) :]
    except BrokenPipeError:
        return
    finally:
        log.end()
        os.close(sink)


def main(log_path: str, command: list[str]) -> int:
    lock = threading.Lock()
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    path = Path(log_path)
    if path.is_dir():
        path /= f"{time.time_ns()}-{os.getpid()}-{agent.pid}.log"
    with path.open("a", encoding="utf-8") as log:
        assert agent.stdin is not None and agent.stdout is not None

        def pass_on(number: int, frame: FrameType | None) -> None:
            agent.send_signal(number)

        signal.signal(signal.SIGTERM, pass_on)
        signal.signal(signal.SIGUSR1, lambda number, frame: agent.kill())
        to_agent = os.dup(agent.stdin.fileno())
        agent.stdin.close()
        threading.Thread(target=pump, args=(0, to_agent, LineLog(log, lock, "in")), daemon=True).start()
        pump(agent.stdout.fileno(), 1, LineLog(log, lock, "out"))
        status = agent.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        sys.exit("usage: tee.py LOG -- COMMAND [ARGUMENT...]")
    status = main(sys.argv[1], sys.argv[3:])
    sys.stdout = None  # descriptor 1 is closed; nothing may be flushed to it
    os._exit(status)  # the thread that reads stdin may still be blocked in it
