"""A program on a pseudo terminal: what stands on the screen, and keys for it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

# The child makes the pseudo terminal its controlling one, so that Ctrl-C is a signal.
LAUNCH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[=>]|\x1b\][^\x07]*\x07|\r")
PATIENCE = 30.0


class Terminal:
    """A program on a pseudo terminal; `seen` is all it wrote, without escape sequences."""

    def __init__(self, command: tuple[str, ...], home: Path, cwd: Path, columns: int = 100) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        kept = {
            name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")
        }
        extra = {
            "TERM": "xterm-256color",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "PYTHONUTF8": "1",
            "ZIDANE_ACP_HOME": str(home),
        }
        self.process = subprocess.Popen(
            (sys.executable, "-c", LAUNCH, *command),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**kept, **extra},
            cwd=cwd,
        )
        os.close(slave)
        self.raw = ""
        self._mark = 0

    @property
    def seen(self) -> str:
        return ESCAPES.sub("", self.raw)

    def until(self, text: str) -> str:
        """Wait until the text comes after what was waited for last."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.seen[self._mark :]:
            assert self._read(deadline), f"{text!r} never came; the screen says:\n{self.seen}"
        start = self._mark
        self._mark = self.seen.index(text, self._mark) + len(text)
        return self.seen[start : self._mark]

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def say(self, words: str) -> None:
        """Type a prompt once the line is ready."""
        self.until("›")
        self.type(words + "\r")

    def exit_code(self) -> int:
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        return self.process.wait(timeout=PATIENCE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=PATIENCE)
        os.close(self._master)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select((self._master,), (), (), max(deadline - time.monotonic(), 0))
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux: the other side is closed
            return False
        self.raw += data.decode("utf-8", "replace")
        return bool(data)


Start = Callable[..., Terminal]
