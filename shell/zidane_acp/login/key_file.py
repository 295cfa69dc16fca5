"""The file that keeps keys where there is no keyring, and the names of those that the keyring has."""

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

import msgspec

NAME: Final = "keys.json"
LONGEST: Final = 256 * 1024
"""Bytes of the file."""


class Kept(msgspec.Struct, frozen=True, gc=False):
    """Keys by their variable, and the variables whose key is in the system's keyring. `problem` is a sentence about a file
    that could not be read, without what stands in it."""

    keys: dict[str, str] = {}
    keyring: tuple[str, ...] = ()
    problem: str = ""


class KeyProblem(Exception):
    """Keys cannot be kept or forgotten; the message is one sentence with the next step, and holds no key."""


def read(path: Path) -> Kept:
    """What the file has; nothing when there is none. It costs one look, since the start of the agent waits for it."""
    try:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return Kept(problem=f"{path} is no regular file; no key is read from it.")
            data = file.read(LONGEST)
        return msgspec.json.decode(data, type=Kept)
    except (FileNotFoundError, NotADirectoryError):
        return Kept()
    except OSError as error:
        return Kept(problem=f"{path} cannot be read: {error.strerror}.")
    except (ValueError, msgspec.DecodeError):
        # Without what the decoder says: it may quote a key.
        return Kept(problem=f"{path} is damaged; log in again, or remove it.")


def write(path: Path, kept: Kept) -> None:
    """Put a file with mode 0600 in its place, whole or not at all; one that would be empty is removed. Raises KeyProblem."""
    fresh = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    try:
        if not kept.keys and not kept.keyring:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = msgspec.json.encode({"keys": kept.keys, "keyring": kept.keyring})
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with open(os.open(fresh, flags, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise KeyProblem(
            f"{path} cannot be written: {error.strerror}. Give another folder with --home."
        ) from None
