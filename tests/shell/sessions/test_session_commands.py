"""The `sessions` commands over a store in memory."""

import json
import sys
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from support.fake_store import FakeStore
from support.sample_session import sample

from zidane_acp.ports import StoreProblem
from zidane_acp.sessions import finding, listing
from zidane_acp.sessions.ages import local, seconds_of, universal
from zidane_acp.sessions.entries import entry_of
from zidane_acp.sessions.listing import run_list, short
from zidane_acp.sessions.moving import run_export, run_import
from zidane_acp.sessions.opened import with_store
from zidane_acp.sessions.removing import run_delete, run_prune
from zidane_acp.sessions.showing import Form, run_show
from zidane_core.data.content import Text
from zidane_core.data.history import TextSaid, Unread, UserSaid
from zidane_core.data.stored import Refusal
from zidane_core.text import encode_json

DAY = 86400.0


def entry(text: str) -> str:
    return encode_json(TextSaid("m", text)).decode()


@pytest.fixture
def store() -> FakeStore:
    made = FakeStore()
    made.put("sess_aa_1", entry("one"), updated=1 * DAY, head='{"v":1,"title":"First"}')
    made.put("sess_ab_1", entry("two"), updated=3 * DAY, head='{"v":1,"roots":[]}', cwd="/other")
    made.put("sess_b_1", entry("three"), updated=2 * DAY, head="no json")
    return made


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[BytesIO]:
    """What stands on standard input."""
    data = BytesIO()
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(data))
    yield data


# Which session ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "session"),
    [("sess_aa_1", "sess_aa_1"), ("sess_aa", "sess_aa_1"), ("sess_b", "sess_b_1"), ("last", "sess_ab_1")],
)
def test_a_session_is_found_by_its_id_its_beginning_or_as_the_last_one(
    store: FakeStore, word: str, session: str
) -> None:
    assert finding.find(store, word).unwrap().session == session


def test_a_whole_id_is_found_although_others_begin_with_it(store: FakeStore) -> None:
    store.put("sess_aa_11")
    assert finding.find(store, "sess_aa_1").unwrap().session == "sess_aa_1"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("sess_a", "2 sessions begin with 'sess_a': sess_ab_1, sess_aa_1; give more of the id."),
        ("x", "There is no session 'x'; `zidane-acp sessions list` shows what there is."),
        ("", "There is no session ''; `zidane-acp sessions list` shows what there is."),
        ("x\x1b[2J", "There is no session 'x␛[2J'; `zidane-acp sessions list` shows what there is."),
    ],
)
def test_what_names_no_session_or_several_is_refused_with_the_next_step(
    store: FakeStore, word: str, said: str
) -> None:
    assert finding.find(store, word).failure() == said


def test_many_sessions_and_entries_are_read_page_by_page(
    store: FakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "PAGE", 2)
    store.put("sess_c_1", *map(str, range(5)), updated=2 * DAY)
    assert [row.session for row in finding.rows(store)] == ["sess_ab_1", "sess_c_1", "sess_b_1", "sess_aa_1"]
    assert list(finding.entries(store, "sess_c_1")) == ["0", "1", "2", "3", "4"]


# list ------------------------------------------------------------------------------------------------


def test_elsewhere_than_on_a_terminal_a_session_is_a_line_with_tabs(
    store: FakeStore, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_list(store, terminal=False) == 0
    assert capfd.readouterr() == (
        "sess_ab_1\t1970-01-04T00:00:00Z\t/other\t\n"
        "sess_b_1\t1970-01-03T00:00:00Z\t/project\t\n"
        "sess_aa_1\t1970-01-02T00:00:00Z\t/project\tFirst\n",
        "",
    )


def test_a_table_stands_on_a_terminal(store: FakeStore, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_list(store, terminal=True) == 0
    rows = capfd.readouterr().out.splitlines()
    assert rows[0].split() == ["Session", "Last", "used", "Folder", "Title"]
    assert [row.split()[0] for row in rows[2:]] == ["sess_ab_1", "sess_b_1", "sess_aa_1"]
    assert rows[-1].split()[-2:] == ["/project", "First"]


def test_a_list_can_be_of_a_folder_and_of_the_newest(
    store: FakeStore, capfd: pytest.CaptureFixture[str]
) -> None:
    run_list(store, cwd="/project/../project/", limit=1, terminal=False)
    assert capfd.readouterr().out.split("\t")[0] == "sess_b_1"


def test_a_list_as_json_is_ascii(store: FakeStore, capfd: pytest.CaptureFixture[str]) -> None:
    store.put("sess_z_1", head='{"title":"\\u009b2J ä"}', updated=9 * DAY, cwd="/ü")
    assert run_list(store, as_json=True, limit=1) == 0
    out = capfd.readouterr().out
    assert out.isascii() and json.loads(out) == [
        {
            "session": "sess_z_1",
            "cwd": "/ü",
            "updated": 9 * DAY,
            "updatedAt": "1970-01-10T00:00:00Z",
            "title": "\ufffd2J ä",
        }
    ]


def test_an_empty_list_is_a_friendly_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_list(FakeStore()) == 0
    assert run_list(FakeStore(), cwd="/project") == 0
    out, err = capfd.readouterr()
    assert out == "" and err.splitlines() == [listing.EMPTY, listing.EMPTY_HERE]
    assert run_list(FakeStore(), as_json=True) == 0
    assert capfd.readouterr().out == "[]\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_nothing_of_others_moves_the_terminal(capfd: pytest.CaptureFixture[str], terminal: bool) -> None:
    store = FakeStore()
    title = encode_json({"title": "a\x1b]0;x\x07b\tc\nd\x9b[bold]"}).decode()
    store.put("s\x1b[2J", head=title, cwd="/p\tq\nr\x1b[1m", updated=1e300)
    run_list(store, terminal=terminal)
    run_show(store, "last")
    run_delete(store, ["last"], yes=True)
    out = capfd.readouterr().out
    assert not [sign for sign in out if (ord(sign) < 32 and sign not in "\n\t") or 0x7F <= ord(sign) < 0xA0]
    assert "[bold]" in out
    if not terminal:
        assert out.splitlines()[0].count("\t") == 3


def test_a_long_folder_keeps_its_end() -> None:
    assert short(str(Path.home() / "x")) == "~" + str(Path("/x"))
    assert short(str(Path.home()) + "x").startswith("~") is False
    assert short("/project/" + "d" * 40) == "…" + "d" * 31


# show ------------------------------------------------------------------------------------------------


def stored_sample(store: FakeStore) -> None:
    texts = [item.text if isinstance(item, Unread) else encode_json(item).decode() for item in sample()]
    store.put("sess_full_1", *texts, "", "{broken", updated=4 * DAY, head='{"title":"Basket"}')


def test_a_conversation_is_shown_and_what_cannot_be_read_is_counted(
    store: FakeStore, capfd: pytest.CaptureFixture[str]
) -> None:
    stored_sample(store)
    assert run_show(store, "last") == 0
    out, err = capfd.readouterr()
    assert out.startswith("Basket\nsess_full_1\n/project\n") and "✓ Edit basket.py (edit)" in out
    assert (
        err == "3 entries could not be read; a newer zidane-acp may know more, and they stay as they are.\n"
    )


@pytest.mark.parametrize(
    ("form", "begin"), [("markdown", "# Basket\n"), ("html", "<!DOCTYPE html>\n"), ("text", "Basket\n")]
)
def test_each_form_goes_to_standard_output_or_to_a_file(
    store: FakeStore, capfd: pytest.CaptureFixture[str], tmp_path: Path, form: Form, begin: str
) -> None:
    stored_sample(store)
    assert run_show(store, "sess_full", form=form) == 0
    out = capfd.readouterr().out
    assert out.startswith(begin)
    file = tmp_path / "page"
    assert run_show(store, "sess_full", form=form, output=str(file)) == 0
    assert file.read_text("utf-8") == out and file.stat().st_mode & 0o077 == 0
    assert capfd.readouterr().err.startswith(f"Wrote {file}.\n")


def test_a_file_that_cannot_be_written_is_a_sentence(
    store: FakeStore, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_show(store, "last", output=str(tmp_path)) == 1
    assert "cannot be written" in capfd.readouterr().err


def test_what_is_not_there_is_not_shown(store: FakeStore, capfd: pytest.CaptureFixture[str]) -> None:
    assert (run_show(store, "x"), run_export(store, "x"), run_show(FakeStore(), "last")) == (1, 1, 1)
    assert capfd.readouterr().err.count("There is no session 'x'") == 2


def test_a_text_of_a_newer_version_is_not_read() -> None:
    for text in ('{"type":"later"}', '{"type":"user"}', "", "[" * 100_000):
        assert entry_of(text) == Unread(text)
    known = UserSaid("m", (Text("x"),), 1)
    assert entry_of(encode_json(known).decode()[:-1] + ',"v":1,"new":{}}') == known


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


# The store -------------------------------------------------------------------------------------------


def test_a_problem_of_the_store_is_its_sentence_and_the_store_is_closed(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, store: FakeStore
) -> None:
    monkeypatch.setattr("zidane_acp.sessions.opened._store", lambda settings, make: store)

    def broken(given: object) -> int:
        raise StoreProblem("The file is damaged; move it away.")

    assert with_store(None, broken, environment={}) == 1
    assert capfd.readouterr().err == "The file is damaged; move it away.\n" and store.closed
    assert with_store("", broken, environment={}) == 2
    assert capfd.readouterr().err == "--home must not be empty.\n"


@pytest.mark.parametrize(
    ("home", "environment", "wanted"),
    [
        ("/flag", {"ZIDANE_ACP_HOME": "/variable"}, "/flag"),
        (None, {"ZIDANE_ACP_HOME": "/variable"}, "/variable"),
    ],
)
def test_the_folder_is_that_of_the_settings(
    monkeypatch: pytest.MonkeyPatch,
    store: FakeStore,
    home: str | None,
    environment: dict[str, str],
    wanted: str,
) -> None:
    homes: list[object] = []
    monkeypatch.setattr(
        "zidane_acp.sessions.opened._store",
        lambda settings, make: homes.append((settings.home, make)) or store,
    )
    assert with_store(home, lambda given: 0, make=True, environment=environment) == 0
    assert homes == [(wanted, True)]
