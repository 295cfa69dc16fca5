"""The two immutable collections: the same as a tuple and a dict, but cheap to change."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from zidane_core import buckets
from zidane_core.agent import pages
from zidane_core.agent.pages import PAGE, Pages

KEYS = st.one_of(
    st.text(max_size=12), st.integers(), st.tuples(st.sampled_from(["int", "str"]), st.integers() | st.none())
)


def filled(count: int) -> Pages[int]:
    found: Pages[int] = Pages()
    for item in range(count):
        found = pages.append(found, item)
    return found


@given(st.integers(0, 3 * PAGE), st.integers(0, 3 * PAGE))
def test_pages_are_a_sequence(count: int, cut: int) -> None:
    made, items = filled(count), tuple(range(count))
    assert (len(made), tuple(made)) == (count, items)
    assert tuple(pages.truncate(made, cut)) == items[:cut]
    assert pages.after(made, cut) == items[cut:]
    assert pages.last(made) == (items[-1] if items else None)
    if items:
        assert tuple(pages.replace_last(made, -1)) == (*items[:-1], -1)


def test_no_piece_of_a_sequence_grows_beyond_a_page() -> None:
    made = filled(4 * PAGE + 1)
    assert [len(page) for page in made.full] == [PAGE] * 4
    assert len(made.tail) == 1


@given(st.lists(st.tuples(KEYS, st.integers(), st.booleans()), max_size=60))
def test_buckets_are_a_table(changes: list[tuple[Any, int, bool]]) -> None:
    table: buckets.Buckets[Any, int] = buckets.empty()
    plain: dict[Any, int] = {}
    for key, value, drop in changes:
        before = dict(table.items())
        changed = buckets.drop(table, key) if drop else buckets.put(table, key, value)
        assert dict(table.items()) == before, "an old table changed"
        table = changed
        if drop:
            plain.pop(key, None)
        else:
            plain[key] = value
        assert table.get(key) == plain.get(key)
    assert dict(table.items()) == plain
    assert len(table) == len(plain)


def test_a_table_that_does_not_change_is_the_same_object() -> None:
    value = object()
    table: buckets.Buckets[str, object] = buckets.put(buckets.empty(), "a", value)
    assert buckets.put(table, "a", value) is table
    assert buckets.drop(table, "b") is table
