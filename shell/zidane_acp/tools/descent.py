"""Going down into folders by handle, so that one that is swapped for a link meanwhile is not followed.

Trees may be deeper than a process may have files open. So only every 32nd folder on the way stays open, and one
between them is opened anew from the nearest one above it.
"""

import os
from typing import Final, TypeAlias

from zidane_acp.tools.handles import HANDLES, PASSING, READING

Place: TypeAlias = int | str
"""An open folder; its path where the platform has no handles of folders."""

_EVERY: Final = 32


class Descent:
    """A way down from `top`, which stays open and belongs to the caller."""

    def __init__(self, top: Place) -> None:
        self._names: list[str] = []
        self._held: list[tuple[int, Place]] = [(0, top)]
        self._here: int | None = None

    def enter(self, name: str) -> Place:
        """Go into a folder; gives it open until the next call here. OSError when it is none, or a link by now."""
        self._let_go()
        level, place = self._held[-1]
        names = (*self._names[level:], name)
        opened = _below(place, names)
        self._names.append(name)
        if len(self._names) % _EVERY == 0:
            self._held.append((len(self._names), opened))
        elif isinstance(opened, int):
            self._here = opened
        return opened

    def leave(self) -> None:
        """Go back up one folder."""
        self._let_go()
        level, place = self._held[-1]
        if self._names and level == len(self._names):
            self._held.pop()
            if isinstance(place, int):
                os.close(place)
        self._names = self._names[:-1]

    def close(self) -> None:
        """Close everything that was opened."""
        while self._names:
            self.leave()

    def _let_go(self) -> None:
        if self._here is not None:
            os.close(self._here)
            self._here = None


def _below(place: Place, names: tuple[str, ...]) -> Place:
    if isinstance(place, str) or not HANDLES:
        return os.path.join(str(place), *names)
    folder = place
    for number, name in enumerate(names, 1):
        try:
            deeper = os.open(name, READING if number == len(names) else PASSING, dir_fd=folder)
        finally:
            if folder != place:
                os.close(folder)
        folder = deeper
    return folder
