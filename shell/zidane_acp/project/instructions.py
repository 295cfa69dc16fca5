"""Files of instructions for agents: the user's own, and those from the repository's root down to each root."""

import os
from collections.abc import Callable
from typing import Final, NamedTuple

from zidane_acp.project.roots import between
from zidane_acp.project.texts import TextRead, Unusable, read_text
from zidane_core.convert.visible import clip, line
from zidane_core.data.project import Instructions

NAMES: Final = ("AGENTS.md", "CLAUDE.md")
"""The names of such a file; of a folder the first one that is there is read."""

FILE_ROOM: Final = 32 * 1024
ROOM: Final = 96 * 1024
"""Bytes that are used of one file, and of all together."""

LEAST_ROOM: Final = 1024
"""Bytes below which the beginning of a file is not worth having."""


class Root(NamedTuple):
    """A root of a session and the folder that trust in it is given to; both real paths."""

    path: str
    folder: str


Warn = Callable[[str], None]


def read_instructions(
    user_folder: str | None, roots: tuple[Root, ...], warn: Warn
) -> tuple[Instructions, ...]:
    """The files in the order in which they are given to a model; `warn` is told what is left out.

    Where the room is short, the user's own comes first, then what is nearest to a root.
    """
    reader = _Reader(warn)
    own = () if user_folder is None else reader.read(user_folder, NAMES[:1], "")
    groups: list[tuple[Instructions, ...]] = []
    for root in roots:
        levels = between(root.folder, root.path)
        nearest_first = [found for level in levels for found in reader.read(level, NAMES, root.folder)]
        groups.append(tuple(reversed(nearest_first)))
    return (*own, *(one for group in groups for one in group))


class _Reader:
    """Reads each file once, as long as there is room."""

    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self._left = ROOM
        self._seen: set[str] = set()

    def read(self, folder: str, names: tuple[str, ...], trusted: str) -> tuple[Instructions, ...]:
        """The file of one folder, if there is one that was not read yet."""
        for name in names:
            path = os.path.join(folder, name)
            try:
                found = read_text(path, min(FILE_ROOM, max(self._left, 0)), trusted or None)
            except Unusable as problem:
                self._warn(f"{shown(path)} {problem}; it is not used.")
                return ()
            if found is not None:
                return self._taken(found, trusted)
        return ()

    def _taken(self, found: TextRead, trusted: str) -> tuple[Instructions, ...]:
        if found.path in self._seen or not found.size:
            return ()
        self._seen.add(found.path)
        if found.cut and self._left < LEAST_ROOM:
            self._warn(
                f"{shown(found.path)} is not used: the instructions have more than {ROOM // 1024} KiB together."
            )
            return ()
        if found.cleaned:
            self._warn(f"{shown(found.path)} holds invisible characters; they were left out.")
        if not found.text.strip():
            return ()
        self._left -= len(found.text.encode())
        return (
            Instructions(path=found.path, text=found.text, size=found.size, cut=found.cut, folder=trusted),
        )


def shown(path: str) -> str:
    """A path in a sentence for the user."""
    return clip(line(path), 200)
