"""Reading records whose optional fields are lenient: what is malformed counts as absent, the rest stands.

This holds for capabilities, content blocks and what the client answers (schema: x-deserialize-default-on-error,
x-deserialize-skip-invalid-items).
"""

from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Final, TypeVar, Union, cast, get_args, get_origin

import msgspec
from returns.result import Failure, Result, Success

S = TypeVar("S", bound=msgspec.Struct)

_TOO_DEEP: Final = "it is nested too deeply"


def lenient(kind: type[S]) -> Callable[[msgspec.Raw], Result[S, str]]:
    """A reader for records of `kind`. Its failure is a required field that is absent or malformed."""
    decoder = msgspec.json.Decoder(kind)

    def read(raw: msgspec.Raw) -> Result[S, str]:
        try:
            return Success(decoder.decode(raw))
        except msgspec.DecodeError:
            return _mended(raw, kind)
        except RecursionError:
            return Failure(_TOO_DEEP)

    return read


def _mended(raw: msgspec.Raw, kind: type[S]) -> Result[S, str]:
    try:
        members = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        return Success(msgspec.convert(_pruned(_opened(members), kind), kind))
    except msgspec.DecodeError as error:
        return Failure(str(error))
    except RecursionError:
        return Failure(_TOO_DEEP)


def _opened(members: Mapping[str, msgspec.Raw]) -> dict[str, object]:
    """Every member by itself, since a number out of range in one must not spoil the others."""
    opened: dict[str, object] = {}
    for name, raw in members.items():
        try:
            opened[name] = msgspec.json.decode(raw)
        except msgspec.ValidationError:
            opened[name] = msgspec.UNSET
    return opened


def _pruned(value: object, kind: type[msgspec.Struct]) -> object:
    if not isinstance(value, Mapping):
        return value
    known = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    # The cast only says that nothing is known of the values.
    members = dict(cast("Mapping[str, object]", value))
    for name in members.keys() & known.keys():
        field = known[name]
        if not field.required:
            members[name] = _pruned_value(members[name], field.type)
            if not _fits(members[name], field.type):
                del members[name]
    return members


def _pruned_value(value: object, wanted: object) -> object:
    for option in _options(wanted):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return _pruned(value, option)
        if get_origin(option) is tuple and isinstance(value, list):
            item_type = get_args(option)[0]
            return [item for item in cast("list[object]", value) if _fits(item, item_type)]
    return value


def _options(wanted: object) -> tuple[object, ...]:
    if get_origin(wanted) in (Union, UnionType):
        return tuple(option for option in get_args(wanted) if option is not NoneType)
    return (wanted,)


def _fits(value: object, wanted: object) -> bool:
    if value is msgspec.UNSET:
        return False
    try:
        msgspec.convert(value, cast("type[object]", wanted))
    except msgspec.ValidationError:
        return False
    return True
