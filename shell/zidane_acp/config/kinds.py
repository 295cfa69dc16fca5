"""What a field of a record takes, in words and in parts: for problems, for the documentation, and for reading."""

import types
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeGuard, Union, get_args, get_origin

import msgspec

PLAIN: Final = {bool: "true or false", str: "text", dict: "a table", object: "anything"}


class Kind(NamedTuple):
    """A type without what stands around it: `None` as an alternative is gone, its bounds are in `meta`."""

    type: Any  # a type of any of the forms that an annotation has
    meta: msgspec.Meta | None = None


def kind_of(annotation: object) -> Kind:
    """The type inside of an annotation, and the innermost bounds on it."""
    meta: msgspec.Meta | None = None
    while True:
        if get_origin(annotation) is Annotated:
            inner, *metas = get_args(annotation)
            found = next((item for item in metas if isinstance(item, msgspec.Meta) and _bounds(item)), None)
            annotation, meta = inner, found or meta
            continue
        rest = [item for item in _union(annotation) if item is not types.NoneType]
        if len(rest) != 1:
            return Kind(annotation, meta)
        (annotation,) = rest


def _union(annotation: object) -> tuple[object, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else ()


def _bounds(meta: msgspec.Meta) -> bool:
    return any(value is not None for value in (meta.ge, meta.pattern, meta.min_length))


def description(annotation: object) -> str:
    """What is said of a field beside its type; '' for none."""
    metas = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    found = (item.description for item in metas if isinstance(item, msgspec.Meta))
    return next((text for text in found if text), "")


def is_record(kind: object) -> TypeGuard[type[msgspec.Struct]]:
    """Whether a type is a record, which a file writes as a table."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def item_of(kind: object) -> object | None:
    """The type of the items of a list; None for what is no list."""
    return get_args(kind)[0] if get_origin(kind) is tuple else None


def named_of(kind: object) -> object | None:
    """The type of the values of a table whose names are free; None for any other type."""
    return get_args(kind)[1] if get_origin(kind) is dict else None


def words(annotation: object) -> str:
    """What a field takes: `a whole number of at least 1`."""
    kind, meta = kind_of(annotation)
    item = item_of(kind)
    if item is not None:
        return "a list of tables" if is_record(kind_of(item).type) else "a list of texts"
    named = named_of(kind)
    if named not in (None, object) and not is_record(kind_of(named).type):
        return f"a table, each value {words(named)}"
    if get_origin(kind) is Literal:
        return _one_of([str(value) for value in get_args(kind)])
    if _union(kind):
        return " or ".join(words(part) for part in _union(kind) if part is not types.NoneType)
    if kind in (int, float):
        least = "" if meta is None or meta.ge is None else f" of at least {meta.ge}"
        return f"a {'whole ' if kind is int else ''}number{least}"
    if kind is str and meta is not None:
        return "the name of an environment variable" if meta.pattern else "text that is not empty"
    return "a table" if is_record(kind) or get_origin(kind) is dict else PLAIN.get(kind, "something else")


def _one_of(values: list[str]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


def keys_of(record: type[msgspec.Struct]) -> Iterator[tuple[str, object, bool]]:
    """The fields of a record: name, annotation, and whether it must be there."""
    for field in msgspec.structs.fields(record):
        yield field.name, field.type, field.required
