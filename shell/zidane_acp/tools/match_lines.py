"""The child process of `search` where ripgrep is missing: the standard library only, so that it starts fast.

A regular expression can run for ever and holds the interpreter meanwhile, so it runs in a process that can be
killed. Arguments: the pattern. Standard input: paths relative to the folder it runs in, each ended by NUL.
Output, as from ripgrep with --null: `path NUL line-number : text` a line. Exit code 2 and a sentence on
stderr when the pattern is broken.
"""

import os
import re
import stat
import sys
from typing import BinaryIO

MOST = 64 * 2**20
WIDEST = 20_000


def text_of(data: bytes) -> str | None:
    """The text of a file, or None when it is binary."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:8192]:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def opened(path: bytes) -> int:
    """A file, open for reading; OSError when it or a folder on the way is a link."""
    no_follow = getattr(os, "O_NOFOLLOW", 0)
    reading = os.O_RDONLY | no_follow | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if os.open not in os.supports_dir_fd:
        return os.open(path, reading)
    passing = os.O_RDONLY | no_follow | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", 0)
    *folders, name = path.split(b"/")
    handle = os.open(".", passing)
    try:
        for folder in folders:
            deeper = os.open(folder, passing, dir_fd=handle)
            os.close(handle)
            handle = deeper
        return os.open(name, reading, dir_fd=handle)
    finally:
        os.close(handle)


def contents(path: bytes) -> bytes:
    """The bytes of a regular file; nothing for what cannot be read, is a link or no file."""
    try:
        with os.fdopen(opened(path), "rb") as file:
            # None is of a file that would have to be waited for, as /proc/kmsg.
            return (file.read(MOST) or b"") if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def search(pattern: re.Pattern[str], paths: list[bytes], out: BinaryIO) -> None:
    """Write every line of every file that has a match."""
    for path in paths:
        text = text_of(contents(path))
        lines = text.removesuffix("\n").split("\n") if text else ()
        for number, whole in enumerate(lines, 1):
            line = whole.removesuffix("\r")[:WIDEST]
            if pattern.search(line):
                out.write(path + b"\0" + f"{number}:{line}\n".encode("utf-8", "replace"))
        out.flush()


def main() -> int:
    """Search as the command line and standard input say."""
    try:
        pattern = re.compile(sys.argv[1])
    except (re.error, OverflowError, RecursionError) as error:
        sys.stderr.write(f"regex parse error: {error}\n")
        return 2
    paths = [path for path in sys.stdin.buffer.read().split(b"\0") if path]
    try:
        search(pattern, paths, sys.stdout.buffer)
    except BrokenPipeError:
        os._exit(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
