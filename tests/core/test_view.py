"""What the model sees of a conversation that was shortened: the fold over the log, and what is cut where."""

import pytest

from zidane_core.agent import condensing, log, pages, shortening
from zidane_core.agent.budget import Counted, size_of
from zidane_core.agent.log import View, view_of
from zidane_core.data import history, models
from zidane_core.data.content import Document, Image, Link, Part, Text
from zidane_core.data.outcome import Usage

LONG = "a" * 5000


def user(text: str, turn: int = 1) -> history.UserSaid:
    return history.UserSaid(f"m{turn}", (Text(text),), turn)


def said(text: str) -> history.TextSaid:
    return history.TextSaid("m", text)


def call(name: str) -> history.CallMade:
    return history.CallMade(call=name, name="f", arguments="{}", title="f", kind="other")


def result(name: str, *parts: Part) -> history.ResultMade:
    return history.ResultMade(call=name, name="f", content=parts or (Text(LONG),), failed=False)


def seen(*entries: history.Entry) -> View:
    view = view_of(pages.of(entries))
    assert view.size == sum(map(size_of, view.messages))
    return view


def words(view: View) -> list[str]:
    """Each message in a few characters."""
    return [_word(message) for message in view.messages]


def _word(message: models.Message) -> str:
    if isinstance(message, models.UserMessage):
        return f"u:{shortening.text_of(message.parts)}"
    if isinstance(message, models.ResultsMessage):
        return f"r:{sum(len(shortening.text_of(one.content)) for one in message.results)}"
    return "a:" + "".join(b.text if isinstance(b, models.Said) else "!" for b in message.blocks)


TALK = (user("one"), said("1"), call("c1"), result("c1"), said("2"), user("two", 2), call("c2"), result("c2"))
SUMMARY = f"u:{condensing.PREFACE}\n\nsum"


@pytest.mark.parametrize(
    ("after", "expected", "mark"),
    [
        ((), ["u:one", "a:1!", "r:5000", "a:2", "u:two", "a:!", "r:5000"], 4),
        ((history.Shortened(0),), ["u:one", "a:1!", "r:5000", "a:2", "u:two", "a:!", "r:5000"], 4),
        ((history.Shortened(3),), ["u:one", "a:1!", "r:1529", "a:2", "u:two", "a:!", "r:5000"], 4),
        ((history.Shortened(99),), ["u:one", "a:1!", "r:1529", "a:2", "u:two", "a:!", "r:1529"], 4),
        ((history.Compacted(4, "sum", "i"),), [SUMMARY, "u:two", "a:!", "r:5000"], 1),
        ((history.Compacted(3, "sum", "i"),), [SUMMARY, "a:2", "u:two", "a:!", "r:5000"], 2),
        ((history.Compacted(5, "sum", "i"),), [SUMMARY, "a:!", "r:5000"], 1),
        ((history.Compacted(99, "sum", "i"),), [SUMMARY], 1),
        # A refused turn is left out, wherever the summary ended.
        ((history.Compacted(4, "sum", "i"), history.Excluded(2)), [SUMMARY], 1),
        ((history.Compacted(3, "sum", "i"), history.Excluded(2)), [SUMMARY, "a:2"], 2),
        ((history.Compacted(5, "sum", "i"), said("no"), history.Excluded(2)), [SUMMARY], 1),
        # The next turn begins behind it.
        ((history.Compacted(4, "sum", "i"), user("x", 3), said("no"), history.Excluded(3)), None, 4),
    ],
)
def test_what_the_model_sees(after: tuple[history.Entry, ...], expected: list[str] | None, mark: int) -> None:
    view = seen(*TALK, *after)
    assert view.mark == mark
    assert words(view) == (expected or [SUMMARY, "u:two", "a:!", "r:5000"])


def test_a_turn_that_is_refused_in_the_first_summary_leaves_nothing() -> None:
    view = seen(user("one"), call("c"), result("c"), history.Compacted(1, "sum", "i"), history.Excluded(1))
    assert words(view) == []


def test_shortening_twice_changes_nothing_more() -> None:
    once = seen(*TALK, history.Shortened(99))
    again = log.extend(once, history.Shortened(99))
    assert all(new is old for new, old in zip(again.messages, once.messages, strict=True))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((Text("short"),), (Text("short"),)),
        ((Text("a"), Link("file:///a", "a")), (Text("a"), Link("file:///a", "a"))),
        ((Text("a"), Image("image/png", "aGk=")), (Text("a\n[image left out: image/png]"),)),
        ((Document("file:///a", data="aGk="),), (Text("[document left out: file:///a]"),)),
        ((Document("file:///a", text="b"),), (Text("[document: file:///a]\nb"),)),
    ],
)
def test_what_a_shortened_result_keeps(parts: tuple[Part, ...], expected: tuple[Part, ...]) -> None:
    (message,) = shortening.shortened((models.ResultsMessage((models.CallResult("c", "f", parts),)),), 1)
    assert isinstance(message, models.ResultsMessage)
    assert message.results[0].content == expected


def test_a_shortened_result_keeps_its_beginning_and_its_end() -> None:
    (message,) = shortening.shortened(
        (models.ResultsMessage((models.CallResult("c", "f", (Text(f"<{LONG}>"),)),)),), 1
    )
    text = _word(message), shortening.text_of(message.results[0].content)  # type: ignore[union-attr]
    assert text[1].startswith("<a")
    assert text[1].endswith("a>")
    assert "left out here" in text[1]


@pytest.mark.parametrize(
    ("keep", "at_least_one", "cut"),
    [
        (0, True, 5),  # the newest call with its result, however large
        (0, False, 7),
        (1689, True, 5),
        (1690, True, 4),
        (1690, False, 4),
        (1699, True, 3),
        (10_000, True, 1),  # the first message is never kept: then there would be nothing to cut off
    ],
)
def test_where_a_conversation_is_cut(keep: int, at_least_one: bool, cut: int) -> None:
    messages = tuple(seen(*TALK).messages)
    assert shortening.cut_of(messages, keep, at_least_one) == cut
    assert not isinstance(messages[cut : cut + 1], models.ResultsMessage)


def test_a_single_message_cannot_be_cut() -> None:
    assert shortening.cut_of(tuple(seen(user("one")).messages), 10) == 0
    assert shortening.cut_of((), 10) == 0


# What was counted ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "is_counted"),
    [
        (history.TurnEnded(1, "end_turn", usage=Usage(9, 1), context=10), True),
        (history.TurnEnded(1, "max_tokens", usage=Usage(9, 1), context=10), True),
        (history.TurnEnded(1, "cancelled", usage=Usage(9, 1), context=10), False),
        (history.TurnEnded(1, "max_turn_requests", usage=Usage(9, 1), context=10), False),
        (history.TurnEnded(1, "end_turn", context=10), False),
        (history.TurnEnded(1, "end_turn", usage=Usage(9, 1)), False),
    ],
)
def test_a_stored_count_is_used_where_it_is_of_all_that_came_before(
    ending: history.TurnEnded, is_counted: bool
) -> None:
    view = seen(user("one"), said("1"), ending)
    assert view.counted == (Counted(10, view.size) if is_counted else None)
    assert log.counted(view, 12).counted == Counted(12, view.size)


# The summary's request ---------------------------------------------------------------------------------


def test_the_transcript_names_who_said_what() -> None:
    view = seen(
        user("one"),
        history.Thinking("m", "hm"),
        said("1"),
        call("c1"),
        result("c1", Text("found"), Image("image/png", "aGk=")),
    )
    assert condensing.transcript(tuple(view.messages), 1000) == (
        "User: one\n\nAgent: 1\n\nAgent calls f: {}\n\nResult of f: found\n[image left out: image/png]"
    )


@pytest.mark.parametrize("size", [500, 1000, 2000, 5000, 20_000])
def test_the_transcript_fits(size: int) -> None:
    talk = [entry for turn in range(40) for entry in (user(f"q{turn} {LONG}", turn), said(LONG))]
    talk += [entry for turn in range(40) for entry in (call(f"c{turn}"), result(f"c{turn}"))]
    text = condensing.transcript(tuple(seen(user(f"first {LONG}"), *talk).messages), size)
    assert size / 4 < len(text) / 3 <= size
    assert text.startswith("User: first")
    assert text.rstrip().endswith("a" * 50)
    assert "parts of it are left out here" in text or size == 20_000


def test_the_summary_repeats_the_running_prompt_within_bounds() -> None:
    newest = (Text(f"do this {LONG}"), Image("image/png", "aGk=", "file:///p"))
    text = condensing.summary(f" {LONG} ", 1000, newest, 500)
    assert text.startswith("a" * 1000)
    assert "do this" in text
    assert "[image left out: file:///p]" in text
    assert len(text) < 1800
    assert condensing.summary(" s ", 1000, None, 500) == "s"


def test_the_users_wishes_go_into_the_question() -> None:
    assert condensing.ask(100, "keep the paths").endswith("keep the paths")
    assert "100 words" in condensing.ask(100)
