"""Opening and replacing files through directory handles, so that a link swapped in meanwhile is not followed.

A real path has no links in it when it is computed. Here every folder from the root down is opened relative to
the one before and without following a link; whoever swaps one in later gets a refusal. Without directory
handles (Windows) plain paths are used.
"""

import contextlib
import errno
import io
import os
import secrets
import stat
from collections.abc import Generator
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple, TypeVar

from zidane_acp.tools.paths import anchor
from zidane_acp.tools.results import Refused
from zidane_core.data.tools import ResolvedPath

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HANDLES: Final = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
"""Whether the platform can open a name in an open folder."""

_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

READING: Final = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_DIRECTORY", 0)
"""How a folder is opened to be listed."""

PASSING: Final = READING | getattr(os, "O_PATH", 0)
"""How a folder is opened to go through it, which needs no permission to list it."""


_Read = TypeVar("_Read", int, bytes)


class Entry(NamedTuple):
    """A name in an open folder; without directory handles `folder` is None and `name` the whole path."""

    folder: int | None
    name: str


@contextlib.contextmanager
def entry(path: ResolvedPath, roots: tuple[str, ...], make: bool = False) -> Generator[Entry]:
    """The folder of a path, held open. With `make` missing folders are made."""
    if not HANDLES:
        if make:
            os.makedirs(os.path.dirname(path.real), exist_ok=True)
        yield Entry(None, path.real)
        return
    start, names = _way(path, roots)
    if not names:
        raise Refused(f"{path.given} is a folder.")
    with _opened_on_the_way(path.given, start, names[:-1], make) as folder:
        yield Entry(folder, names[-1])


@contextlib.contextmanager
def listable(path: ResolvedPath, roots: tuple[str, ...]) -> Generator[int | str]:
    """A folder, open to be listed; without directory handles its path."""
    if not HANDLES:
        os.scandir(path.real).close()
        yield path.real
        return
    start, names = _way(path, roots)
    with _opened_on_the_way(path.given, start, names, make=False) as passed:
        handle = os.open(".", READING, dir_fd=passed)
        try:
            yield handle
        finally:
            os.close(handle)


def _way(path: ResolvedPath, roots: tuple[str, ...]) -> tuple[str, list[str]]:
    """The folder to start from and the names from there on; outside the roots the walk starts at the top."""
    start = anchor(path.real, roots) or os.path.splitdrive(path.real)[0] + os.sep
    return start, [name for name in os.path.relpath(path.real, start).split(os.sep) if name != "."]


@contextlib.contextmanager
def _opened_on_the_way(given: str, start: str, names: list[str], make: bool) -> Generator[int]:
    folder = os.open(start, PASSING)
    try:
        for name in names:
            deeper = _folder(name, folder, make)
            os.close(folder)
            folder = deeper
        yield folder
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(f"{given} became a symbolic link meanwhile; try again.") from None
        raise
    finally:
        os.close(folder)


def _folder(name: str, above: int, make: bool) -> int:
    try:
        return os.open(name, PASSING, dir_fd=above)
    except FileNotFoundError:
        if not make:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=above)
    return os.open(name, PASSING, dir_fd=above)


def stands(place: Entry) -> Literal["file", "folder", "special"]:
    """What a name is, without opening it. A link is special: on a real path there is none."""
    mode = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "special"


class _Ready(io.FileIO):
    """A file whose reads end with an `OSError` where they would wait, as those of /proc/kmsg do, and not with None."""

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        read: int | None = super().readinto(buffer)
        return _there(read)

    def readall(self) -> bytes:
        return _there(super().readall())


def _there(read: _Read | None) -> _Read:
    if read is None:
        raise OSError(errno.EAGAIN, "a read would have to wait")
    return read


def unwaited(handle: int) -> BinaryIO:
    """An open file, to be read; `handle` stays open. A read that would wait raises `OSError`."""
    return io.BufferedReader(_Ready(handle, "rb", closefd=False))


@contextlib.contextmanager
def opened(place: Entry, given: str) -> Generator[BinaryIO]:
    """A regular file, open for reading; a pipe or a device is refused and never waited for.

    Reads raise `OSError`, also where they would have to wait.
    """
    flags = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(place.name, flags, dir_fd=place.folder)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise Refused(f"{given} is a folder; use list_files.")
        if not stat.S_ISREG(mode):
            raise Refused(f"{given} is no regular file.")
        with unwaited(handle) as file:
            yield file
    finally:
        os.close(handle)


def read_all(place: Entry, given: str, most: int) -> bytes | None:
    """All bytes of a file of at most `most` bytes; None when there is none."""
    try:
        with opened(place, given) as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        return None
    if len(data) > most:
        raise Refused(f"{given} is larger than {most // 2**20} MiB, which is too much for an edit.")
    return data


def replace_all(place: Entry, given: str, data: bytes) -> None:
    """Put new bytes in a file's place in one step; an existing file's mode and owner stay, a link is refused."""
    try:
        before = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        before = None
    if before is not None:
        if not stat.S_ISREG(before.st_mode):
            raise Refused(f"{given} is no regular file.")
        if not os.access(place.name, os.W_OK, dir_fd=place.folder):
            raise Refused(f"{given} is write-protected.")
    name = f".zidane-{secrets.token_hex(8)}.tmp"
    temporary = name if place.folder is not None else os.path.join(os.path.dirname(place.name), name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW
    handle = os.open(temporary, flags, 0o666 if before is None else 0o600, dir_fd=place.folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if before is not None:
                _take_over(handle, before)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=place.folder)
        raise
    _sync_folder(place)


def _take_over(handle: int, before: os.stat_result) -> None:
    """Give a new file the owner, as far as that is allowed, and the mode of the one it replaces."""
    if not hasattr(os, "fchown"):
        return
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with contextlib.suppress(PermissionError):
            os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, stat.S_IMODE(before.st_mode))


def _sync_folder(place: Entry) -> None:
    """Make the new name last; some file systems cannot, and the file itself is safe already."""
    if place.folder is None:
        return
    with contextlib.suppress(OSError):
        handle = os.open(".", os.O_RDONLY | _NO_FOLLOW, dir_fd=place.folder)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
