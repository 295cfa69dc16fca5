"""What an agent tells about its session's options, mode and usage, as records, read leniently."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

import msgspec

from zidane_acp.fields import JsonObject, child, objects, text
from zidane_core.text import is_array

LARGEST: Final = 1e15


class Choice(msgspec.Struct, frozen=True, gc=False):
    """A mode, or a value of an option, with the name that it has for people."""

    id: str
    name: str


class ConfigOption(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An option of the session. One that is on or off has no choices."""

    id: str
    name: str
    category: str
    value: str | bool
    choices: tuple[Choice, ...] = ()


class OptionsTold(msgspec.Struct, frozen=True, gc=False):
    """All options of the session."""

    options: tuple[ConfigOption, ...]


class ModeTold(msgspec.Struct, frozen=True, gc=False):
    """The session is in another mode."""

    mode: str


class UsageTold(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Tokens in the context, and how many fit; `cost` is that of the whole session so far, None where it is not known."""

    used: float
    size: float
    cost: float | None = None
    currency: str = ""


Told: TypeAlias = OptionsTold | ModeTold | UsageTold


def read_options(source: JsonObject) -> OptionsTold | None:
    """The options of an update or of an answer, None where it has none; what cannot be understood is left out."""
    return OptionsTold(tuple(_options(source))) if is_array(source.get("configOptions")) else None


def _options(source: JsonObject) -> Iterator[ConfigOption]:
    for item in objects(source, "configOptions"):
        number, value = text(item, "id"), item.get("currentValue")
        if number and isinstance(value, (str, bool)):
            yield ConfigOption(
                id=number,
                name=text(item, "name") or number,
                category=text(item, "category"),
                value=value,
                choices=tuple(_choices(item)),
            )


def _choices(item: JsonObject) -> Iterator[Choice]:
    # Values stand alone or in groups.
    for one in objects(item, "options"):
        for value in objects(one, "options") or (one,):
            if text(value, "value"):
                yield Choice(text(value, "value"), text(value, "name") or text(value, "value"))


def read_mode(update: JsonObject) -> ModeTold | None:
    mode = text(update, "currentModeId")
    return ModeTold(mode) if mode else None


def read_usage(update: JsonObject) -> UsageTold | None:
    used, size = _number(update, "used"), _number(update, "size")
    if used is None or not size:
        return None
    cost = child(update, "cost")
    return UsageTold(used=used, size=size, cost=_number(cost, "amount"), currency=text(cost, "currency"))


def _number(source: JsonObject, key: str) -> float | None:
    value = source.get(key)
    # A boolean is an int for Python; beyond the bound nothing can be counted with it.
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < LARGEST:
        return None
    return float(value)


READERS: Final[Mapping[str, Callable[[JsonObject], Told | None]]] = {
    "config_option_update": read_options,
    "current_mode_update": read_mode,
    "usage_update": read_usage,
}
