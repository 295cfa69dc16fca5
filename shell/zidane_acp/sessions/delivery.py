"""Where a text goes: to standard output, or to a file that only its owner reads."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from zidane_acp.chat.safe_text import line
from zidane_core.text import clean


def on_terminal() -> bool:
    """Whether a person reads standard output."""
    try:
        return sys.stdout.isatty()
    except ValueError:
        return False


def deliver(texts: Iterable[str], output: str | None) -> int:
    """Write the texts as UTF-8 without touching their line ends; exit code 1 when the file cannot be written."""
    if output is None:
        sys.stdout.flush()
        for text in texts:
            sys.stdout.buffer.write(clean(text).encode())
        sys.stdout.buffer.flush()
        return 0
    # All of it is made first, so that a store that fails in between empties no file.
    data = "".join(map(clean, texts)).encode()
    try:
        # A conversation may hold what nobody else is to read; a file that is there keeps its rights.
        handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        with open(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        print(f"{line(output)} cannot be written ({error.strerror}); choose another file.", file=sys.stderr)
        return 1
    print(f"Wrote {line(str(Path(output).absolute()))}.", file=sys.stderr)
    return 0
