"""The clock of the events: seconds since 1970 that never run backwards."""

import time


class Clock:
    """The time of day; it stands still where the system's clock was set back."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self) -> float:
        """Now."""
        self._last = max(self._last, time.time())
        return self._last
