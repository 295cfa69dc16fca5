"""Forms that a user fills in: a flat JSON schema, as much of it as clients can show, and what comes back (ring 2).

Patterns are passed on but not tried here: an expression of others could keep the machine busy for ever.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from returns.result import Failure, Result, Success

from zidane_core.agent import schema
from zidane_core.convert.schemas import is_well_formed
from zidane_core.text import is_array, is_object

PLAIN: Final[Mapping[str, object]] = MappingProxyType({"type": "string", "title": "Answer"})
"""The one field of a question without a form."""

_COMMON: Final = frozenset({"type", "title", "description", "default"})
_FIELDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "string": _COMMON | {"minLength", "maxLength", "pattern", "format", "enum", "oneOf"},
        "number": _COMMON | {"minimum", "maximum"},
        "integer": _COMMON | {"minimum", "maximum"},
        "boolean": _COMMON,
        "array": _COMMON | {"items", "minItems", "maxItems"},
    }
)
"""The kinds of fields, and what may be said of each; the rest is left out."""

_FORMATS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "email": re.compile(r"[^@\s]+@[^@\s]+"),
        "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
        "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
        "date-time": re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}\S*"),
    }
)


def form(given: object) -> Result[dict[str, object], str]:
    """The form to show: what clients understand of a schema. The failure says what a form may hold.

    No schema at all, or one without a field, is a single text field with the name `answer`.
    """
    if given is None or given == {}:
        return Success(_of({"answer": dict(PLAIN)}, ["answer"], {}))
    if not is_object(given) or given.get("type", "object") != "object":
        return Failure("The schema of a form must be a JSON schema of the type object.")
    properties = given.get("properties")
    if not is_object(properties) or not properties:
        return Failure("The schema of a form needs properties, one for each field.")
    fields: dict[str, object] = {}
    for name, field in properties.items():
        made = _field(field)
        if isinstance(made, str):
            return Failure(f"The field {name!r} {made}")
        fields[name] = made
    required = given.get("required")
    names = [name for name in required if isinstance(name, str)] if is_array(required) else []
    needed = [name for name in names if name in fields]
    return Success(_of(fields, needed, given))


def _of(
    fields: dict[str, object], required: list[object] | list[str], given: dict[str, object]
) -> dict[str, object]:
    words = {name: given[name] for name in ("title", "description") if isinstance(given.get(name), str)}
    return {"type": "object", **words, "properties": fields, "required": required}


def _field(field: object) -> dict[str, object] | str:
    """A field as clients know it, or what is wrong with it."""
    kind = field.get("type") if is_object(field) else None
    if not is_object(field) or not isinstance(kind, str) or kind not in _FIELDS:
        return "must be of the type string, number, integer, boolean, or array of choices; forms are flat."
    kept = {
        name: value for name, value in field.items() if name in _FIELDS[kind] and is_well_formed(name, value)
    }
    if kind == "array" and not _choices(kept.get("items")):
        return "is a list, so its items need an enum of texts, or anyOf with const and title."
    names = field.get("enumNames")
    values = kept.get("enum")
    if is_array(names) and is_array(values) and len(names) == len(values):
        # The older way to name choices.
        kept.pop("enum")
        kept["oneOf"] = [{"const": value, "title": title} for value, title in zip(values, names, strict=True)]
    if kind == "string" and ("enum" in kept or "oneOf" in kept) and not _choices(kept):
        return "has choices that are no texts."
    form = kept.get("format")
    if form is not None and not (isinstance(form, str) and form in _FORMATS):
        kept.pop("format")
    return kept


def _choices(field: object) -> tuple[tuple[str, str], ...]:
    """The choices of a field or of a list's items: value and title."""
    if not is_object(field):
        return ()
    plain = field.get("enum")
    if is_array(plain):
        return tuple((value, value) for value in plain if isinstance(value, str))
    titled = field.get("oneOf", field.get("anyOf"))
    found = titled if is_array(titled) else []
    pairs = ((one.get("const"), one.get("title")) for one in found if is_object(one))
    return tuple(
        (value, title if isinstance(title, str) else value)
        for value, title in pairs
        if isinstance(value, str)
    )


def _properties(shown: dict[str, object]) -> dict[str, dict[str, object]]:
    properties = shown.get("properties")
    fields = properties if is_object(properties) else {}
    return {name: field for name, field in fields.items() if is_object(field)}


def filled(shown: dict[str, object], content: dict[str, object]) -> Result[dict[str, object], str]:
    """What a user filled in, seen to fit the form; fields that the form has not are left out. The failure says what
    does not fit."""
    fields = _properties(shown)
    known = {name: value for name, value in content.items() if name in fields and value is not None}
    problems = schema.check(shown, known)
    problems += tuple(
        problem
        for name, value in known.items()
        for check in _CHECKS
        if (problem := check(name, fields[name], value))
    )
    return Failure("; ".join(problems[:10])) if problems else Success(known)


def _check_choice(name: str, field: dict[str, object], value: object) -> str:
    choices = [choice for choice, _ in _choices(field.get("items", field))]
    given = value if is_array(value) else [value]
    wrong = [one for one in given if one not in choices] if choices else []
    return f"`{name}` must be one of {', '.join(choices[:20])}" if wrong else ""


def _check_format(name: str, field: dict[str, object], value: object) -> str:
    pattern = _FORMATS.get(str(field.get("format")))
    if pattern is None or not isinstance(value, str) or pattern.fullmatch(value):
        return ""
    return f"`{name}` is not of the format {field['format']}"


_CHECKS: Final[tuple[Callable[[str, dict[str, object], object], str], ...]] = (_check_choice, _check_format)


def as_text(message: str, shown: dict[str, object]) -> str:
    """A form as plain text, for a client that shows none."""
    fields = _properties(shown)
    if list(fields) == ["answer"] and fields["answer"] == dict(PLAIN):
        return message
    required = shown.get("required")
    needed = [name for name in required if isinstance(name, str)] if is_array(required) else []
    return "\n".join((message, "", *(_line(name, field, name in needed) for name, field in fields.items())))


def _line(name: str, field: dict[str, object], needed: bool) -> str:
    title, about = field.get("title"), field.get("description")
    words = [f"- **{title if isinstance(title, str) else name}**"]
    if isinstance(about, str) and about:
        words.append(about)
    choices = _choices(field.get("items", field))
    if choices:
        many = "any of" if field.get("type") == "array" else "one of"
        words.append(f"{many}: {', '.join(label for _, label in choices)}")
    elif field.get("type") == "boolean":
        words.append("yes or no")
    return ": ".join(words) + ("" if needed else " (optional)")
