"""A removed session is in none of the files any more, or the next removal sees to it."""

import random
from pathlib import Path

import pytest
from support.raw_sqlite import contents, raw

from zidane_acp.store import SqliteStore
from zidane_acp.store.contract import a_save
from zidane_core.agent.effects import Journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


def filled(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    assert store.append(a_save("s", 0, "a", "b"), store.enter()) is None
    return store


def test_nothing_of_a_removed_session_is_left_in_the_files(path: Path) -> None:
    store = SqliteStore(path)
    owner = store.enter()
    chance = random.Random(1)
    sizes = (1, 30, 300, 3000, 30_000)
    for turn in range(4):
        for number in range(60):
            word = f"[{number}-secret]"
            body = word * (1 + chance.choice(sizes) // len(word))
            save = a_save(f"s{number}", 2 * turn, body, body, lease="take", head=word * 9, journal=0)
            assert store.append(save, owner) is None
            store.note(Journal(f"s{number}", "m", turn, word * 50), owner)
            keep = a_save(f"s{number}", 2 * turn + 2, clears=("m",), lease="drop", head=word)
            assert store.append(keep, owner) is None
    everything = b"".join(contents(path.parent).values())
    assert b"[7-secret]" in everything
    for number in chance.sample(range(60), 40):
        store.remove(f"s{number}")
        assert path.with_name(path.name + "-wal").stat().st_size == 0
        everything = b"".join(contents(path.parent).values())
        assert f"[{number}-secret]".encode() not in everything
        assert f"s{number}\x00".encode() not in everything
    assert len(store.page(None, None, 99)) == 20
    store.close()


def test_what_a_reader_keeps_in_the_log_is_wiped_later(path: Path) -> None:
    store = filled(path)
    owner = store.enter()
    store.append(a_save("s", 2, "my-secret"), owner)
    reader = raw(path)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM sessions").fetchall()
    store.remove("s")
    assert b"my-secret" in b"".join(contents(path.parent).values())
    reader.close()
    store.remove("another")
    assert b"my-secret" not in b"".join(contents(path.parent).values())
    store.close()


def test_a_large_file_is_not_written_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zidane_acp.store.sqlite.LARGEST", 1000)
    store = filled(path)
    store.append(a_save("s", 2, "my-secret " * 100_000), store.enter())
    store.remove("s")
    assert path.stat().st_size > 1_000_000, "it keeps its size"
    assert b"my-secret" not in b"".join(contents(path.parent).values()), (
        "what was deleted is cleared all the same"
    )
    store.close()
