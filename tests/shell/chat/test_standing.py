"""How a session stands: what agents tell is read leniently, mode and options stay in step, the line fits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from zidane_acp.chat.past import past_of, with_modes
from zidane_acp.chat.standing import Standing, after, changes, mode_name, next_mode, opened
from zidane_acp.chat.status_line import status_line
from zidane_acp.chat.told import ModeTold, OptionsTold, UsageTold, read_options, read_usage
from zidane_acp.chat.updates import Changed, Compaction, Said, read_update

MODES = [{"id": "build", "name": "Build"}, {"id": "plan", "name": "Plan"}]
MODE: dict[str, Any] = {
    "id": "m",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "build",
    "options": [{"value": "build", "name": "Build"}, {"value": "plan", "name": "Plan"}],
}
MODEL: dict[str, Any] = {
    "id": "model",
    "name": "Model",
    "category": "model",
    "currentValue": "big",
    "options": [
        {"group": "g", "name": "G", "options": [{"value": "big", "name": "Big One"}]},
        {"group": "h", "name": "H", "options": [{"value": "small"}]},
    ],
}
LEVEL: dict[str, Any] = {
    "id": "t",
    "name": "Thinking",
    "category": "thought_level",
    "currentValue": "high",
    "options": [{"value": "high", "name": "High"}],
}
FAST: dict[str, Any] = {"id": "fast", "name": "Fast", "type": "boolean", "currentValue": True}


def standing(*options: dict[str, Any], modes: bool = False, usage: UsageTold | None = None) -> Standing:
    answer: dict[str, Any] = {"configOptions": list(options)}
    if modes:
        answer["modes"] = {"currentModeId": "build", "availableModes": MODES}
    return opened(Standing(usage=usage), answer)


def told(*options: dict[str, Any]) -> OptionsTold:
    found = read_options({"configOptions": list(options)})
    assert found is not None
    return found


# Reading -------------------------------------------------------------------------------------------


def test_options_are_read_in_groups_or_flat_and_what_is_odd_is_left_out() -> None:
    mode, model, fast = told(MODE, MODEL, FAST, {"id": 1}, {"id": "x", "currentValue": 5}).options
    assert [choice.id for choice in mode.choices] == ["build", "plan"]
    assert [(choice.id, choice.name) for choice in model.choices] == [("big", "Big One"), ("small", "small")]
    assert (fast.value, fast.choices, fast.category) == (True, (), "")
    assert read_options({"configOptions": "none"}) is None


@pytest.mark.parametrize(
    ("update", "usage"),
    [
        ({"used": 5, "size": 10}, UsageTold(used=5, size=10)),
        (
            {"used": 0, "size": 10, "cost": {"amount": 0.5, "currency": "EUR"}},
            UsageTold(used=0, size=10, cost=0.5, currency="EUR"),
        ),
        ({"used": 5, "size": 10, "cost": {"amount": "much"}}, UsageTold(used=5, size=10)),
        ({"used": 5, "size": 10, "cost": {"amount": True}}, UsageTold(used=5, size=10)),
        ({"used": 5, "size": 0}, None),
        ({"used": -1, "size": 10}, None),
        ({"used": 10**400, "size": 1}, None),
        ({"used": "5", "size": 10}, None),
    ],
)
def test_usage_is_read_where_it_can_be_counted_with(update: dict[str, Any], usage: UsageTold | None) -> None:
    assert read_usage(update) == usage


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
OBJECTS = st.dictionaries(
    st.sampled_from(["id", "currentValue", "options", "value", "amount"]), VALUES, max_size=4
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["configOptions", "currentModeId", "used", "size", "cost", "summary", "status", "compactionId"]
        ),
        VALUES | OBJECTS | st.lists(OBJECTS, max_size=2),
    ),
    st.sampled_from(
        ["config_option_update", "current_mode_update", "usage_update", "compaction_update", "compaction_summary_chunk"]
    ),
    st.integers(0, 50),
)  # fmt: skip
def test_malformed_updates_never_raise(update: dict[str, object], tag: str, columns: int) -> None:
    read = read_update({**update, "sessionUpdate": tag})
    if isinstance(read, OptionsTold | ModeTold | UsageTold):
        now = after(standing(MODE, MODEL), read)
        assert get_cwidth(status_line(now, columns)) <= columns
        next_mode(now)


# In step -------------------------------------------------------------------------------------------


def test_the_mode_and_its_option_are_in_step_both_ways() -> None:
    by_mode = after(standing(MODE, modes=True), ModeTold("plan"))
    assert (by_mode.mode, by_mode.options[0].value, mode_name(by_mode)) == ("plan", "plan", "Plan")
    by_option = after(standing(MODE, modes=True), told({**MODE, "currentValue": "plan"}))
    assert (by_option.mode, by_option.options[0].value) == ("plan", "plan")
    odd = after(standing(MODE, modes=True), ModeTold("gone"))
    assert odd.options[0].value == "build"


def test_what_was_told_before_the_answer_stays() -> None:
    usage = UsageTold(used=1, size=2)
    assert standing(MODE, usage=usage).usage == usage
    assert opened(standing(MODE), {}).options == standing(MODE).options


def test_the_next_mode_goes_round_by_the_option_or_else_by_the_modes() -> None:
    both = standing(MODE, modes=True)
    first = next_mode(both)
    assert first is not None
    assert (first.method, first.params) == (
        "session/set_config_option",
        {"configId": "m", "value": "plan"},
    )
    second = next_mode(after(both, ModeTold(first.mode)))
    assert second is not None and second.params == {"configId": "m", "value": "build"}
    alone = next_mode(standing(MODEL, modes=True))
    assert alone is not None and (alone.method, alone.params) == ("session/set_mode", {"modeId": "plan"})
    lost = next_mode(after(standing(modes=True), ModeTold("gone")))
    assert lost is not None and lost.params == {"modeId": "build"}


@pytest.mark.parametrize(
    "options", [(), (MODEL,), ({**MODE, "options": MODE["options"][:1]},), ({**MODE, "options": []},)]
)
def test_without_another_mode_there_is_no_next_one(options: tuple[dict[str, Any], ...]) -> None:
    assert next_mode(standing(*options)) is None


# Changes -------------------------------------------------------------------------------------------


def test_a_change_is_told_once_and_what_comes_or_goes_with_it_is_not() -> None:
    before = standing(MODE, {**MODEL, "currentValue": "small"}, LEVEL, modes=True)
    now = after(before, told({**MODE, "currentValue": "plan"}, MODEL, FAST))
    assert changes(before, now) == ("Mode: Plan", "Model: Big One")
    assert changes(now, after(now, ModeTold("plan"))) == ()
    assert changes(now, after(now, told(MODE, {**FAST, "currentValue": False}))) == (
        "Mode: Build",
        "Fast: off",
    )
    alone = standing(modes=True)
    assert changes(alone, after(alone, ModeTold("plan"))) == ("Mode: Plan",)
    assert changes(alone, after(alone, UsageTold(used=1, size=2))) == ()


@pytest.mark.parametrize("now", [standing(MODE, modes=True), standing(modes=True)])
def test_a_replay_tells_each_change_of_the_mode_in_the_names_of_today(now: Standing) -> None:
    said = Said("agent", "x")
    replayed = (ModeTold("plan"), said, ModeTold("plan"), ModeTold("build"))
    assert tuple(with_modes(replayed, now)) == (Changed(("Mode: Plan",)), said, Changed(("Mode: Build",)))


def test_a_compaction_is_one_step_of_a_replay() -> None:
    going, done = Compaction(id="k", status="in_progress"), Compaction(id="k", status="completed")
    user, answer = Said("user", "do"), Said("agent", "done", "2")
    past = past_of((user, going, Said("agent", "x", "1"), done, answer), steps=2)
    assert past.turns[0].updates == (Said("agent", "x", "1"), answer)
    assert past.steps_left_out == 1


def test_a_compaction_grows_by_pieces_and_a_whole_summary_replaces_them() -> None:
    tag = {"sessionUpdate": "compaction_update", "compactionId": "k"}
    piece = {
        "sessionUpdate": "compaction_summary_chunk",
        "compactionId": "k",
        "content": {"type": "text", "text": "b"},
    }
    now = Compaction(id="k")
    for update in ({**tag, "status": "in_progress"}, piece, piece):
        read = read_update(update)
        assert isinstance(read, Compaction)
        now = now.changed(read)
    assert (now.summary, now.status, now.ended) == ("bb", "in_progress", False)
    whole = read_update({**tag, "status": "completed", "summary": [{"type": "text", "text": "c"}]})
    assert isinstance(whole, Compaction)
    assert (now.changed(whole).summary, now.changed(whole).ended) == ("c", True)
    assert not Compaction(id="k", status="from_the_future").ended


# The line ------------------------------------------------------------------------------------------

FULL = standing(MODE, MODEL, LEVEL, usage=UsageTold(used=30_000, size=200_000, cost=0.25, currency="USD"))


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (99, "Build · Big One · Thinking: High · 15% of 200k · $0.25"),
        (54, "Build · Big One · Thinking: High · 15% of 200k · $0.25"),
        (53, "Build · Big One · 15% of 200k · $0.25"),
        (36, "Build · Big One · 15% of 200k"),
        (28, "Build · 15% of 200k"),
        (18, "Build"),
        (3, "Bui"),
        (0, ""),
    ],
)
def test_a_narrow_line_keeps_what_matters_most(columns: int, shown: str) -> None:
    assert status_line(FULL, columns) == shown


@pytest.mark.parametrize(
    ("usage", "shown"),
    [
        (UsageTold(used=1, size=131_072), "0% of 131.1k"),
        (UsageTold(used=1_100_000, size=1_000_000), "110% of 1M"),
        (UsageTold(used=1, size=500, cost=0.0, currency="USD"), "0% of 500 · $0.00"),
        (UsageTold(used=1, size=500, cost=0.0042, currency="USD"), "0% of 500 · $0.0042"),
        (UsageTold(used=1, size=500, cost=1.234, currency="EUR"), "0% of 500 · 1.23 EUR"),
    ],
)
def test_context_and_cost_in_words(usage: UsageTold, shown: str) -> None:
    assert status_line(Standing(usage=usage), 80) == shown


def test_names_of_the_agent_are_bounded_and_made_safe() -> None:
    assert status_line(Standing(), 80) == ""
    odd = after(standing(), told({**MODE, "options": [{"value": "build", "name": "a\x1b[2J\n" + "b" * 90}]}))
    assert status_line(odd, 80) == "a␛[2J " + "b" * 25 + "…"
    wide = after(standing(), told({**MODE, "options": [{"value": "build", "name": "計画" * 9}]}))
    assert get_cwidth(status_line(wide, 21)) == 20
