"""The models of an agent by the names that people use (ring 2)."""

from zidane_core.agent.state import Options, Thread
from zidane_core.data.models import ModelChoice


def chosen(options: Options, thread: Thread) -> ModelChoice:
    """The model of a thread; the default one where its own is gone."""
    by_value = {model.value: model for model in options.models}
    model = by_value.get(thread.settings.model) or by_value.get(options.default_model)
    return model or options.models[0]


def value_of(options: Options, name: str) -> str:
    """The value that a model is chosen by, from that or from provider/id; any other text as it is."""
    if any(model.value == name for model in options.models):
        return name
    full = {f"{model.provider}/{model.id}": model.value for model in options.models if model.provider}
    return full.get(name, name)


def looked_up(options: Options, text: str) -> tuple[ModelChoice, ...]:
    """The models that a user may mean: the one of that name, else all in whose value or name the text stands."""
    wanted = value_of(options, text)
    exact = tuple(model for model in options.models if model.value == wanted)
    lower = text.lower()
    return exact or tuple(
        model for model in options.models if lower in model.value.lower() or lower in model.name.lower()
    )
