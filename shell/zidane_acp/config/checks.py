"""What a table must be beyond the types of its fields. A table that fails is not used."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec

from zidane_acp.config.paths import Path
from zidane_acp.config.records import McpTable, OptionTable, ProviderTable
from zidane_core.models.providers import OFFLINE, PROVIDERS

Found: TypeAlias = tuple[str, str, bool]
"""The key that is meant ('': the table), what is wrong, and whether the table is used all the same."""

OVER_HTTP: Final = ("url", "transport", "headers")
AS_PROCESS: Final = ("command", "args", "env")
EMBEDDED: Final = frozenset({OFFLINE, "replay"})


def _mcp(table: McpTable, path: Path) -> Iterable[Found]:
    if not table.enabled:
        return
    if bool(table.command) == bool(table.url):
        yield "", "needs either command or url", False
        return
    beside, senseless = ("command", OVER_HTTP) if table.command else ("url", AS_PROCESS)
    plain = McpTable()
    for key in senseless:
        if getattr(table, key) != getattr(plain, key):
            yield key, f"has no meaning beside {beside}", True


def _provider(table: ProviderTable, path: Path) -> Iterable[Found]:
    name = str(path[-1])
    if name in EMBEDDED:
        yield "", "is embedded and has no settings", False
    elif "/" in name or not name.strip():
        yield "", "must have a name without a slash", False
    elif name not in PROVIDERS and not table.base_url:
        yield "", "is no known provider, so it needs base_url", False
    if table.base_url and urlsplit(table.base_url).scheme not in ("http", "https"):
        yield "base_url", "must be a whole http or https address", False
    if name in PROVIDERS and table.kind is not None:
        yield "kind", "has no meaning for a known provider", True


def _option(table: OptionTable, path: Path) -> Iterable[Found]:
    switch = table.on is not None or table.off is not None
    values = [each.value for each in table.values]
    if switch == bool(values):
        yield "", "needs either on and off, or values", False
    elif switch and isinstance(table.default, str):
        yield "default", "of a switch must be true or false", False
    elif not switch and table.default is not None and table.default not in values:
        yield "default", "must be one of the values", False
    if len(set(values)) < len(values):
        yield "", "has one value twice", False


CHECKS: Final[Mapping[type[msgspec.Struct], Callable[[Any, Path], Iterable[Found]]]] = MappingProxyType(
    {McpTable: _mcp, ProviderTable: _provider, OptionTable: _option}
)
"""By record; each function takes the record of its own key, which a mapping cannot say."""
