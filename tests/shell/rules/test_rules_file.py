"""The rules that are kept: how the file is made, what several programs do with it, what is refused and stays as it was."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.raw_sqlite import contents, raw

from zidane_acp.ports import Rules, StoreProblem
from zidane_acp.rules import MemoryRules, SqliteRules
from zidane_acp.rules import sqlite as rules_sqlite
from zidane_acp.rules.place import rules_path
from zidane_acp.settings import Settings
from zidane_core.data.rules import Grant

PREFIX = Grant("prefix", ("git", "diff"))
EDITS = Grant("edits")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "rules.db"


@pytest.fixture(params=["memory", "sqlite"])
def rules(request: pytest.FixtureRequest, path: Path) -> Rules:
    return MemoryRules() if request.param == "memory" else SqliteRules(path)


# Any rules -----------------------------------------------------------------------------------------


def test_permissions_are_those_of_one_folder_in_their_order(rules: Rules) -> None:
    assert rules.grants("/a") == ()
    for grant in (PREFIX, EDITS, PREFIX):
        rules.keep_grant("/a", grant)
    rules.keep_grant("/b", EDITS)
    assert rules.grants("/a") == (PREFIX, EDITS)
    assert (rules.grants("/b"), rules.grants("/a/sub"), rules.grants("/")) == ((EDITS,), (), ())


def test_trust_is_in_each_folder(rules: Rules) -> None:
    assert rules.trusted(("/a", "/b")) == frozenset()
    rules.keep_trust(("/a", "/b"))
    rules.keep_trust(("/b",))
    assert rules.trusted(("/a", "/c", "/b")) == {"/a", "/b"}
    assert (rules.trusted(()), rules.grants("/a")) == (frozenset(), ())


@pytest.mark.parametrize(
    "grant",
    [
        Grant("command", ('echo "ü\u202e\n"; rm -rf "$x"',)),
        Grant("host", ("example.com",)),
        Grant("tool", ("mcp_tool", "one", "change")),
    ],
)
def test_every_kind_of_permission_comes_back(rules: Rules, grant: Grant) -> None:
    rules.keep_grant("/ü b", grant)
    assert rules.grants("/ü b") == (grant,)


# The file ------------------------------------------------------------------------------------------


def test_it_is_in_the_state_folder(tmp_path: Path) -> None:
    assert rules_path(Settings(home=str(tmp_path))) == tmp_path / "rules.db"


def test_only_a_rule_makes_it(path: Path) -> None:
    rules = SqliteRules(path)
    assert (rules.grants("/a"), rules.trusted(("/a",)), rules.kept(), rules.forget([1])) == ((), set(), (), 0)
    assert not path.parent.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_folder_and_file_are_private_whatever_the_mask(path: Path) -> None:
    mask = os.umask(0)
    try:
        SqliteRules(path).keep_grant("/a", EDITS)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_was_kept_has_a_number_and_a_time(path: Path) -> None:
    times = iter((10.0, 20.0, 30.0))
    rules = SqliteRules(path, lambda: next(times))
    rules.keep_grant("/b", EDITS)
    rules.keep_trust(("/a",))
    rules.keep_grant("/b", PREFIX)
    shown = [(rule.number, rule.folder, rule.grant, rule.since) for rule in rules.kept()]
    assert shown == [(2, "/a", None, 20.0), (1, "/b", EDITS, 10.0), (3, "/b", PREFIX, 30.0)]


def test_a_number_is_never_used_again(path: Path) -> None:
    rules = SqliteRules(path)
    rules.keep_grant("/a", EDITS)
    assert (rules.forget([1, 7]), rules.grants("/a")) == (1, ())
    rules.keep_grant("/a", EDITS)
    assert [rule.number for rule in rules.kept()] == [2]


def test_a_file_that_was_made_and_never_filled_is_as_good_as_none(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    rules = SqliteRules(path)
    assert rules.grants("/a") == ()
    rules.keep_grant("/a", EDITS)
    assert rules.grants("/a") == (EDITS,)


def newer(path: Path) -> None:
    SqliteRules(path).keep_grant("/a", EDITS)
    with closing(raw(path)) as connection:
        connection.execute(f"PRAGMA user_version = {rules_sqlite.VERSION + 1}")


def foreign(path: Path) -> None:
    path.parent.mkdir()
    with closing(raw(path)) as connection:
        connection.execute("CREATE TABLE theirs (a)")


def text(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("not a database\n" * 50)


def cut(path: Path) -> None:
    SqliteRules(path).keep_grant("/a", EDITS)
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 8192)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (newer, "was written by a newer zidane-acp; update zidane-acp"),
        (foreign, "is damaged, or no file of permissions of zidane-acp; move it away"),
        (text, "is damaged, or no file of permissions of zidane-acp; move it away"),
        (cut, "is damaged"),
    ],
)
def test_what_is_newer_damaged_or_not_ours_is_told_of_and_not_touched(
    path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(path)
    before = contents(path.parent)
    rules = SqliteRules(path)
    for ask in (
        lambda: rules.grants("/a"),
        lambda: rules.trusted(("/a",)),
        lambda: rules.keep_grant("/b", PREFIX),
        lambda: rules.keep_trust(("/b",)),
        lambda: rules.forget([1]),
    ):
        with pytest.raises(StoreProblem, match=said) as problem:
            ask()
        assert str(path) in str(problem.value)
    assert contents(path.parent) == before


def test_a_folder_in_its_place_is_told_of(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreProblem, match="cannot be used"):
        SqliteRules(path).keep_grant("/a", EDITS)


def test_a_rule_of_another_version_is_left_out_and_stays(path: Path) -> None:
    rules = SqliteRules(path)
    rules.keep_grant("/a", EDITS)
    insert = "INSERT INTO rules (folder, kind, what, since) VALUES ('/a', ?, ?, 1.0)"
    with closing(raw(path)) as connection:
        connection.executemany(insert, [("grant", '{"kind":"later"}'), ("grant", "{"), ("other", "")])
    assert rules.grants("/a") == (EDITS,)
    with closing(raw(path)) as connection:
        assert connection.execute("SELECT count(*) FROM rules").fetchone() == (4,)


def test_a_file_that_is_locked_for_long_is_told_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules_sqlite, "PATIENCE", 0.01)
    rules = SqliteRules(path)
    rules.keep_grant("/a", EDITS)
    with closing(raw(path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreProblem, match="locked by another program"):
            rules.keep_grant("/a", PREFIX)
        connection.execute("ROLLBACK")
    assert rules.grants("/a") == (EDITS,)


KEEPS = """
import sys
from pathlib import Path
from zidane_acp.rules import SqliteRules
from zidane_core.data.rules import Grant
rules = SqliteRules(Path(sys.argv[1]))
for number in range(10):
    rules.keep_grant("/a", Grant("prefix", (sys.argv[2], str(number))))
    rules.keep_trust((f"/{number}",))
"""


def test_several_programs_keep_rules_at_once(path: Path) -> None:
    command = [sys.executable, "-c", KEEPS, str(path)]
    programs = [
        subprocess.Popen([*command, name], stderr=subprocess.PIPE) for name in ("one", "two", "three")
    ]
    complaints = [program.communicate(timeout=60)[1] for program in programs]
    assert [(program.returncode, said) for program, said in zip(programs, complaints, strict=True)] == [
        (0, b"")
    ] * 3
    rules = SqliteRules(path)
    assert len(rules.grants("/a")) == 30
    assert len([rule for rule in rules.kept() if rule.grant is None]) == 10


def test_nothing_is_left_open_or_beside_it(path: Path) -> None:
    rules = SqliteRules(path)
    rules.keep_grant("/a", EDITS)
    assert rules.grants("/a")
    assert [found.name for found in path.parent.iterdir()] == ["rules.db"]
    with closing(sqlite3.connect(path, timeout=0)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
