"""What every client of scripts/outside needs: folders of its own, the agent behind a tee, and a look at the frames."""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from outside.schema_check import Frame, problems, read_log

ROOT: Final = Path(__file__).parents[2]
PATIENCE: Final = 120.0
TEE: Final = ROOT / "tests" / "outside" / "tee.py"
UNANSWERED: Final = "no answer to session/prompt"


class Failed(Exception):
    """A client did not get what it has to; the message says what."""


class Stage:
    """One run: a work folder, a state folder, and a folder of logs with one file for each agent process."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder, folder / "work"
        self.log, self.home = folder / "frames", folder / "home"
        for made in (self.work, self.log, self.home):
            made.mkdir(parents=True)

    def agent(self, *flags: str) -> list[str]:
        """The command of an agent with a tee in front of it."""
        return [sys.executable, str(TEE), str(self.log), "--", program(), *flags]

    def replaying(self, *turns: Mapping[str, Any], flags: Sequence[str] = ()) -> list[str]:
        """The command of an agent that plays these turns."""
        script = self.folder / f"script-{len(list(self.folder.glob('script-*')))}.json"
        script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
        return self.agent("--provider", "replay", "--script", str(script), *flags)

    def environment(self, *path: str) -> dict[str, str]:
        state = {"ZIDANE_ACP_HOME": str(self.home), "HOME": str(self.home)}
        return {**os.environ, **state, "PATH": os.pathsep.join((*path, os.environ.get("PATH", "")))}

    def connections(self) -> list[tuple[Frame, ...]]:
        """The frames of each agent, in the order in which they were started."""
        return [read_log(log) for log in sorted(self.log.iterdir())]

    def processes(self) -> set[int]:
        """The process ids of all tees and agents that were ever started here."""
        return {int(pid) for log in self.log.iterdir() for pid in log.stem.split("-")[1:]}

    def running(self, pid: int) -> bool:
        """Whether a process of this stage is there. It has the state folder in its environment, which another one
        that got the same id meanwhile has not; nor has one that only waits for its parent (a zombie)."""
        try:
            if Path("/proc/self/environ").exists():
                return os.fsencode(self.home) in Path(f"/proc/{pid}/environ").read_bytes()
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError, PermissionError):
            return False
        return True

    @contextmanager
    def nothing_left(self, more: Callable[[], set[int]] = set) -> Iterator[None]:
        """Afterwards all processes of the stage, and these, must have ended by themselves; what has not is ended
        here, by its id."""

        def left() -> list[int]:
            return [pid for pid in sorted(self.processes() | more()) if self.running(pid)]

        try:
            yield
            wait_for(lambda: not left(), "the end of every process")
        finally:
            for pid in left():
                print(f"ended by force: process {pid}", flush=True)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def check(self, killed: int | None = None) -> None:
        """Every frame against the schema, or what is wrong with the first ones. The connection `killed` has a
        prompt without an answer, all others have none."""
        connections = self.connections()
        wrong: list[str] = []
        for number, frames in enumerate(connections):
            found = problems(frames)
            if number == killed and UNANSWERED in found:
                found.remove(UNANSWERED)
            wrong += found if frames else ["an agent had no frame"]
        if not connections or wrong:
            raise Failed("\n".join(wrong[:10]) or "no frame was seen")
        count = sum(map(len, connections))
        print(f"ok: {count} frames of {len(connections)} agents, all valid", flush=True)


def program() -> str:
    """The installed zidane-acp."""
    found = shutil.which("zidane-acp", path=str(Path(sys.executable).parent))
    if found is None:
        raise Failed("zidane-acp is not installed beside this Python; run scripts/test once.")
    return found


def sent(frames: Sequence[Frame]) -> list[str]:
    """The methods that the client called, in order."""
    messages = (json.loads(frame.line) for frame in frames if frame.direction == "in")
    return [message["method"] for message in messages if "method" in message]


def answers(frames: Sequence[Frame], method: str) -> list[dict[str, Any]]:
    """The agent's answers to the requests of this method, in the order in which they came."""
    messages = [(frame.direction, json.loads(frame.line)) for frame in frames]
    asked = {json.dumps(m["id"]) for way, m in messages if way == "in" and m.get("method") == method}
    return [m for way, m in messages if way == "out" and "method" not in m and json.dumps(m["id"]) in asked]


def before_answer(frames: Sequence[Frame], method: str) -> list[str]:
    """What the agent showed between the request of this method and its answer."""
    messages = [(frame.direction, json.loads(frame.line)) for frame in frames]
    [asked] = [at for at, (way, m) in enumerate(messages) if way == "in" and m.get("method") == method]
    key = messages[asked][1]["id"]
    later = [m for way, m in messages[asked + 1 :] if way == "out"]
    answered = next(at for at, m in enumerate(later) if "method" not in m and m["id"] == key)
    return [m["params"]["update"]["sessionUpdate"] for m in later[:answered] if "params" in m]


def wait_for(happened: Callable[[], bool], what: str) -> None:
    """Looks every 20 ms: another process writes or ends, there is nothing to wait on."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            raise Failed(f"{what} did not come within {PATIENCE:g} s")
        time.sleep(0.02)
