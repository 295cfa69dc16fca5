"""What the file holds of a session, read through the store: is it a history that providers take?"""

from pathlib import Path
from typing import Final

from zidane_acp.store import SqliteStore
from zidane_core.agent import pages
from zidane_core.agent.log import view_of
from zidane_core.agent.pages import Pages
from zidane_core.agent.records import entry_of
from zidane_core.agent.repairing import repairs
from zidane_core.data import models
from zidane_core.data.history import Entry, Unread

PIECE: Final = 500


def problems(file: Path, session: str, whole: bool) -> list[str]:
    """What is wrong with a session; one that is `whole` needs no repairs and has nothing in its journal."""
    store = SqliteStore(file)
    try:
        log: Pages[Entry] = Pages()
        piece = store.read(session, 0, PIECE)
        while True:
            for text in piece.entries:
                log = pages.append(log, entry_of(text))
            if piece.last:
                break
            piece = store.read(session, len(log), PIECE)
    finally:
        store.close()
    found = ["an entry cannot be read"] if any(isinstance(entry, Unread) for entry in log) else []
    missing = repairs(log, piece.journal)
    if whole and (missing or piece.journal):
        found.append(f"something is still open: repairs {missing}, journal {piece.journal}")
    for entry in missing:
        log = pages.append(log, entry)
    return found + _problems_of(tuple(view_of(log).messages))


def _problems_of(messages: tuple[models.Message, ...]) -> list[str]:
    """Every call has exactly one result right behind its message, and no result is without a call."""
    found: list[str] = []
    for position, message in enumerate(messages):
        called = (
            [block.id for block in message.blocks if isinstance(block, models.Call)]
            if isinstance(message, models.AssistantMessage)
            else []
        )
        after = messages[position + 1] if position + 1 < len(messages) else None
        results = [result.id for result in after.results] if isinstance(after, models.ResultsMessage) else []
        if called != results:
            found.append(f"message {position} has the calls {called} and behind it the results {results}")
    if messages and not isinstance(messages[0], models.UserMessage):
        found.append("the history does not begin with a prompt")
    return found
