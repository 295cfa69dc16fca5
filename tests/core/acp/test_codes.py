"""Every code of an error has its occasion."""

from collections.abc import Callable

import pytest
from support.driver import Driver, ready

from zidane_core.agent.work import Wait
from zidane_core.data import models
from zidane_core.faults import ErrorCode, provider_fault


def asked(method: str, **params: object) -> Callable[[], Driver]:
    """Something that is asked of an agent with one open session."""

    def ask() -> Driver:
        driver, _ = ready()
        driver.request(method, **params)
        return driver

    return ask


def sent(data: bytes) -> Callable[[], Driver]:
    """Something that is no request."""

    def send() -> Driver:
        driver, _ = ready()
        driver.bytes(data)
        return driver

    return send


def too_early() -> Driver:
    driver = Driver()
    driver.request("session/new", cwd="/project", mcpServers=[])
    return driver


def cut_short() -> Driver:
    driver, _ = ready()
    driver.request("session/new", cwd="/project", mcpServers=[])
    driver.close()
    driver.finish(driver.only(lambda what: isinstance(what, Wait)))
    return driver


def refused_by_a_provider(kind: str) -> Callable[[], Driver]:
    def refuse() -> Driver:
        driver, session = ready()
        driver.prompt(session)
        driver.round((models.Broke(provider_fault(kind, "No.", provider="test")),))
        return driver

    return refuse


OCCASIONS = [
    (ErrorCode.PARSE_ERROR, sent(b"{not json")),
    (ErrorCode.INVALID_REQUEST, sent(b"[]")),
    (ErrorCode.INVALID_REQUEST, sent(b'{"jsonrpc":"2.0","id":null,"method":7}')),
    (ErrorCode.METHOD_NOT_FOUND, asked("nothing")),
    (ErrorCode.INVALID_PARAMS, asked("session/new", cwd=7)),
    (ErrorCode.RESOURCE_NOT_FOUND, asked("session/close", sessionId="none")),
    (ErrorCode.NOT_INITIALIZED, too_early),
    (ErrorCode.AUTH_REQUIRED, refused_by_a_provider("auth")),
    (ErrorCode.INTERNAL_ERROR, refused_by_a_provider("billing")),
    (ErrorCode.REQUEST_CANCELLED, cut_short),
]


@pytest.mark.parametrize(("code", "occasion"), OCCASIONS)
def test_every_code_has_its_occasion(code: ErrorCode, occasion: Callable[[], Driver]) -> None:
    assert occasion().frames[-1]["error"]["code"] == code


def test_no_code_is_forgotten() -> None:
    """All but that of newer protocol versions, which is only understood."""
    assert {code for code, _ in OCCASIONS} == {*ErrorCode} - {ErrorCode.UNSUPPORTED_VERSION}
