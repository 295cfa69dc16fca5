"""What can be set for a thread, as data that any protocol can offer (ring 2)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, get_args

import msgspec
from msgspec.structs import replace

from zidane_core.agent import moves, owing
from zidane_core.agent.effects import Answer, OptionsAnswer
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Choosing, Options, Thread
from zidane_core.data.history import SettingChanged
from zidane_core.data.models import ThinkingLevel
from zidane_core.faults import Fault, invalid_params


class Choice(msgspec.Struct, frozen=True, gc=False):
    """One value of a setting; `group` is empty when values are not grouped."""

    value: str
    name: str
    group: str = ""


class Setting(msgspec.Struct, frozen=True, gc=False):
    """One thing that can be set: its values and the one in force."""

    id: str
    name: str
    category: str
    current: str
    choices: tuple[Choice, ...]


LEVELS: Final[tuple[ThinkingLevel, ...]] = get_args(ThinkingLevel)


def offered(options: Options, thread: Thread) -> tuple[Setting, ...]:
    """The settings of a thread, the most important first; every one has a valid value."""
    models = tuple(Choice(model.value, model.name, model.provider) for model in options.models)
    found = (Setting("model", "Model", "model", thread.settings.model, models),)
    current = next((model for model in options.models if model.value == thread.settings.model), None)
    if current is None or not current.thinking:
        return found
    levels = tuple(Choice(level, level.capitalize()) for level in LEVELS)
    return (*found, Setting("thought_level", "Thinking", "thought_level", thread.settings.thinking, levels))


def choose(options: Options, thread: Thread, asked: Choosing) -> Moved:
    """Set an option and answer its request, once it is stored; an unknown option or value is a fault that names the
    valid ones. It is in force from the next model call, also during a turn."""
    chosen = _chosen(options, thread, asked.option, asked.value)
    if isinstance(chosen, Fault):
        return thread, (Answer(asked.ticket, chosen),)
    return owing.owe(options, chosen, asked.ticket, OptionsAnswer(thread.id))


def _chosen(options: Options, thread: Thread, option: str, value: str) -> Thread | Fault:
    settings = {setting.id: setting for setting in offered(options, thread)}
    setting = settings.get(option)
    if setting is None:
        return invalid_params("configId", f"there is no option {option!r}", valid=sorted(settings))
    value = _canonical(options, option, value)
    valid = [choice.value for choice in setting.choices]
    if value not in valid:
        return invalid_params("value", f"{value!r} is not a value of {option}", valid=valid)
    if value == setting.current:
        return thread
    return moves.append_later(_SETTERS[option](thread, value), SettingChanged(option, value))


def restored(options: Options, thread: Thread, option: str, value: str) -> Thread:
    """A stored choice is in force again. A model that is gone leaves the default one, and the user is told."""
    setter = _SETTERS.get(option)
    if setter is None:
        return thread
    if option == "thought_level":
        return setter(thread, value) if value in LEVELS else thread
    told = tuple(notice for notice in thread.notices if not notice.startswith(GONE))
    if value in {model.value for model in options.models}:
        return setter(replace(thread, notices=told), value)
    notice = f"{GONE} {value}, which is not there any more; {options.default_model} is used instead."
    return setter(replace(thread, notices=(*told, notice)), options.default_model)


GONE: Final = "This session used the model"


def _canonical(options: Options, option: str, value: str) -> str:
    """A model may be named as provider/id too."""
    if option != "model":
        return value
    full = {f"{model.provider}/{model.id}": model.value for model in options.models if model.provider}
    return full.get(value, value)


def _model(thread: Thread, value: str) -> Thread:
    return replace(thread, settings=replace(thread.settings, model=value))


def _thinking(thread: Thread, value: str) -> Thread:
    return replace(thread, settings=replace(thread.settings, thinking=msgspec.convert(value, ThinkingLevel)))


_SETTERS: Final[Mapping[str, Callable[[Thread, str], Thread]]] = MappingProxyType(
    {"model": _model, "thought_level": _thinking}
)
