"""Logging of the shell: to stderr or a file, never to stdout, and never with a key in it."""

import logging
import os
from collections.abc import Iterable, Mapping
from typing import Final

from zidane_acp.background import Background, write_all
from zidane_acp.masking import mask_start, secret_values
from zidane_acp.settings import LogLevel

LEVELS: Final[Mapping[LogLevel, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
CHATTY: Final = ("asyncio", "h11", "httpcore", "httpcore2", "httpx", "httpx2")
"""Loggers of libraries that tell headers and bodies at the lower levels."""

LONGEST: Final = 16 * 1024
"""Characters of one record."""

BOUND: Final = 1024 * 1024
"""Bytes that may wait for a reader of stderr. What comes beyond is counted, so that a client that never reads
its agent's stderr cannot hold it up."""

FLUSH_WITHIN: Final = 0.1
"""Seconds that the last lines get at the end."""


class MaskingFormatter(logging.Formatter):
    """Formats a record, its exception included, and masks the result. `secrets` are looked at anew for each record."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return mask_start(super().format(record), self._secrets, LONGEST)


class BackgroundHandler(logging.Handler):
    """Writes records to a descriptor in a thread of its own. Nobody who logs waits."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._broken = False
        self._lines: Background[str] = Background(self._write, BOUND)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception as error:
            # A library's call that does not fit its own text; what failed may hold anything, so only its kind.
            line = f"ERROR {record.name}: a line of the log could not be made ({type(error).__name__})"
        self._lines.put(line, len(line))

    def flush(self) -> None:
        """Give the last lines a moment to get out."""
        self._lines.flush(FLUSH_WITHIN)

    def _write(self, line: str, lost: int) -> None:
        note = f"[{lost} lines were left out: they came faster than they were read.]\n" if lost else ""
        if not self._broken:
            try:
                write_all(self._descriptor, f"{note}{line}\n".encode("utf-8", "backslashreplace"))
            except OSError:
                # The log itself is gone; there is nowhere left to tell.
                self._broken = True


def configure(level: LogLevel = "warning", descriptor: int = 2, secrets: Iterable[str] | None = None) -> None:
    """Send all logging to a descriptor: that of stderr, or of a file. `secrets` are hidden, and looked at anew for each line;
    None: those of the environment."""
    handler = BackgroundHandler(descriptor)
    handler.setFormatter(MaskingFormatter(secret_values(os.environ) if secrets is None else secrets))
    logging.basicConfig(level=LEVELS[level], handlers=[handler], force=True)
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(LEVELS[level], logging.WARNING))
