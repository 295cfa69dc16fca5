"""What the configuration of a server keeps secret, in every spelling in which a program may repeat it."""

import json
from typing import Final
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from zidane_core.data.mcp import McpServerConfig

SHORTEST: Final = 4
"""Characters of a value that is looked for; a shorter one would blank every digit or small word."""

SHORTEST_LINE: Final = 8
"""Characters of one line of a value of several lines."""


def secrets_of(config: McpServerConfig) -> tuple[str, ...]:
    """All values of the configuration that may be secret, the longest first, so that none hides a part of another."""
    values = [value for _, value in (*config.env, *config.headers)]
    # A header such as `Bearer TOKEN` is repeated by servers without its first word.
    words = [word for _, value in config.headers for word in value.split()[1:]]
    wholes = [*values, *words, *_secrets_of_url(config.url)]
    # Split as the text of a server is: of what it says only the last line is shown.
    lines = [line for whole in wholes for line in whole.splitlines() if len(line.strip()) >= SHORTEST_LINE]
    found = {spelling for value in (*wholes, *lines) for spelling in _spellings(value)}
    return tuple(sorted((text for text in found if len(text) >= SHORTEST), key=len, reverse=True))


def _spellings(value: str) -> tuple[str, ...]:
    """A value of some length as it is, and as it stands in JSON, in a program and in a URL."""
    if len(value) < SHORTEST:
        return ()
    escaped = json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1]
    # A lone surrogate, which is an undecodable byte of the environment, has no percent-encoded form of its own.
    encoded = (
        quote(value, errors="replace"),
        quote(value, safe="", errors="replace"),
        quote_plus(value, errors="replace"),
    )
    return value, value.strip(), *escaped, *encoded


def _secrets_of_url(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
        return [parts.password or "", parts.query, *(value for _, value in parse_qsl(parts.query))]
    except ValueError:
        return [url]
