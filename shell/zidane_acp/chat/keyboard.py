"""The keyboard while the agent works: no echo, single keys for questions, and nothing typed is lost."""

import os
import re
import select
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import anyio

READ: Final = 1024
ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)


class Keyboard:
    """The terminal on a file descriptor. `typed` is what came while nobody asked; the next prompt gets it."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._fd = sys.stdin.fileno() if descriptor is None else descriptor
        self._pending = ""
        self.typed = ""

    @contextmanager
    def quiet(self) -> Generator[None, None, None]:
        """Single keys without echo; Ctrl-C still makes a signal."""
        if sys.platform == "win32":  # no termios there: keys echo, and questions take Enter
            yield
            return
        import termios

        before = termios.tcgetattr(self._fd)
        now = termios.tcgetattr(self._fd)
        now[3] &= ~(termios.ECHO | termios.ICANON)
        now[3] |= termios.NOFLSH  # Ctrl-C must not drop what was typed before it
        now[6][termios.VMIN], now[6][termios.VTIME] = 1, 0
        # TCSADRAIN keeps what was typed ahead, TCSAFLUSH would drop it.
        termios.tcsetattr(self._fd, termios.TCSADRAIN, now)
        try:
            yield
        finally:
            self.keep_typed()
            termios.tcsetattr(self._fd, termios.TCSADRAIN, before)

    def keep_typed(self) -> None:
        """Take what was typed before a question appeared, so that it does not answer the question."""
        self._keep(self._pending)
        self._pending = ""
        if sys.platform == "win32":
            return
        while select.select((self._fd,), (), (), 0)[0]:
            data = os.read(self._fd, READ)
            if not data:
                return
            self._keep(_keys(data))

    async def key(self) -> str:
        """The next key; cursor keys and the like are passed over. Empty when the terminal is gone."""
        while not self._pending:
            if sys.platform == "win32":
                data = (await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)).encode()
            else:
                await anyio.wait_readable(self._fd)
                data = os.read(self._fd, READ)
            if not data:
                return ""
            self._pending = _keys(data)
        key, self._pending = self._pending[0], self._pending[1:]
        return key

    def take_typed(self) -> str:
        """What was typed ahead, once."""
        typed, self.typed = self.typed, ""
        return typed.rstrip("\r\n").replace("\r", "\n")

    def _keep(self, keys: str) -> None:
        for key in keys:
            # Backspace edits what is kept; other control keys mean nothing here.
            if key in "\x7f\b":
                self.typed = self.typed[:-1]
            elif key >= " " or key in "\n\r\t":
                self.typed += key


def _keys(data: bytes) -> str:
    return ESCAPE.sub("", data.decode("utf-8", "replace"))
