"""Typed doors to toolz, and `fold`. Only this module imports toolz."""

# toolz has no types of its own; the annotated `found` of each function is where they are given.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar, overload

from returns.result import Failure, Result, Success
from toolz import dicttoolz, functoolz, recipes

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def fold(result: Result[A, E], good: Callable[[A], B], bad: Callable[[E], B]) -> B:
    """One value out of a result: `good` of the success or `bad` of the failure."""
    return good(result.unwrap()) if isinstance(result, Success) else bad(result.failure())


def then(result: Result[A, E], function: Callable[[A], Result[B, E]]) -> Result[B, E]:
    """`Result.bind`, whose own type the second checker cannot see through."""
    return function(result.unwrap()) if isinstance(result, Success) else Failure(result.failure())


def assoc(mapping: Mapping[K, V], key: K, value: V) -> dict[K, V]:
    """A new dict with the key set."""
    found: dict[K, V] = dicttoolz.assoc(mapping, key, value)
    return found


def dissoc(mapping: Mapping[K, V], *keys: K) -> dict[K, V]:
    """A new dict without the keys; those that are absent do not matter."""
    found: dict[K, V] = dicttoolz.dissoc(mapping, *keys)
    return found


def valfilter(keep: Callable[[V], bool], mapping: Mapping[K, V]) -> dict[K, V]:
    """A new dict with the values that `keep` says yes to."""
    found: dict[K, V] = dicttoolz.valfilter(keep, mapping)
    return found


@overload
def pipe(value: A, first: Callable[[A], B], /) -> B: ...
@overload
def pipe(value: A, first: Callable[[A], B], second: Callable[[B], C], /) -> C: ...
@overload
def pipe(value: A, first: Callable[[A], B], second: Callable[[B], C], third: Callable[[C], D], /) -> D: ...
@overload
def pipe(
    value: A,
    first: Callable[[A], B],
    second: Callable[[B], C],
    third: Callable[[C], D],
    fourth: Callable[[D], E],
    /,
) -> E: ...
def pipe(value: object, *functions: Callable[..., object]) -> object:
    """The value through the functions, left to right; one to four of them."""
    found: object = functoolz.pipe(value, *functions)
    return found


def partition_by(key: Callable[[V], object], items: Iterable[V]) -> Iterator[tuple[V, ...]]:
    """Neighbours with the same key, together in a tuple."""
    found: Iterator[tuple[V, ...]] = recipes.partitionby(key, items)
    return found
