"""What the models endpoints of providers answer, read into one form (ring 1)."""

from collections.abc import Mapping
from typing import Final

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.models.codec import Family
from zidane_core.text import clean, decode_json, is_array, is_object

MOST: Final = 5000
"""Models of one answer that are read."""

LONGEST: Final = 200
"""Characters of an id or a name; what is longer is no model's."""

OLLAMA: Final = "ollama"


class ListedModel(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A model that an endpoint offers; `context_window` in tokens where it says so."""

    id: str
    name: str = ""
    context_window: int | None = None


_LISTS: Final = ("data", "models")
_IDS: Final = ("id", "name")
_NAMES: Final = ("display_name", "name")
_WINDOWS: Final = ("context_window", "context_length", "max_context_length", "max_input_tokens")
"""The names of one thing at several providers; the first that is there counts."""


def listing_url(provider: str, family: Family, base_url: str) -> str:
    """Where a provider lists its models."""
    base = base_url.strip().rstrip("/")
    if provider == OLLAMA:
        return base.removesuffix("/v1") + "/api/tags"
    if family == "anthropic":
        return base.removesuffix("/messages").removesuffix("/v1") + "/v1/models?limit=1000"
    # Other addresses hold their version already, as far as there is one.
    return base.removesuffix("/chat/completions").removesuffix("/responses") + "/models"


def read_listing(data: bytes) -> Result[tuple[ListedModel, ...], str]:
    """The models of an answer, by id. The failure says what is wrong with it, for the end of a sentence."""
    answer: object = decode_json(data).value_or(None)
    found = answer
    if is_object(answer):
        # Some say null for an empty list.
        found = next((answer[field] or [] for field in _LISTS if field in answer), None)
    if not is_array(found):
        return Failure("it answers no list of models")
    listed = (_model(item) for item in found[:MOST] if is_object(item))
    by_id = {model.id: model for model in listed if model is not None}
    return Success(tuple(by_id[name] for name in sorted(by_id)))


def _model(item: Mapping[str, object]) -> ListedModel | None:
    name = _text(item, _IDS)
    if not name:
        return None
    shown = _text(item, _NAMES)
    windows = (item.get(field) for field in _WINDOWS)
    window = next((size for size in windows if isinstance(size, int) and not isinstance(size, bool)), None)
    return ListedModel(name, "" if shown == name else shown, window if window and window > 0 else None)


def _text(item: Mapping[str, object], fields: tuple[str, ...]) -> str:
    values = (item.get(field) for field in fields)
    return next(
        (clean(value) for value in values if isinstance(value, str) and 0 < len(value) <= LONGEST), ""
    )
