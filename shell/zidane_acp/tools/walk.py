"""Walking a folder as git sees it: .gitignore files count, `.git` is left out, links are not followed.

Folders are opened by handle, so this holds also for a folder that becomes a link while it is walked.
"""

import os
import stat
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from zidane_acp.tools.descent import Descent, Place

_RULES_ROOM: Final = 2**20


class Found(NamedTuple):
    """A file or folder: its path relative to the start, with slashes, and whether it is a folder."""

    path: str
    folder: bool


class _Rules(NamedTuple):
    """The rules of one .gitignore: the folder it is in, and what they say about a path below it (None: nothing)."""

    folder: str
    ignores: Callable[[str], bool | None]


def _rules(folder: str, place: Place) -> tuple[_Rules, ...]:
    """The rules of a folder's own .gitignore, none when it has no readable one."""
    try:
        lines = _content(place).decode("utf-8", "replace").splitlines()
    except OSError:
        return ()
    if not lines:
        return ()
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines(lines)
    except ValueError:
        spec = GitIgnoreSpec.from_lines(filter(_is_valid, lines))

    def ignores(path: str) -> bool | None:
        return spec.check_file(path).include

    return (_Rules(folder, ignores),)


def _content(place: Place) -> bytes:
    """The bytes of a .gitignore; none of a link, which git does not follow either, and of what is no file."""
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    if isinstance(place, int):
        handle = os.open(".gitignore", flags, dir_fd=place)
    else:
        handle = os.open(os.path.join(place, ".gitignore"), flags)
    with os.fdopen(handle, "rb") as file:
        # None is of a file that would have to be waited for, as those of /proc may.
        return (file.read(_RULES_ROOM) or b"") if stat.S_ISREG(os.fstat(handle).st_mode) else b""


def _is_valid(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _ignored(path: str, folder: bool, rules: tuple[_Rules, ...]) -> bool:
    """Whether an absolute path is left out; the nearest .gitignore that says anything decides."""
    for rule in reversed(rules):
        relative = path[len(rule.folder) :].lstrip(os.sep).replace(os.sep, "/")
        verdict = rule.ignores(relative + "/" if folder else relative)
        if verdict is not None:
            return verdict
    return False


def _rules_above(start: str) -> tuple[_Rules, ...]:
    """The rules of the folders above, up to the root of the repository, the highest first.

    When they leave out the start itself, the user named it on purpose, and they say nothing below it.
    """
    rules: tuple[_Rules, ...] = ()
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        rules = _rules(folder, folder) + rules
    folders = [start]
    while rules and folders[-1] != rules[0].folder and folders[-1] != os.path.dirname(folders[-1]):
        folders.append(os.path.dirname(folders[-1]))
    return () if any(_ignored(one, True, rules) for one in folders[:-1]) else rules


def _nothing(path: str) -> str:
    return ""


def walk(
    top: Place,
    start: str,
    stopped: Callable[[], bool],
    depth: int | None = None,
    denied: Callable[[str], str] = _nothing,
) -> Iterator[Found]:
    """What lies below a folder in the order of names, each folder before its content, down to `depth` levels.

    `top` is the folder, open, and `start` its real path. `denied` says of an absolute path what denies it, and what is
    denied is left out. Folders that cannot be read count as empty. It ends
    early when `stopped` says so.
    """
    # A stack of open folders, not recursion: trees may be deeper than the interpreter's stack.
    stack = [_listed(top, start, "", _rules_above(start), denied)]
    way = Descent(top)
    try:
        while stack and not stopped():
            one = next(stack[-1].entries, None)
            if one is None:
                stack.pop()
                way.leave()
                continue
            yield one
            if one.folder and (depth is None or len(stack) < depth):
                try:
                    place = way.enter(one.path.rpartition("/")[2])
                except OSError:
                    continue
                stack.append(_listed(place, start, f"{one.path}/", stack[-1].rules, denied))
    finally:
        way.close()


class _Folder(NamedTuple):
    """A listed folder: what is left of it, and the rules that hold in it."""

    entries: Iterator[Found]
    rules: tuple[_Rules, ...]


def _listed(
    place: Place, start: str, inside: str, above: tuple[_Rules, ...], denied: Callable[[str], str]
) -> _Folder:
    path = os.path.join(start, inside).rstrip(os.sep) or os.sep
    rules = above + _rules(path, place)
    try:
        with os.scandir(place) as entries:
            listed = sorted((item.name, item.is_dir(follow_symlinks=False)) for item in entries)
    except OSError:
        listed = []
    kept = (
        Found(f"{inside}{name}", folder)
        for name, folder in listed
        if name != ".git"
        and not _ignored(os.path.join(path, name), folder, rules)
        and not denied(os.path.join(path, name))
    )
    return _Folder(kept, rules)
