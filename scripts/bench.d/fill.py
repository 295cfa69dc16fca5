"""Sessions for the bench, put into the store as the agent would have saved them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from zidane_acp.store import SqliteStore
from zidane_core.agent import records
from zidane_core.agent.effects import Save
from zidane_core.data import history
from zidane_core.data.content import Text
from zidane_core.data.outcome import Usage
from zidane_core.data.tools import Location

FILE: Final = "sessions.db"
SHOWN: Final = 6
"""What the client is shown of a turn: the prompt, a thought, two texts, a card and its end."""

_SAVED: Final = 500
"""Entries in one save of a long session."""

_WORDS: Final = "The total is taken over all lines of the basket, and the count of each is used. "


def a_long_session(home: Path, cwd: Path, messages: int) -> str:
    """A session of at least so many messages: its id."""
    turns = -(-messages // SHOWN)
    texts = [records.text_of(entry) for number in range(1, turns + 1) for entry in _turn(number, cwd)]
    store = SqliteStore(home / FILE)
    owner = store.enter()
    for at in range(0, len(texts), _SAVED):
        _put(store, owner, "sess_long_1", at, texts[at : at + _SAVED], cwd, 1000.0)
    store.leave(owner)
    store.close()
    return "sess_long_1"


def many_sessions(home: Path, folders: list[Path], count: int) -> None:
    """So many small sessions, in these folders by turns."""
    texts = [records.text_of(entry) for entry in _turn(1, folders[0])]
    store = SqliteStore(home / FILE)
    owner = store.enter()
    for number in range(count):
        _put(store, owner, f"sess_{number:08d}_1", 0, texts, folders[number % len(folders)], 1000.0 + number)
    store.leave(owner)
    store.close()


def _put(
    store: SqliteStore, owner: str, session: str, at: int, texts: list[str], cwd: Path, updated: float
) -> None:
    head = records.head_text(records.Head("How is the total taken?", (), updated), "")
    save = Save(
        key="fill",
        session=session,
        expected_seq=at,
        entries=tuple(texts),
        lease="keep",
        cwd=str(cwd),
        updated=updated,
        head=head,
    )
    refused = store.append(save, owner)
    if refused is not None:
        raise RuntimeError(f"a session could not be filled: {refused}")


def _turn(number: int, cwd: Path) -> Iterator[history.Entry]:
    place = Location(str(cwd / "basket.py"), 12)
    result = Text("".join(f"{line:4d}  total += item.price * item.count\n" for line in range(12)))
    yield history.UserSaid(f"m{number}_u", (Text(f"Question {number}: how is the total taken?"),), number)
    yield history.Thinking(f"m{number}_t", _WORDS * 4)
    yield history.TextSaid(f"m{number}_a", _WORDS * 13)
    yield history.CallMade(
        call=f"c{number}",
        name="read_file",
        arguments='{"path":"basket.py"}',
        title="Read basket.py",
        kind="read",
        locations=(place,),
        raw={"path": "basket.py"},
    )
    yield history.ResultMade(
        call=f"c{number}",
        name="read_file",
        content=(result,),
        failed=False,
        shown=(result,),
        locations=(place,),
    )
    yield history.TextSaid(f"m{number}_b", _WORDS * 13)
    yield history.TurnEnded(number, "end_turn", usage=Usage(input=5210, output=842), context=6052)
