"""Reading JSON that others wrote: a value of the wrong type counts as absent."""

from typing import TypeAlias, TypeGuard

JsonObject: TypeAlias = dict[str, object]


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether a decoded JSON value is an object (JSON keys are always strings)."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """Whether a decoded JSON value is an array."""
    return isinstance(value, list)


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
