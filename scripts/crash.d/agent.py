"""The agent as a process that is to be killed: every frame with the time at which it was seen, and what kills it."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import orphans
from orphans import MARK

PATIENCE: Final = 20.0
"""Seconds after which an answer that does not come is a failure."""

Frame = dict[str, Any]


class Broken(Exception):
    """The agent did not do what was waited for."""


class Seen(NamedTuple):
    """A frame, and when it was read: never earlier than it was written."""

    at: float
    frame: Frame


class Trigger(NamedTuple):
    """When the agent is killed: after seconds, frames or answers since the prompts were sent, or at their end."""

    kind: Literal["time", "frame", "answer", "end"]
    amount: float = 0

    def __str__(self) -> str:
        return {
            "time": f"after {self.amount:.3f} s",
            "frame": f"after frame {self.amount:.0f}",
            "answer": f"after answer {self.amount:.0f}",
            "end": "at the end",
        }[self.kind]


def program() -> str:
    """The installed zidane-acp beside this Python."""
    found = shutil.which("zidane-acp", path=str(Path(sys.executable).parent))
    if found is None:
        sys.exit("zidane-acp is not installed beside this Python; run scripts/test once.")
    return found


def environment(home: Path, mark: str) -> Mapping[str, str]:
    """No keys, no settings of who runs this, the state folder of all rounds, and the mark of this one."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.startswith("ZIDANE_ACP_")
    }
    return kept | {"ZIDANE_ACP_HOME": str(home), MARK: mark}


class Agent:
    """One process and its client. A thread reads, so that a kill after a frame comes right behind it."""

    def __init__(self, script: Path, home: Path, mark: str, log: Path) -> None:
        flags = ("--provider", "replay", "--script", str(script), "--permission", "allow-all")
        with log.open("ab") as errors:
            self.child = subprocess.Popen(
                (program(), *flags),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=dict(environment(home, mark)),
            )
        self.seen: list[Seen] = []
        self.killed_at = 0.0
        self.children: set[tuple[int, str]] = set()
        """Its processes right before the kill, where there was time for a look."""
        self.log, self.mark = log, mark
        self._answers: dict[int, Seen] = {}
        self._asked = 0
        self._trigger: Trigger | None = None
        self._frames = self._prompts_answered = 0
        self._prompts: set[int] = set()
        self._over = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # What it is told ---------------------------------------------------------------------------------

    def ask(self, method: str, **params: Any) -> int:
        """Send a request; its number. What a dead agent is told is lost."""
        assert self.child.stdin is not None
        self._asked += 1
        if method == "session/prompt":
            self._prompts.add(self._asked)
        frame = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.write(json.dumps(frame).encode() + b"\n")
            self.child.stdin.flush()
        return self._asked

    def answer(self, asked: int) -> Seen | None:
        """The answer to a request, or None from an agent that was killed before it."""
        self.wait(lambda: asked in self._answers, f"an answer to request {asked}")
        return self._answers.get(asked)

    def has_answered(self, asked: int) -> bool:
        """Whether the answer to a request was read."""
        return asked in self._answers

    def call(self, method: str, **params: Any) -> Frame:
        """Ask, and the answer of an agent that must live."""
        seen = self.answer(self.ask(method, **params))
        if seen is None:
            raise Broken(f"the agent ended before its answer to {method}; see {self.log}")
        return seen.frame

    def result(self, method: str, **params: Any) -> Any:
        """The result of a call that must succeed."""
        frame = self.call(method, **params)
        if "result" not in frame:
            raise Broken(f"{method} was answered by {json.dumps(frame['error'])}")
        return frame["result"]

    def initialize(self) -> None:
        """The first request."""
        self.result("initialize", protocolVersion=1)

    def prompt(self, session: str, text: str) -> int:
        """Send a prompt; its number."""
        return self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def wait(self, holds: Callable[[], bool], what: str, within: float = PATIENCE) -> None:
        """Wait until something holds, or nothing comes any more."""
        with self._changed:
            if not self._changed.wait_for(lambda: holds() or self._over, within):
                raise Broken(f"{what} did not come within {within:g} s; see {self.log}")

    # Its end -----------------------------------------------------------------------------------------

    def arm(self, trigger: Trigger) -> None:
        """Kill it when this has come, counted from now."""
        with self._changed:
            self._trigger, self._frames, self._prompts_answered = trigger, 0, 0
        if trigger.kind == "time":
            timer = threading.Timer(trigger.amount, self.look_and_kill)
            timer.daemon = True
            timer.start()

    def look_and_kill(self) -> None:
        """SIGKILL, after a look at its children, which takes some milliseconds."""
        if not self.killed_at:
            self.children = orphans.below(self.child.pid)
            self.kill()

    def kill(self) -> None:
        """SIGKILL, once."""
        with self._changed:
            if not self.killed_at:
                self.killed_at = time.monotonic()
                self.child.kill()

    def gone(self, within: float) -> bool:
        """Wait for the end of its output; all that was written is read then."""
        self._reader.join(within)
        return not self._reader.is_alive()

    def close(self) -> None:
        """Close its input and wait for its end, or kill it: nothing of it is left running."""
        assert self.child.stdin is not None and self.child.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()
            self.child.wait()
        self._reader.join()
        self.child.stdout.close()

    # In the thread -----------------------------------------------------------------------------------

    def _read(self) -> None:
        assert self.child.stdout is not None
        rest = b""
        while data := os.read(self.child.stdout.fileno(), 1 << 18):
            at = time.monotonic()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(Seen(at, json.loads(line)))
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _take(self, seen: Seen) -> None:
        with self._changed:
            self.seen.append(seen)
            self._frames += 1
            asked = seen.frame.get("id")
            if "method" not in seen.frame and isinstance(asked, int):
                self._answers[asked] = seen
                self._prompts_answered += asked in self._prompts
            self._changed.notify_all()
        trigger = self._trigger
        if trigger is not None and (
            (trigger.kind == "frame" and self._frames >= trigger.amount)
            or (trigger.kind == "answer" and self._prompts_answered >= trigger.amount)
        ):
            self.kill()
