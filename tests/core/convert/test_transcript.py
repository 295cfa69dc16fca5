"""Entries of a log -> what a reader is shown."""

from typing import get_args

import pytest

from zidane_core.convert.transcript import (
    Answer,
    Card,
    Damaged,
    End,
    Notice,
    Plan,
    Prompt,
    Shown,
    Thought,
    damaged,
    transcript,
)
from zidane_core.data import history
from zidane_core.data.content import Text
from zidane_core.data.history import Entry
from zidane_core.data.models import Opaque
from zidane_core.data.outcome import Usage
from zidane_core.data.rules import Grant
from zidane_core.data.tools import Diff, Location, PlanEntry
from zidane_core.faults import Fault


def made(call: str, title: str = "Edit a", **more: object) -> history.CallMade:
    return history.CallMade(call=call, name="edit_file", arguments="{}", title=title, kind="edit", **more)  # type: ignore[arg-type]


def result(call: str, *, failed: bool = False, **more: object) -> history.ResultMade:
    return history.ResultMade(
        call=call, name="edit_file", content=(Text("for the model"),), failed=failed, **more
    )  # type: ignore[arg-type]


ENTRIES: tuple[tuple[Entry, tuple[Shown, ...]], ...] = (
    (history.UserSaid("m", (Text("hi"),), 1), (Prompt((Text("hi"),)),)),
    (history.Attached((history.Given(0, (Text("more"),)),)), ()),
    (history.TextSaid("m", "yes"), (Answer("yes"),)),
    (history.TextSaid("m", " \n"), ()),
    (history.Thinking("m", "hm"), (Thought("hm"),)),
    (history.Thinking("m", ""), ()),
    (history.ForeignKept(Opaque("x", "{}")), ()),
    (history.PlanSet((PlanEntry("a"),)), (Plan((PlanEntry("a"),)),)),
    (history.TitleSet("t"), ()),
    (history.SettingChanged("mode", "plan"), (Notice("info", "Mode set to plan."),)),
    (history.NoticeGiven("m", "error", "no"), (Notice("error", "no"),)),
    (history.TurnEnded(1, "cancelled", usage=Usage(1, 2)), (End("cancelled", "", Usage(1, 2)),)),
    (history.TurnEnded(1, fault=Fault(-32603, "broken")), (End(None, "broken", Usage()),)),
    (history.Shortened(2), (Notice("info", "Older results of tools were shortened for the model."),)),
    (history.Granted(Grant("edits")), ()),
    (
        history.Compacted(3, "short", "c"),
        (Notice("info", "What is above was summarised for the model: short"),),
    ),
    (history.Excluded(1), (Notice("info", "The model does not see this turn any more."),)),
    (history.InterruptMade("t", ("a?", "b?")), (Notice("info", "Paused with questions: a? / b?"),)),
    (history.Resumed("t", ("a",)), (Notice("info", "Went on with the answers: a"),)),
    (history.Unread("{"), (Damaged(),)),
    (made("c"), (Card(title="Edit a", kind="edit", status="interrupted"),)),
    (result("c"), (Card(title="edit_file", kind="other", status="completed"),)),
)


@pytest.mark.parametrize(("entry", "wanted"), ENTRIES, ids=lambda item: type(item).__name__)
def test_each_kind_of_entry_is_shown(entry: Entry, wanted: tuple[Shown, ...]) -> None:
    assert transcript([entry]) == wanted


def test_no_kind_of_entry_is_forgotten() -> None:
    assert {type(entry) for entry, _wanted in ENTRIES} == set(get_args(Entry))


def test_a_result_ends_the_card_where_the_call_stands() -> None:
    change = Diff("/project/a", "1", "2")
    entries = (
        made("c", raw={"path": "a"}, locations=(Location("/project/a"),)),
        history.TextSaid("m", "between"),
        result("c", diffs=(change,), shown=(Text("done"),), title="Edit a for real", raw={"ok": True}),
    )
    assert transcript(entries) == (
        Card(
            title="Edit a for real",
            kind="edit",
            status="completed",
            locations=(Location("/project/a"),),
            diffs=(change,),
            output=(Text("done"),),
            raw={"path": "a"},
            raw_output={"ok": True},
        ),
        Answer("between"),
    )


def test_calls_are_joined_by_their_id_and_a_call_without_a_result_was_interrupted() -> None:
    shown = transcript(
        (made("a", "A"), made("b", "B"), made("c", "C"), result("c"), result("a", failed=True))
    )
    cards = [item for item in shown if isinstance(item, Card)]
    assert [(card.title, card.status) for card in cards] == [
        ("A", "failed"),
        ("B", "interrupted"),
        ("C", "completed"),
    ]


def test_a_second_call_with_the_same_id_takes_the_result() -> None:
    # No log of ours holds such a thing, but a file that is imported may.
    shown = transcript((made("a", "first"), made("a", "second"), result("a"), result("a")))
    assert [(card.title, card.status) for card in shown if isinstance(card, Card)] == [
        ("first", "interrupted"),
        ("second", "completed"),
        ("edit_file", "completed"),
    ]


def test_damaged_entries_are_counted() -> None:
    shown = transcript((history.Unread(""), history.TextSaid("m", "x"), history.Unread("{}")))
    assert damaged(shown) == 2
