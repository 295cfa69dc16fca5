"""A change of one setting in the text of the user's file: checked before anything is written, comments stay."""

from collections.abc import MutableMapping
from typing import TypeGuard, get_origin

from returns.result import Failure, Result, Success

from zidane_acp.config.file import examined
from zidane_acp.config.kinds import is_record, item_of, keys_of, kind_of, named_of, words
from zidane_acp.config.paths import dotted
from zidane_acp.config.places import split_key
from zidane_acp.config.reading import nearest, parsed, shown
from zidane_acp.config.records import UserFile
from zidane_core.text import is_object


def changed(data: bytes, file: str, key: str, value: str) -> Result[bytes, str]:
    """The bytes of the file with one setting changed. The failure is a sentence for the user."""
    keys = split_key(key)
    if keys is None:
        return Failure(f"{shown(key)} is no name of a setting; write it like permissions.policy.")
    found = _annotation(keys)
    if isinstance(found, Failure):
        return found
    whole = parsed(data, f"The config file {shown(file)}")
    if isinstance(whole, str):
        return Failure(f"{whole} Mend it first; `zidane-acp config check` says where.")
    new = _written(whole[1], keys, _meant(found.unwrap(), value))
    if new is None:
        return Failure(f"{dotted(keys)} cannot be written there; change {shown(file)} with an editor.")
    known = {(problem.path, problem.text) for problem in examined(data, file)[1]}
    fresh = [problem for problem in examined(new, file)[1] if (problem.path, problem.text) not in known]
    if fresh:
        # What follows tells what becomes of a value that is in the file.
        wrong = fresh[0].text.partition(";")[0].rstrip(".")
        return Failure(f"Nothing was written: {wrong}.")
    return Success(new)


def _annotation(keys: tuple[str, ...]) -> Result[object, str]:
    """The type of a setting."""
    annotation: object = UserFile
    for place, key in enumerate(keys):
        kind = kind_of(annotation).type
        said = shown(dotted(keys[: place + 1]))
        if is_record(kind):
            fields = {name: each for name, each, _ in keys_of(kind)}
            if key not in fields:
                return Failure(f"There is no setting {said}{nearest(key, tuple(fields))}.")
            annotation = fields[key]
        elif (named := named_of(kind)) is not None:
            annotation = named
        else:
            return Failure(f"There is no setting {said}; {dotted(keys[:place])} takes {words(annotation)}.")
    kind = kind_of(annotation).type
    item = item_of(kind)
    if item is not None and is_record(kind_of(item).type):
        return Failure(f"{dotted(keys)} is a list of tables; write it with an editor.")
    named = named_of(kind)
    if is_record(kind) or (named is not None and is_record(kind_of(named).type)):
        return Failure(
            f"{dotted(keys)} is a table; name one of its settings, such as {_example(keys, kind)}."
        )
    return Success(annotation)


def _example(keys: tuple[str, ...], kind: object) -> str:
    named = named_of(kind)
    inner = kind if named is None else kind_of(named).type
    field = next(name for name, _, _ in keys_of(inner)) if is_record(inner) else "NAME"
    return dotted((*keys, *(() if named is None else ("NAME",)), field))


def _meant(annotation: object, value: str) -> object:
    """The value as TOML where the setting takes no text; a list may be written as its one item."""
    kind = kind_of(annotation).type
    if kind is str or get_origin(kind) not in (tuple, dict, None) or kind is object:
        return value
    import tomllib

    try:
        read: object = tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        read = value
    return [read] if item_of(kind) is not None and isinstance(read, str) else read


def _written(text: str, keys: tuple[str, ...], value: object) -> bytes | None:
    """The text with the value in its place; None where that cannot be done."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        table: MutableMapping[str, object] = document
        for key in keys[:-1]:
            if key not in table:
                table[key] = tomlkit.table()
            inner: object = table[key]
            if not _is_table(inner):
                return None
            table = inner
        table[keys[-1]] = value
        new = tomlkit.dumps(document).encode()
    except (TOMLKitError, TypeError, ValueError):
        return None
    whole = parsed(new, "")
    return new if not isinstance(whole, str) and _at(whole[0], keys) == value else None


def _at(table: object, keys: tuple[str, ...]) -> object:
    for key in keys:
        table = table.get(key) if is_object(table) else None
    return table


def _is_table(value: object) -> TypeGuard[MutableMapping[str, object]]:
    return isinstance(value, MutableMapping)
