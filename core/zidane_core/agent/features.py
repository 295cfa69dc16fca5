"""The own options of models (ring 2): which value of one is in force, and what the provider is asked with."""

from typing import Final

from msgspec.structs import replace

from zidane_core.agent.state import Thread
from zidane_core.data.models import ModelChoice, ModelOption, OptionValue

ON: Final = "on"
OFF: Final = "off"
PREFIX: Final = "model."
"""Begins the id of every such option, so that no model's option is taken for one of the agent's."""


def id_of(option: ModelOption) -> str:
    """The id that an option is set by."""
    return f"{PREFIX}{option.id}"


def value_of(thread: Thread, option: ModelOption) -> OptionValue:
    """The value in force: the chosen one, where this model has it, else the default."""
    chosen = dict(thread.settings.features).get(id_of(option), option.default)
    known = {value.value: value for value in option.values}
    return known.get(chosen) or known.get(option.default) or OptionValue(chosen, chosen)


def of_request(thread: Thread, model: ModelChoice) -> tuple[tuple[str, OptionValue], ...]:
    """All of them, for a request."""
    return tuple((option.id, value_of(thread, option)) for option in model.options)


def put(thread: Thread, option: str, value: str) -> Thread:
    """The thread with this value chosen; kept for models that have the option, whichever is in force."""
    if not option.startswith(PREFIX):
        return thread
    others = tuple(pair for pair in thread.settings.features if pair[0] != option)
    return replace(thread, settings=replace(thread.settings, features=(*others, (option, value))))
