"""`sessions delete` and `sessions prune`: what is removed is named first, and a person is asked."""

import sys
import time
from collections.abc import Callable, Sequence

from returns.result import Failure

from zidane_acp.agreeing import agreed
from zidane_acp.chat.safe_text import clip, line
from zidane_acp.ports import Store
from zidane_acp.sessions.ages import local
from zidane_acp.sessions.finding import find, rows, title
from zidane_acp.sessions.listing import short
from zidane_core.data.stored import StoredRow

Ask = Callable[[str], str]
TITLE_WIDTH = 60


def run_delete(store: Store, words: Sequence[str], *, yes: bool = False, ask: Ask | None = None) -> int:
    """Delete the sessions and give the exit code. When one of them is not there none is deleted."""
    found = [find(store, word) for word in words]
    problems = [item.failure() for item in found if isinstance(item, Failure)]
    if problems:
        for problem in dict.fromkeys(problems):
            print(problem, file=sys.stderr)
        if len(problems) < len(words):
            print("Nothing was deleted.", file=sys.stderr)
        return 1
    chosen = tuple({row.session: row for row in (item.unwrap() for item in found)}.values())
    return _remove(store, chosen, yes, ask)


def run_prune(
    store: Store,
    age: int,
    *,
    yes: bool = False,
    dry_run: bool = False,
    now: float | None = None,
    ask: Ask | None = None,
) -> int:
    """Delete what was last used more than `age` seconds ago, and give the exit code."""
    before = (time.time() if now is None else now) - age
    chosen = tuple(row for row in rows(store) if row.updated < before)
    if not chosen:
        print("No session is older than that; nothing was deleted.")
        return 0
    if dry_run:
        _name(chosen)
        print(f"{_count(chosen)} would be deleted; leave --dry-run out to delete.")
        return 0
    return _remove(store, chosen, yes, ask)


def _remove(store: Store, chosen: Sequence[StoredRow], yes: bool, ask: Ask | None) -> int:
    _name(chosen)
    if not yes and not agreed(f"Delete {_count(chosen)} for good? [y/N] ", ask):
        print("Nothing was deleted. With --yes it is done without a question.", file=sys.stderr)
        return 1
    done = 0
    for row in chosen:
        now = store.find(row.session)
        # Somebody may have gone on with it while the question stood there.
        if now is not None and now.updated != row.updated:
            print(f"{line(row.session)} was used just now; it was kept.", file=sys.stderr)
            continue
        store.remove(row.session)
        done += 1
    print(f"Deleted {done} {'session' if done == 1 else 'sessions'}.")
    return 0 if done == len(chosen) else 1


def _name(chosen: Sequence[StoredRow]) -> None:
    for row in chosen:
        facts = (line(row.session), local(row.updated), short(row.cwd), clip(title(row), TITLE_WIDTH))
        print("  ".join(fact for fact in facts if fact))


def _count(chosen: Sequence[StoredRow]) -> str:
    return "1 session" if len(chosen) == 1 else f"{len(chosen)} sessions"
