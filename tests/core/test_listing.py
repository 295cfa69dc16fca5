"""`session/list` on the bare core: what is listed, in which order, page by page."""

from typing import Any

import pytest
from support.disk import Disk
from support.driver import OPTIONS, Driver, ready, said, with_

from zidane_core.agent.events import Failed
from zidane_core.agent.work import ListThreads
from zidane_core.data.stored import StoredRow
from zidane_core.faults import Fault

STORED = with_(OPTIONS, store=True)


def listed(driver: Driver, **params: Any) -> dict[str, Any]:
    asked = driver.request("session/list", **params)
    driver.set_up()
    answer = driver.answer_of(asked)
    assert answer is not None
    result: dict[str, Any] = answer["result"]
    return result


def stored(count: int, cwd: str = "/project", same_time: bool = False) -> Disk:
    disk = Disk()
    for number in range(count):
        row = StoredRow(f"sess_{number:04}", cwd, 5.0 if same_time else float(number), '{"v":1,"title":"t"}')
        disk.rows[row.session] = row
    return disk


def walk(driver: Driver, **params: Any) -> list[str]:
    page = listed(driver, **params)
    found = [session["sessionId"] for session in page["sessions"]]
    while "nextCursor" in page:
        page = listed(driver, cursor=page["nextCursor"], **params)
        found += [session["sessionId"] for session in page["sessions"]]
    return found


def fresh(disk: Disk) -> Driver:
    driver = Driver(STORED, disk=disk, seed="another")
    driver.initialize()
    return driver


def test_an_empty_list_is_an_empty_array() -> None:
    driver = fresh(Disk())
    assert listed(driver) == {"sessions": []}
    assert listed(driver, cwd="/none") == {"sessions": []}
    driver.send({"id": "bare", "method": "session/list"})


def test_an_open_session_is_listed_before_anything_is_stored_of_it() -> None:
    driver, session = ready(STORED)
    assert listed(driver)["sessions"] == [
        {"sessionId": session, "cwd": "/project", "updatedAt": "1970-01-01T00:00:00.000Z"}
    ]


def test_a_stored_session_has_its_title_and_time_and_is_listed_once() -> None:
    driver, session = ready(STORED)
    driver.now = 1780000000.5
    driver.prompt(session, "Fix the typo, please")
    driver.store()
    driver.round(said("Done."))
    driver.store()
    expected = {
        "sessionId": session,
        "cwd": "/project",
        "title": "Fix the typo, please",
        "updatedAt": "2026-05-28T20:26:40.500Z",
    }
    assert listed(driver)["sessions"] == [expected]
    assert listed(fresh(driver.disk))["sessions"] == [expected]


def test_a_session_that_lives_in_memory_since_the_store_failed_is_listed_as_it_is() -> None:
    driver, session = ready(STORED)
    driver.prompt(session, "first")
    driver.store()
    driver.round(said("a"))
    driver.store()
    driver.now = 100.0
    driver.prompt(session, "second")
    driver.fail_save("disk")
    driver.round(said("b"))
    (found,) = listed(driver)["sessions"]
    assert (found["title"], found["updatedAt"]) == ("first", "1970-01-01T00:01:40.000Z")


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 100, 101, 137])
@pytest.mark.parametrize("same_time", [False, True])
def test_pages_hold_everything_once_the_newest_first(count: int, same_time: bool) -> None:
    driver = fresh(stored(count, same_time=same_time))
    assert walk(driver) == [f"sess_{number:04}" for number in reversed(range(count))]


def test_a_page_has_fifty_and_the_last_one_no_cursor() -> None:
    driver = fresh(stored(100))
    first = listed(driver)
    second = listed(driver, cursor=first["nextCursor"])
    assert [len(page["sessions"]) for page in (first, second)] == [50, 50]
    assert "nextCursor" not in second


def test_the_folder_is_looked_at_before_the_pages_are_cut() -> None:
    disk = stored(120, "/other")
    disk.rows["sess_mine"] = StoredRow("sess_mine", "/project", 0.5, "{}")
    driver = fresh(disk)
    assert walk(driver, cwd="/project") == ["sess_mine"]
    assert walk(driver, cwd="/project/") == []


def test_nothing_is_listed_twice_while_sessions_change() -> None:
    driver, open_session = ready(STORED)
    driver.disk.rows.update(stored(120).rows)
    driver.now = 500.0
    page = listed(driver)
    found = [session["sessionId"] for session in page["sessions"]]
    # One that was shown and one that was not move to the front; an open one is stored meanwhile.
    for session in ("sess_0100", "sess_0010"):
        driver.disk.rows[session] = StoredRow(session, "/project", 600.0, "{}")
    driver.prompt(open_session, "hello")
    driver.store()
    while "nextCursor" in page:
        page = listed(driver, cursor=page["nextCursor"])
        found += [session["sessionId"] for session in page["sessions"]]
    assert len(found) == len(set(found))
    assert set(found) >= {f"sess_{number:04}" for number in range(120)} - {"sess_0010"}


def test_a_hidden_row_does_not_make_a_page_short() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.store()
    driver.round(said("a"))
    driver.store()
    driver.disk.rows.update(stored(60).rows)
    driver.disk.rows[session] = StoredRow(session, "/project", 59.5, "{}")
    driver.now = 70.0
    driver.prompt(session)
    driver.fail_save("disk")
    first = listed(driver)
    assert len(first["sessions"]) == 50
    assert walk(driver).count(session) == 1 and len(walk(driver)) == 61


@pytest.mark.parametrize(
    "cursor", ["junk", "", "WzEsMl0", "WzEuMCwiYSJd=", "é", "bnVsbA", "W05hTiwiYSJd", 5, {}]
)
def test_a_cursor_that_is_not_ours_is_refused(cursor: Any) -> None:
    driver = fresh(stored(60))
    asked = driver.request("session/list", cursor=cursor)
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["code"] == -32602
    assert answer["error"]["data"]["field"] == "cursor"
    assert not driver.jobs


def test_a_store_that_cannot_be_read_is_told() -> None:
    driver = fresh(Disk())
    asked = driver.request("session/list")
    fault = Fault(-32603, "The file is locked; try again.", {"kind": "store"})
    driver.end(driver.only(lambda what: isinstance(what, ListThreads)), Failed(fault))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["message"] == "The file is locked; try again."


def test_damaged_heads_and_strange_times_are_listed_without_them() -> None:
    disk = Disk()
    disk.rows["a"] = StoredRow("a", "/project", 1e300, "{")
    disk.rows["b"] = StoredRow("b", "/project", -1e300, '{"title":5,"roots":"x"}')
    assert [session["sessionId"] for session in listed(fresh(disk))["sessions"]] == ["a", "b"]
