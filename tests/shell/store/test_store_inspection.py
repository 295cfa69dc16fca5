"""What doctor says of the file of the sessions; looking at it makes and changes nothing."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from support.raw_sqlite import contents, raw

from zidane_acp.doctor import findings, run_doctor
from zidane_acp.store import SqliteStore, schema
from zidane_acp.store.contract import a_save
from zidane_acp.store.inspection import StoreReport, inspect


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


def filled(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    for number in range(3):
        assert store.append(a_save(f"s{number}", 0, "x" * 5000), store.enter()) is None
    return store


def looked(path: Path) -> StoreReport:
    """The report, after which every file is as it was."""
    before = contents(path.parent)
    report = inspect(path)
    assert contents(path.parent) == before
    return report


def test_no_file_yet(path: Path) -> None:
    assert looked(path) == StoreReport("none", f"none in {path} yet; it is made with the first session.")
    path.touch()
    assert looked(path).state == "none"


def test_a_closed_file_is_counted(path: Path) -> None:
    filled(path).close()
    size = path.stat().st_size
    assert looked(path) == StoreReport("good", f"3 sessions in {path}, {size / 1e6:.1f} MB", 3, size)


HOLDER = """
import sqlite3, sys
from pathlib import Path
from zidane_acp.store import SqliteStore
from zidane_acp.store.contract import a_save
store = SqliteStore(Path(sys.argv[1]))
assert store.append(a_save("t", 0, "new"), store.enter()) is None
if sys.argv[2] == "all":
    store.close()
    other = sqlite3.connect(sys.argv[1], isolation_level=None)
    for statement in ("PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "DELETE FROM leases"):
        other.execute(statement)
print("held", flush=True)
sys.stdin.readline()
"""


@contextmanager
def held(path: Path, how: str) -> Iterator[None]:
    """Another process has the file open, or all of it for itself."""
    filled(path).close()
    words = (sys.executable, "-c", HOLDER, str(path), how)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        yield


def test_a_file_in_use_is_counted_with_what_is_in_its_log(path: Path) -> None:
    with held(path, "open"):
        report = looked(path)
        assert (report.state, report.sessions) == ("good", 4)
        assert report.bytes == path.stat().st_size + path.with_name("sessions.db-wal").stat().st_size


def test_looking_at_a_file_that_this_process_has_open_disturbs_nothing(path: Path) -> None:
    with closing(filled(path)) as store:
        assert inspect(path).sessions == 3
        assert store.append(a_save("s0", 1, "y"), store.enter()) is None
        assert inspect(path).sessions == 3


@pytest.mark.parametrize("endings", [("", "-wal", "-shm"), ("", "-wal")])
def test_a_file_that_was_not_closed_stays_so(endings: tuple[str, ...], path: Path) -> None:
    live = path.parent / "live" / path.name
    with closing(filled(live)):
        for ending in endings:
            shutil.copy(live.with_name(live.name + ending), path.with_name(path.name + ending))
    shutil.rmtree(live.parent)
    report = looked(path)
    assert report.state == "good"
    assert report.sessions == (3 if "-shm" in endings else None)
    with closing(SqliteStore(path)) as store:
        assert len(store.page(None, None, 9)) == 3


def newer(path: Path) -> None:
    filled(path).close()
    with closing(raw(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")


def foreign(path: Path) -> None:
    path.write_text("my notes")


def damaged(path: Path) -> None:
    filled(path).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))


def cut(path: Path) -> None:
    filled(path).close()
    path.write_bytes(path.read_bytes()[:5000])


def unreadable(path: Path) -> None:
    path.mkdir()


BAD = [
    (newer, "newer", "was written by a newer zidane-acp; update zidane-acp"),
    (foreign, "foreign", "is not a file of sessions of zidane-acp; move it away"),
    (damaged, "damaged", "is damaged; keep a copy and move it away"),
    (cut, "damaged", "is damaged; keep a copy and move it away"),
    (unreadable, "unreadable", "is not a file; move it away"),
]


@pytest.mark.parametrize(("make", "state", "said"), BAD)
def test_what_is_wrong_is_said_and_makes_doctor_fail(
    make: Callable[[Path], None], state: str, said: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(path)
    if path.is_dir():
        report = inspect(path)
    else:
        report = looked(path)
    assert report.state == state and report.sessions is None
    assert report.sentence.startswith(f"{path} {said}")
    env = {"ZIDANE_ACP_HOME": str(path.parent)}
    assert [finding.about for finding in findings(env, False) if finding.verdict == "bad"] == ["Sessions"]
    assert run_doctor(environment=env) == 1
    assert f"Sessions: {report.sentence}" in capsys.readouterr().out


def test_a_locked_file_is_a_note(path: Path) -> None:
    with held(path, "all"):
        report = looked(path)
        assert (report.state, report.sessions) == ("locked", None), report
        env = {"ZIDANE_ACP_HOME": str(path.parent)}
        found = [finding.verdict for finding in findings(env, False) if finding.about == "Sessions"]
        assert found == ["note"]


def test_doctor_counts_and_makes_nothing(tmp_path: Path) -> None:
    env = {"ZIDANE_ACP_HOME": str(tmp_path / "state")}
    found = [finding for finding in findings(env, False) if finding.about == "Sessions"]
    assert [finding.verdict for finding in found] == ["good"] and "none in" in found[0].text
    assert not (tmp_path / "state").exists()
