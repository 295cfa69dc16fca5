"""Logging of the shell: to stderr or a file, never to stdout, and never with a key in it."""

import logging
import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Final

from zidane_acp.settings import LogLevel

MASK: Final = "[hidden]"
SECRET_NAME: Final = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
SHAPES: Final = (
    # An authorization header or a key assignment in any of the common spellings.
    re.compile(r"(?i)\b(bearer|basic)\s+(?=\S*[\d=])[\w.~+/=-]{8,}"),
    re.compile(
        r"(?i)((?:x-)?(?:goog-)?api[_-]?key|authorization|access[_-]?token|secret|password)"
        r"([\"']?\s*[:=]\s*[\"']?)[^\s\"',;&}]+"
    ),
    # Keys that announce themselves by a prefix.
    re.compile(r"\b(?:sk|pk|rk|gsk|csk|xai|ghp|gho|github_pat|glpat|hf|AKIA|AIza)[-_]?[A-Za-z0-9_-]{12,}"),
)
LEVELS: Final[Mapping[LogLevel, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with known secrets and everything that looks like a key replaced."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    text = SHAPES[0].sub(rf"\1 {MASK}", text)
    text = SHAPES[1].sub(rf"\1\2{MASK}", text)
    return SHAPES[2].sub(MASK, text)


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables whose name says that they are secret; short ones would mask ordinary words."""
    found = {value for name, value in environment.items() if SECRET_NAME.search(name) and len(value) >= 8}
    return tuple(sorted(found, key=len, reverse=True))


class MaskingFormatter(logging.Formatter):
    """Formats a record, its exception included, and masks the result."""

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record), self._secrets)


def configure(level: LogLevel = "warning", file: str | None = None) -> None:
    """Send all logging to stderr, or to `file` (made with mode 0600). Raises OSError when it cannot be opened."""
    handler: logging.Handler
    if file is None:
        handler = logging.StreamHandler(sys.stderr)
    else:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        handler = logging.StreamHandler(
            os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace")
        )
    handler.setFormatter(MaskingFormatter(secret_values(os.environ)))
    logging.basicConfig(level=LEVELS[level], handlers=[handler], force=True)
