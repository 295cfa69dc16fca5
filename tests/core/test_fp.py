"""The typed doors to toolz, and fold."""

from returns.result import Failure, Result, Success

from zidane_core.fp import assoc, dissoc, fold, partition_by, pipe, then, valfilter


def half(number: int) -> Result[int, str]:
    return Failure(f"{number} is odd") if number % 2 else Success(number // 2)


def test_fold_and_then() -> None:
    assert fold(half(4), lambda number: f"{number}!", str.upper) == "2!"
    assert fold(half(3), lambda number: f"{number}!", str.upper) == "3 IS ODD"
    assert then(half(8), half) == Success(2)
    assert then(half(6), half) == Failure("3 is odd")
    assert then(half(5), half) == Failure("5 is odd")


def test_dicts_are_copied() -> None:
    start = {"a": 1, "b": 2}
    assert assoc(start, "c", 3) == {"a": 1, "b": 2, "c": 3}
    assert dissoc(start, "a", "z") == {"b": 2}
    assert valfilter(lambda value: value > 1, start) == {"b": 2}
    assert start == {"a": 1, "b": 2}


def test_pipe_and_partition() -> None:
    assert pipe(3, lambda number: number + 1, str, lambda text: text * 2) == "44"
    assert list(partition_by(str.isdigit, "ab12c")) == [("a", "b"), ("1", "2"), ("c",)]
    assert list(partition_by(str.isdigit, "")) == []
