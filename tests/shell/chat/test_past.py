"""The pure parts of going on: a replay in turns, which session a word means, and the lines about it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from zidane_acp.chat.going_on import continued_line, farewell, left_out_line
from zidane_acp.chat.link import Launch
from zidane_acp.chat.opening import Opened
from zidane_acp.chat.past import Past, Turn, past_of
from zidane_acp.chat.updates import Card, Notice, Plan, Said, Step, Title, Update, read_update
from zidane_acp.chat.wanted import Listed, newest, pick, read_listed

# The past ------------------------------------------------------------------------------------------

PLAN = Plan((Step("a", "pending"),))


def user(text: str, message: str = "") -> Said:
    return Said("user", text, message)


def agent(text: str, message: str = "") -> Said:
    return Said("agent", text, message)


def test_pieces_of_a_prompt_are_one_and_prompts_in_a_row_are_turns_of_their_own() -> None:
    updates = (user("a", "1"), user("b", "1"), user("c", "2"), agent("x", "3"), user("d"), agent("y"))
    assert past_of(updates).turns == (
        Turn("ab", ()),
        Turn("c", (agent("x", "3"),)),
        Turn("d", (agent("y"),)),
    )


def test_messages_are_counted_once_whatever_stands_between_their_pieces() -> None:
    card = Card(id="c", title="T", status="pending")
    done = Card(id="c", status="completed")
    updates = (
        user("a"),
        card,
        agent("x", "1"),
        done,
        PLAN,
        agent("y", "1"),
        Said("thought", "h"),
        agent("z"),
    )
    past = past_of(updates)
    assert (past.messages, past.turns_left_out, past.steps_left_out) == (3, 0, 0)
    assert past.turns == (Turn("a", updates[1:]),)


def test_an_agent_that_speaks_first_and_nothing_at_all() -> None:
    assert past_of(()) == Past()
    assert past_of((agent("hi"),)) == Past(turns=(Turn("", (agent("hi"),)),), messages=1)


def test_only_the_last_turns_are_kept() -> None:
    updates = [update for number in range(9) for update in (user(str(number)), agent(f"a{number}"))]
    past = past_of(updates, turns=4)
    assert [turn.prompt for turn in past.turns] == ["5", "6", "7", "8"]
    assert (past.turns_left_out, past.messages) == (5, 18)
    assert [turn.prompt for turn in past_of(updates, turns=4, steps=2).turns] == ["7", "8"]


def test_a_long_turn_keeps_its_prompt_its_plan_and_its_end() -> None:
    cards = [Card(id=str(number), title=f"call {number}") for number in range(9)]
    ends = [Card(id=str(number), status="completed") for number in range(9)]
    past = past_of((user("old"), agent("x"), user("do"), PLAN, *cards, *ends, agent("done")), steps=3)
    assert past.turns == (Turn("do", (PLAN, *cards[7:], *ends[7:], agent("done"))),)
    assert (past.turns_left_out, past.steps_left_out) == (1, 7)


UPDATES = st.lists(
    st.builds(Said, st.sampled_from(("agent", "thought", "user")), st.just("x"), st.sampled_from(("", "1", "2")))
    | st.builds(Card, id=st.sampled_from("ab"), title=st.just("T"))
    | st.just(PLAN)
    | st.just(Notice("info", "n")),
    max_size=40,
)  # fmt: skip


@given(UPDATES, st.integers(1, 5), st.integers(1, 9))
def test_what_is_shown_is_an_end_of_what_was_replayed(updates: list[Update], turns: int, steps: int) -> None:
    whole, past = past_of(updates, 1000, 1000), past_of(updates, turns, steps)
    assert sum(len(turn.updates) + len(turn.prompt) for turn in whole.turns) == len(updates)
    assert whole.turns_left_out == 0 and past.messages == whole.messages
    assert past.turns_left_out + len(past.turns) == len(whole.turns)
    assert len(past.turns) <= turns and (past.turns or not updates)
    if not past.steps_left_out:
        assert past.turns == whole.turns[past.turns_left_out :]


def test_a_title_is_read_and_what_is_absent_changes_nothing() -> None:
    tag = {"sessionUpdate": "session_info_update"}
    assert read_update({**tag, "title": "T"}) == Title("T")
    assert read_update({**tag, "title": None}) == Title("")
    assert read_update({**tag, "updatedAt": "2026-11-30T10:00:00Z"}) is None


# The list ------------------------------------------------------------------------------------------


def listed(*sessions: dict[str, object]) -> tuple[Listed, ...]:
    return read_listed({"sessions": list(sessions)})


def test_the_newest_is_the_one_with_the_latest_time_and_else_the_first() -> None:
    zoned = listed(
        {"sessionId": "a", "updatedAt": "2026-11-30T10:00:00Z"},
        {"sessionId": "b", "updatedAt": "2026-11-30T12:30:00+02:00"},
        {"sessionId": "c", "updatedAt": "yesterday"},
    )
    found, first = newest(zoned), newest(listed({"sessionId": "a"}, {"sessionId": "b"}))
    assert found is not None and found.id == "b"
    assert first is not None and first.id == "a"
    assert newest(()) is None


def test_a_list_of_others_is_read_leniently() -> None:
    odd = listed(
        {"sessionId": 5}, {"sessionId": "a", "cwd": 1, "title": None, "additionalDirectories": ["/x", 3]}
    )
    assert odd == (Listed("a", roots=("/x",)),)
    assert read_listed({"sessions": "none"}) == ()
    for year in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        assert newest(listed({"sessionId": "a", "updatedAt": year})) is not None


@pytest.mark.parametrize(
    ("word", "found"),
    [("ab", "ab"), ("abc", "abc"), ("b", "b1"), ("last", "b1"), ("abcd", None), ("a", None), ("\x1b[2J", None)],
)  # fmt: skip
def test_a_word_means_an_id_or_the_only_beginning(word: str, found: str | None) -> None:
    sessions = listed(
        {"sessionId": "ab", "updatedAt": "2026-11-29T10:00:00Z"},
        {"sessionId": "abc", "updatedAt": "2026-11-29T10:00:00Z"},
        {"sessionId": "b1", "updatedAt": "2026-11-30T10:00:00Z"},
    )
    picked = pick(word, sessions, "zidane-acp sessions list")
    if found is not None:
        assert picked.map(lambda session: session.id) == Success(found)
    else:
        assert isinstance(picked, Failure) and "\x1b" not in picked.failure()


def test_a_session_may_be_called_last() -> None:
    assert pick("last", listed({"sessionId": "x"}, {"sessionId": "last"}), "").unwrap().id == "last"
    assert pick("last", (), "") == Failure("The agent has no stored session yet.")


# The lines -----------------------------------------------------------------------------------------

CAN: dict[str, Any] = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {"list": {}}}}
OWN = Launch(command=("x",), own=True, cwd="/project", typed=("--home=/h h", "--thinking=low"))


def opened(**given: Any) -> Opened:
    return Opened(**{"agent": CAN, "session": {}, "id": "s1", "cwd": "/project", "replayed": True, **given})


def test_the_line_between_before_and_now() -> None:
    assert continued_line(OWN, opened(), "a\x1b\nb", 1) == "— continued: a␛ b, 1 message —"
    told = continued_line(OWN, opened(replayed=False, cwd="/other"), "", 0)
    assert told == "— continued: a session without a title, in /other, which the agent does not show again —"


def test_what_is_left_out_is_said_with_the_command_that_shows_it() -> None:
    assert left_out_line(OWN, "s1", Past()) == ""
    told = left_out_line(OWN, "s1", Past(turns_left_out=1, steps_left_out=2))
    assert told == (
        "… 1 earlier turn and 2 earlier steps of this turn not shown; "
        "`zidane-acp sessions show s1 '--home=/h h'` shows all …"
    )
    foreign = Launch(command=("x",), own=False, cwd="/project")
    assert left_out_line(foreign, "s1", Past(turns_left_out=2)) == "… 2 earlier turns not shown …"


def test_the_last_line_is_a_command_that_works() -> None:
    words = "Continue with: zidane-acp chat --resume s1 '--home=/h h' --thinking=low"
    assert farewell(OWN, opened(), "T") == ("Conversation: T", words)
    assert farewell(OWN, opened(agent={}), "T") == ()
    assert farewell(Launch(command=("x",), own=True, cwd="/project", kept=False), opened(), "T") == ()
    foreign = Launch(command=("an agent", "--x"), own=False, cwd="/project")
    unlisted = opened(agent={"agentCapabilities": {"loadSession": True}}, id="a b")
    assert farewell(foreign, unlisted, "") == (
        "Continue with: zidane-acp chat --resume 'a b' --cwd /project -- 'an agent' --x",
    )
