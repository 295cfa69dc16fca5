"""Slash commands in files: `commands/*.md` of the user's own folder, `.zidane/commands/*.md` of a project."""

import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from zidane_acp.project.instructions import shown
from zidane_acp.project.texts import TextRead, Unusable, read_text
from zidane_core.convert.command_file import command_text
from zidane_core.data.project import UserCommand

FILE_ROOM: Final = 64 * 1024
ROOM: Final = 1024 * 1024
"""Bytes of one file, and of all together."""

MOST_FILES: Final = 100
MOST_NAMES: Final = 1000
"""Names in one folder that are looked at."""

_NAME: Final = re.compile(r"[\w-]{1,64}")


class _File(NamedTuple):
    name: str
    path: str


def read_commands(
    user_folder: str | None, folders: tuple[str, ...], warn: Callable[[str], None]
) -> tuple[UserCommand, ...]:
    """The commands of the user, then those of each folder, by name; `warn` is told what is left out."""
    places = [] if user_folder is None else [("", os.path.join(user_folder, "commands"))]
    places += [(folder, os.path.join(folder, ".zidane", "commands")) for folder in folders]
    found: list[UserCommand] = []
    left = ROOM
    for folder, place in places:
        for file in _files(place, warn):
            if len(found) == MOST_FILES or left <= 0:
                most = f"{MOST_FILES} files or {ROOM // 1024} KiB"
                warn(f"There are more than {most} of commands; from {shown(file.path)} on they are not used.")
                return tuple(found)
            command = _read(file, folder, warn)
            if command is not None:
                found.append(command)
                left -= len(command.template.encode())
    return tuple(found)


def _files(place: str, warn: Callable[[str], None]) -> Iterator[_File]:
    """The files of a folder and of the folders right in it, whose commands are `folder:name`."""
    for one in _listed(place, warn):
        if _is_folder(one):
            for inner in _listed(one.path, warn):
                yield from _file(inner, f"{one.name}:", warn)
        else:
            yield from _file(one, "", warn)


def _is_folder(one: "os.DirEntry[str]") -> bool:
    try:
        return one.is_dir(follow_symlinks=False)
    except OSError:  # some file systems have to be asked again, and may say no by then
        return False


def _listed(place: str, warn: Callable[[str], None]) -> list[os.DirEntry[str]]:
    entries: list[os.DirEntry[str]] = []
    try:
        with os.scandir(place) as names:
            for one in names:
                if len(entries) == MOST_NAMES:
                    warn(f"{shown(place)} has more than {MOST_NAMES} names; the rest is not looked at.")
                    break
                entries.append(one)
    except OSError:  # not there, no folder, not ours to read: no commands
        return []
    return sorted(entries, key=lambda one: one.name)


def _file(one: os.DirEntry[str], lead: str, warn: Callable[[str], None]) -> Iterator[_File]:
    stem, ending = os.path.splitext(one.name)
    if ending.lower() != ".md" or one.name.startswith("."):
        return
    # The same name for what different file systems write differently.
    name = unicodedata.normalize("NFC", f"{lead}{stem}")
    if all(_NAME.fullmatch(part) for part in name.split(":")):
        yield _File(name, one.path)
    else:
        warn(f"{shown(one.path)} is not used: a command's name has letters, digits, - and _ only.")


def _read(file: _File, folder: str, warn: Callable[[str], None]) -> UserCommand | None:
    try:
        found = read_text(file.path, FILE_ROOM, folder or None)
        return None if found is None else _made(file, folder, found)
    except Unusable as problem:
        warn(f"{shown(file.path)} {problem}; the command is not used.")
        return None


def _made(file: _File, folder: str, found: TextRead) -> UserCommand:
    if found.cut:
        raise Unusable(f"has more than {FILE_ROOM // 1024} KiB")
    said = command_text(found.text)
    if not said.template:
        raise Unusable("is empty")
    return UserCommand(
        name=file.name,
        template=said.template,
        description=said.description,
        hint=said.hint,
        source="project" if folder else "user",
        path=found.path,
        folder=folder,
    )
