"""Which paths a shell line may name (ring 2), as segments: what stands between the slashes of an absolute path."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from zidane_core.agent.shell_lines import Simple, program_name
from zidane_core.agent.wildcards import UNKNOWN, coincide, is_unknown

Segments: TypeAlias = tuple[str, ...]

_SPLIT: Final = re.compile(r"[\s'\"()<>;|&,=:@\[\]]+")
_BLANK: Final = re.compile(r"\s")
_DRIVE: Final = re.compile(r"[A-Za-z]:/")
_MOST_FOLDERS: Final = 16
_ENTERS: Final = frozenset({"cd", "pushd"})


def is_absolute(path: str) -> bool:
    """Whether a path with slashes begins at the top of a file system, of any platform."""
    return path.startswith("/") or _DRIVE.match(path) is not None


def segments(path: str, base: str) -> Segments:
    """A path on its base, `.` and `..` folded as text. One that begins with something unknown has no base."""
    path, base = path.replace("\\", "/"), base.replace("\\", "/")
    if path.startswith(UNKNOWN):
        return _collapsed((UNKNOWN, *posixpath.normpath(path).split("/")))
    whole = posixpath.normpath(path if is_absolute(path) else posixpath.join(base, path))
    return _collapsed(tuple(whole.replace("//", "/").rstrip("/").split("/")))


def _collapsed(path: Segments) -> Segments:
    """What is unknown twice in a row is unknown once."""
    pairs = zip(path, (*path[1:], ""), strict=True)
    return tuple(one for one, after in pairs if not (is_unknown(one) and is_unknown(after)))


def fits(pattern: Segments, path: Segments) -> bool:
    """Whether a path, or a folder above it, may be what the pattern names. `**` stands for any number of folders, and so
    does a segment of which nothing is known."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return fits(pattern[1:], path) or (bool(path) and fits(pattern, path[1:]))
    if not path:
        return False
    if is_unknown(path[0]):
        return any(fits(pattern[skipped:], path[1:]) for skipped in range(len(pattern)))
    return coincide(pattern[0], path[0]) and fits(pattern[1:], path[1:])


def named_in(commands: Iterable[Simple], folders: tuple[str, ...]) -> frozenset[Segments]:
    """Every path that the words of these commands may name in one of the folders, or in one that they change to."""
    commands = tuple(commands)
    entered = (target for command in commands for target in _entered(command))
    bases = tuple(dict.fromkeys(folders))
    for target in entered:
        within = tuple("/".join(segments(target, base)) or "/" for base in bases)
        bases = tuple(dict.fromkeys((*bases, *within)))[:_MOST_FOLDERS]
    words = {word for command in commands for word in (*command.words, *command.files)}
    pieces = {piece for word in words for piece in pieces_of(word)}
    return frozenset(segments(piece, base) for piece in pieces for base in bases)


def _entered(command: Simple) -> Iterator[str]:
    """The folders that a command changes to: those of `cd`, and those behind a flag `-C`."""
    words = command.words
    if program_name(words[0] if words else "") in _ENTERS:
        yield from (word for word in words[1:] if not word.startswith("-"))
    yield from (word for flag, word in pairwise(words) if flag == "-C")


def pieces_of(word: str) -> Iterator[str]:
    """What may be a path in a word: all of it, the value of a flag, the parts of a list or a text."""
    if not _BLANK.search(word):
        yield word
        if word.startswith("-") and word[2:]:
            yield word[2:]
        yield from filter(None, _SPLIT.split(word))
        return
    # Most of a text are words of a language; a path in it is told by a slash or a dot.
    yield from (piece for piece in _SPLIT.split(word) if "/" in piece or ("." in piece and piece.strip(".")))
