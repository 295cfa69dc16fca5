"""Stored texts: their version, what another program put into them, what cannot be read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.driver import check_history

from zidane_core.agent import pages, records, repairing
from zidane_core.agent.log import view_of
from zidane_core.data import history
from zidane_core.data.content import Image, Text
from zidane_core.data.models import Opaque
from zidane_core.data.rules import Grant
from zidane_core.data.stored import JournalRow
from zidane_core.data.tools import Diff, Location, PlanEntry
from zidane_core.faults import Fault

ENTRIES: list[history.Entry] = [
    history.UserSaid("m1", (Text("hi \u2028 😀"), Image("image/png", "aGk=")), 3),
    history.Attached((history.Given(1, (Text("file"), Image("image/png", "aGk="))),)),
    history.TextSaid("m2", "text", Opaque("anthropic", '{"a":1}')),
    history.Thinking("m3", ""),
    history.ForeignKept(Opaque("x", "[]")),
    history.CallMade(
        call="c",
        name="n",
        arguments="{",
        title="t",
        kind="edit",
        locations=(Location("/a", 2),),
        raw={"a": None},
    ),
    history.ResultMade(call="c", name="n", content=(), failed=True, diffs=(Diff("/a", None, "x"),), raw={}),
    history.PlanSet((PlanEntry("a", "completed", "high"),)),
    history.TitleSet("t", by_model=True),
    history.SettingChanged("model", "x"),
    history.NoticeGiven("m4", "warning", "careful"),
    history.TurnEnded(1, None, Fault(-32603, "no", {"kind": "x"}), context=7),
    history.Shortened(2),
    history.Compacted(3, "s", "id"),
    history.Granted(Grant("prefix", ("git", "diff"))),
    history.Excluded(2),
    history.InterruptMade("t", ("q",)),
    history.Resumed("t", ("a",)),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: type(entry).__name__)
def test_an_entry_is_read_as_it_was_written_and_has_a_version(entry: history.Entry) -> None:
    text = records.text_of(entry)
    assert json.loads(text)["v"] == 1 and "\n" not in text
    assert records.entry_of(text) == entry


def test_every_kind_of_entry_is_looked_at() -> None:
    kinds = set(history.Entry.__args__) - {history.Unread}  # type: ignore[attr-defined]
    assert kinds == {type(entry) for entry in ENTRIES}


@given(st.text(st.characters(codec=None)))
def test_any_text_is_stored_and_what_has_no_utf_8_is_replaced(text: str) -> None:
    stored = records.text_of(history.TextSaid("m", text))
    stored.encode()
    found = records.entry_of(stored)
    assert isinstance(found, history.TextSaid)
    assert found.text == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def test_fields_of_another_program_do_not_matter_and_the_text_stays() -> None:
    text = '{"v":1,"new":[1],"type":"title","title":"t","more":{}}'
    assert records.entry_of(text) == history.TitleSet("t")
    assert records.entry_of('{"type":"title","title":"t"}') == history.TitleSet("t")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[1]",
        '{"v":2,"type":"title","title":"t"}',
        '{"type":"title","title":"t","v":2}',
        '{"v":1,"type":"from the future"}',
        '{"v":1,"type":"title","title":5}',
        "[" * 100_000,
        '{"v":1,"type":"title","title":"\\ud800"}',
    ],
)
def test_what_cannot_be_read_keeps_its_place_and_its_text(text: str) -> None:
    entry = records.entry_of(text)
    assert entry == history.Unread(text)
    assert records.text_of(entry) == text


def test_what_another_program_put_into_the_head_stays() -> None:
    before = '{"v":1,"title":"old","roots":[],"created":5.5,"colour":{"a":[1,"x"]}}'
    head = records.head_of(before)
    assert head == records.Head("old", (), 5.5)
    after = json.loads(records.head_text(records.Head("new", ("/b",), head.created), before))
    assert after == {"v": 1, "title": "new", "roots": ["/b"], "created": 5.5, "colour": {"a": [1, "x"]}}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"title":5}', "null"])
def test_a_damaged_head_is_as_if_it_were_not_there(text: str) -> None:
    assert records.head_of(text) == records.Head()
    assert json.loads(records.head_text(records.Head("t"), text))["title"] == "t"


def test_a_journal_is_put_together_by_message_and_part() -> None:
    rows = (
        JournalRow("a", 0, records.piece_text("thought", "one ")),
        JournalRow("b", 1, records.piece_text("agent", "y")),
        JournalRow("a", 1, records.piece_text("thought", "two")),
        JournalRow("b", 0, records.piece_text("agent", "x")),
        JournalRow("c", 0, "{"),
        JournalRow("d", 0, '{"kind":"agent","text":"later","v":2}'),
    )
    assert records.streamed(rows) == (history.Thinking("a", "one two"), history.TextSaid("b", "xy"))


# Repairs -------------------------------------------------------------------------------------------

USER = history.UserSaid("m1", (Text("hi"),), 1)
CALL = history.CallMade(call="c1", name="f", arguments="{}", title="F", kind="other")
OTHER = history.CallMade(call="c2", name="f", arguments="{}", title="F", kind="other")
RESULT = history.ResultMade(call="c1", name="f", content=(Text("r"),), failed=False)
END = history.TurnEnded(1, "end_turn")
STREAMED = (JournalRow("m2", 0, records.piece_text("agent", "I wi")),)


def log(*entries: history.Entry) -> pages.Pages[history.Entry]:
    kept: pages.Pages[history.Entry] = pages.Pages()
    for entry in entries:
        kept = pages.append(kept, entry)
    return kept


def test_a_whole_log_needs_nothing() -> None:
    title = history.TitleSet("t")
    for whole in (log(), log(title), log(USER, CALL, RESULT, END), log(USER, END, title)):
        assert repairing.repairs(whole, STREAMED) == ()


def test_what_is_missing_comes_in_the_order_in_which_it_was_shown() -> None:
    missing = repairing.repairs(log(USER, END, USER, CALL, OTHER, RESULT), STREAMED)
    text, result, ended = missing
    assert text == history.TextSaid("m2", "I wi")
    assert isinstance(result, history.ResultMade) and (result.call, result.failed) == ("c2", True)
    assert ended == history.TurnEnded(1, None, repairing.ENDED)


def test_a_message_that_was_finished_is_not_taken_from_the_journal() -> None:
    missing = repairing.repairs(log(USER, history.TextSaid("m2", "I will.")), STREAMED)
    assert missing == (history.TurnEnded(1, None, repairing.ENDED),)


def test_repairs_need_no_repairs() -> None:
    torn = log(USER, CALL, OTHER)
    whole = log(USER, CALL, OTHER, *repairing.repairs(torn, STREAMED))
    assert repairing.repairs(whole, STREAMED) == ()


def test_a_long_log_is_looked_at_from_its_end() -> None:
    long = log(*([USER, END] * 400), USER, *([RESULT] * 600), OTHER)
    assert [type(entry).__name__ for entry in repairing.repairs(long, ())] == ["ResultMade", "TurnEnded"]


# What the model sees of any log --------------------------------------------------------------------

ANY_ENTRY = st.sampled_from(
    [
        USER,
        history.TextSaid("m2", "text"),
        CALL,
        OTHER,
        RESULT,
        history.ResultMade(call="c2", name="f", content=(), failed=True),
        history.ResultMade(call="c9", name="f", content=(), failed=True),
        END,
        history.TitleSet("t"),
        history.Unread("{"),
        history.Excluded(1),
    ]
)


@given(st.lists(ANY_ENTRY, max_size=12))
def test_the_model_sees_a_valid_history_of_any_log(entries: list[history.Entry]) -> None:
    called = [entry.call for entry in entries if isinstance(entry, history.CallMade)]
    if len(called) == len(set(called)):  # ids of calls are never used twice
        check_history(tuple(view_of(log(*entries, USER)).messages))
