"""Stores of sessions: in memory, and in one SQLite file.

Both are loaded on first use, since a client waits for the start of the agent, and neither imports sqlite3 before it
needs it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zidane_acp.store.memory import MemoryStore
    from zidane_acp.store.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore"]

_HOMES = {"MemoryStore": "zidane_acp.store.memory", "SqliteStore": "zidane_acp.store.sqlite"}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(home), name)
    globals()[name] = found
    return found
