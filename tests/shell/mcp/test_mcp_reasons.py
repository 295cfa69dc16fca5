"""Reasons in words: without secrets, in one line, bounded."""

import pytest

from zidane_acp.mcp.reasons import hidden, how_it_ended, leaf
from zidane_acp.mcp.secret_values import secrets_of
from zidane_core.data.mcp import McpServerConfig

CONFIG = McpServerConfig(
    name="x",
    transport="sse",
    url="https://me:pass-word@host/a?token=in-query&b=2",
    env=(("A", "only"), ("EMPTY", ""), ("LONGER", "only-two"), ("SHORT", "abc")),
    headers=(("Authorization", "Bearer the-token"),),
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sent Bearer the-token", "sent [hidden]"),
        ("just the-token", "just [hidden]"),
        ("me:pass-word@host", "me:[hidden]@host"),
        ("?token=in-query&b=2", "?[hidden]"),
        ("it is in-query", "it is [hidden]"),
        ("only-two and only abc", "[hidden] and [hidden] abc"),
        ("  two\n lines\t", "two lines"),
        ("OPENAI_API_KEY=sk-abcdef0123456789", "OPENAI_API_KEY=[hidden]"),
    ],
)
def test_what_is_hidden(text: str, shown: str) -> None:
    assert hidden(text, secrets_of(CONFIG)) == shown


def test_a_short_secret_is_not_looked_for_in_the_mask() -> None:
    assert hidden("hidden", ["d"]) == "hi[hidden][hidden]en"


def test_a_reason_is_bounded() -> None:
    assert len(hidden("x" * 5000, ())) < 500


def test_a_broken_url_is_secret_as_a_whole() -> None:
    assert "http://[::1" in secrets_of(McpServerConfig(name="x", transport="sse", url="http://[::1"))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (None, "it closed its output"),
        (0, "it ended with exit code 0"),
        (-15, "it was ended by SIGTERM"),
        (-99, "it was ended by signal 99"),
    ],
)
def test_how_it_ended(code: int | None, said: str) -> None:
    assert how_it_ended(code) == said


def test_what_lies_in_groups() -> None:
    inner = OSError()
    assert leaf(ExceptionGroup("a", [ExceptionGroup("b", [inner]), ValueError()])) is inner
    assert leaf(inner) is inner
