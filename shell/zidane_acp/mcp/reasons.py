"""Why a server cannot be used, in words: one line, bounded, and without what its configuration keeps secret."""

import re
from collections.abc import Iterable
from typing import Final, TypeGuard

from zidane_acp.masking import MASK, mask
from zidane_acp.ports import McpProblem
from zidane_acp.signals import name_of
from zidane_core.convert.visible import neutral

LONGEST: Final = 400
"""Characters of a reason; what a server says has no bound of its own."""

INSTALL: Final = "the Python package mcp cannot be imported; install it with: pip install 'mcp>=2.0'"
UNREADABLE: Final = "it gave an answer that cannot be read"
FOREIGN: Final = "it gave an answer that is none of the protocol"
SILENT: Final = "it took the request and gave no answer"
RETURNED: Final = "it wants an answer first, in the way of protocol 2026-07-28, which is not supported"
LOST: Final = "the connection was lost before it answered; what it did is not known"

OURS: Final = frozenset({UNREADABLE, FOREIGN})
"""Errors that we have put into the place of an answer."""

OF_THE_PACKAGE: Final = (
    (re.compile(r"Failed to parse (JSON response|SSE message)"), UNREADABLE),
    (re.compile(r"Connection closed$|SSE stream (failed|ended)"), LOST),
    (re.compile(r"Server returned an error response$|Not Found$|Session terminated$"), ""),
    (re.compile(r"server answered a request with 202|Unexpected content type:\s*$"), SILENT),
    (re.compile(r"Unexpected content type|Redirect to "), ""),
)
"""How errors begin that the official package makes up itself, and what is said for them: '' when what the request met
says more. Its own words hold pieces of what was sent, and addresses of its libraries."""

_SPACE: Final = re.compile(r"\s+")


def hidden(text: str, secrets: Iterable[str]) -> str:
    """A text of others as one line without secrets."""
    # Together, since a short secret must not be found in the mask of another.
    known = "|".join(map(re.escape, secrets))
    line = re.sub(known, MASK, text) if known else text
    line = neutral(mask(_SPACE.sub(" ", line).strip()))
    return line if len(line) <= LONGEST else line[:LONGEST] + " [...]"


def said(message: str, trouble: str, secrets: Iterable[str]) -> str:
    """What the error of a request says; `trouble` is what the request met below, '' if nothing."""
    for begins, words in OF_THE_PACKAGE:
        if begins.match(message):
            return words or trouble or f"it said: {hidden(message, secrets)}"
    if message in OURS:
        return message
    return f"it said: {hidden(message, secrets)}" if message.strip() else "it gave no reason"


def not_connected(name: str) -> McpProblem:
    """The problem of a call or prompt without its server."""
    return McpProblem(
        name, f"The MCP server {name} is not connected; it is tried again with the next message."
    )


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
    return f"it was ended by {name_of(-code)}"
