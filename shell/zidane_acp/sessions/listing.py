"""`sessions list`: a table on a terminal, a line with tabs for each session elsewhere, or JSON."""

import json
import os
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from zidane_acp.chat.safe_text import line, neutral
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

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("Session", overflow="fold", style="cyan")
    table.add_column("Last used", no_wrap=True)
    table.add_column("Folder", overflow="fold", style="dim")
    table.add_column("Title", overflow="fold", ratio=1)
    for row in found:
        cells = (line(row.session), local(row.updated), short(row.cwd), title(row))
        table.add_row(*map(Text, cells))
    Console(file=sys.stdout).print(table)


def short(folder: str) -> str:
    """A folder for a narrow column: ~ for the home folder, and of a long one the end."""
    home = str(Path.home())
    shown = line("~" + folder[len(home) :] if folder == home or folder.startswith(home + os.sep) else folder)
    return shown if len(shown) <= FOLDER_WIDTH else "…" + shown[1 - FOLDER_WIDTH :]
