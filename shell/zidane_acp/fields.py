"""Reading JSON that others wrote: a value of the wrong type counts as absent."""

from typing import TypeAlias

from zidane_core.text import is_array, is_object

JsonObject: TypeAlias = dict[str, object]


def text(source: JsonObject, key: str, default: str = "") -> str:
    """A string field."""
    value = source.get(key)
    return value if isinstance(value, str) else default


def child(source: JsonObject, *keys: str) -> JsonObject:
    """The object at a path of keys, empty when it is not there."""
    for key in keys:
        value = source.get(key)
        if not is_object(value):
            return {}
        source = value
    return source


def objects(source: JsonObject, key: str) -> tuple[JsonObject, ...]:
    """The objects of an array field."""
    value = source.get(key)
    return tuple(item for item in value if is_object(item)) if is_array(value) else ()
