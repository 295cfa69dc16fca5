"""Finding, listing and showing sessions of a store in memory, and how a store is opened."""

import json
from pathlib import Path

import pytest
from support.fake_store import DAY, FakeStore
from support.sample_session import sample

from zidane_acp.ports import StoreProblem
from zidane_acp.sessions import finding, listing
from zidane_acp.sessions.listing import run_list, short
from zidane_acp.sessions.moving import run_export
from zidane_acp.sessions.opened import with_store
from zidane_acp.sessions.removing import run_delete
from zidane_acp.sessions.showing import Form, run_show
from zidane_core.agent.records import entry_of
from zidane_core.data.content import Text
from zidane_core.data.history import Unread, UserSaid
from zidane_core.text import encode_json

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
