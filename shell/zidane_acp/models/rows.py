"""The models that can be chosen, and those that their providers offer beside them, as rows of a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from zidane_acp.models.endpoints import Offer
from zidane_acp.options import AcpServerOptions, core_options
from zidane_core.data.models import ModelChoice, Price
from zidane_core.models.codec import NO_LIMIT
from zidane_core.models.known_models import model_choice
from zidane_core.models.providers import PROVIDERS

HEADINGS: Final = ("Model", "Provider", "Window", "Output", "Price in / out", "")


class Row(msgspec.Struct, frozen=True, gc=False):
    """A model. `state` is `default`, `offered` for one that only its provider names, or ''."""

    model: ModelChoice
    state: str = ""


def rows_of(options: AcpServerOptions, offers: Mapping[str, Offer]) -> tuple[Row, ...]:
    """The rows: what can be chosen in its order, then what the providers offer beyond that."""
    found = core_options(options)
    chosen = tuple(
        Row(model, "default" if model.value == found.default_model else "") for model in found.models
    )
    return (*chosen, *_offered(found.models, offers))


def _offered(models: Sequence[ModelChoice], offers: Mapping[str, Offer]) -> Iterator[Row]:
    there = {(model.provider, model.id) for model in models}
    for name, offer in offers.items():
        row = PROVIDERS.get(name)
        for listed in offer.models:
            if (name, listed.id) in there:
                continue
            model = model_choice(name, listed.id, listed.name, anything=row is None or row.key_optional)
            window = listed.context_window or model.context_window
            yield Row(msgspec.structs.replace(model, context_window=window), "offered")


def cells(row: Row) -> tuple[str, ...]:
    """A row as texts; '' for what is not known."""
    model = row.model
    output = "" if model.max_output == NO_LIMIT else size(model.max_output)
    return (model.value, model.provider, size(model.context_window), output, cost(model.price), row.state)


def size(tokens: int | None) -> str:
    """Tokens in few characters: 128k, 1.05M."""
    if tokens is None:
        return ""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.2f}".rstrip("0").rstrip(".") + "M"
    return f"{tokens / 1000:.0f}k" if tokens >= 1000 else str(tokens)


def cost(price: Price | None) -> str:
    """Dollars for a million tokens, in and out."""
    return "" if price is None else f"${price.input:g} / ${price.output:g}"


def facts(row: Row) -> dict[str, object]:
    """A row for programs."""
    model = row.model
    return {
        "value": model.value,
        "provider": model.provider,
        "id": model.id,
        "name": model.name,
        "contextWindow": model.context_window,
        "maxOutput": None if model.max_output == NO_LIMIT else model.max_output,
        "images": model.images,
        "audio": model.audio,
        "documents": model.documents,
        "thinking": model.thinking,
        "price": _prices(model.price),
        "default": row.state == "default",
        "canBeChosen": row.state != "offered",
    }


def _prices(price: Price | None) -> dict[str, float | None] | None:
    if price is None:
        return None
    return {
        "input": price.input,
        "output": price.output,
        "cachedRead": price.cached_read,
        "cachedWrite": price.cached_write,
    }
