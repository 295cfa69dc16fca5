"""Stores of sessions: in memory, and in one SQLite file. Importing this does not import sqlite3."""

from zidane_acp.store.memory import MemoryStore
from zidane_acp.store.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore"]
