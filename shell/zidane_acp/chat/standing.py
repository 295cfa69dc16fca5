"""How a session stands: its options, its mode, and how full and how costly it is, as far as the agent tells."""

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_acp.chat.told import Choice, ConfigOption, ModeTold, Told, UsageTold, read_options
from zidane_acp.fields import JsonObject, child, objects, text


class Standing(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What was told last. The mode and the option of the category `mode` are in step where there are both."""

    options: tuple[ConfigOption, ...] = ()
    modes: tuple[Choice, ...] = ()
    mode: str = ""
    usage: UsageTold | None = None


class ModeChoice(msgspec.Struct, frozen=True, gc=False):
    """A mode to go to, with the request that asks the agent for it; `params` lack the session."""

    mode: str
    method: str
    params: JsonObject


# Going on ------------------------------------------------------------------------------------------


def opened(standing: Standing, answer: JsonObject) -> Standing:
    """What the answer that opened the session says; what was told before it and is not in it stays."""
    modes = child(answer, "modes")
    available = tuple(
        Choice(text(item, "id"), text(item, "name") or text(item, "id"))
        for item in objects(modes, "availableModes")
        if text(item, "id")
    )
    standing = replace(standing, modes=available, mode=text(modes, "currentModeId") or standing.mode)
    options = read_options(answer)
    return standing if options is None else after(standing, options)


def after(standing: Standing, told: Told) -> Standing:
    """The standing after something was told."""
    if isinstance(told, UsageTold):
        return replace(standing, usage=told)
    if isinstance(told, ModeTold):
        options = tuple(_in_mode(option, told.mode) for option in standing.options)
        return replace(standing, mode=told.mode, options=options)
    option = _of(told.options, "mode")
    mode = option.value if option is not None and _names(standing.modes, option.value) else standing.mode
    return replace(standing, options=told.options, mode=str(mode))


def _in_mode(option: ConfigOption, mode: str) -> ConfigOption:
    fits = option.category == "mode" and _names(option.choices, mode)
    return replace(option, value=mode) if fits else option


def _of(options: Iterable[ConfigOption], category: str) -> ConfigOption | None:
    return next((option for option in options if option.category == category), None)


def _names(choices: Iterable[Choice], value: str | bool) -> bool:
    return any(choice.id == value for choice in choices)


def next_mode(standing: Standing) -> ModeChoice | None:
    """The mode behind the present one, round and round; None where there is nothing to choose."""
    option = _of(standing.options, "mode")
    if option is not None and option.choices:
        value = _behind(option.choices, str(option.value))
        params: JsonObject = {"configId": option.id, "value": value}
        return None if value == option.value else ModeChoice(value, SET_OPTION, params)
    value = _behind(standing.modes, standing.mode)
    return None if value == standing.mode else ModeChoice(value, SET_MODE, {"modeId": value})


def _behind(choices: tuple[Choice, ...], value: str) -> str:
    ids = [choice.id for choice in choices]
    if not ids:
        return value
    return ids[(ids.index(value) + 1) % len(ids)] if value in ids else ids[0]


SET_OPTION: Final = "session/set_config_option"
SET_MODE: Final = "session/set_mode"


# Words ---------------------------------------------------------------------------------------------


def mode_name(standing: Standing) -> str:
    """The mode's name, empty where there are no modes."""
    option = _of(standing.options, "mode")
    return value_name(option) if option is not None else _name(standing.modes, standing.mode)


def option_name(standing: Standing, category: str) -> str:
    """The name of the value of the first option of a category, empty where there is none."""
    option = _of(standing.options, category)
    return "" if option is None else value_name(option)


def named_value(standing: Standing, category: str) -> str:
    """The same behind the option's own name."""
    option = _of(standing.options, category)
    return "" if option is None else f"{option.name}: {value_name(option)}"


def value_name(option: ConfigOption) -> str:
    if isinstance(option.value, bool):
        return "on" if option.value else "off"
    return _name(option.choices, option.value)


def _name(choices: Iterable[Choice], value: str) -> str:
    return next((choice.name for choice in choices if choice.id == value), value)


def changes(before: Standing, now: Standing) -> tuple[str, ...]:
    """What is set to something else than before, as `Name: value`; what came or went with another is not said."""
    earlier = {option.id: option.value for option in before.options}
    changed = tuple(
        f"{option.name}: {value_name(option)}"
        for option in now.options
        if option.id in earlier and earlier[option.id] != option.value
    )
    if changed or now.mode == before.mode or _of(now.options, "mode") is not None:
        return changed
    return (f"Mode: {mode_name(now)}",)


def without_mode(standing: Standing) -> Standing:
    """The same with the mode not known yet."""
    options = tuple(replace(one, value="") if one.category == "mode" else one for one in standing.options)
    return replace(standing, mode="", options=options)
