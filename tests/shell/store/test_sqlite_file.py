"""The file of the sessions: how it is made, what it leaves behind, what is refused and stays as it was."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.raw_sqlite import contents, raw

from zidane_acp.ports import StoreProblem
from zidane_acp.settings import Settings
from zidane_acp.store import SqliteStore, opening, rows, schema
from zidane_acp.store.contract import a_save
from zidane_acp.store.inspection import inspect
from zidane_acp.store.place import store_path
from zidane_core.agent.effects import Journal
from zidane_core.data.stored import Piece, Place, Refusal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


def filled(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    assert store.append(a_save("s", 0, "a", "b"), store.enter()) is None
    return store


# Making it -----------------------------------------------------------------------------------------


def test_the_file_is_in_the_state_folder(tmp_path: Path) -> None:
    assert store_path(Settings(home=str(tmp_path))) == tmp_path / "sessions.db"


def test_only_a_save_makes_the_file(path: Path) -> None:
    store = SqliteStore(path)
    owner = store.enter()
    store.find("s")
    store.read("s", 0, 9)
    store.page(None, None, 9)
    store.remove("s")
    store.note(Journal("s", "m", 0, "x"), owner)
    store.leave(owner)
    store.close()
    assert not path.parent.exists()


def test_folder_and_files_are_private_whatever_the_mask(path: Path) -> None:
    mask = os.umask(0)
    try:
        store = filled(path)
        modes = {found.name: found.stat().st_mode & 0o777 for found in path.parent.iterdir()}
        assert modes == {"sessions.db": 0o600, "sessions.db-wal": 0o600, "sessions.db-shm": 0o600}
        assert path.parent.stat().st_mode & 0o777 == 0o700
        store.close()
    finally:
        os.umask(mask)


def test_the_connection_has_its_settings(path: Path) -> None:
    store = filled(path)
    connection = store._opened.connection
    said = {
        name: connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "secure_delete", "busy_timeout", "temp_store")
    }
    assert said == {
        "journal_mode": "wal",
        "synchronous": 1,
        "secure_delete": 1,
        "busy_timeout": 250,
        "temp_store": 2,
    }
    store.close()
    assert set(contents(path.parent)) == {"sessions.db"}, "closing leaves one file"


def test_names_of_folders_may_have_any_characters(tmp_path: Path) -> None:
    path = tmp_path / "a?b#c%41 é🦀'" / "sessions.db"
    filled(path).close()
    assert set(contents(path.parent)) == {"sessions.db"}


def test_a_store_opens_again_after_closing(path: Path) -> None:
    store = filled(path)
    store.close()
    assert store.read("s", 0, 9) == Piece(("a", "b"), last=True)
    store.close()


def test_a_file_that_was_moved_away_is_let_go_of(path: Path) -> None:
    store = filled(path)
    path.rename(path.with_name("kept.db"))
    assert store.find("s") is None
    assert store.append(a_save("t", 0, "new"), store.enter()) is None
    store.close()
    with closing(SqliteStore(path.with_name("kept.db"))) as kept:
        assert kept.read("s", 0, 9).entries == ("a", "b")
    assert [row.session for row in store.page(None, None, 9)] == ["t"]
    store.close()


# Versions ------------------------------------------------------------------------------------------


def marks(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:100]
    return int.from_bytes(head[60:64], "big"), int.from_bytes(head[68:72], "big")


def test_the_header_of_the_main_file_says_the_version_at_once(path: Path) -> None:
    store = filled(path)
    assert marks(path) == (schema.VERSION, schema.APPLICATION)
    store.close()


def an_empty_file(path: Path) -> None:
    path.touch()


def a_database_without_tables(path: Path) -> None:
    connection = raw(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


@pytest.mark.parametrize("begun", [an_empty_file, a_database_without_tables])
def test_a_file_that_was_only_begun_becomes_one_of_ours(begun: Callable[[Path], None], path: Path) -> None:
    path.parent.mkdir()
    begun(path)
    store = SqliteStore(path)
    assert store.page(None, None, 9) == ()
    assert marks(path) == (0, 0), "reading does not make it one"
    assert store.append(a_save("s", 0, "a"), store.enter()) is None
    assert marks(path) == (schema.VERSION, schema.APPLICATION)
    store.close()


LATER = {
    **schema.MIGRATIONS,
    schema.VERSION: ("ALTER TABLE sessions ADD COLUMN title TEXT NOT NULL DEFAULT 'none'",),
    schema.VERSION + 1: ("CREATE TABLE extra (x)", "UPDATE sessions SET title = 'later'"),
}


@pytest.mark.parametrize(
    ("last", "title"), [(schema.VERSION, "none"), (schema.VERSION + 1, "later")], ids=["one", "two"]
)
def test_later_steps_keep_what_is_stored(last: int, title: str, path: Path) -> None:
    filled(path).close()
    connection = raw(path)
    steps = {version: step for version, step in LATER.items() if version <= last}
    schema.migrate(connection, steps)
    schema.migrate(connection, steps)
    assert marks(path) == (last + 1, schema.APPLICATION)
    assert connection.execute("SELECT id, seq, title FROM sessions").fetchall() == [("s", 2, title)]
    connection.close()


def test_a_step_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    filled(path).close()
    connection = raw(path)
    with pytest.raises(sqlite3.OperationalError):
        schema.migrate(connection, {**LATER, schema.VERSION + 1: ("CREATE TABLE extra (x)", "NONSENSE")})
    connection.close()
    assert marks(path) == (schema.VERSION, schema.APPLICATION)
    with closing(SqliteStore(path)) as store:
        assert store.read("s", 0, 9).entries == ("a", "b")


def test_stores_that_open_at_once_make_one_file(path: Path) -> None:
    start = threading.Barrier(6)
    outcomes: list[object] = []

    def one(number: int) -> None:
        store = SqliteStore(path)
        owner = store.enter()
        start.wait()
        outcomes.append(store.append(a_save(f"s{number}", 0, "a"), owner))
        store.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [None] * 6
    with closing(SqliteStore(path)) as store:
        assert len(store.page(None, None, 99)) == 6


# What is refused -----------------------------------------------------------------------------------


def of_a_newer_version(path: Path) -> None:
    filled(path).close()
    connection = raw(path)
    schema.migrate(connection, LATER)
    connection.close()


def of_a_newer_version_in_the_log(path: Path) -> None:
    """As a newer program leaves it that died before the log was put into the main file."""
    other = path.with_name("other") / path.name
    filled(other).close()
    connection = raw(other)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    for name in contents(other.parent):
        shutil.copy(other.with_name(name), path.with_name(name))
    connection.close()
    shutil.rmtree(other.parent)
    assert marks(path) == (schema.VERSION, schema.APPLICATION)


def no_database(path: Path) -> None:
    path.write_bytes(b"these are my notes, " * 1000)


def a_short_text(path: Path) -> None:
    path.write_bytes(b"notes")


def of_another_program(path: Path) -> None:
    connection = raw(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()


def of_another_program_with_its_mark(path: Path) -> None:
    connection = raw(path)
    connection.execute("PRAGMA application_id = 77")
    connection.close()


def of_another_program_in_the_log(path: Path) -> None:
    other = path.with_name("other")
    other.mkdir()
    connection = raw(other / path.name)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE theirs (x)")
    for name in contents(other):
        shutil.copy(other / name, path.with_name(name))
    connection.close()
    shutil.rmtree(other)


REFUSED = [
    (of_a_newer_version, "was written by a newer zidane-acp; update zidane-acp, or give another folder"),
    (of_a_newer_version_in_the_log, "was written by a newer zidane-acp; update zidane-acp"),
    (no_database, "is not a file of sessions of zidane-acp; move it away, or give another folder"),
    (a_short_text, "is not a file of sessions of zidane-acp; move it away"),
    (of_another_program, "is not a file of sessions of zidane-acp; move it away"),
    (of_another_program_with_its_mark, "is not a file of sessions of zidane-acp; move it away"),
    (of_another_program_in_the_log, "is not a file of sessions of zidane-acp; move it away"),
]


@pytest.mark.parametrize(("make", "said"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_files_of_others_are_refused_and_stay_as_they_were(
    make: Callable[[Path], None], said: str, path: Path
) -> None:
    path.parent.mkdir()
    make(path)
    before = contents(path.parent)
    store = SqliteStore(path)
    owner = store.enter()
    refused = store.append(a_save("s", 0, "x"), owner)
    assert isinstance(refused, Refusal) and refused.reason == "disk"
    assert refused.detail.startswith(f"{path} {said}") and refused.detail.endswith("with ZIDANE_ACP_HOME.")
    calls: tuple[Callable[[], object], ...] = (
        lambda: store.find("s"),
        lambda: store.read("s", 0, 9),
        lambda: store.page(None, None, 9),
        lambda: store.remove("s"),
    )
    for call in calls:
        with pytest.raises(StoreProblem, match="ZIDANE_ACP_HOME"):
            call()
    store.note(Journal("s", "m", 0, "x"), owner)
    store.leave(owner)
    store.close()
    assert contents(path.parent) == before

    path.rename(path.with_name("moved"))
    assert store.append(a_save("s", 0, "x"), owner) is None, "the cause is gone"
    store.close()


def test_a_file_that_becomes_newer_while_it_is_open_is_no_longer_written(path: Path) -> None:
    store = filled(path)
    connection = raw(path)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    refused = store.append(a_save("s", 2, "c"), store.enter())
    assert isinstance(refused, Refusal) and "newer zidane-acp" in refused.detail
    assert connection.execute("SELECT count(*) FROM entries").fetchone() == (2,)
    connection.close()
    store.close()


LOCKS = Path("/proc/locks")


@pytest.mark.skipif(not LOCKS.exists(), reason="only Linux lists the locks of files")
def test_opening_the_file_twice_in_a_process_keeps_its_locks(path: Path) -> None:
    store = filled(path)
    number = f":{path.stat().st_ino} "
    held = [line.split()[1:] for line in LOCKS.read_text().splitlines() if number in line]
    assert held, "an open connection holds a lock"
    other = SqliteStore(path)
    other.find("s")
    assert inspect(path).state == "good"
    again = [line.split()[1:] for line in LOCKS.read_text().splitlines() if number in line]
    assert again == held
    other.close()
    store.close()
    assert not opening.is_held(path)


# The list ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cwd", [None, "/project"])
@pytest.mark.parametrize("after", [None, Place(1.0, "s")])
def test_the_list_walks_along_an_index(cwd: str | None, after: Place | None, path: Path) -> None:
    store = filled(path)
    query, values = rows.page_query(cwd, after)
    plan = [row[3] for row in store._opened.connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]
    index = "sessions_by_time" if cwd is None else "sessions_by_folder"
    assert len(plan) == 1 and f"USING INDEX {index}" in plan[0], plan
    assert plan[0].startswith("SCAN" if cwd is None and after is None else "SEARCH"), plan
    if after is not None:
        assert "updated<?" in plan[0] or "(updated,id)<(?,?)" in plan[0], plan
    store.close()


# Leases --------------------------------------------------------------------------------------------


def test_an_owner_that_is_gone_for_others_leaves_no_lease_in_the_file(path: Path) -> None:
    store = filled(path)
    owner = store.enter()
    store.append(a_save("s", 2, lease="take"), owner)
    blocker = raw(path)
    blocker.execute("BEGIN IMMEDIATE")
    store.leave(owner)
    blocker.execute("COMMIT")
    assert blocker.execute("SELECT count(*) FROM leases").fetchone() == (1,)
    store.close()
    assert blocker.execute("SELECT count(*) FROM leases").fetchone() == (0,)
    assert not store._left
    blocker.close()


def test_saving_and_noting_renew_the_lease(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(path)
    owner = store.enter()
    clock = 0.0
    monkeypatch.setattr("zidane_acp.store.sqlite.time.time", lambda: clock)
    watcher = raw(path)
    seen: list[float] = []
    for clock, work in enumerate(  # noqa: B007  # the clock is read by the store
        (
            lambda: store.append(a_save("s", 2, lease="take"), owner),
            lambda: store.append(a_save("s", 2), owner),
            lambda: store.note(Journal("s", "m", 0, "x"), owner),
            lambda: store.append(a_save("s", 2), "another, whom nobody knows"),
        )
    ):
        work()
        seen += [row[0] for row in watcher.execute("SELECT renewed FROM leases")]
    assert seen == [0.0, 1.0, 2.0, 2.0]
    watcher.close()
    store.close()


PROGRAM = """
import sys, threading
from pathlib import Path
from zidane_acp.store import SqliteStore
from zidane_acp.store.contract import a_save
store = SqliteStore(Path(sys.argv[1]))
store.append(a_save("s", 0, "a"), store.enter())
inside, go = threading.Event(), threading.Event()
def hang():
    with store._working("BEGIN"):
        inside.set()
        go.wait()
threading.Thread(target=hang, daemon=True).start()
inside.wait()
store.leave("nobody")
store.close()
print("closed")
"""


def test_closing_does_not_wait_for_a_call_that_hangs(path: Path) -> None:
    done = subprocess.run((sys.executable, "-c", PROGRAM, str(path)), capture_output=True, timeout=20)
    assert done.stdout == b"closed\n"


def test_sessions_that_were_never_used_are_forgotten_after_a_week(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    owner = store.enter()
    day = 24 * 3600.0
    store.append(a_save("empty", 0, updated=0.0), owner)
    store.append(a_save("used", 0, "x", updated=0.0), owner)
    store.append(a_save("young", 0, updated=2 * day), owner)
    assert store.find("empty") is not None
    store.append(a_save("new", 0, updated=8 * day), owner)
    assert [name for name in ("empty", "used", "young", "new") if store.find(name)] == [
        "used",
        "young",
        "new",
    ]
    store.close()
