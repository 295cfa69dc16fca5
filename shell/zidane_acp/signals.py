"""The signals that end the process: at once while nothing has been started, through the loop later."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

NAMES: Final = ("SIGINT", "SIGHUP", "SIGTERM")


def ending() -> tuple[signal.Signals, ...]:
    """The signals that end this process; one that the parent has it ignore (nohup) stays ignored."""
    known = [signal.Signals[name] for name in NAMES if hasattr(signal, name)]
    return tuple(number for number in known if signal.getsignal(number) is not signal.SIG_IGN)


def exit_code(number: int) -> int:
    """The exit code that tells of a signal, as shells have it."""
    return 128 + number


def name_of(number: int) -> str:
    """The name of a signal as people know it; one that Python has no name for is told by its number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def end_at_once() -> None:
    """Before the loop runs nothing has been started that would have to be ended."""
    for number in ending():
        signal.signal(number, _leave)


@contextmanager
def restored() -> Generator[None, None, None]:
    """Give the signals back as they were."""
    before = {number: signal.getsignal(number) for number in ending()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(exit_code(number))
