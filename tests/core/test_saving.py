"""Rule 2 on the bare core: what is saved when, what waits for it, and what a failing store means."""

from typing import Any

import msgspec
import pytest
from support.driver import OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent.events import Conflict, Saved, SaveFailed, Stopped
from zidane_core.agent.work import Wait
from zidane_core.data import models
from zidane_core.data.content import Text
from zidane_core.data.history import Entry, NoticeGiven, UserSaid
from zidane_core.data.project import Project, ProjectSettings

STORED = with_(OPTIONS, store=True, policy="allow-all")
READ = ("read_file", {"path": "a"})


def entries(driver: Driver, session: str) -> list[str]:
    return [type(msgspec.json.decode(row, type=Entry)).__name__ for row in driver.disk.entries[session]]


def pause_ends(driver: Driver) -> None:
    """The wait after a locked store is over."""
    (thread,) = driver.connection.agent.threads.values()
    driver.finish(thread.store.pause)


def save(driver: Driver) -> Any:
    (found,) = driver.saves.values()
    return found


def test_the_prompt_is_saved_before_the_model_is_asked_and_takes_the_lease() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    assert not driver.model_jobs()
    assert save(driver).lease == "take"
    driver.store()
    assert entries(driver, session) == ["UserSaid", "TitleSet"]
    assert len(driver.model_jobs()) == 1


def test_a_new_session_gets_its_row_and_its_answer_does_not_wait_for_that() -> None:
    driver = Driver(STORED)
    driver.initialize()
    session = driver.session(settled=False)
    assert (save(driver).entries, save(driver).expected_seq, save(driver).lease) == ((), 0, "keep")
    driver.fail_save("locked")
    assert not driver.saves
    pause_ends(driver)
    driver.store()
    assert session in driver.disk.rows and entries(driver, session) == []
    driver = Driver(STORED)
    driver.initialize()
    session = driver.session(settled=False)
    driver.fail_save("disk")
    driver.prompt(session)
    driver.round(said("hi"))
    assert driver.text().count("can no longer be saved") == 1 and not driver.saves


def test_the_answer_waits_for_its_save_which_drops_the_lease() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.store()
    driver.round(said("hi"))
    assert driver.answer_of(asked) is None
    assert save(driver).lease == "drop"
    driver.store()
    assert driver.answer_of(asked) is not None
    assert entries(driver, session) == ["UserSaid", "TitleSet", "TextSaid", "TurnEnded"]


def test_every_finished_piece_is_saved_as_it_comes() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.store()
    driver.round(calls(READ, text="I look."))
    driver.store()
    assert entries(driver, session) == ["UserSaid", "TitleSet", "TextSaid", "CallMade"]
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.finish(driver.tool_jobs()[0])
    assert save(driver).lease == "keep"
    driver.store()
    assert entries(driver, session)[-1] == "ResultMade"


def test_a_session_in_use_elsewhere_refuses_the_prompt_and_stays_as_it_was() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.fail_save("in_use")
    answer = driver.answer_of(asked)
    assert answer is not None and answer["error"]["data"] == {"kind": "in_use"}
    (thread,) = driver.connection.agent.threads.values()
    assert not len(thread.log) and not len(thread.view.messages)
    driver.prompt(session)
    driver.store()
    driver.round(said("now it is ours"))


def test_a_refused_prompt_leaves_everything_else() -> None:
    driver, session = ready(STORED)
    asked = driver.request(
        "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "x"}, {"type": "zzz"}]
    )
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="low")
    driver.fail_save("in_use")
    answer = driver.answer_of(asked)
    assert answer is not None and "error" in answer
    assert not [u for u in driver.updates() if u["sessionUpdate"] == "agent_message_chunk"], (
        "a warning was shown"
    )
    (thread,) = driver.connection.agent.threads.values()
    assert [type(entry).__name__ for entry in thread.log] == ["SettingChanged"]


def test_a_cancelled_prompt_stays_cancelled_when_the_session_is_in_use() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.cancel(session)
    driver.fail_save("in_use")
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"


def test_what_is_set_while_another_program_works_waits_for_the_next_turn() -> None:
    driver, session = ready(STORED)
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="low")
    driver.fail_save("in_use")
    assert not driver.saves
    driver.prompt(session)
    assert save(driver).lease == "take"
    driver.store()
    driver.round(said("hi"))
    driver.store()
    assert entries(driver, session) == ["SettingChanged", "UserSaid", "TitleSet", "TextSaid", "TurnEnded"]


def test_the_next_turn_waits_until_the_lease_of_the_last_one_is_back() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.store()
    driver.round(said("hi"))
    driver.cancel(session)
    driver.finish(driver.only(lambda what: what == Wait(OPTIONS.limits.settle_within)))
    driver.prompt(session)
    assert not driver.model_jobs()
    driver.store()
    assert len(driver.model_jobs()) == 1


def test_the_end_waits_for_the_store_within_its_bound() -> None:
    driver, session = ready(STORED)
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="low")
    driver.close()
    assert driver.exit is None
    driver.store()
    assert driver.exit == 0
    driver, session = ready(STORED)
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="low")
    driver.close()
    while driver.exit is None:
        driver.finish(next(key for key, what in driver.jobs.items() if isinstance(what, Wait)))
    assert driver.exit == 0


def test_a_session_that_is_taken_over_in_the_middle_of_a_turn_goes_on_in_memory() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.store()
    driver.round(calls(READ))
    driver.conflict()
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.finish(driver.tool_jobs()[0])
    driver.round(said("hi"))
    assert driver.answer_of(asked) is not None
    assert "took this session over" in driver.text()
    assert not driver.saves


def test_a_full_disk_is_told_once_and_the_turn_goes_on_in_memory() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.fail_save("disk")
    assert len(driver.model_jobs()) == 1
    driver.round(said("hi"))
    assert driver.answer_of(asked) is not None
    driver.prompt(session)
    driver.round(said("again"))
    assert not driver.saves
    assert driver.text().count("can no longer be saved") == 1


def test_a_locked_store_is_tried_again_and_then_given_up() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    for _ in range(4):
        driver.fail_save("locked")
        assert not driver.model_jobs()
        pause_ends(driver)
    driver.fail_save("locked")
    assert len(driver.model_jobs()) == 1
    driver.round(said("hi"))


def test_a_store_that_was_locked_for_a_while_loses_nothing() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.fail_save("locked")
    pause_ends(driver)
    driver.store()
    driver.round(said("hi"))
    driver.store()
    assert entries(driver, session) == ["UserSaid", "TitleSet", "TextSaid", "TurnEnded"]


def test_entries_of_another_program_come_first_and_ours_are_saved_behind_them() -> None:
    driver, session = ready(STORED)
    driver.prompt(session, "ours")
    theirs = msgspec.json.encode(UserSaid("msg_x", (Text("theirs"),), 1)).decode()
    key, _ = driver.saves.popitem()
    # The second row is one that this version cannot read: it stays where it is.
    driver.disk.entries[session] = [theirs, '{"type":"from the future"}']
    driver.conflicts.add(session)
    driver.feed(Conflict(driver.now, key, tuple(driver.disk.entries[session])))
    assert save(driver).expected_seq == 2
    driver.store()
    (job,) = driver.model_jobs()
    messages = driver.jobs[job].request.messages
    assert [m.parts[0].text for m in messages if isinstance(m, models.UserMessage)] == ["theirs", "ours"]


def test_a_cancel_does_not_wait_for_a_locked_store() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.cancel(session)
    assert driver.answer_of(asked) is None
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"


def test_an_old_save_changes_nothing() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    (key,) = driver.saves
    driver.store()
    before = driver.connection
    for event in (Saved(0.0, key), SaveFailed(0.0, key, "disk"), Conflict(0.0, key, ())):
        driver.feed(event)
    assert driver.connection is before
    driver.cancel(session)
    driver.end(driver.model_jobs()[0], Stopped())


def test_while_a_locked_store_is_left_alone_nothing_is_sent_to_it() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.store()
    driver.progress(driver.model_jobs()[0], models.TextDelta("a"), models.BlockEnded())
    driver.round((models.Called("x", "read_file", '{"path": "a"}'), models.Finished("tool-calls")))
    driver.fail_save("locked")
    driver.finish(driver.tool_jobs("prepare")[0])
    driver.finish(driver.tool_jobs()[0])
    assert not driver.saves
    pause_ends(driver)
    driver.store()
    assert entries(driver, session)[-1] == "ResultMade"


def test_a_notice_waits_for_the_open_block_and_is_told_before_the_answer() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.store()
    driver.progress(driver.model_jobs()[0], models.TextDelta("a"))
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="low")
    driver.progress(driver.model_jobs()[0], models.TextDelta("b"), models.BlockEnded())
    driver.progress(driver.model_jobs()[0], models.TextDelta("c"))
    driver.fail_save("disk")
    (thread,) = driver.connection.agent.threads.values()
    texts = [entry.text for entry in thread.log if isinstance(entry, NoticeGiven)]
    assert texts == [] and len(thread.notices) == 1
    driver.round((models.Finished("stop"),))
    assert driver.text().count("can no longer be saved") == 1
    assert driver.frames[-1] == driver.answer_of(asked)


def test_a_last_save_that_fails_is_told_before_the_answer() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.store()
    driver.round(said("hi"))
    driver.fail_save("disk")
    assert driver.text().count("can no longer be saved") == 1
    assert driver.frames[-1] == driver.answer_of(asked)
    assert session not in driver.leases


def test_a_lease_is_given_back_when_the_answer_goes_out_before_the_last_save() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session)
    driver.cancel(session)
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    assert driver.answer_of(asked) is not None and len(driver.saves) == 1
    driver.store_one()
    assert save(driver).lease == "drop"
    again = driver.prompt(session)
    driver.store_one()
    assert save(driver).lease == "take" and not driver.model_jobs()
    driver.store()
    driver.round(said("hi"))
    driver.store()
    assert driver.answer_of(again) is not None and not driver.leases


def test_a_close_gives_the_lease_back_and_tries_once_more_to_save() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.store()
    driver.progress(driver.model_jobs()[0], models.TextDelta("half"))
    asked = driver.request("session/close", sessionId=session)
    driver.end(driver.model_jobs()[0], Stopped())
    driver.fail_save("locked")
    for key in [key for key, what in driver.jobs.items() if what == Wait(OPTIONS.limits.settle_within)]:
        driver.finish(key)
    assert driver.answer_of(asked) is not None
    assert not driver.leases
    assert entries(driver, session)[-2:] == ["TextSaid", "TurnEnded"]


def test_a_prompt_that_is_cancelled_before_it_is_refused_leaves_the_session_stored() -> None:
    driver, session = ready(STORED)
    asked = driver.prompt(session, "no")
    driver.cancel(session)
    driver.fail_save("in_use")
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"
    assert "took this session over" not in driver.text()
    driver.prompt(session, "yes")
    driver.store()
    driver.round(said("hi"))
    driver.store()
    kinds = entries(driver, session)
    assert kinds == ["UserSaid", "TurnEnded", "UserSaid", "TitleSet", "TextSaid", "TurnEnded"]


def test_an_answer_that_waits_for_its_save_still_does_after_a_conflict() -> None:
    driver, session = ready(STORED)
    asked = driver.request(
        "session/set_config_option", sessionId=session, configId="thought_level", value="low"
    )
    driver.conflict()
    assert driver.answer_of(asked) is None
    driver.store()
    assert driver.answer_of(asked) is not None


@pytest.mark.parametrize("how", ["close", "end"])
def test_what_another_program_held_up_is_tried_once_more_at_the_end(how: str) -> None:
    driver, session = ready(STORED)
    driver.request("session/set_config_option", sessionId=session, configId="thought_level", value="low")
    driver.fail_save("in_use")
    assert not driver.saves
    if how == "close":
        driver.request("session/close", sessionId=session)
    else:
        driver.close()
        assert driver.exit == 0
    assert save(driver).lease == "keep" and "thought_level" in save(driver).entries[0]


def test_a_refused_prompt_leaves_no_lease_behind() -> None:
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.cancel(session)
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    driver.store_one()
    driver.prompt(session, "again")
    driver.fail_save("in_use")
    (thread,) = driver.connection.agent.threads.values()
    assert not driver.saves and not thread.store.lease, "there is nothing to give back"


def test_a_prompt_that_is_stored_is_not_refused_when_the_session_is_lost_right_after() -> None:
    driver = Driver(with_(STORED, project=True))
    driver.project = Project(settings=ProjectSettings(default_model="gone"))
    driver.initialize()
    session = driver.session()
    asked = driver.prompt(session)
    driver.store_one()  # the lease is ours; a notice about the model is on its way behind it
    driver.fail_save("in_use")
    assert driver.answer_of(asked) is None
    driver.work()
    driver.round(said("ok"))
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "end_turn"
    assert any("kept in memory only" in notice for notice in driver.notices())
