"""`sessions export` and `sessions import`: a session leaves as JSON lines and comes back as it was."""

import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from returns.result import Failure, Result, Success

from zidane_acp.chat.safe_text import line
from zidane_acp.ports import Store
from zidane_acp.sessions.delivery import deliver, on_terminal
from zidane_acp.sessions.finding import entries, find
from zidane_acp.sessions.lines import Exported, exported, lines_of
from zidane_core.agent.effects import Save
from zidane_core.convert.visible import CONTROL
from zidane_core.data.stored import Refusal, RefusalReason

REFUSED: Final[Mapping[RefusalReason, str]] = {
    "disk": "The session could not be stored; `zidane-acp doctor` says what is wrong.",
    "locked": "The store is locked by another program; try again.",
    "in_use": "Another program works in this session now; wait until it has ended its turn.",
    "gone": "This session was deleted here; with --new-id it comes back under a new id.",
}


def run_export(store: Store, word: str, *, output: str | None = None, terminal: bool | None = None) -> int:
    """Write the session and give the exit code. What would move a terminal is escaped there, which JSON allows."""
    found = find(store, word)
    if isinstance(found, Failure):
        print(found.failure(), file=sys.stderr)
        return 1
    row = found.unwrap()
    made = lines_of(row, entries(store, row.session))
    if output is None and (on_terminal() if terminal is None else terminal):
        made = (CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text) for text in made)
    return deliver(made, output)


def run_import(store: Store, file: str, *, new_id: bool = False) -> int:
    """Store what a file (or `-`, standard input) holds and give the exit code. All of it is stored, or nothing."""
    read = _read(file)
    session = read if isinstance(read, Failure) else exported(read.unwrap())
    if isinstance(session, Failure):
        print(f"{'Standard input' if file == '-' else line(file)}: {session.failure()}", file=sys.stderr)
        return 1
    found = session.unwrap()
    if new_id:
        found = replace(found, row=replace(found.row, session=f"sess_{secrets.token_hex(8)}_1"))
    name = line(found.row.session)
    problem = _taken(name) if store.find(found.row.session) else _append(store, found)
    if problem:
        print(problem, file=sys.stderr)
        return 1
    count = len(found.entries)
    print(f"Imported {name} with {count} {'entry' if count == 1 else 'entries'}.")
    return 0


def _read(file: str) -> Result[str, str]:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return Success(data.decode())
    except UnicodeDecodeError:
        return Failure("this is not UTF-8, so it is not an exported session.")
    except OSError as error:
        return Failure(f"this cannot be read ({error.strerror}).")


def _append(store: Store, found: Exported) -> str:
    """Store it; the sentence of what went wrong, or ''."""
    row = found.row
    owner = store.enter()
    try:
        answer = store.append(
            Save(
                key="import",
                session=row.session,
                expected_seq=0,
                entries=found.entries,
                cwd=row.cwd,
                updated=row.updated,
                head=row.head,
            ),
            owner,
        )
    finally:
        store.leave(owner)
    if answer is None:
        return ""
    return (
        answer.detail or REFUSED[answer.reason] if isinstance(answer, Refusal) else _taken(line(row.session))
    )


def _taken(name: str) -> str:
    return f"The session {name} is here already; with --new-id it is imported as another one."
