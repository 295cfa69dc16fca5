"""Which models can be chosen, from keys, flags and the user's file (ring 1)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core.data.models import ModelChoice, ModelOption, Price
from zidane_core.models.providers import ANY_MODEL, Provider, keyed, models

ANY_OLLAMA_MODEL: Final = ModelChoice(
    value=ANY_MODEL,
    name="First model of Ollama",
    provider="ollama",
    id=ANY_MODEL,
    images=False,
    thinking=False,
)


class ConfiguredModel(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A model that the user's file adds, or changes where one of its id is there. None leaves a field as it is known.

    `provider` '' changes that model wherever it is offered; `model` '' is called by its id.
    """

    id: str
    provider: str = ""
    model: str = ""
    name: str | None = None
    context_window: int | None = None
    max_output: int | None = None
    images: bool | None = None
    audio: bool | None = None
    documents: bool | None = None
    thinking: bool | None = None
    price: Price | None = None
    options: tuple[ModelOption, ...] | None = None


class Wish(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What flags and the user's file say of models.

    `only` is the one provider of a flag, `first` the provider whose models come first. The file names the providers
    `named` and takes `off` away. `ids` are the models of flags, then nothing else is offered; `default` is the one to begin
    with, by its id or as provider/id.
    """

    only: str = ""
    first: str = ""
    named: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    default: str = ""
    configured: tuple[ConfiguredModel, ...] = ()


class Picked(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The models in the order of their providers, each with a value of its own; the value of the default one, '' if
    there is no model. `missing` are providers of which no model is known, `warnings` sentences."""

    models: tuple[ModelChoice, ...] = ()
    default: str = ""
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def pick(wish: Wish, env: Mapping[str, str], rows: Mapping[str, Provider]) -> Picked:
    """The models that can be chosen. A provider is there by its key, by a flag, or because the file names it."""
    providers = _providers(wish, env, rows)
    pool, warnings = _pool(wish, providers, rows)
    chosen = pool if not wish.ids or not providers else _asked(wish.ids, pool, providers, rows)
    offered = _distinct(chosen)
    default = "" if wish.ids else wish.default
    found = matching(offered, default) if default else None
    if default and found is None and offered and not wish.only:
        warnings = (*warnings, _no_default(default, offered[0].value))
    covered = {choice.provider for choice in offered}
    return Picked(
        models=offered,
        default=found.value if found else offered[0].value if offered else "",
        missing=() if wish.ids else tuple(name for name in providers if name not in covered),
        warnings=warnings,
    )


def matching(offered: Iterable[ModelChoice], word: str) -> ModelChoice | None:
    """The model that a word means: its value, or its provider with its value or its provider's name of it."""
    choices = tuple(offered)
    exact = next((choice for choice in choices if choice.value == word), None)
    return exact or next((choice for choice in choices if word in _full_names(choice)), None)


def _full_names(choice: ModelChoice) -> tuple[str, str]:
    return f"{choice.provider}/{choice.value}", f"{choice.provider}/{choice.id}"


def _no_default(word: str, used: str) -> str:
    return (
        f"default_model {word} is not among the models, so {used} is used; set the key of its provider, or add the "
        "model under [[models]]."
    )


def _providers(wish: Wish, env: Mapping[str, str], rows: Mapping[str, Provider]) -> tuple[str, ...]:
    """Their names in order: what works comes before what has no key."""
    if wish.only:
        return (wish.only,)
    found = [item.provider for item in keyed(env, rows)]
    named = [*wish.named, *(model.provider for model in wish.configured if model.provider)]
    works = [name for name in named if name in rows and _works(rows[name], env)]
    order = dict.fromkeys([*((wish.first,) if wish.first else ()), *found, *works, *named])
    return tuple(name for name in order if name in rows and name not in wish.off)


def usable(wish: Wish, env: Mapping[str, str], rows: Mapping[str, Provider]) -> tuple[str, ...]:
    """The providers that would answer: with a key, or without the need of one."""
    return tuple(name for name in _providers(wish, env, rows) if name in rows and _works(rows[name], env))


def _works(row: Provider, env: Mapping[str, str]) -> bool:
    return row.key_optional or bool(env.get(row.key_variable or "", "").strip())


def _pool(
    wish: Wish, providers: tuple[str, ...], rows: Mapping[str, Provider]
) -> tuple[tuple[ModelChoice, ...], tuple[str, ...]]:
    """All models of the providers, with what the file adds to and changes of them."""
    groups = {name: list(models(name, rows=rows)) for name in providers}
    warnings: list[str] = []
    for item in wish.configured:
        if item.provider:
            if item.provider in groups:
                groups[item.provider] = _with_model(groups[item.provider], item, rows)
            elif item.provider not in rows:
                warnings.append(
                    f"The model {item.id} is of the provider {item.provider}, which does not exist."
                )
            continue
        if not any(choice.value == item.id for group in groups.values() for choice in group):
            warnings.append(f"No provider here offers the model {item.id}; say in [[models]] whose it is.")
        for name, group in groups.items():
            groups[name] = [_changed(choice, item) if choice.value == item.id else choice for choice in group]
    if "ollama" in groups and not groups["ollama"]:
        groups["ollama"] = [ANY_OLLAMA_MODEL]
    return tuple(choice for group in groups.values() for choice in group), tuple(warnings)


def _with_model(
    group: list[ModelChoice], item: ConfiguredModel, rows: Mapping[str, Provider]
) -> list[ModelChoice]:
    if any(choice.value == item.id for choice in group):
        return [_changed(choice, item) if choice.value == item.id else choice for choice in group]
    (fresh,) = models(item.provider, (item.model or item.id,), rows)
    return [*group, _changed(replace(fresh, value=item.id), item)]


def _changed(choice: ModelChoice, item: ConfiguredModel) -> ModelChoice:
    return replace(
        choice,
        id=item.model or choice.id,
        name=choice.name if item.name is None else item.name,
        context_window=choice.context_window if item.context_window is None else item.context_window,
        max_output=choice.max_output if item.max_output is None else item.max_output,
        images=choice.images if item.images is None else item.images,
        audio=choice.audio if item.audio is None else item.audio,
        documents=choice.documents if item.documents is None else item.documents,
        thinking=choice.thinking if item.thinking is None else item.thinking,
        price=choice.price if item.price is None else item.price,
        options=choice.options if item.options is None else item.options,
    )


def _asked(
    ids: tuple[str, ...],
    pool: tuple[ModelChoice, ...],
    providers: tuple[str, ...],
    rows: Mapping[str, Provider],
) -> tuple[ModelChoice, ...]:
    """The models of flags, in their order; one that nobody knows is taken for one of the first provider."""
    return tuple(matching(pool, word) or _unheard(word, providers, rows) for word in ids)


def _unheard(word: str, providers: tuple[str, ...], rows: Mapping[str, Provider]) -> ModelChoice:
    name, _, rest = word.partition("/")
    # OpenRouter has models of its own under its own name.
    named = bool(rest) and name in providers and (name != "openrouter" or "/" in rest)
    provider, model = (name, rest) if named else (providers[0], word)
    return models(provider, (model,), rows)[0]


def _distinct(choices: tuple[ModelChoice, ...]) -> tuple[ModelChoice, ...]:
    """Each model once, its value with the provider in front where two providers have one of that name."""
    kept = tuple(dict.fromkeys(choices))
    often = Counter(choice.value for choice in kept)
    return tuple(
        replace(choice, value=f"{choice.provider}/{choice.value}") if often[choice.value] > 1 else choice
        for choice in kept
    )
