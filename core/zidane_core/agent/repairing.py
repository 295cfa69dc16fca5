"""A log that ends in the middle of a turn, since the program that wrote it was ended there (ring 2).

What it needs to be whole is a pure function of the log and of the journal: replays show it, and the next prompt puts
it into the log before its own text.
"""

from typing import Final

from zidane_core.agent import pages
from zidane_core.agent.pages import Pages
from zidane_core.agent.records import streamed
from zidane_core.data import history
from zidane_core.data.content import Text
from zidane_core.data.stored import JournalRow
from zidane_core.faults import ErrorCode, Fault

INTERRUPTED: Final = (
    "The call was interrupted: the program ended before a result was stored. Its outcome is unknown."
)
ENDED: Final = Fault(
    ErrorCode.INTERNAL_ERROR,
    "The program ended in the middle of this turn; ask again.",
    {"kind": "interrupted"},
)


def repairs(log: Pages[history.Entry], journal: tuple[JournalRow, ...]) -> tuple[history.Entry, ...]:
    """What is missing at the end of a log: the text that was being streamed, a failed result for every call that has
    none, the end of the turn. Nothing where the last turn has ended."""
    tail = _unfinished(log)
    if not tail:
        return ()
    said = {entry.message for entry in tail if isinstance(entry, history.TextSaid | history.Thinking)}
    texts = tuple(entry for entry in streamed(journal) if entry.message not in said and entry.text)
    done = {entry.call for entry in tail if isinstance(entry, history.ResultMade)}
    results = tuple(
        _interrupted(entry)
        for entry in tail
        if isinstance(entry, history.CallMade) and entry.call not in done
    )
    turn = next((entry.turn for entry in tail if isinstance(entry, history.UserSaid)), 0)
    return (*texts, *results, history.TurnEnded(turn, None, ENDED))


def _unfinished(log: Pages[history.Entry]) -> tuple[history.Entry, ...]:
    """The entries from the last prompt on, when its turn has not ended; in their order."""
    found: list[history.Entry] = []
    for entry in pages.backwards(log):
        if isinstance(entry, history.TurnEnded):
            return ()
        found.append(entry)
        if isinstance(entry, history.UserSaid):
            return tuple(reversed(found))
    return ()


def _interrupted(made: history.CallMade) -> history.ResultMade:
    return history.ResultMade(
        call=made.call,
        name=made.name,
        content=(Text(INTERRUPTED),),
        failed=True,
        shown=(Text(INTERRUPTED),),
        locations=made.locations,
        raw={"error": INTERRUPTED},
    )
