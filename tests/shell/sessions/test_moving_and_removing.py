"""Exporting, importing, deleting and pruning sessions of a store in memory."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from support.fake_store import DAY, FakeStore, entry

from zidane_acp.sessions.ages import local, seconds_of, universal
from zidane_acp.sessions.moving import run_export, run_import
from zidane_acp.sessions.removing import run_delete, run_prune
from zidane_core.data.stored import Refusal

# export and import -----------------------------------------------------------------------------------

ODD = (
    '{"type":"text","message":"m","text":"x","v":1,"unknown":[1.0,{"a":null}]}',
    ' {"spaces" : "kept"}\t',
    '{"b":1,"a":2,"b":3}',
    '{"lone":"\\ud800","float":1e400}',
    '{"two":\n"lines"}',
    '{"carriage":1}\r',
    '{"damaged":"really"}',
    '{"damaged":1}',
    '{"damaged":"x","more":1}',
    "not json \x1b[2J \u2028 \x85",
    "",
    "5",
    "\ufeff{}",
    "[" * 100_000,
)


@pytest.mark.parametrize("texts", [ODD, (), *((text,) for text in ODD)])
def test_an_export_of_an_import_is_the_same_and_so_are_the_texts(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, texts: tuple[str, ...]
) -> None:
    first, second = FakeStore(), FakeStore()
    first.put("sess_a_1", *texts, cwd="/project", updated=1234.000005, head='{"v":1, "title":"x"')
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    assert run_export(first, "last", output=str(files[0])) == 0
    assert run_import(second, str(files[0])) == 0
    assert (second.rows, second.entries) == (first.rows, first.entries)
    assert run_export(second, "last", output=str(files[1])) == 0
    data = files[0].read_bytes()
    assert data == files[1].read_bytes()
    lines = data.decode().removesuffix("\n").split("\n")
    assert json.loads(lines[0]) == {
        "zidane-acp-session": 1,
        "session": "sess_a_1",
        "cwd": "/project",
        "updated": 1234.000005,
        "head": '{"v":1, "title":"x"',
    }
    assert all(
        line == text or "damaged" in json.loads(line) for line, text in zip(lines[1:], texts, strict=True)
    )
    assert f"Imported sess_a_1 with {len(texts)} entr" in capfd.readouterr().out


def test_the_store_is_asked_for_a_new_session_in_one_save(store: FakeStore, tmp_path: Path) -> None:
    file = tmp_path / "a"
    run_export(store, "sess_aa", output=str(file))
    store.remove("sess_aa_1")
    assert run_import(store, str(file)) == 0
    [save] = store.saves
    assert (save.expected_seq, save.lease, save.clears) == (0, "keep", ()) and store.owners == []


def test_an_id_that_is_there_is_refused_unless_it_gets_a_new_one(
    store: FakeStore, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "a"
    run_export(store, "sess_aa", output=str(file))
    before = dict(store.rows)
    capfd.readouterr()
    assert run_import(store, str(file)) == 1
    assert "sess_aa_1 is here already; with --new-id" in capfd.readouterr().err
    assert store.rows == before and store.saves == []
    assert run_import(store, str(file), new_id=True) == 0
    [new] = set(store.rows) - set(before)
    assert new.startswith("sess_") and store.entries[new] == store.entries["sess_aa_1"]


def test_standard_input_is_a_file_too(
    store: FakeStore, typed: BytesIO, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_export(store, "sess_b", terminal=False) == 0
    typed.write(capfd.readouterr().out.encode())
    typed.seek(0)
    store.remove("sess_b_1")
    assert run_import(store, "-") == 0
    assert store.entries["sess_b_1"] == (entry("three"),)


def test_line_ends_of_other_systems_and_a_byte_order_mark_do_not_matter(
    store: FakeStore, tmp_path: Path
) -> None:
    file = tmp_path / "a"
    run_export(store, "sess_b", output=str(file))
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    row, texts = store.rows.pop("sess_b_1"), store.entries.pop("sess_b_1")
    assert run_import(store, str(file)) == 0
    assert (store.rows["sess_b_1"], store.entries["sess_b_1"]) == (row, texts)


FIRST = '{"zidane-acp-session":1,"session":"s","cwd":"/project","updated":1,"head":"{}"}\n'


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not an exported session"),
        (b"{}", "is not an exported session"),
        (b"\xff", "is not UTF-8"),
        (FIRST.replace(":1,", ":2,", 1).encode(), "its form is 2, and this version reads form 1; update"),
        (FIRST.replace('"s"', '""').encode(), "lacks session, cwd or updated"),
        (FIRST.replace('"s"', '"a b"').encode(), "lacks session, cwd or updated"),
        (FIRST.replace('"s"', r'"\u001b[2J"').encode(), "lacks session, cwd or updated"),
        (FIRST.replace('"/project"', "1").encode(), "lacks session, cwd or updated"),
        (FIRST.replace(':1,"head"', ':true,"head"').encode(), "lacks session, cwd or updated"),
        (FIRST.encode() + b"{}\n{broken\n", "line 3 is not JSON"),
        (FIRST.encode() + b"{}\n\n{}\n", "line 3 is empty"),
    ],
)
def test_a_file_that_is_no_export_is_refused_and_nothing_is_stored(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, data: bytes, said: str
) -> None:
    store, file = FakeStore(), tmp_path / "a"
    file.write_bytes(data)
    assert run_import(store, str(file)) == 1
    assert said in capfd.readouterr().err and store.saves == []


def test_a_file_that_is_not_there_is_a_sentence(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_import(FakeStore(), str(tmp_path / "none")) == 1
    assert "cannot be read (No such file" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (Refusal("disk", "The disk is full."), "The disk is full."),
        (Refusal("locked"), "try again"),
        (Refusal("in_use"), "wait until"),
        (Refusal("gone"), "--new-id"),
    ],
)
def test_what_the_store_refuses_is_said(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, refusal: Refusal, said: str
) -> None:
    store, file = FakeStore(), tmp_path / "a"
    store.refusal = refusal
    file.write_text(FIRST, "utf-8")
    assert run_import(store, str(file)) == 1
    assert said in capfd.readouterr().err and store.owners == []


def test_an_export_on_a_terminal_means_the_same_and_moves_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    store = FakeStore()
    text = '{"text":"\x9b2J\x7f\u202e"}'
    store.put("s", text, "\x1b[2J", updated=1.0)
    assert run_export(store, "s", terminal=True) == 0
    out = capfd.readouterr().out
    assert not set(out) & set("\x9b\x7f\u202e\x1b")
    assert [json.loads(line) for line in out.splitlines()[1:]] == [json.loads(text), {"damaged": "\x1b[2J"}]


# delete and prune ------------------------------------------------------------------------------------


def test_sessions_are_deleted_after_a_question(store: FakeStore, capfd: pytest.CaptureFixture[str]) -> None:
    questions: list[str] = []

    def yes(question: str) -> str:
        questions.append(question)
        return "y"

    assert run_delete(store, ["sess_aa", "last", "sess_aa_1"], ask=yes) == 0
    assert questions == ["Delete 2 sessions for good? [y/N] "] and list(store.rows) == ["sess_b_1"]
    out = capfd.readouterr().out
    assert f"sess_aa_1  {local(DAY)}  /project  First\n" in out and out.endswith("Deleted 2 sessions.\n")


@pytest.mark.parametrize("answer", ["", "n", "yep"])
def test_any_other_answer_deletes_nothing(store: FakeStore, answer: str) -> None:
    assert run_delete(store, ["last"], ask=lambda question: answer) == 1
    assert len(store.rows) == 3


def test_nobody_is_asked_where_nobody_is(
    store: FakeStore, typed: BytesIO, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_delete(store, ["last"]) == 1
    assert "With --yes" in capfd.readouterr().err and len(store.rows) == 3
    assert run_delete(store, ["last"], yes=True) == 0
    assert len(store.rows) == 2


def test_one_that_is_not_there_keeps_the_others(store: FakeStore, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_delete(store, ["sess_b", "x"], yes=True) == 1
    assert capfd.readouterr().err.splitlines() == [
        "There is no session 'x'; `zidane-acp sessions list` shows what there is.",
        "Nothing was deleted.",
    ]
    assert len(store.rows) == 3


def test_one_that_is_used_while_the_question_stands_is_kept(
    store: FakeStore, capfd: pytest.CaptureFixture[str]
) -> None:
    def meanwhile(question: str) -> str:
        store.put("sess_aa_1", entry("one"), entry("more"), updated=9 * DAY)
        return "yes"

    assert run_prune(store, int(DAY), now=3.5 * DAY, ask=meanwhile) == 1
    assert set(store.rows) == {"sess_aa_1", "sess_ab_1"}
    assert "sess_aa_1 was used just now; it was kept." in capfd.readouterr().err


def test_what_is_old_is_removed_and_named(store: FakeStore, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_prune(store, int(DAY), now=3 * DAY, dry_run=True) == 0
    out = capfd.readouterr().out
    assert "sess_aa_1" in out and "1 session would be deleted" in out and len(store.rows) == 3
    assert run_prune(store, int(DAY), now=3 * DAY, yes=True) == 0
    assert set(store.rows) == {"sess_ab_1", "sess_b_1"} and "sess_aa_1" in capfd.readouterr().out
    assert run_prune(store, int(DAY), now=3 * DAY, yes=True) == 0
    assert "No session is older than that" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("age", "seconds"),
    [("12h", 43200), ("30d", 2592000), ("8w", 4838400), (" 1D ", 86400), ("0d", None), ("30", None), ("d", None),
     ("1.5d", None), ("-1d", None), ("1m", None), ("9999999d", None), ("٣d", None), ("", None)],
)  # fmt: skip
def test_ages_are_hours_days_or_weeks(age: str, seconds: int | None) -> None:
    assert seconds_of(age) == seconds


@pytest.mark.parametrize("seconds", [1e300, -1e300, float("inf"), float("nan")])
def test_a_time_beyond_the_calendar_is_unknown(seconds: float) -> None:
    assert local(seconds) == universal(seconds) == "unknown"
