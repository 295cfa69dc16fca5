"""The meter: tokens of the last request, the window's size, the cost so far; never a guess."""

from typing import Any

import pytest
from msgspec.structs import replace
from support.driver import MODEL, OPTIONS, Driver, calls, ready, said, with_

from zidane_core.data.models import ModelChoice, Price, Used
from zidane_core.data.outcome import Usage

PRICED = replace(MODEL, context_window=100_000, price=Price(input=1.0, output=2.0, cached_read=0.5))
FREE = ModelChoice(value="free", name="Free", provider="test", id="free", context_window=5_000)
SIZELESS = replace(MODEL, price=PRICED.price)
ALL = with_(OPTIONS, models=(PRICED, FREE), policy="allow-all", store=True)


def meter(driver: Driver) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in update.items() if key != "sessionUpdate"}
        for update in driver.updates()
        if update["sessionUpdate"] == "usage_update"
    ]


def used(**tokens: int) -> Used:
    return Used(Usage(**tokens))


def turn(driver: Driver, session: str, *rounds: Any) -> Any:
    asked = driver.prompt(session)
    driver.store()
    for events in rounds:
        driver.round(events)
        driver.work()
        driver.store()
    return driver.answer_of(asked)


def usd(amount: float) -> dict[str, Any]:
    return {"amount": pytest.approx(amount), "currency": "USD"}


def test_every_round_shows_its_own_tokens_and_the_cost_of_all() -> None:
    driver, session = ready(ALL)
    driver.store()
    answer = turn(
        driver,
        session,
        (used(input=10_000, output=1_000), *calls(("read_file", {"path": "a"}))),
        (used(input=12_000, output=500, cached_read=10_000), *said("ok")),
    )
    assert meter(driver) == [
        {"used": 11_000, "size": 100_000, "cost": usd(0.012)},
        {"used": 12_500, "size": 100_000, "cost": usd(0.012 + 0.002 + 0.005 + 0.001)},
    ]
    assert answer["result"]["_meta"]["zidane"]["usage"]["totalTokens"] == 23_500


def test_without_a_known_window_there_is_no_meter() -> None:
    driver, session = ready(with_(ALL, models=(SIZELESS,)))
    driver.store()
    turn(driver, session, (used(input=10, output=1), *said("ok")))
    assert meter(driver) == []


def test_without_a_price_there_is_no_cost_from_then_on() -> None:
    driver, session = ready(ALL)
    driver.store()
    turn(driver, session, (used(input=1_000, output=0), *said("ok")))
    driver.request("session/set_config_option", sessionId=session, configId="model", value="free")
    driver.store()
    turn(driver, session, (used(input=1_100, output=0), *said("ok")))
    driver.request("session/set_config_option", sessionId=session, configId="model", value="test-model")
    driver.store()
    turn(driver, session, (used(input=1_200, output=0), *said("ok")))
    assert meter(driver) == [
        {"used": 1_000, "size": 100_000, "cost": usd(0.001)},
        {"used": 1_100, "size": 5_000},
        {"used": 1_200, "size": 100_000},
    ]


def test_a_round_without_counts_says_nothing_and_costs_nothing_known() -> None:
    driver, session = ready(ALL)
    driver.store()
    turn(driver, session, said("ok"))
    assert meter(driver) == []


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_after_a_load_the_meter_stands_where_it_stood(method: str) -> None:
    driver, session = ready(ALL)
    driver.store()
    turn(driver, session, (used(input=10_000, output=1_000), *said("ok")))
    driver.close()
    again = Driver(ALL, disk=driver.disk, seed="again")
    again.initialize()
    again.load(session, method=method)
    assert meter(again) == [{"used": 11_000, "size": 100_000, "cost": usd(0.012)}]
    turn(again, session, (used(input=11_000, output=0), *said("ok")))
    assert meter(again)[-1] == {"used": 11_000, "size": 100_000, "cost": usd(0.023)}


def test_what_a_title_costs_counts_too() -> None:
    driver, session = ready(with_(ALL, store=False, titles=True))
    driver.prompt(session)
    driver.round((used(input=10_000, output=0), *said("ok")))
    (title,) = driver.model_jobs()
    driver.round((used(input=2_000, output=500), *said("A title")), title)
    driver.prompt(session)
    driver.round((used(input=11_000, output=0), *said("ok")))
    assert meter(driver)[-1]["cost"] == usd(0.010 + 0.002 + 0.001 + 0.011)
