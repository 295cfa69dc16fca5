"""A command over the store that the settings name: opened for it, closed behind it, its problems told."""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Final

from zidane_acp.ports import Store, StoreProblem
from zidane_acp.settings import Settings, SettingsProblem, parse

PROBLEM: Final = 1
USAGE: Final = 2


def with_store(
    home: str | None,
    command: Callable[[Store], int],
    *,
    make: bool = False,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Run a command and give its exit code; 1 is a problem of the store, 2 are settings that cannot be used.

    A store that is not there counts as an empty one; only `make` makes it.
    """

    def run(settings: Settings) -> int:
        store = _store(settings, make)
        try:
            return command(store)
        finally:
            store.close()

    return with_settings(home, run, environment=environment)


def with_settings(
    home: str | None, command: Callable[[Settings], int], *, environment: Mapping[str, str] | None = None
) -> int:
    """Run a command over stored files and give its exit code; 1 is a problem of theirs, 2 are settings that cannot be
    used."""
    flags = () if home is None else (f"--home={home}",)
    settings = parse(flags, os.environ if environment is None else environment)
    if isinstance(settings, SettingsProblem):
        print(settings.message, file=sys.stderr)
        return USAGE
    try:
        return command(settings)
    except StoreProblem as problem:
        print(problem, file=sys.stderr)
        return PROBLEM
    except BrokenPipeError:
        # The reader has what it wanted; what is still buffered must not fail at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _store(settings: Settings, make: bool) -> Store:
    from zidane_acp.store.place import store_path

    path = store_path(settings)
    if make or os.path.lexists(path):
        from zidane_acp.store.sqlite import SqliteStore

        return SqliteStore(path)
    from zidane_acp.store.memory import MemoryStore

    return MemoryStore()
