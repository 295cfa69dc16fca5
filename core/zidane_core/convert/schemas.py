"""Whether a JSON schema is one, as far as tools use them: every known keyword has the form that it must have."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.text import is_array, is_object

_DEEPEST: Final = 64
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return _is_number(value) and isinstance(value, int) and value >= 0


def _is_type(value: object) -> bool:
    names = value if is_array(value) else [value]
    return bool(names) and all(isinstance(name, str) and name in _TYPES for name in names)


def _is_names(value: object) -> bool:
    return is_array(value) and all(isinstance(name, str) for name in value)


_FORMS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = MappingProxyType(
    {
        "type": (_is_type, "must be a JSON type or a list of them"),
        "required": (_is_names, "must be a list of names"),
        "enum": (lambda value: is_array(value) and bool(value), "must be a list of values"),
        "properties": (is_object, "must be an object of schemas"),
        "title": (lambda value: isinstance(value, str), "must be a string"),
        "description": (lambda value: isinstance(value, str), "must be a string"),
        "pattern": (lambda value: isinstance(value, str), "must be a string"),
        "anyOf": (lambda value: is_array(value) and bool(value), "must be a list of schemas"),
        "oneOf": (lambda value: is_array(value) and bool(value), "must be a list of schemas"),
        "allOf": (lambda value: is_array(value) and bool(value), "must be a list of schemas"),
        "minimum": (_is_number, "must be a number"),
        "maximum": (_is_number, "must be a number"),
        "exclusiveMinimum": (_is_number, "must be a number"),
        "exclusiveMaximum": (_is_number, "must be a number"),
        "minLength": (_is_count, "must be a count"),
        "maxLength": (_is_count, "must be a count"),
        "minItems": (_is_count, "must be a count"),
        "maxItems": (_is_count, "must be a count"),
    }
)
_NAMED: Final = ("properties", "$defs", "definitions", "patternProperties")
_LISTED: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties", "not", "contains")


def is_well_formed(keyword: str, value: object) -> bool:
    """Whether the value of a keyword has the form that it must have; unknown keywords have any."""
    known = _FORMS.get(keyword)
    return known is None or known[0](value)


def schema_problem(schema: object) -> tuple[str, str] | None:
    """The first thing that is wrong with the schema of a tool's arguments: the place in it, and what; None when it is a
    schema of an object."""
    if not is_object(schema):
        return "", "must be a JSON schema, which is an object"
    if schema.get("type", "object") != "object":
        return ".type", 'must be "object", since a tool takes named arguments'
    return _problem(schema, "", 0)


def _problem(schema: object, place: str, depth: int) -> tuple[str, str] | None:
    if isinstance(schema, bool):
        return None
    if not is_object(schema):
        return place, "must be a schema"
    if depth > _DEEPEST:
        return place, "is nested too deeply"
    for keyword, (fits, words) in _FORMS.items():
        if keyword in schema and not fits(schema[keyword]):
            return f"{place}.{keyword}", words
    return next(
        (found for where, inner in _below(schema) if (found := _problem(inner, place + where, depth + 1))),
        None,
    )


def _below(schema: dict[str, object]) -> tuple[tuple[str, object], ...]:
    """The schemas within a schema, each with its place."""
    found: list[tuple[str, object]] = []
    for keyword in _NAMED:
        members = schema.get(keyword)
        if is_object(members):
            found.extend((f".{keyword}.{name}", inner) for name, inner in members.items())
    for keyword in _LISTED:
        items = schema.get(keyword)
        if is_array(items):
            found.extend((f".{keyword}[{index}]", inner) for index, inner in enumerate(items))
    for keyword in _SINGLE:
        if keyword in schema and not is_array(schema[keyword]):
            found.append((f".{keyword}", schema[keyword]))
    return tuple(found)
