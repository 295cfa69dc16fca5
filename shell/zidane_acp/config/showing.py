"""The settings in force, each with where it comes from, as lines of TOML. What may be secret is never among them."""

from collections.abc import Iterator
from typing import Final

from zidane_acp.config.paths import Path, dotted
from zidane_acp.config.place import config_path
from zidane_acp.config.records import UserFile
from zidane_acp.config.user import Config
from zidane_acp.masking import MASK, NAMED_VALUES, address, mask
from zidane_acp.settings import FLAGS, Settings, filled
from zidane_core.text import decode_json, encode_json, is_array, is_object

DEFAULT: Final = "default"
ADDRESSES: Final = frozenset({"url", "base_url"})
OF_FLAGS: Final = frozenset(flag.key for flag in FLAGS if flag.key)


def lines(settings: Settings, config: Config, *, origins: bool) -> Iterator[str]:
    """A line for each setting that has a value; with `origins` a comment says where that comes from."""
    if origins:
        there = config.file or f"{config_path(settings)} (there is none)"
        yield f"# config file: {there}"
    rows = (*_flags(filled(settings, config.settings, config.file)), *_tables(config))
    texts = [(f"{name} = {_toml(value)}", origin) for name, value, origin in rows]
    width = min(max(len(text) for text, _ in texts), 60)
    for text, origin in texts:
        yield f"{text:{width}}  # {origin}" if origins else text


def _flags(settings: Settings) -> Iterator[tuple[str, object, str]]:
    for flag in FLAGS:
        value: object = getattr(settings, flag.field)
        if value is None or value in ("", ()):
            continue
        origin = settings.origins.get(flag.field)
        said = DEFAULT if origin is None else f"{origin.kind} {origin.said}"
        shown = address(value) if flag.field == "base_url" and isinstance(value, str) else value
        yield flag.key or flag.name.replace("-", "_"), shown, said


def _tables(config: Config) -> Iterator[tuple[str, object, str]]:
    """What only the file can say: all of it that has a value."""
    plain = dict(_leaves(_plain(UserFile()), ()))
    for path, value in _leaves(_plain(config.user or UserFile()), ()):
        name = dotted(path)
        if value is None or value in ([], {}) or name in OF_FLAGS:
            continue
        known = path in plain and plain[path] == value
        yield name, _harmless(path, value), DEFAULT if known else f"user {config.file}"


def _plain(user: UserFile) -> object:
    return decode_json(encode_json(user)).value_or(None)


def _leaves(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    """The values of tables in tables, each with its path."""
    if is_object(value) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    else:
        yield path, value


def _toml(value: object) -> str:
    if is_object(value):
        return "{ " + ", ".join(f"{dotted((key,))} = {_toml(item)}" for key, item in value.items()) + " }"
    if is_array(value):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # Texts and numbers are written alike in JSON and in TOML.
    return encode_json(value).decode()


def _harmless(path: Path, value: object) -> object:
    if path[0] == "mcp" and NAMED_VALUES.intersection(str(key) for key in path[2:]):
        return MASK
    if is_object(value):
        return {key: _harmless((*path, key), item) for key, item in value.items()}
    if is_array(value):
        return [_harmless((*path, number), item) for number, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    return address(value) if path[-1] in ADDRESSES else mask(value)
