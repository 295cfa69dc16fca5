"""Why a server cannot be used, in words: one line, bounded, and without what its configuration keeps secret."""

import re
import signal
from collections.abc import Iterable
from typing import Final, TypeGuard
from urllib.parse import parse_qsl, quote, urlsplit

from zidane_acp.masking import MASK, mask
from zidane_core.data.mcp import McpServerConfig
from zidane_core.text import encode_json

LONGEST: Final = 400
"""Characters of a reason; what a server says has no bound of its own."""

SHORTEST: Final = 3
"""Characters of a value that is hidden: a shorter one would blank digits and words everywhere."""

LINE: Final = 8
"""Characters of a line of a long value that is hidden by itself."""

INSTALL: Final = "the Python package mcp cannot be imported; install it with: pip install 'mcp>=2.0'"
_SPACE: Final = re.compile(r"\s+")


def secrets_of(config: McpServerConfig) -> tuple[str, ...]:
    """All values of the configuration that may be secret, the longest first, so that none hides a part of another."""
    values = [value for _, value in (*config.env, *config.headers)]
    # A header such as `Bearer TOKEN` is repeated by servers without its first word, a long value line by line.
    words = [word for _, value in config.headers for word in value.split()[1:]]
    lines = [line.strip() for value in values for line in value.splitlines() if len(line.strip()) >= LINE]
    plain = [*values, *words, *lines, *_secrets_of_url(config.url)]
    spelled = (
        spelling for value in plain for spelling in (value, encode_json(value).decode()[1:-1], quote(value))
    )
    return tuple(sorted({one for one in spelled if len(one) >= SHORTEST}, key=len, reverse=True))


def _secrets_of_url(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
        return [parts.password or "", parts.query, *(value for _, value in parse_qsl(parts.query))]
    except ValueError:
        return [url]


def hidden(text: str, secrets: Iterable[str]) -> str:
    """A text of others as one line without secrets."""
    # Together, since a short secret must not be found in the mask of another.
    known = "|".join(map(re.escape, secrets))
    line = re.sub(known, MASK, text) if known else text
    line = mask(_SPACE.sub(" ", line).strip())
    return line if len(line) <= LONGEST else line[:LONGEST] + " [...]"


def sentence(text: str) -> str:
    """The text with a full stop at its end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def leaf(error: BaseException) -> BaseException:
    """What lies at the bottom of groups of exceptions: the first that is none."""
    return leaf(error.exceptions[0]) if _is_group(error) else error


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)


def how_it_ended(code: int | None) -> str:
    """What an exit code says."""
    if code is None:
        return "it closed its output"
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"
