"""The agent as a process, driven line by line over real pipes."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

COMMAND = (sys.executable, "-P", "-m", "zidane_acp.main", "serve")


def changed(before: str) -> tuple[str, ...]:
    """The command of an agent in whose process a program runs first."""
    main = "import sys\nfrom zidane_acp.main import main\nsys.exit(main(['serve', *sys.argv[1:]]))\n"
    return sys.executable, "-P", "-c", f"{before}\n{main}"


class Process:
    """One agent process. Reads are bounded by the process's own life: the test's timeout ends a hung one.

    `before` is a program that runs in the process before the agent does. With `bare` the environment is `env` and no more.
    """

    def __init__(
        self,
        *flags: str,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        before: str = "",
        bare: bool = False,
        **popen: Any,
    ) -> None:
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.endswith(("_API_KEY", "OLLAMA_HOST"))
        }
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.child = subprocess.Popen(
            [*(changed(before) if before else COMMAND), *flags],
            env={**({} if bare else clean), **(env or {})},
            cwd=cwd,
            **{**pipes, **popen},
        )
        self.last_id = -1
        self.seen: list[dict[str, Any]] = []

    def __enter__(self) -> "Process":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.child.kill()
        self.child.wait(10)
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):  # what is left in a buffer goes nowhere
                    stream.close()

    def send(self, **frame: Any) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")
        self.child.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        assert line, f"the agent is gone: {self.child.stderr.read().decode()}"  # type: ignore[union-attr]
        frame: dict[str, Any] = json.loads(line)
        self.seen.append(frame)
        return frame

    def until(self, wanted: Any) -> dict[str, Any]:
        """Read until a frame fits."""
        while not wanted(frame := self.read()):
            pass
        return frame

    def ask(self, method: str, **params: Any) -> int:
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params)
        return self.last_id

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask and wait for the answer."""
        asked = self.ask(method, **params)
        return self.until(lambda frame: frame.get("id") == asked and "method" not in frame)

    def session(self, cwd: Path | str) -> str:
        self.call("initialize", protocolVersion=1)
        answer = self.call("session/new", cwd=str(cwd), mcpServers=[])
        session: str = answer["result"]["sessionId"]
        return session

    def prompt(self, session: str, text: str) -> int:
        return self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def update(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Wait for an update of this kind with these fields."""

        def fits(frame: dict[str, Any]) -> bool:
            update = frame.get("params", {}).get("update", {})
            return update.get("sessionUpdate") == kind and all(update.get(k) == v for k, v in fields.items())

        return self.until(fits)["params"]["update"]

    def close(self) -> int:
        """Close stdin and wait for the end."""
        assert self.child.stdin is not None
        self.child.stdin.close()
        return self.child.wait(10)


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):  # it may go between the opening and the reading
        return False
    return state != "Z"
