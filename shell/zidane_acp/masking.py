"""Keys, tokens and passwords out of what is logged and traced."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from zidane_core.text import is_array, is_object

MASK: Final = "[hidden]"
SHORTEST: Final = 8
"""Characters of a value that is hidden wherever it stands."""

LONGEST: Final = 64 * 1024
"""Characters of one text that are looked at and kept: more would take too long."""

SECRET_NAME: Final = re.compile(
    r"(API[-_]?KEY|ACCESS[-_]?KEY|PRIVATE[-_]?KEY|SECRET([-_]?KEY)?|TOKEN|PASSWORD|PASSWD|PASSPHRASE"
    r"|CREDENTIALS?|AUTHORIZATION|COOKIE)$",
    re.IGNORECASE,
)
"""Names of variables, headers and fields whose value is secret. Counts, as in `inputTokens`, are none."""

NAMED_VALUES: Final = frozenset({"headers", "env"})
"""Fields whose values are all secret, whatever their names: the headers and variables of MCP servers."""

SHAPES: Final = (
    # An authorization header or a key assignment in any of the common spellings.
    re.compile(r"(?i)\b(bearer|basic)\s+(?=\S*[\d=])[\w.~+/=-]{8,}"),
    re.compile(
        r"(?i)((?:x-)?(?:goog-)?api[_-]?key|authorization|access[_-]?token|secret|password)"
        r"([\"']?\s*[:=]\s*[\"']?)[^\s\"',;&}]+"
    ),
    # Keys that announce themselves by a prefix. A word with hyphens has no long piece without one.
    re.compile(
        r"\b(?:(?:sk|pk|rk|gsk|csk|xai|glpat|hf)[-_]|gh[opsur]_|github_pat_|AKIA|AIza)"
        r"(?=[\w-]{0,64}?[A-Za-z0-9]{12})[\w-]{12,}"
    ),
)
SERVERS: Final = "mcpServers"
"""The field in which a `url` may hold a user, a password and a query with a key."""

_USER: Final = re.compile(r"^([A-Za-z][\w+.-]*://|https?:)?.*@", re.DOTALL)
_QUERY: Final = re.compile(r"([?#]).+", re.DOTALL)
_CUT: Final = " [...]"
_OVERLAP: Final = 4096


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with known secrets and everything that looks like a key replaced."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    text = SHAPES[0].sub(rf"\1 {MASK}", text)
    text = SHAPES[1].sub(rf"\1\2{MASK}", text)
    return SHAPES[2].sub(MASK, text)


def mask_start(text: str, secrets: Iterable[str] = (), longest: int = LONGEST) -> str:
    """The masked text; of one with more than so many characters the beginning, so that the work is bounded."""
    if len(text) <= longest:
        return mask(text, secrets)
    # What is cut off behind the masking may hold the half of a secret.
    return mask(text[: longest + _OVERLAP], secrets)[:-_OVERLAP] + _CUT


def mask_tree(value: object, secrets: Iterable[str] = ()) -> object:
    """A JSON value with its texts masked and the values of secret names hidden."""
    if isinstance(value, str):
        return mask_start(value, secrets)
    if is_array(value):
        return [mask_tree(item, secrets) for item in value]
    if is_object(value):
        return {mask_start(name, secrets): _field(name, item, secrets) for name, item in value.items()}
    return value


def secret_values(environment: Mapping[str, str], named: Collection[str] = ()) -> tuple[str, ...]:
    """The values of variables whose name says that they are secret, and of those that are `named`; short ones would mask
    ordinary words."""
    found = {
        value
        for name, value in environment.items()
        if (name in named or SECRET_NAME.search(name)) and len(value) >= SHORTEST
    }
    return tuple(sorted(found, key=len, reverse=True))


def _field(name: str, value: object, secrets: Iterable[str]) -> object:
    if SECRET_NAME.search(name):
        return _hidden(value)
    if name.lower() in NAMED_VALUES:
        if is_array(value):
            return [_named(item, secrets) for item in value]
        if is_object(value):
            return {key: _hidden(item) for key, item in value.items()}
    return mask_tree(_addressed(value) if name == SERVERS else value, secrets)


def _addressed(value: object) -> object:
    """MCP servers, as a list or by their names, with what may be secret in their addresses hidden."""
    if is_array(value):
        return [_addressed(item) for item in value]
    if is_object(value):
        return {
            name: address(item) if name.lower() == "url" and isinstance(item, str) else _addressed(item)
            for name, item in value.items()
        }
    return value


def address(text: str) -> str:
    """An address of a server without what may be secret in it; URLs elsewhere are of use as they are."""
    return _QUERY.sub(rf"\1{MASK}", _USER.sub(rf"\1{MASK}@", text))


def _named(item: object, secrets: Iterable[str]) -> object:
    """A header or variable in its form {"name", "value"}."""
    if not is_object(item):
        return _hidden(item)
    return {
        key: _hidden(value) if key == "value" else _field(key, value, secrets) for key, value in item.items()
    }


def _hidden(value: object) -> object:
    """Only the shape stays: that a password is `true` or missing is worth knowing."""
    if is_array(value):
        return [_hidden(item) for item in value]
    if is_object(value):
        return {key: _hidden(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool) else MASK
