"""The journal of the message that is being streamed: what it holds, and how often it is written."""

from typing import Any

from support.driver import OPTIONS, Driver, ready, with_

from zidane_core.agent import step as agent_step
from zidane_core.agent.effects import Journal
from zidane_core.agent.records import streamed
from zidane_core.agent.work import Wait
from zidane_core.data import history, models

STORED = with_(OPTIONS, store=True)
DUE = Wait(OPTIONS.limits.journal_every)


def streaming(options: Any = STORED) -> tuple[Driver, str]:
    driver, session = ready(options)
    driver.prompt(session)
    driver.store()
    return driver, session


def due(driver: Driver) -> list[str]:
    return [key for key, what in driver.jobs.items() if what == DUE]


def say(driver: Driver, *pieces: str) -> None:
    for piece in pieces:
        driver.progress(driver.model_jobs()[0], models.TextDelta(piece))


def kept(driver: Driver, session: str) -> str:
    return "".join(message.text for message in streamed(driver.disk.journal(session)))


def test_it_holds_all_that_was_streamed_once_its_wait_is_over() -> None:
    driver, session = streaming()
    say(driver, "I ", "will ")
    assert kept(driver, session) == ""
    driver.finish(*due(driver))
    assert kept(driver, session) == "I will "
    say(driver, "look.")
    driver.finish(*due(driver))
    assert kept(driver, session) == "I will look."


def test_however_much_is_said_there_is_one_wait_at_a_time() -> None:
    driver, _ = streaming()
    say(driver, *["word "] * 500)
    assert len(due(driver)) == 1
    driver.finish(*due(driver))
    assert not due(driver), "nothing was said since"


def test_a_write_has_a_bounded_size_and_closed_pieces_are_written_once() -> None:
    driver, session = streaming()
    written: list[int] = []
    for _ in range(6):
        say(driver, *["x" * 100] * 150)
        (key,) = due(driver)
        before = driver.connection.agent
        driver.jobs.pop(key)
        event = agent_step.Ended(0.0, key, agent_step.Ok(agent_step_value()))
        _, effects = agent_step.step(before, event)
        written.append(sum(len(effect.body) for effect in effects if isinstance(effect, Journal)))
        driver.feed(event)
    assert max(written) < 15_000 + 3 * 8192
    assert kept(driver, session) == "x" * 100 * 150 * 6


def agent_step_value() -> Any:
    from zidane_core.agent.events import WaitDone

    return WaitDone()


def test_the_save_of_the_finished_message_clears_it() -> None:
    driver, session = streaming()
    say(driver, "done")
    driver.finish(*due(driver))
    driver.progress(driver.model_jobs()[0], models.BlockEnded())
    assert driver.saves, "a finished message is saved at once"
    driver.store()
    assert not driver.disk.journal(session)


def test_a_message_that_began_before_the_last_one_was_saved_stays() -> None:
    driver, session = streaming()
    driver.progress(driver.model_jobs()[0], models.ThoughtDelta("Hm."))
    driver.finish(*due(driver))
    say(driver, "I wi")
    driver.finish(*due(driver))
    assert [type(m) for m in streamed(driver.disk.journal(session))] == [history.Thinking, history.TextSaid]
    driver.store()
    assert streamed(driver.disk.journal(session)) == (history.TextSaid(message(driver, session), "I wi"),)


def message(driver: Driver, session: str) -> str:
    thread = driver.connection.agent.threads.get(session)
    assert thread is not None and thread.turn is not None and thread.turn.open is not None
    return thread.turn.open.message


def test_a_wait_that_ends_after_its_message_writes_nothing() -> None:
    driver, session = streaming()
    say(driver, "done")
    (key,) = due(driver)
    driver.round((models.Finished("stop"),))
    driver.store()
    driver.finish(key)
    assert not driver.disk.journal(session)


def test_without_a_lease_or_a_store_nothing_is_written() -> None:
    driver, session = ready(OPTIONS)
    driver.prompt(session)
    say(driver, "a")
    assert not due(driver)
    driver, session = ready(STORED)
    driver.prompt(session)
    driver.fail_save("disk")
    say(driver, "a")
    assert not due(driver)
