"""Where keys are kept: in the system's keyring where that works, else in a file that only its owner reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zidane_acp.login import key_file
from zidane_acp.login.key_file import Kept, KeyProblem

if TYPE_CHECKING:
    from logging import Logger

    from zidane_acp.login.system_keyring import SystemKeyring

KEYRING: Final = "the system keyring"


class KeyStore:
    """The keys of one state folder, by the variable that they stand for.

    The file is read when it is made; the keyring only where the file says that it has something. All but the first
    may wait for a while, and are called in threads.
    """

    def __init__(self, folder: Path, keyring: "SystemKeyring | None" = None) -> None:
        self._path: Final = folder / key_file.NAME
        self._given: Final = keyring
        # The folder is in the name, so that two of them do not share what one of them forgets.
        self._service: Final = f"zidane-acp {folder.absolute()}"
        self._kept = key_file.read(self._path)
        self._read: dict[str, str] = {}

    @property
    def keys(self) -> Mapping[str, str]:
        """The keys that are known so far."""
        there = {name: key for name, key in self._read.items() if name in self._kept.keyring}
        return {**there, **self._kept.keys}

    def beneath(self, env: Mapping[str, str]) -> dict[str, str]:
        """An environment with the known keys for the variables that it has not; an empty one counts as not set."""
        return {**self.keys, **{name: value for name, value in env.items() if value.strip()}}

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that a key is kept for, known or not."""
        return tuple(dict.fromkeys((*self._kept.keys, *self._kept.keyring)))

    @property
    def problem(self) -> str:
        """A sentence about a file that could not be read."""
        return self._kept.problem

    @property
    def unread(self) -> bool:
        """Whether the keyring has a key that is not known yet."""
        return any(name not in self._read for name in self._kept.keyring)

    def _keyring(self) -> "SystemKeyring":
        # Imported only when there is a keyring to ask: the start of the agent is waited for.
        from zidane_acp.login.system_keyring import SystemKeyring

        return self._given or SystemKeyring(self._service)

    def place(self, variable: str) -> str:
        """Where a key is kept, in words; '' where none is."""
        if variable in self._kept.keys:
            return str(self._path)
        return KEYRING if variable in self._kept.keyring else ""

    def look_again(self) -> None:
        """Read what another program has changed since."""
        self._kept = key_file.read(self._path)
        self._read = {}
        self.read_keyring()

    def read_keyring(self) -> None:
        """Learn the keys of the keyring, if there are any."""
        if not self._kept.keyring:
            return
        from zidane_acp.login.system_keyring import Unavailable

        try:
            self._read = self._keyring().read(self._kept.keyring)
        except Unavailable as problem:
            log().warning("a key that the system keyring has cannot be used: %s", problem)

    def put(self, variable: str, key: str) -> str:
        """Keep a key; gives where, in words. Raises KeyProblem."""
        from zidane_acp.login.system_keyring import Unavailable

        kept = key_file.read(self._path)
        others = {name: known for name, known in kept.keys.items() if name != variable}
        names = tuple(name for name in kept.keyring if name != variable)
        try:
            self._keyring().put(variable, key)
            kept = Kept(others, (*names, variable))
        except Unavailable as problem:
            log().info("a key is kept in a file, since the system keyring cannot: %s", problem)
            kept = Kept({**others, variable: key}, names)
        key_file.write(self._path, kept)
        self._kept, self._read = kept, {**self._read, variable: key}
        return self.place(variable)

    def forget(self, *variables: str) -> tuple[str, ...]:
        """Forget these keys, all of them when none is named; gives those that there were. Raises KeyProblem."""
        kept = key_file.read(self._path)
        gone = tuple(name for name in (*kept.keys, *kept.keyring) if not variables or name in variables)
        in_keyring = tuple(name for name in kept.keyring if name in gone)
        left = Kept(
            {name: key for name, key in kept.keys.items() if name not in gone},
            tuple(name for name in kept.keyring if name not in gone),
        )
        problem = self._forget_in_keyring(in_keyring)
        if problem:
            # What is in the keyring still has to be known.
            left = Kept(left.keys, kept.keyring)
        key_file.write(self._path, left)
        self._kept = left
        if problem:
            raise KeyProblem(problem)
        return gone

    def _forget_in_keyring(self, names: tuple[str, ...]) -> str:
        from zidane_acp.login.system_keyring import Unavailable

        try:
            if names:
                self._keyring().forget(names)
        except Unavailable as problem:
            return f"The key in the system keyring could not be removed: {problem}. Unlock the keyring, then log out again."
        return ""


def log() -> "Logger":
    """The log of logging in; loaded when there is something to say, since the start of the agent is waited for."""
    import logging

    return logging.getLogger("zidane_acp.login")
