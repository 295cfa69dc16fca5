"""What the user allowed to keep: permissions of projects and trust in folders, in memory or in one SQLite file.

Loaded on first use, since a client waits for the start of the agent; neither imports sqlite3 before it needs it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zidane_acp.rules.memory import MemoryRules
    from zidane_acp.rules.sqlite import SqliteRules

__all__ = ["MemoryRules", "SqliteRules"]

_HOMES = {"MemoryRules": "zidane_acp.rules.memory", "SqliteRules": "zidane_acp.rules.sqlite"}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(home), name)
    globals()[name] = found
    return found
