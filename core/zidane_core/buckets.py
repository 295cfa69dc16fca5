"""An immutable table in buckets: a change copies one small dict, also with ten thousand entries.

The bucket comes from the key itself and never from hash(), which differs from run to run.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

K = TypeVar("K", bound=str | int | tuple[str, str | int | None])
V = TypeVar("V")

COUNT = 61  # a prime, since most keys end in a counter


class Buckets(msgspec.Struct, Generic[K, V], frozen=True, gc=False):
    """A table from K to V; made by `empty`."""

    parts: tuple[dict[K, V], ...]

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        return self.parts[_part(key)].get(key)

    def __contains__(self, key: K) -> bool:
        return key in self.parts[_part(key)]

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def items(self) -> Iterator[tuple[K, V]]:
        """All entries, bucket by bucket, in order of insertion within one."""
        for part in self.parts:
            yield from part.items()

    def values(self) -> Iterator[V]:
        """All values, in the same order."""
        for part in self.parts:
            yield from part.values()


def empty() -> Buckets[K, V]:
    """A table with nothing in it."""
    part: dict[K, V] = {}
    return Buckets((part,) * COUNT)


def put(table: Buckets[K, V], key: K, value: V) -> Buckets[K, V]:
    """The table with this value; the same table when it was there already."""
    at = _part(key)
    part = table.parts[at]
    if part.get(key) is value:
        return table
    return _with(table, at, {**part, key: value})


def drop(table: Buckets[K, V], key: K) -> Buckets[K, V]:
    """The table without this key; the same table when it was not there."""
    at = _part(key)
    part = table.parts[at]
    if key not in part:
        return table
    return _with(table, at, {known: value for known, value in part.items() if known != key})


def _with(table: Buckets[K, V], at: int, part: dict[K, V]) -> Buckets[K, V]:
    return Buckets((*table.parts[:at], part, *table.parts[at + 1 :]))


def _part(key: str | int | tuple[str, str | int | None]) -> int:
    if isinstance(key, tuple):
        last = key[1]
        return 0 if last is None else _part(last)
    if isinstance(key, int):
        return key % COUNT
    return int.from_bytes(key.encode("utf-8", "replace")[-8:], "big") % COUNT
