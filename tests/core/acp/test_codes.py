"""Every code of an error has its occasion."""

from typing import Any

import pytest
from support.driver import Driver, ready

from zidane_core.agent.work import Wait
from zidane_core.data import models
from zidane_core.faults import ErrorCode, provider_fault


def last(driver: Driver) -> int:
    code: int = driver.frames[-1]["error"]["code"]
    return code


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"{not json", ErrorCode.PARSE_ERROR),
        (b"[]", ErrorCode.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":null,"method":7}', ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_no_request(data: bytes, code: int) -> None:
    driver, _ = ready()
    driver.bytes(data)
    assert last(driver) == code


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nothing", {}, ErrorCode.METHOD_NOT_FOUND),
        ("session/new", {"cwd": 7}, ErrorCode.INVALID_PARAMS),
        ("session/prompt", {"sessionId": "none", "prompt": []}, ErrorCode.RESOURCE_NOT_FOUND),
    ],
)
def test_what_cannot_be_done(method: str, params: Any, code: int) -> None:
    driver, _ = ready()
    driver.request(method, **params)
    assert last(driver) == code


def test_what_comes_too_early() -> None:
    driver = Driver()
    driver.request("session/new", cwd="/project", mcpServers=[])
    assert last(driver) == ErrorCode.NOT_INITIALIZED


@pytest.mark.parametrize(
    ("kind", "code"), [("auth", ErrorCode.AUTH_REQUIRED), ("billing", ErrorCode.INTERNAL_ERROR)]
)
def test_what_a_provider_refuses(kind: str, code: int) -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.round((models.Broke(provider_fault(kind, "No.", provider="test")),))
    assert last(driver) == code


def test_what_the_end_of_the_connection_cut_short() -> None:
    driver, _ = ready()
    driver.request("session/new", cwd="/project", mcpServers=[])
    driver.close()
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    assert last(driver) == ErrorCode.REQUEST_CANCELLED
