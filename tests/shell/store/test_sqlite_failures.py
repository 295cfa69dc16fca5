"""What fails below the SQLite store: it says what is wrong, nothing is lost, and it goes on when the cause is gone."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from support.raw_sqlite import raw

from zidane_acp.ports import StoreProblem
from zidane_acp.store import SqliteStore
from zidane_acp.store.contract import a_save
from zidane_core.agent.effects import Journal
from zidane_core.data.stored import Behind, JournalRow, Piece, Refusal, StoredRow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    assert store.append(a_save("s", 0, "a", "b", lease="take"), ME) is None
    assert store.append(a_save("t", 0, "other", updated=2000.0), ME) is None
    yield store
    store.close()


ME = SqliteStore(Path("nowhere")).enter()


def refused(outcome: Refusal | Behind | None) -> tuple[str, str]:
    assert isinstance(outcome, Refusal), outcome
    return outcome.reason, outcome.detail


# The disk ------------------------------------------------------------------------------------------


def test_a_full_disk_refuses_the_save_and_a_smaller_one_still_fits(store: SqliteStore, path: Path) -> None:
    connection = store._opened.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    reason, detail = refused(store.append(a_save("s", 2, "c", "x" * 100_000, lease="drop"), ME))
    assert reason == "disk"
    assert detail == f"The disk is full, so that {path} cannot grow; free some space."
    assert store.read("s", 0, 9) == Piece(("a", "b"), last=True)
    assert store.append(a_save("s", 2, "c"), "somebody else") == Refusal("in_use"), "the lease was kept"
    store.note(Journal("s", "m", 0, "x" * 100_000), ME)
    assert store.append(a_save("s", 2, "c"), ME) is None
    connection.execute("PRAGMA max_page_count = 1000000")
    assert store.append(a_save("s", 3, "x" * 100_000), ME) is None


def test_a_file_that_may_not_be_written_refuses_the_save(store: SqliteStore, path: Path) -> None:
    store._opened.connection.execute("PRAGMA query_only = ON")
    reason, detail = refused(store.append(a_save("s", 2, "c"), ME))
    assert reason == "disk" and detail.startswith(f"{path} cannot be used (attempt to write a readonly")
    assert detail.endswith("check that you may write there, or give another folder with ZIDANE_ACP_HOME.")
    assert store.append(a_save("s", 2, "c"), ME) is None, "it was opened anew"


def a_file_as_folder(path: Path) -> Path:
    path.parent.write_text("a file")
    return path.parent


def a_folder_as_file(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize("hinder", [a_file_as_folder, a_folder_as_file])
def test_what_cannot_be_opened_is_refused_until_it_can(hinder: Callable[[Path], Path], path: Path) -> None:
    hindrance = hinder(path)
    store = SqliteStore(path)
    for _ in range(2):
        reason, detail = refused(store.append(a_save("s", 0, "a"), ME))
        assert reason == "disk" and str(path) in detail and "ZIDANE_ACP_HOME" in detail
    hindrance.rename(hindrance.with_name("moved"))
    assert store.append(a_save("s", 0, "a"), ME) is None
    store.close()


def test_a_text_that_is_no_unicode_is_refused(store: SqliteStore) -> None:
    reason, detail = refused(store.append(a_save("s", 2, "c", "\ud800"), ME))
    assert reason == "disk" and "surrogates not allowed" in detail
    assert store.read("s", 0, 9).entries == ("a", "b")


# Locks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_lock_refuses_the_save_for_now_and_reading_goes_on(
    lock: str, store: SqliteStore, path: Path
) -> None:
    other = raw(path)
    other.execute(f"BEGIN {lock}")
    reason, detail = refused(store.append(a_save("s", 2, "c"), ME))
    assert (
        reason == "locked"
        and detail == f"{path} is locked by another program; try again, or end that program."
    )
    with pytest.raises(StoreProblem, match="is locked by another program; try again"):
        store.remove("s")
    store.note(Journal("s", "m", 0, "x"), ME)
    assert store.read("s", 0, 9) == Piece(("a", "b"), last=True)
    other.execute("COMMIT")
    assert store.append(a_save("s", 2, "c"), ME) is None
    other.close()


def test_a_lock_on_the_whole_file_stops_reading_too_for_now(store: SqliteStore, path: Path) -> None:
    store.close()
    other = raw(path)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreProblem, match="is locked by another program"):
        store.find("s")
    assert refused(store.append(a_save("s", 2, "c"), ME))[0] == "locked"
    other.close()
    assert store.append(a_save("s", 2, "c"), ME) is None
    store.close()


def test_a_save_waits_a_moment_for_another_one(store: SqliteStore, path: Path) -> None:
    other = raw(path)
    other.execute("BEGIN IMMEDIATE")
    ending = threading.Timer(0.05, lambda: other.execute("COMMIT"))
    ending.start()
    assert store.append(a_save("s", 2, "c"), ME) is None
    ending.join()
    other.close()


# Damage --------------------------------------------------------------------------------------------


def change(path: Path, statement: str) -> None:
    other = raw(path)
    other.execute(statement)
    other.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = x'ff00fe' WHERE session = 's' AND seq = 0",
        "UPDATE entries SET body = CAST(x'ff00fe' AS TEXT) WHERE session = 's' AND seq = 0",
        "DELETE FROM entries WHERE session = 's' AND seq = 0",
    ],
)
def test_an_entry_that_is_damaged_or_missing_reads_as_nothing(
    statement: str, store: SqliteStore, path: Path
) -> None:
    change(path, statement)
    assert store.read("s", 0, 9) == Piece(("", "b"), last=True)
    assert store.read("s", 0, 1) == Piece(("",))
    assert store.append(a_save("s", 0, "x"), ME) == Behind(("", "b"))
    assert store.append(a_save("s", 2, "c"), ME) is None


def test_what_is_missing_at_the_end_reads_as_nothing_and_is_not_written_over(
    store: SqliteStore, path: Path
) -> None:
    change(path, "DELETE FROM entries WHERE session = 's'")
    assert store.read("s", 0, 9) == Piece(("", ""), last=True)
    assert store.append(a_save("s", 2, "c"), ME) is None
    assert store.read("s", 0, 9) == Piece(("", "", "c"), last=True)


@pytest.mark.parametrize("value", ["x'ff'", "CAST(x'ff' AS TEXT)"])
def test_a_head_and_a_journal_that_are_damaged_read_as_nothing(
    value: str, store: SqliteStore, path: Path
) -> None:
    store.note(Journal("s", "m", 0, "x"), ME)
    change(path, f"UPDATE sessions SET head = {value} WHERE id = 's'")
    change(path, f"UPDATE journal SET body = {value}")
    assert store.find("s") == StoredRow("s", "/project", 1000.0, "")
    assert [row.session for row in store.page(None, None, 9)] == ["t", "s"]
    assert store.read("s", 0, 9).journal == (JournalRow("m", 0, ""),)


def test_a_row_with_a_damaged_time_is_left_out_of_the_list(store: SqliteStore, path: Path) -> None:
    change(path, "UPDATE sessions SET updated = x'ff' WHERE id = 's'")
    assert [row.session for row in store.page(None, None, 1)] == ["t"]
    assert store.find("s") == StoredRow("s", "/project", 0.0, "{}")


def test_a_damaged_number_of_entries_stops_that_session_only(store: SqliteStore, path: Path) -> None:
    change(path, "UPDATE sessions SET seq = 'many' WHERE id = 's'")
    with pytest.raises(StoreProblem, match="is damaged"):
        store.read("s", 0, 9)
    assert refused(store.append(a_save("s", 2, "c"), ME))[0] == "disk"
    assert store.read("t", 0, 9).entries == ("other",)
    store.remove("s")
    assert store.find("s") is None


def test_more_entries_than_the_row_says_are_not_written_over(store: SqliteStore, path: Path) -> None:
    change(path, "UPDATE sessions SET seq = 1 WHERE id = 's'")
    assert refused(store.append(a_save("s", 1, "new"), ME))[0] == "disk"
    other = raw(path)
    assert other.execute("SELECT body FROM entries WHERE session = 's'").fetchall() == [("a",), ("b",)]
    other.close()


def test_a_damaged_page_of_one_session_leaves_the_others(path: Path) -> None:
    store = SqliteStore(path)
    written = {
        f"s{number:02}": tuple(f"[{number:02}.{index}]" * 60 for index in range(50)) for number in range(40)
    }
    for name, entries in written.items():
        assert store.append(a_save(name, 0, *entries), ME) is None
    store.close()
    whole = bytearray(path.read_bytes())
    names = [f"s{number:02}".encode() for number in range(40)]
    for at in range(4096, len(whole), 4096):
        page = whole[at : at + 4096]
        # A leaf of the entries that holds nothing but this session: its cells now point nowhere.
        if page[0] == 10 and b"[20." in page and [name for name in names if name in page] == [b"s20"]:
            whole[at + 8 : at + 4096] = b"\xff" * 4088
            break
    else:
        raise AssertionError("no such page")
    path.write_bytes(bytes(whole))
    damaged: list[str] = []
    for name, entries in written.items():
        try:
            assert store.read(name, 0, 99).entries == entries
        except StoreProblem as problem:
            assert "is damaged; keep a copy and move it away" in str(problem)
            damaged.append(name)
    assert damaged == ["s20"]
    assert len(store.page(None, None, 99)) == 40
    assert store.append(a_save("new", 0, "x"), ME) is None
    store.close()


def test_a_file_that_is_overwritten_is_refused_and_stays(store: SqliteStore, path: Path) -> None:
    store.close()
    whole = b"\x00" * len(path.read_bytes())
    path.write_bytes(whole)
    assert refused(store.append(a_save("s", 2, "c"), ME))[0] == "disk"
    with pytest.raises(StoreProblem, match="move it away"):
        store.find("s")
    assert path.read_bytes() == whole


def test_a_lost_log_is_noticed_by_nobody_and_breaks_nothing(store: SqliteStore, path: Path) -> None:
    """A copy of the main file alone, as of a backup, is a file of an earlier moment."""
    copy = path.with_name("copy.db")
    copy.write_bytes(path.read_bytes())
    with closing(SqliteStore(copy)) as other:
        assert other.read("s", 0, 9) == Piece((), last=True)
    with closing(raw(copy)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
