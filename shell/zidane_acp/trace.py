"""The trace of a connection: both directions as JSON lines, for bug reports."""

import base64
import os
from datetime import UTC, datetime

import msgspec

from zidane_acp.log import mask


class Trace:
    """Writes {"t": ISO 8601, "dir": "in" or "out", "frame": ...} for every frame; {"raw": base64} in place of
    a frame that is no JSON. Things that look like keys are masked. Raises OSError when the file cannot be opened."""

    def __init__(self, path: str) -> None:
        self._file = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600
        )

    def frame(self, direction: str, data: bytes) -> None:
        """Write one frame."""
        line: dict[str, object] = {
            "t": datetime.now(UTC).isoformat(timespec="microseconds"),
            "dir": direction,
        }
        masked = mask(data.decode("utf-8", "replace")).encode()
        try:
            line["frame"] = msgspec.json.decode(masked)
        except (msgspec.DecodeError, RecursionError):
            line["raw"] = base64.b64encode(data).decode()
        os.write(self._file, msgspec.json.encode(line) + b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
