"""What the chosen values of a model's own options put into a provider's request (ring 1)."""

from collections.abc import Mapping
from typing import Final

from zidane_core.data.models import OptionValue
from zidane_core.text import decode_json, is_object

RESERVED: Final = frozenset({"model", "messages", "input", "stream"})
"""Fields of a request that no option changes: they are what the request is about, and how its answer is read."""


def with_options(
    body: Mapping[str, object], options: tuple[tuple[str, OptionValue], ...]
) -> Mapping[str, object]:
    """The body with each value's JSON object merged in, in order: objects field by field, everything else is replaced."""
    for _, value in options:
        extra: object = decode_json(value.body).value_or(None) if value.body else None
        if is_object(extra):
            allowed = {name: field for name, field in extra.items() if name not in RESERVED}
            body = _merged(body, allowed)
    return body


def _merged(body: Mapping[str, object], extra: Mapping[str, object]) -> Mapping[str, object]:
    return {**body, **{name: _field(body.get(name), value) for name, value in extra.items()}}


def _field(old: object, new: object) -> object:
    return _merged(old, new) if is_object(old) and is_object(new) else new
