"""Both stores keep the contract, and several processes may write to one file at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from zidane_acp.ports import Store
from zidane_acp.store import MemoryStore, SqliteStore
from zidane_acp.store.contract import StoreContract, a_save


class TestMemoryStore(StoreContract):
    def make_store(self) -> Store:
        return MemoryStore()


class TestSqliteStore(StoreContract):
    path: Path

    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.path = tmp_path / "state" / "sessions.db"

    def make_store(self) -> Store:
        return SqliteStore(self.path)

    def another(self, store: Store) -> Store:
        return SqliteStore(self.path)


WRITER = """
import sys
from pathlib import Path
from zidane_acp.store import SqliteStore
from zidane_acp.store.contract import add_in_turn
store = SqliteStore(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for number in range(40):
    add_in_turn(store, "s", f"{sys.argv[2]}{number}")
store.close()
"""


def test_no_save_is_lost_when_processes_make_the_file_and_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    writers = [
        subprocess.Popen(
            (sys.executable, "-c", WRITER, str(path), name), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for name in "abc"
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    store = SqliteStore(path)
    expected = sorted(f"{name}{number}" for name in "abc" for number in range(40))
    assert sorted(store.read("s", 0, 999).entries) == expected
    store.close()


def test_a_lease_of_a_process_that_ended_without_leaving_is_free(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    code = (
        "import os, sys; from pathlib import Path; from zidane_acp.store import SqliteStore;"
        "from zidane_acp.store.contract import a_save; store = SqliteStore(Path(sys.argv[1]));"
        "print(store.append(a_save('s', 0, 'a', lease='take'), store.enter()), flush=True);"
        "sys.stdin.readline(); os._exit(1)"
    )
    store = SqliteStore(path)
    owner = store.enter()
    with subprocess.Popen(
        (sys.executable, "-c", code, str(path)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == b"None\n"
        refused = store.append(a_save("s", 1, "b"), owner)
        process.stdin.write(b"\n")
    assert refused is not None and getattr(refused, "reason", "") == "in_use"
    assert store.append(a_save("s", 1, "b"), owner) is None
    store.close()


def test_what_saves_nothing_does_not_import_sqlite3() -> None:
    code = (
        "import sys, zidane_acp.store.inspection, zidane_acp.store.place; from pathlib import Path;"
        "from zidane_acp.store import SqliteStore; store = SqliteStore(Path('nowhere'));"
        "store.leave(store.enter()); store.close();"
        "print('sqlite3' in sys.modules)"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, check=True)
    assert done.stdout == b"False\n"
