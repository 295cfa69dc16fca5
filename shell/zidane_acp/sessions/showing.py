"""`sessions show`: the conversation as text, Markdown or a page."""

import sys
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from returns.result import Failure

from zidane_acp.ports import Store
from zidane_acp.sessions.ages import local
from zidane_acp.sessions.delivery import deliver
from zidane_acp.sessions.finding import find, pieces, title
from zidane_core.agent.records import entry_of, streamed
from zidane_core.convert.html_page import html_page
from zidane_core.convert.markdown_page import markdown_page
from zidane_core.convert.text_page import text_page
from zidane_core.convert.transcript import About, Shown, damaged, transcript
from zidane_core.data.history import Entry, TextSaid, Thinking
from zidane_core.data.stored import JournalRow

Form: TypeAlias = Literal["text", "markdown", "html"]
Page: TypeAlias = Callable[[About, tuple[Shown, ...]], str]


def run_show(store: Store, word: str, *, form: Form = "text", output: str | None = None) -> int:
    """Write the conversation and give the exit code; entries that cannot be read are counted on standard error."""
    found = find(store, word)
    if isinstance(found, Failure):
        print(found.failure(), file=sys.stderr)
        return 1
    row = found.unwrap()
    shown = transcript(log(store, row.session))
    about = About(session=row.session, title=title(row), cwd=row.cwd, when=local(row.updated))
    code = deliver((PAGES[form](about, shown),), output)
    missing = damaged(shown)
    if missing:
        words = "1 entry" if missing == 1 else f"{missing} entries"
        print(
            f"{words} could not be read; a newer zidane-acp may know more, and they stay as they are.",
            file=sys.stderr,
        )
    return code


def log(store: Store, session: str) -> tuple[Entry, ...]:
    """The entries of a session, and what it has of a message that was being streamed when its program ended."""
    kept: list[Entry] = []
    journal: tuple[JournalRow, ...] = ()
    for piece in pieces(store, session):
        kept.extend(entry_of(text) for text in piece.entries)
        journal = piece.journal
    whole = {entry.message for entry in kept if isinstance(entry, TextSaid | Thinking)}
    return (*kept, *(entry for entry in streamed(journal) if entry.message not in whole))


def _html(about: About, shown: tuple[Shown, ...]) -> str:
    from zidane_acp.sessions.markdown import render

    return html_page(about, shown, render)


def _markdown(about: About, shown: tuple[Shown, ...]) -> str:
    from zidane_acp.sessions.markdown import stands_alone

    return markdown_page(about, shown, stands_alone)


PAGES: Final[Mapping[Form, Page]] = {"text": text_page, "markdown": _markdown, "html": _html}
