"""`permissions list`: the rules by folder on a terminal, a line with tabs for each elsewhere, or JSON."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from returns.result import Failure

from zidane_acp.chat.safe_text import line, neutral
from zidane_acp.ports import Store
from zidane_acp.rules.sqlite import KeptRule, SqliteRules
from zidane_acp.rules.words import TRUSTED, words_of
from zidane_acp.sessions.ages import local, universal
from zidane_acp.sessions.delivery import deliver, on_terminal
from zidane_acp.sessions.finding import entries, find
from zidane_acp.sessions.listing import SEPARATORS, short
from zidane_core.agent.records import entry_of
from zidane_core.data.history import Granted
from zidane_core.data.rules import Grant

EMPTY: Final = "No permission is kept for a project, and no folder is trusted."
EMPTY_HERE: Final = (
    "Nothing is kept for this folder; `zidane-acp permissions list` shows what there is for all folders."
)
EMPTY_SESSION: Final = "No permission was given for the rest of this session."


def run_list(
    rules: SqliteRules, *, project: str | None = None, as_json: bool = False, terminal: bool | None = None
) -> int:
    """Print the rules and give exit code 0; `terminal` None means to look."""
    found = rules.kept() if project is None else of_folder(rules.kept(), project)
    if as_json:
        return deliver((json.dumps([_facts(rule) for rule in found], indent=2) + "\n",), None)
    if not found:
        print(EMPTY if project is None else EMPTY_HERE, file=sys.stderr)
        return 0
    shown = on_terminal() if terminal is None else terminal
    return deliver(by_folder(found) if shown else map(_line, found), None)


def of_folder(found: Sequence[KeptRule], folder: str) -> tuple[KeptRule, ...]:
    """The rules of a folder: those of the nearest one, itself or above it, that has any."""
    place = os.path.realpath(folder)
    while True:
        own = tuple(rule for rule in found if rule.folder == place)
        above = os.path.dirname(place)
        if own or above == place:
            return own
        place = above


def by_folder(found: Iterable[KeptRule]) -> Iterable[str]:
    """A line for each folder, and under it one for each rule of it."""
    for folder, rules in groupby(found, lambda rule: rule.folder):
        yield f"{short(folder, 1000)}\n"
        for rule in rules:
            yield f"{rule.number:>6}  {_words(rule)}, since {local(rule.since)}\n"


def _words(rule: KeptRule) -> str:
    return line(TRUSTED if rule.grant is None else words_of(rule.grant))


def _line(rule: KeptRule) -> str:
    fields = (str(rule.number), universal(rule.since), rule.folder, _words(rule))
    return "\t".join(neutral(field).translate(SEPARATORS) for field in fields) + "\n"


def _facts(rule: KeptRule) -> dict[str, object]:
    return {
        "number": rule.number,
        "folder": rule.folder,
        "kind": "trust" if rule.grant is None else "permission",
        "since": rule.since,
        "sinceAt": universal(rule.since),
        "permission": None if rule.grant is None else _permission(rule.grant),
    }


def _permission(grant: Grant) -> dict[str, object]:
    return {"kind": grant.kind, "value": list(grant.value), "words": words_of(grant)}


# Of one session ------------------------------------------------------------------------------------


def run_session(store: Store, word: str, *, as_json: bool = False) -> int:
    """Print the permissions that were given for the rest of a stored session, and give the exit code."""
    found = find(store, word)
    if isinstance(found, Failure):
        print(found.failure(), file=sys.stderr)
        return 1
    logged = map(entry_of, entries(store, found.unwrap().session))
    grants = tuple(dict.fromkeys(entry.grant for entry in logged if isinstance(entry, Granted)))
    if as_json:
        return deliver((json.dumps([_permission(grant) for grant in grants], indent=2) + "\n",), None)
    if not grants:
        print(EMPTY_SESSION, file=sys.stderr)
    return deliver((f"{line(words_of(grant))}\n" for grant in grants), None)
