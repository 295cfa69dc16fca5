"""What can be set for a thread, as data that any protocol can offer (ring 2)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, get_args

import msgspec
from msgspec.structs import replace

from zidane_core.agent import features, model_names, moves
from zidane_core.agent.effects import Effect, ModeShown, OptionsShown, Tell
from zidane_core.agent.modes import mode_of
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Thread
from zidane_core.data.history import SettingChanged
from zidane_core.data.models import ThinkingLevel
from zidane_core.data.project import ProjectSettings
from zidane_core.faults import Fault, invalid_params


class Choice(msgspec.Struct, frozen=True, gc=False):
    """One value of a setting; `group` is empty when values are not grouped."""

    value: str
    name: str
    group: str = ""
    description: str = ""


class Setting(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that can be set: its values and the one in force. A `switch` has the values `on` and `off`."""

    id: str
    name: str
    category: str
    current: str
    choices: tuple[Choice, ...]
    description: str = ""
    switch: bool = False


LEVELS: Final[tuple[ThinkingLevel, ...]] = get_args(ThinkingLevel)
MODE: Final = "mode"
MODEL: Final = "model"
THINKING: Final = "thought_level"

# What is offered ------------------------------------------------------------------------------------


def offered(options: Options, thread: Thread) -> tuple[Setting, ...]:
    """The settings of a thread, the most important first; every one has a valid value."""
    return (
        *_modes(options, thread),
        _models(options, thread),
        *_levels(options, thread),
        *_own(options, thread),
    )


def _modes(options: Options, thread: Thread) -> tuple[Setting, ...]:
    if not options.modes:
        return ()
    choices = tuple(Choice(mode.id, mode.name, description=mode.description) for mode in options.modes)
    current = mode_of(options, thread).id
    return (Setting(id=MODE, name="Mode", category="mode", current=current, choices=choices),)


def _models(options: Options, thread: Thread) -> Setting:
    choices = tuple(Choice(model.value, model.name, model.provider) for model in options.models)
    current = model_names.chosen(options, thread).value
    return Setting(id=MODEL, name="Model", category="model", current=current, choices=choices)


def _levels(options: Options, thread: Thread) -> tuple[Setting, ...]:
    if not model_names.chosen(options, thread).thinking:
        return ()
    levels = tuple(Choice(level, level.capitalize()) for level in LEVELS)
    current = thread.settings.thinking
    return (Setting(id=THINKING, name="Thinking", category="thought_level", current=current, choices=levels),)


def _own(options: Options, thread: Thread) -> tuple[Setting, ...]:
    """The options of the current model alone."""
    return tuple(
        Setting(
            id=features.id_of(option),
            name=option.name,
            category="model_config",
            description=option.description,
            current=features.value_of(thread, option).value,
            choices=tuple(Choice(one.value, one.name, description=one.description) for one in option.values),
            switch=option.switch,
        )
        for option in model_names.chosen(options, thread).options
    )


# Choosing ------------------------------------------------------------------------------------------


def valid(options: Options, thread: Thread, option: str, value: str | bool) -> str | Fault:
    """The value to set; an unknown option or value is a fault that names the valid ones."""
    settings = {setting.id: setting for setting in offered(options, thread)}
    setting = settings.get(option)
    if setting is None:
        return invalid_params("configId", f"there is no option {option[:200]!r}", valid=sorted(settings))
    allowed = [choice.value for choice in setting.choices]
    if isinstance(value, bool):
        if setting.switch:
            return features.ON if value else features.OFF
        return invalid_params("value", f"{option} takes one of its values, not true or false", valid=allowed)
    value = model_names.value_of(options, value) if option == MODEL else value
    if value in allowed:
        return value
    return invalid_params("value", f"{value[:200]!r} is not a value of {option}", valid=allowed)


def put(options: Options, thread: Thread, option: str, value: str) -> Thread:
    """The thread with a valid value set, and logged when it is another one. In force from the next model call, also during
    a turn."""
    current = {setting.id: setting.current for setting in offered(options, thread)}.get(option)
    picked = replace(thread.settings, chosen=True) if option == MODEL else thread.settings
    thread = thread if picked == thread.settings else replace(thread, settings=picked)
    if value == current:
        return thread
    return moves.append_later(_set(thread, option, value), SettingChanged(option, value))


def told(thread: Thread, option: str, *, by_option: bool = False) -> tuple[Effect, ...]:
    """What the client is told of a change: the mode always, all options unless its own request is answered with them."""
    mode: tuple[Effect, ...] = (Tell(thread.id, ModeShown(thread.settings.mode)),) if option == MODE else ()
    return mode if by_option else (*mode, Tell(thread.id, OptionsShown()))


def changed(options: Options, thread: Thread, option: str, value: str) -> Moved:
    """The agent itself sets a valid value, and tells the client."""
    after = put(options, thread, option, value)
    return (thread, ()) if after is thread else (after, told(after, option))


# What was set before -------------------------------------------------------------------------------


def first(options: Options, thread: Thread, project: ProjectSettings) -> Thread:
    """A new thread, or one that is read again, with what its project chooses; what the user's command line says stands."""
    for option, name, value in (
        (MODEL, "default_model", project.default_model),
        (MODE, "mode", project.mode),
        (THINKING, "thinking", project.thinking),
    ):
        if value is None or (option if option != THINKING else "thinking") in options.pinned:
            continue
        found = _level(value) if option == THINKING else valid(options, thread, option, value)
        if isinstance(found, Fault):
            problem = f"The project's {name} {value[:80]!r} is not there; {_current(options, thread, option)} is used."
            thread = replace(thread, notices=(*thread.notices, problem))
        else:
            thread = _set(thread, option, found)
    return thread


def _level(value: str) -> str | Fault:
    return value if value in LEVELS else invalid_params("thinking", "is no level", valid=list(LEVELS))


def _current(options: Options, thread: Thread, option: str) -> str:
    if option == MODE:
        return mode_of(options, thread).id or "none"
    return model_names.chosen(options, thread).value if option == MODEL else thread.settings.thinking


def restored(options: Options, thread: Thread, option: str, value: str) -> Thread:
    """A stored choice is in force again. A model that is gone leaves the default one, and the user is told."""
    if option == MODEL:
        return _restored_model(options, thread, value)
    if option == THINKING and value not in LEVELS:
        return thread
    if option == MODE and value not in {mode.id for mode in options.modes}:
        return thread
    return _set(thread, option, value)


def _restored_model(options: Options, thread: Thread, value: str) -> Thread:
    kept = tuple(notice for notice in thread.notices if not notice.startswith(GONE))
    thread = replace(thread, settings=replace(thread.settings, chosen=True))
    if value in {model.value for model in options.models}:
        return _set(replace(thread, notices=kept), MODEL, value)
    return gone(replace(thread, notices=kept), value, options.default_model)


def gone(thread: Thread, value: str, instead: str) -> Thread:
    """The thread's model is not there any more."""
    notice = f"{GONE} {value}, which is not there any more; {instead} is used instead."
    return _set(replace(thread, notices=(*thread.notices, notice)), MODEL, instead)


GONE: Final = "This session used the model"


def _set(thread: Thread, option: str, value: str) -> Thread:
    return _SETTERS.get(option, features.put)(thread, option, value)


def _set_model(thread: Thread, option: str, value: str) -> Thread:
    return replace(thread, settings=replace(thread.settings, model=value))


def _set_mode(thread: Thread, option: str, value: str) -> Thread:
    return replace(thread, settings=replace(thread.settings, mode=value))


def _set_thinking(thread: Thread, option: str, value: str) -> Thread:
    return replace(thread, settings=replace(thread.settings, thinking=msgspec.convert(value, ThinkingLevel)))


_SETTERS: Final[Mapping[str, Callable[[Thread, str, str], Thread]]] = MappingProxyType(
    {MODEL: _set_model, MODE: _set_mode, THINKING: _set_thinking}
)
