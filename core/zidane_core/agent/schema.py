"""A subset of JSON Schema, enough to check the arguments of tools (ring 2).

Known: type, required, enum, const, properties, additionalProperties, items, anyOf and the bounds of numbers,
strings and lists. Every other keyword lets pass, and so does a malformed schema: foreign servers write them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeGuard

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.text import decode_json, is_array, is_object

_DEEPEST: Final = 64
"""Below this depth nothing is checked, so that a foreign schema cannot exhaust the stack."""


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return _is_number(value) and value == value // 1


_TYPES: Final[Mapping[str, tuple[str, Callable[[object], bool]]]] = MappingProxyType(
    {
        "string": ("a string", lambda value: isinstance(value, str)),
        "integer": ("an integer", _is_integer),
        "number": ("a number", _is_number),
        "boolean": ("true or false", lambda value: isinstance(value, bool)),
        "array": ("a list", is_array),
        "object": ("an object", is_object),
        "null": ("null", lambda value: value is None),
    }
)
_SEEN: Final = ("null", "boolean", "integer", "number", "string", "array", "object")


def _kind(value: object) -> str:
    """What a value is, in the words of the problems."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return next((_TYPES[name][0] for name in _SEEN if _TYPES[name][1](value)), "something else")


def _same(one: object, other: object) -> bool:
    """JSON equality: unlike Python's, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_array(one) and is_array(other):
        return len(one) == len(other) and all(map(_same, one, other))
    if is_object(one) and is_object(other):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return one == other


def _quoted(value: object) -> str:
    """A value as short JSON."""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."


def _types(schema: dict[str, object]) -> tuple[str, ...]:
    wanted = schema.get("type")
    names = wanted if is_array(wanted) else [wanted]
    return tuple(name for name in names if isinstance(name, str))


def _check_type(schema: dict[str, object], value: object, where: str, depth: int) -> tuple[str, ...]:
    names = _types(schema)
    if not names or any(name not in _TYPES or _TYPES[name][1](value) for name in names):
        return ()
    return (f"{where} must be {' or '.join(_TYPES[name][0] for name in names)}, got {_kind(value)}",)


def _check_enum(schema: dict[str, object], value: object, where: str, depth: int) -> tuple[str, ...]:
    allowed = schema.get("enum")
    if not is_array(allowed) or any(_same(choice, value) for choice in allowed):
        return ()
    return (f"{where} must be one of {', '.join(map(_quoted, allowed[:20]))}, got {_quoted(value)}",)


def _check_const(schema: dict[str, object], value: object, where: str, depth: int) -> tuple[str, ...]:
    if "const" not in schema or _same(schema["const"], value):
        return ()
    return (f"{where} must be {_quoted(schema['const'])}, got {_quoted(value)}",)


def _check_object(schema: dict[str, object], value: object, where: str, depth: int) -> tuple[str, ...]:
    if not is_object(value):
        return ()
    required = schema.get("required")
    names = [name for name in required if isinstance(name, str)] if is_array(required) else []
    missing = tuple(f"{_member(where, name)} is missing" for name in names if name not in value)
    declared = schema.get("properties")
    properties = declared if is_object(declared) else {}
    inner = tuple(
        problem
        for name, member in properties.items()
        if name in value and is_object(member)
        for problem in _check(member, value[name], _member(where, name), depth + 1)
    )
    extra = schema.get("additionalProperties", True)
    others = [name for name in value if name not in properties]
    if extra is False:
        known = ", ".join(f"`{name}`" for name in properties) or "none"
        unknown = tuple(f"{_member(where, name)} is not known (known: {known})" for name in others)
    elif is_object(extra):
        unknown = tuple(
            problem
            for name in others
            for problem in _check(extra, value[name], _member(where, name), depth + 1)
        )
    else:
        unknown = ()
    return missing + inner + unknown


def _check_items(schema: dict[str, object], value: object, where: str, depth: int) -> tuple[str, ...]:
    items = schema.get("items")
    if not is_array(value) or not is_object(items):
        return ()
    return tuple(
        problem
        for index, item in enumerate(value)
        for problem in _check(items, item, _element(where, index), depth + 1)
    )


def _check_any(schema: dict[str, object], value: object, where: str, depth: int) -> tuple[str, ...]:
    listed = schema.get("anyOf")
    choices = [choice for choice in listed if is_object(choice)] if is_array(listed) else []
    found = [_check(choice, value, where, depth + 1) for choice in choices]
    if not found or () in found:
        return ()
    return (f"{where} fits none of the allowed forms: " + "; or ".join(problems[0] for problems in found),)


_Bound = tuple[str, Callable[[object], float | None], Callable[[float, float], bool], str]


def _number(value: object) -> float | None:
    return value if _is_number(value) else None


def _length(value: object) -> float | None:
    return len(value) if isinstance(value, str) else None


def _count(value: object) -> float | None:
    return len(value) if is_array(value) else None


_BOUNDS: Final[tuple[_Bound, ...]] = (
    ("minimum", _number, lambda size, bound: size >= bound, "must be at least {}"),
    ("maximum", _number, lambda size, bound: size <= bound, "must be at most {}"),
    ("exclusiveMinimum", _number, lambda size, bound: size > bound, "must be more than {}"),
    ("exclusiveMaximum", _number, lambda size, bound: size < bound, "must be less than {}"),
    ("minLength", _length, lambda size, bound: size >= bound, "must have at least {} characters"),
    ("maxLength", _length, lambda size, bound: size <= bound, "must have at most {} characters"),
    ("minItems", _count, lambda size, bound: size >= bound, "must have at least {} items"),
    ("maxItems", _count, lambda size, bound: size <= bound, "must have at most {} items"),
)


def _check_bounds(schema: dict[str, object], value: object, where: str, depth: int) -> tuple[str, ...]:
    problems: list[str] = []
    for keyword, measure, fits, sentence in _BOUNDS:
        bound, size = schema.get(keyword), measure(value)
        if _is_number(bound) and size is not None and not fits(size, bound):
            got = _quoted(value) if measure is _number else f"{int(size)}"
            problems.append(f"{where} {sentence.format(bound)}, got {got}")
    return tuple(problems)


_CHECKS: Final = (
    _check_type,
    _check_enum,
    _check_const,
    _check_bounds,
    _check_object,
    _check_items,
    _check_any,
)


def _member(where: str, name: str) -> str:
    path = "" if where == _WHOLE else where.strip("`") + "."
    return f"`{path}{name}`"


def _element(where: str, index: int) -> str:
    return f"`{'' if where == _WHOLE else where.strip('`')}[{index}]`"


def _check(schema: dict[str, object], value: object, where: str, depth: int) -> tuple[str, ...]:
    if depth > _DEEPEST:
        return ()
    return tuple(problem for check_one in _CHECKS for problem in check_one(schema, value, where, depth))


_WHOLE: Final = "the value"


def check(schema: dict[str, object], value: object) -> tuple[str, ...]:
    """What is wrong with a value, each problem a phrase that names its field; empty when it fits.

    >>> check({"type": "object", "required": ["path"]}, {})
    ('`path` is missing',)
    """
    return _check(schema, value, _WHOLE, 0)


def parse_arguments(text: str, schema: dict[str, object]) -> Result[dict[str, object], str]:
    """The arguments of a tool call from the JSON text a model wrote; empty text means none.

    The failure is a sentence for the model. Lone surrogates become U+FFFD.
    """
    decoded = decode_json(text if text.strip() else "{}")
    if isinstance(decoded, Failure):
        problem = decoded.failure().removeprefix("JSON is malformed: ")
        return Failure(f"The arguments are not valid JSON: {problem}. Send one complete JSON object.")
    return _fitting(decoded.unwrap(), schema)


def _fitting(value: object, schema: dict[str, object]) -> Result[dict[str, object], str]:
    if not is_object(value):
        return Failure(f"The arguments must be one JSON object, got {_kind(value)}.")
    problems = check(schema, value)
    if problems:
        more = f"; and {len(problems) - 10} more" if len(problems) > 10 else ""
        return Failure(f"The arguments do not fit the tool: {'; '.join(problems[:10])}{more}.")
    return Success(value)
