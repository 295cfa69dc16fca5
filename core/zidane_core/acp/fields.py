"""Reading JSON text into a record, with faults that name the field."""

import re
from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.faults import Fault, invalid_params

T = TypeVar("T")

MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
"""An object, member by member."""

_PLACE: Final = re.compile(r" - at `\$(.*)`$", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(\w+)`")


def read(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw, within: str = "") -> Result[T, Fault]:
    """The record in `raw`, where nothing at all counts as {}. `within` is the place of `raw` in the params."""
    try:
        return Success(decoder.decode(raw if memoryview(raw).nbytes else b"{}"))
    except msgspec.DecodeError as error:
        return Failure(named(str(error), within))
    except RecursionError:
        return Failure(invalid_params(within or "params", "it is nested too deeply"))


def read_params(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw, within: str = "") -> Result[T, Fault]:
    """The same, but a malformed `_meta` counts as absent."""
    found = read(decoder, raw, within)
    if isinstance(found, Success):
        return found
    without = _without_meta(raw)
    return found if without is None else read(decoder, without, within)


def _without_meta(raw: msgspec.Raw) -> msgspec.Raw | None:
    try:
        members = MEMBERS.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    if "_meta" not in members:
        return None
    return msgspec.Raw(msgspec.json.encode({name: raw for name, raw in members.items() if name != "_meta"}))


def named(problem: str, within: str = "") -> Fault:
    """A fault out of msgspec's words: "Expected `str`, got `int` - at `$.cwd`" names cwd."""
    place = _PLACE.search(problem)
    path = within + place.group(1) if place else within
    words = problem[: place.start()] if place else problem
    missing = _MISSING.fullmatch(words)
    if missing:
        path, words = f"{path}.{missing.group(1)}", "it is missing"
    return invalid_params(path.removeprefix(".") or "params", words[:1].lower() + words[1:])


def gathered(results: Iterable[Result[T, Fault]]) -> Result[tuple[T, ...], Fault]:
    """All values in order, or the first fault."""
    values: list[T] = []
    for result in results:
        if not isinstance(result, Success):
            return Failure(result.failure())
        values.append(result.unwrap())
    return Success(tuple(values))
