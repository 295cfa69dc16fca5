"""Rules that live as long as their process."""

import threading
from typing import Final

from zidane_core.data.rules import Grant


class MemoryRules:
    """`Rules` without a disk, for tests and for hosts that keep nothing."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._grants: Final[dict[str, tuple[Grant, ...]]] = {}
        self._trusted: Final[set[str]] = set()

    def grants(self, folder: str) -> tuple[Grant, ...]:
        with self._lock:
            return self._grants.get(folder, ())

    def keep_grant(self, folder: str, grant: Grant) -> None:
        with self._lock:
            known = self._grants.get(folder, ())
            if grant not in known:
                self._grants[folder] = (*known, grant)

    def trusted(self, folders: tuple[str, ...]) -> frozenset[str]:
        with self._lock:
            return frozenset(folders) & self._trusted

    def keep_trust(self, folders: tuple[str, ...]) -> None:
        with self._lock:
            self._trusted.update(folders)
