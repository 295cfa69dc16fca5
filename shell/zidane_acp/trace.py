"""The trace of a connection: both directions as JSON lines, for bug reports."""

import base64
import logging
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec

from zidane_acp.background import Background, write_all
from zidane_acp.descriptors import open_appending
from zidane_acp.masking import LONGEST, mask_start, mask_tree

LOGGER: Final = logging.getLogger("zidane_acp.trace")
DECODED: Final = 4 * 1024 * 1024
"""Bytes of a frame that is taken apart; of a larger one the beginning is kept."""

BOUND: Final = 64 * 1024 * 1024
"""Bytes that may wait to be written; frames beyond are counted."""


class Seen(NamedTuple):
    """A frame that went by."""

    at: datetime
    direction: str
    data: bytes


class Trace:
    """Writes {"t": ISO 8601, "dir": "in" or "out", "frame": ...} for every frame.

    In place of a frame that is no JSON, or a large one, stands {"raw": base64 of its beginning, masked, "bytes":
    its size}; {"lost": n} tells of frames that came faster than they could be written. What looks like a key, and
    `secrets`, which are looked at anew for each frame, is masked. The work is done in a thread. Raises OSError when the file cannot be opened.
    """

    def __init__(self, path: str, secrets: Iterable[str] = ()) -> None:
        self._file = open_appending(path)
        self._secrets = secrets
        self._off = False
        self._frames: Background[Seen] = Background(self._write, BOUND)

    def frame(self, direction: str, data: bytes) -> None:
        """Note one frame."""
        if not self._off:
            self._frames.put(Seen(datetime.now(UTC), direction, data), len(data))

    def flush(self, within: float) -> bool:
        """Wait at most so many seconds until all is written; gives whether it is."""
        return self._frames.flush(within)

    def close(self, within: float) -> None:
        """Write what waits, then close the file."""
        if self.flush(within):
            self._off = True
            os.close(self._file)

    def _write(self, seen: Seen, lost: int) -> None:
        if self._off:
            return
        try:
            if lost:
                write_all(self._file, msgspec.json.encode({"lost": lost}) + b"\n")
            write_all(self._file, msgspec.json.encode(self._line(seen)) + b"\n")
        except OSError as error:
            self._off = True
            LOGGER.warning("the trace stops here, its file cannot be written: %s", error.strerror)

    def _line(self, seen: Seen) -> dict[str, object]:
        line: dict[str, object] = {
            "t": seen.at.isoformat(timespec="microseconds"),
            "dir": seen.direction,
        }
        if len(seen.data) <= DECODED:
            try:
                return {**line, "frame": mask_tree(msgspec.json.decode(seen.data), self._secrets)}
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass  # it is kept as bytes
        # Four bytes make a character at most: whatever is cut off here lies far behind what is kept.
        start = seen.data[: 8 * LONGEST].decode("utf-8", "replace")
        raw = mask_start(start, self._secrets).encode()
        return {**line, "raw": base64.b64encode(raw).decode(), "bytes": len(seen.data)}
