"""Which stored session the user means, among those that an agent lists."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeAlias

import msgspec
from returns.result import Failure, Result, Success

from zidane_acp.fields import JsonObject, objects, text
from zidane_acp.sessions.beginnings import LAST, beginning_with
from zidane_core.text import is_array


class Newest(msgspec.Struct, frozen=True, gc=False):
    """The newest session of the working folder, or a new one when there is none."""


class Named(msgspec.Struct, frozen=True, gc=False):
    """The session with this id, the beginning of one, or `last`. `cwd` is the folder that was typed, if any."""

    word: str
    cwd: str | None = None


Wanted: TypeAlias = Newest | Named


class Listed(msgspec.Struct, frozen=True, gc=False):
    """A session of the agent's list. `updated` is None where the agent tells no time; texts are as it wrote them."""

    id: str
    cwd: str = ""
    title: str = ""
    updated: datetime | None = None
    roots: tuple[str, ...] = ()


def read_listed(answer: JsonObject) -> tuple[Listed, ...]:
    """The sessions of one page of `session/list`."""
    return tuple(_listed(item) for item in objects(answer, "sessions") if text(item, "sessionId"))


def _listed(item: JsonObject) -> Listed:
    roots = item.get("additionalDirectories")
    return Listed(
        text(item, "sessionId"),
        text(item, "cwd"),
        text(item, "title"),
        _moment(text(item, "updatedAt")),
        tuple(root for root in roots if isinstance(root, str)) if is_array(roots) else (),
    )


def _moment(written: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def newest(listed: Sequence[Listed]) -> Listed | None:
    """The one that was used last; among those without a time the first, since agents list the newest first."""
    return max(listed, key=_when, default=None)


def _when(session: Listed) -> float:
    try:
        return float("-inf") if session.updated is None else session.updated.timestamp()
    except (OverflowError, ValueError):  # the first and the last year of the calendar
        return float("-inf")


def of_folder(listed: Sequence[Listed], cwd: str) -> tuple[Listed, ...]:
    """Those of a folder; an agent may answer with more than it was asked for."""
    return tuple(session for session in listed if same_folder(session.cwd, cwd))


def same_folder(one: str, other: str) -> bool:
    """Whether two paths lead to the same place."""
    return one == other or (bool(one) and os.path.realpath(one) == os.path.realpath(other))


def pick(word: str, listed: Sequence[Listed], list_command: str) -> Result[Listed, str]:
    """The session that a word means. The failure is a sentence; `list_command` shows what there is, '' for none."""
    exact = next((session for session in listed if session.id == word), None)
    if exact is not None:
        return Success(exact)
    if word == LAST:
        last = newest(listed)
        return Failure("The agent has no stored session yet.") if last is None else Success(last)
    listing = f"`{list_command}` shows what there is"
    step = listing if list_command else "`--resume last` takes the newest one"
    return beginning_with(word, listed, lambda session: session.id, step)
