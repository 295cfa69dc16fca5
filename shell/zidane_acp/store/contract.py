"""What every store of sessions must do, as tests: a host derives a class from `StoreContract` and runs it.

    class TestMine(StoreContract):
        def make_store(self) -> Store:
            return MyStore()

Any test runner that finds methods named `test_...` will do; each calls `make_store` once and closes the store.
"""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, Literal

from zidane_acp.ports import Store
from zidane_core.agent.effects import Journal, Save
from zidane_core.data.stored import Behind, JournalRow, Piece, Place, Refusal, StoredRow

ODD: Final = (
    "{}",
    "",
    "🦀🇩🇪 e\u0301",
    "a\x00b",
    "\u2028\u2029\r\n\t",
    "'; DROP TABLE sessions; --",
    "x" * 1_000_000,
)
"""Texts that a store gives back as they were."""

TRIES: Final = 200
"""How often a save is tried when others write at the same time."""


def a_save(
    session: str,
    expected: int,
    *entries: str,
    lease: Literal["take", "keep", "drop"] = "keep",
    clears: tuple[str, ...] = (),
    journal: int = 0,
    cwd: str = "/project",
    updated: float = 1000.0,
    head: str = "{}",
) -> Save:
    """A save with what a test does not care for filled in."""
    return Save(
        key="k",
        session=session,
        expected_seq=expected,
        entries=entries,
        lease=lease,
        clears=clears,
        journal=journal,
        cwd=cwd,
        updated=updated,
        head=head,
    )


def add_in_turn(store: Store, session: str, entry: str) -> None:
    """Append one entry, and again behind those that others append meanwhile."""
    owner = store.enter()
    expected = 0
    for _ in range(TRIES):
        outcome = store.append(a_save(session, expected, entry), owner)
        if outcome is None:
            store.leave(owner)
            return
        if isinstance(outcome, Behind):
            expected += len(outcome.entries)
        else:
            assert outcome.reason == "locked", outcome
    raise AssertionError("the store let no save through")


class StoreContract:
    """The tests. `make_store` gives an empty store."""

    def make_store(self) -> Store:
        raise NotImplementedError("give a store from make_store")

    def another(self, store: Store) -> Store:
        """The same sessions through another store, where there can be one."""
        return store

    @contextmanager
    def store(self) -> Generator[tuple[Store, str, str], None, None]:
        """A store and two owners, the second perhaps of another store."""
        store = self.make_store()
        other = self.another(store)
        one, two = store.enter(), other.enter()
        try:
            yield store, one, two
        finally:
            other.leave(two)
            store.leave(one)
            other.close()
            store.close()

    # Texts -----------------------------------------------------------------------------------------

    def test_an_empty_store_has_nothing(self) -> None:
        with self.store() as (store, _, _):
            assert store.find("s") is None
            assert store.read("s", 0, 10) == Piece((), last=True)
            assert store.page(None, None, 10) == ()

    def test_texts_come_back_as_they_were(self) -> None:
        with self.store() as (store, one, _):
            for text in ODD:
                save = a_save(f"s{text[:9]}", 0, *ODD, cwd=text, head=text, updated=0.1)
                assert store.append(save, one) is None
                assert store.read(save.session, 0, 100) == Piece(ODD, last=True)
                assert store.find(save.session) == StoredRow(save.session, text, 0.1, text)

    def test_a_later_save_appends_and_replaces_the_row(self) -> None:
        with self.store() as (store, one, _):
            store.append(a_save("s", 0, "a", "b"), one)
            assert store.append(a_save("s", 2, "c", cwd="/x", updated=5.0, head="h"), one) is None
            assert store.read("s", 0, 10).entries == ("a", "b", "c")
            assert store.find("s") == StoredRow("s", "/x", 5.0, "h")

    def test_a_save_without_entries_changes_the_row_only(self) -> None:
        with self.store() as (store, one, _):
            assert store.append(a_save("s", 0, head="first"), one) is None
            assert store.read("s", 0, 10) == Piece((), last=True)
            assert store.append(a_save("s", 0, head="second"), one) is None
            assert store.find("s") == StoredRow("s", "/project", 1000.0, "second")

    def test_a_session_is_read_in_pieces(self) -> None:
        with self.store() as (store, one, _):
            store.append(a_save("s", 0, *"abcde", lease="take"), one)
            store.note(Journal("s", "m", 0, "j"), one)
            rows = (JournalRow("m", 0, "j"),)
            assert store.read("s", 0, 2) == Piece(("a", "b"))
            assert store.read("s", 2, 2) == Piece(("c", "d"))
            assert store.read("s", 4, 2) == Piece(("e",), True, rows)
            assert store.read("s", 3, 2) == Piece(("d", "e"), True, rows)
            assert store.read("s", 5, 2) == Piece((), True, rows)
            assert store.read("s", 9, 2) == Piece((), True, rows)

    # Conflicts -------------------------------------------------------------------------------------

    def test_a_save_that_expects_less_gets_what_is_missing(self) -> None:
        with self.store() as (store, one, two):
            store.append(a_save("s", 0, "a", "b", "c", head="theirs"), one)
            assert store.append(a_save("s", 1, "x", head="ours"), two) == Behind(("b", "c"))
            assert store.append(a_save("s", 0, "x"), two) == Behind(("a", "b", "c"))
            assert store.read("s", 0, 10).entries == ("a", "b", "c")
            assert store.find("s") == StoredRow("s", "/project", 1000.0, "theirs")
            assert store.append(a_save("s", 3, "x"), two) is None

    def test_a_save_to_a_session_that_is_not_there_is_refused(self) -> None:
        with self.store() as (store, one, _):
            assert store.append(a_save("s", 1, "x", lease="take"), one) == Refusal("gone")
            assert store.find("s") is None and store.page(None, None, 10) == ()

    def test_a_save_that_expects_more_than_there_is_is_refused(self) -> None:
        with self.store() as (store, one, _):
            store.append(a_save("s", 0, "a"), one)
            assert store.append(a_save("s", 2, "x"), one) == Refusal("gone")
            assert store.read("s", 0, 10).entries == ("a",)

    # Leases ----------------------------------------------------------------------------------------

    def test_one_owner_at_a_time_has_the_lease(self) -> None:
        with self.store() as (store, one, two):
            assert store.append(a_save("s", 0, "a", lease="take"), one) is None
            words: tuple[Literal["take", "keep", "drop"], ...] = ("take", "keep", "drop")
            for lease in words:
                assert store.append(a_save("s", 1, "x", lease=lease), two) == Refusal("in_use")
            assert store.append(a_save("s", 0, "x"), two) == Refusal("in_use"), "comes before what is missing"
            assert store.append(a_save("s", 1, "b"), one) is None
            assert store.append(a_save("s", 2, "c", lease="take"), one) is None
            assert store.append(a_save("t", 0, "other", lease="take"), two) is None
            assert store.append(a_save("s", 3, "d", lease="drop"), one) is None
            assert store.append(a_save("s", 4, "e", lease="take"), two) is None
            assert store.append(a_save("s", 5, "x"), one) == Refusal("in_use")
            assert store.read("s", 0, 10).entries == ("a", "b", "c", "d", "e")

    def test_keeping_takes_no_lease_and_a_refused_save_neither(self) -> None:
        with self.store() as (store, one, two):
            store.append(a_save("s", 0, "a"), one)
            assert store.append(a_save("s", 0, "x", lease="take"), one) == Behind(("a",))
            assert store.append(a_save("s", 1, "b"), two) is None

    def test_who_leaves_frees_the_leases(self) -> None:
        with self.store() as (store, one, two):
            gone = store.enter()
            assert len({gone, one, two}) == 3
            store.append(a_save("s", 0, "a", lease="take"), gone)
            store.append(a_save("t", 0, "a", lease="take"), one)
            store.leave(gone)
            store.leave(gone)
            assert store.append(a_save("s", 1, "b", lease="take"), two) is None
            assert store.append(a_save("t", 1, "b"), two) == Refusal("in_use")

    # The journal -----------------------------------------------------------------------------------

    def test_the_journal_is_overwritten_row_by_row_and_cleared_by_message(self) -> None:
        with self.store() as (store, one, _):
            store.append(a_save("s", 0, "a", lease="take"), one)
            for message, part, body in (("m", 0, "1"), ("n", 0, "2"), ("m", 1, "3"), ("m", 0, "longer")):
                store.note(Journal("s", message, part, body), one)
            m, n = JournalRow("m", 0, "longer"), JournalRow("n", 0, "2")
            assert store.read("s", 0, 9).journal == (m, n, JournalRow("m", 1, "3"))
            assert store.append(a_save("s", 1, "b", clears=("m", "unknown")), one) is None
            assert store.read("s", 0, 9) == Piece(("a", "b"), True, (n,))

    def test_the_journal_is_written_by_who_has_the_lease_only(self) -> None:
        with self.store() as (store, one, two):
            store.note(Journal("s", "m", 0, "no session"), one)
            store.append(a_save("s", 0, "a"), one)
            store.note(Journal("s", "m", 0, "no lease"), one)
            store.append(a_save("s", 1, "b", lease="take"), one)
            store.note(Journal("s", "m", 0, "not yours"), two)
            store.append(a_save("s", 2, "c", lease="drop"), one)
            store.note(Journal("s", "m", 0, "given back"), one)
            assert store.read("s", 0, 9) == Piece(("a", "b", "c"), last=True)

    def test_taking_the_lease_expects_the_journal_as_it_is(self) -> None:
        with self.store() as (store, one, two):
            gone = store.enter()
            store.append(a_save("s", 0, "a", lease="take"), gone)
            store.note(Journal("s", "m", 0, "ab🦀\x00"), gone)
            store.note(Journal("s", "m", 1, "cd"), gone)
            rows = (JournalRow("m", 0, "ab🦀\x00"), JournalRow("m", 1, "cd"))
            store.leave(gone)
            for wrong in (0, 5, 7):
                assert store.append(a_save("s", 1, "x", lease="take", journal=wrong), one) == Behind((), rows)
            assert store.append(a_save("s", 0, "x", lease="take", journal=6), one) == Behind(("a",), rows)
            assert store.append(a_save("s", 1, "b"), two) is None, "only taking looks at the journal"
            save = a_save("s", 2, "c", lease="take", journal=6, clears=("m",))
            assert store.append(save, one) is None
            assert store.read("s", 0, 9) == Piece(("a", "b", "c"), last=True)

    def test_a_lease_that_is_given_back_is_free_and_can_be_taken_again(self) -> None:
        with self.store() as (store, one, two):
            assert store.append(a_save("s", 0, "a", lease="take"), one) is None
            store.release("s", two)
            assert store.append(a_save("s", 1, "b", lease="take"), two) == Refusal("in_use")
            store.release("s", one)
            store.release("s", one)
            assert store.append(a_save("s", 1, "b", lease="take"), two) is None
            store.release("s", two)
            assert store.append(a_save("s", 2, "c", lease="take"), one) is None
            assert store.append(a_save("s", 3, "d", lease="take"), two) == Refusal("in_use")

    # The list --------------------------------------------------------------------------------------

    def test_the_list_has_the_newest_first_and_ties_by_name(self) -> None:
        with self.store() as (store, one, _):
            times = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 2.0, "é": 2.0, "🦀": 2.0, "Z": 2.0}
            for name, updated in times.items():
                store.append(a_save(name, 0, "x", updated=updated), one)
            expected = ("b", "🦀", "é", "d", "c", "Z", "a")
            assert tuple(row.session for row in store.page(None, None, 99)) == expected
            for size in (1, 2, 3):
                assert tuple(_walk(store, None, size)) == expected
            assert store.page(None, Place(2.0, "d"), 2)[0].session == "c"
            assert store.page(None, Place(1.0, "a"), 2) == ()

    def test_a_session_that_moves_to_the_front_is_not_seen_twice(self) -> None:
        with self.store() as (store, one, _):
            for number in range(9):
                store.append(a_save(f"s{number}", 0, "x", updated=float(number)), one)
            seen: list[str] = []
            for turn, name in enumerate(_walk(store, None, 2)):
                seen.append(name)
                store.append(a_save(f"s{turn}", 1, updated=100.0 + turn), one)
            assert len(seen) == len(set(seen))
            assert seen[:5] == ["s8", "s7", "s6", "s5", "s4"]

    def test_the_list_of_a_folder_has_its_sessions_only(self) -> None:
        with self.store() as (store, one, _):
            for number, cwd in enumerate(("/a", "/a/b", "/A", "/a", "")):
                store.append(a_save(f"s{number}", 0, "x", updated=float(number), cwd=cwd), one)
            assert tuple(_walk(store, "/a", 1)) == ("s3", "s0")
            assert tuple(_walk(store, "", 1)) == ("s4",)
            assert store.page("/none", None, 5) == ()

    def test_a_session_without_entries_can_be_opened_and_is_not_in_the_list(self) -> None:
        with self.store() as (store, one, two):
            assert store.append(a_save("s", 0, cwd="/a", updated=5.0, head="h"), one) is None
            assert store.find("s") == StoredRow("s", "/a", 5.0, "h")
            assert store.read("s", 0, 9) == Piece((), last=True)
            assert store.page(None, None, 9) == store.page("/a", None, 9) == ()
            assert store.append(a_save("s", 0, "x", updated=6.0), two) is None
            assert [row.session for row in store.page(None, None, 9)] == ["s"]

    # Removing --------------------------------------------------------------------------------------

    def test_a_removed_session_is_gone_with_all_that_belongs_to_it(self) -> None:
        with self.store() as (store, one, two):
            for name in ("s", "t"):
                store.append(a_save(name, 0, "a", lease="take"), one)
                store.note(Journal(name, "m", 0, "j"), one)
            store.remove("s")
            store.remove("s")
            store.remove("never there")
            assert store.find("s") is None and store.read("s", 0, 9) == Piece((), last=True)
            assert [row.session for row in store.page(None, None, 9)] == ["t"]
            assert store.read("t", 0, 9) == Piece(("a",), True, (JournalRow("m", 0, "j"),))
            assert store.append(a_save("s", 1, "b"), one) == Refusal("gone")
            assert store.append(a_save("s", 0, "new", lease="take"), two) is None, "the lease is gone, too"
            assert store.read("s", 0, 9) == Piece(("new",), last=True)

    # At once ---------------------------------------------------------------------------------------

    def test_no_save_is_lost_when_many_write_at_once(self) -> None:
        with self.store() as (store, _, _), ThreadPoolExecutor(4) as threads:
            other = self.another(store)
            words = [f"{number}" for number in range(60)]
            saves = [
                threads.submit(add_in_turn, (store, other)[number % 2], "s", word)
                for number, word in enumerate(words)
            ]
            for save in saves:
                save.result()
            other.close()
            assert sorted(store.read("s", 0, 99).entries) == sorted(words)

    def test_closing_twice_is_no_failure(self) -> None:
        store = self.make_store()
        store.append(a_save("s", 0, "a"), store.enter())
        store.close()
        store.close()


def _walk(store: Store, cwd: str | None, size: int) -> Iterator[str]:
    """The ids of the list, page by page."""
    place: Place | None = None
    while rows := store.page(cwd, place, size):
        yield from (row.session for row in rows)
        place = Place(rows[-1].updated, rows[-1].session)
