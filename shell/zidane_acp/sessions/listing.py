"""`sessions list`: a table on a terminal, a line with tabs for each session elsewhere, or JSON."""

import json
import os
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from zidane_acp.chat.safe_text import clip, line, neutral
from zidane_acp.ports import Store
from zidane_acp.sessions.ages import local, universal
from zidane_acp.sessions.delivery import deliver, on_terminal
from zidane_acp.sessions.finding import rows, title
from zidane_core.data.stored import StoredRow

EMPTY: Final = "No session is stored yet; `zidane-acp chat` or an editor starts one."
EMPTY_HERE: Final = (
    "No session of this folder is stored; `zidane-acp sessions list` shows those of all folders."
)
SEPARATORS: Final = str.maketrans({"\t": "␉", "\n": "␊"})
FOLDER_WIDTH: Final = 32
LONGEST_ID: Final = 40
NARROWEST: Final = 12
DATE_AND_GAPS: Final = 25
"""Columns of the table that the date and the gaps take."""


def run_list(
    store: Store,
    *,
    cwd: str | None = None,
    as_json: bool = False,
    limit: int | None = None,
    terminal: bool | None = None,
) -> int:
    """Print the sessions, the newest first, and give exit code 0; `terminal` None means to look."""
    found = tuple(islice(rows(store, None if cwd is None else os.path.abspath(cwd)), limit))
    if as_json:
        # Only ASCII, so that a terminal has nothing to obey.
        return deliver((json.dumps([_facts(row) for row in found], indent=2) + "\n",), None)
    if not found:
        # On stderr, so that a program that counts lines counts none.
        print(EMPTY if cwd is None else EMPTY_HERE, file=sys.stderr)
        return 0
    if on_terminal() if terminal is None else terminal:
        _table(found)
        return 0
    return deliver(map(_line, found), None)


def _facts(row: StoredRow) -> dict[str, object]:
    return {
        "session": row.session,
        "cwd": row.cwd,
        "updated": row.updated,
        "updatedAt": universal(row.updated),
        "title": title(row) or None,
    }


def _line(row: StoredRow) -> str:
    fields = (row.session, universal(row.updated), row.cwd, title(row))
    return "\t".join(neutral(field).translate(SEPARATORS) for field in fields) + "\n"


def _table(found: Sequence[StoredRow]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout)
    cells = [(line(row.session), local(row.updated), short(row.cwd), title(row)) for row in found]
    # Ids are what one copies: they stay whole, and the folder and the title share the rest.
    rest = console.width - min(max(len(row[0]) for row in cells), LONGEST_ID) - DATE_AND_GAPS
    folder = max(NARROWEST, min(max(len(row[2]) for row in cells), rest // 2))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, style in (("Session", "cyan"), ("Last used", ""), ("Folder", "dim"), ("Title", "")):
        table.add_column(heading, style=style, overflow="fold")
    for name, when, place, words in cells:
        shown = (name, when, short(place, folder), clip(words, max(NARROWEST, rest - folder)))
        table.add_row(*map(Text, shown))
    console.print(table)


def short(folder: str, width: int = FOLDER_WIDTH) -> str:
    """A folder for a narrow place: ~ for the home folder, and of a long one the end."""
    home = str(Path.home())
    shown = line("~" + folder[len(home) :] if folder == home or folder.startswith(home + os.sep) else folder)
    return shown if len(shown) <= width else "…" + shown[1 - width :]
