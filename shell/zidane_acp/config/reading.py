"""From the bytes of a TOML file to records, one problem a line: what is wrong is left out, and the rest of the file holds."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar

import msgspec

from zidane_acp.config.checks import CHECKS
from zidane_acp.config.kinds import is_record, item_of, keys_of, kind_of, named_of, words
from zidane_acp.config.paths import Path, dotted
from zidane_acp.config.records import (
    KEY_NAMES,
    McpTable,
    OptionTable,
    PriceTable,
    ProviderTable,
    ValueTable,
)
from zidane_core.convert.visible import clip, line
from zidane_core.text import is_array, is_object

R = TypeVar("R", bound=msgspec.Struct)

WIDTH: Final = 200
"""Characters of a name or a path in a problem."""

WHOLE: Final[Mapping[type[msgspec.Struct], str]] = MappingProxyType(
    {
        McpTable: "the server is not used",
        ProviderTable: "the provider is not used",
        PriceTable: "the price is not used",
        OptionTable: "the option is not used",
        ValueTable: "the value is not used",
    }
)
"""Tables of which a part alone means something else: one bad value, and the table is not used."""

UNUSED: Final = "it is not used"

_TOO_DEEP: Final = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){32}""")
"""A chain of keys for which `tomllib` takes the square of its length, in time and in memory."""

Note: TypeAlias = Callable[[Path, str], None]


class Problem(msgspec.Struct, frozen=True, gc=False):
    """What is wrong with a key: the sentence behind the place, never with a value of the file in it."""

    path: Path
    text: str


class _Unusable(msgspec.Struct, frozen=True, gc=False):
    """In place of a value that does not fit."""


_UNUSABLE: Final = _Unusable()


def shown(text: str) -> str:
    """A name that stands in a file, on one line and harmless."""
    return clip(line(text), WIDTH)


def parsed(data: bytes, what: str) -> tuple[dict[str, object], str] | str:
    """The tables and the text of a file, or a sentence about why it is none; `what` names the file."""
    import tomllib

    try:
        text = data.decode("utf-8-sig")
        if _TOO_DEEP.search(text):
            return f"{what} holds a key with more dots than any setting has; nothing of it is used."
        return tomllib.loads(text), text
    except UnicodeDecodeError:
        return f"{what} is not UTF-8; nothing of it is used."
    except tomllib.TOMLDecodeError as error:
        # Only the place: the text may quote what stands there.
        place = str(error).rpartition("(")[2].rstrip(")")
        return f"{what} is no TOML ({place}); nothing of it is used."
    except (ValueError, RecursionError):
        # What Python itself refuses: a number with thousands of digits, arrays in arrays without end.
        return f"{what} holds a number or nesting too large to read; nothing of it is used."


def told(problems: list[Problem], text: str, file: str) -> tuple[str, ...]:
    """The problems as sentences, each with the file and the line. The text is only looked through if there is one."""
    if not problems:
        return ()
    from zidane_acp.config.places import Places

    places = Places(text.replace("\r\n", "\n"))
    return tuple(f"{file}, line {places.line(item.path)}: {item.text}" for item in problems)


def read_record(record: type[R], table: dict[str, object], note: Note, path: Path = ()) -> R | None:
    """A table as a record; None when it lacks what it must have. Everything wrong is noted."""
    annotations = {name: (annotation, required) for name, annotation, required in keys_of(record)}
    rest = WHOLE.get(record, UNUSED)
    good: dict[str, object] = {}
    bad = False
    for key, value in table.items():
        if key not in annotations:
            note((*path, key), _unknown(record, (*path, key), tuple(annotations)))
            bad = bad or _is_key(record, key)
            continue
        found = _value(annotations[key][0], value, note, (*path, key), rest)
        if isinstance(found, _Unusable):
            bad = True
        else:
            good[key] = found
    needed = [name for name, (_, required) in annotations.items() if required]
    missing = [name for name in needed if name not in table]
    if missing:
        note(path, f"{_name(path)} needs {' and '.join(missing)}; {rest}.")
    if any(name not in good for name in needed) or (bad and record in WHOLE):
        return None
    made = record(**good)
    return made if _checked(made, note, path) else None


def _checked(made: msgspec.Struct, note: Note, path: Path) -> bool:
    check = CHECKS.get(type(made))
    found = [] if check is None else list(check(made, path))
    for key, text, used in found:
        where = (*path, key) if key else path
        note(where, f"{_name(where)} {text}{'' if used else f'; {WHOLE[type(made)]}'}.")
    return all(used for _, _, used in found)


def _is_key(record: type[msgspec.Struct], name: str) -> bool:
    """Whether somebody has written a key where a provider is described."""
    return issubclass(record, ProviderTable) and name.lower() in KEY_NAMES


def _value(annotation: object, value: object, note: Note, path: Path, rest: str) -> object | _Unusable:
    """A value as its field takes it; `rest` ends the sentence about one that does not fit."""
    kind = kind_of(annotation).type
    item, named = item_of(kind), named_of(kind)
    if is_record(kind) and is_object(value):
        found = read_record(kind, value, note, path)
        return _UNUSABLE if found is None else found
    if item is not None and is_array(value):
        read = [_value(item, each, note, (*path, number), rest) for number, each in enumerate(value)]
        good = tuple(each for each in read if not isinstance(each, _Unusable))
        return _UNUSABLE if rest != UNUSED and len(good) < len(read) else good
    if named is not None and is_record(kind_of(named).type) and is_object(value):
        tables = {name: _value(named, each, note, (*path, name), UNUSED) for name, each in value.items()}
        return {name: each for name, each in tables.items() if not isinstance(each, _Unusable)}
    try:
        fitting: object = msgspec.convert(value, annotation)
        return fitting
    except msgspec.ValidationError:
        note(path, f"{_name(path)} must be {words(annotation)}; {rest}.")
        return _UNUSABLE


def _name(path: Path) -> str:
    return shown(dotted(path))


def _unknown(record: type[msgspec.Struct], path: Path, known: tuple[str, ...]) -> str:
    key = str(path[-1])
    if _is_key(record, key):
        name = shown(str(path[-2]))
        return (
            f"{_name(path)} does not belong here, since a key in a file is soon known to others; use `zidane-acp login "
            f"{name}`, or name its environment variable in key_variable. The provider is not used."
        )
    return f"there is no setting {_name(path)}{nearest(key, known)}; {UNUSED}."


def nearest(word: str, known: tuple[str, ...]) -> str:
    """The known name that a word may stand for, as the end of a sentence; '' for none."""
    from difflib import get_close_matches

    found = get_close_matches(word[:WIDTH].lower(), known, 1)
    return f" (did you mean {found[0]}?)" if found else ""
