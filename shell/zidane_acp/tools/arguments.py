"""Typed reading of a call's arguments. They fit the schema, so a missing or odd value means the default."""

from zidane_acp.tools.results import Refused
from zidane_core.agent.work import RunTool
from zidane_core.text import is_array, is_object


def text(call: RunTool, name: str, default: str = "") -> str:
    """A string argument."""
    value = call.arguments.get(name)
    return value if isinstance(value, str) else default


def number(call: RunTool, name: str, default: float) -> float:
    """A number argument."""
    value = call.arguments.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else default


def integer(call: RunTool, name: str, default: int) -> int:
    """An integer argument; JSON allows 5.0 for 5."""
    return int(number(call, name, default))


def flag(value: object) -> bool:
    """An optional true or false."""
    return value is True


def objects(call: RunTool, name: str) -> tuple[dict[str, object], ...]:
    """A list of objects."""
    value = call.arguments.get(name)
    return tuple(item for item in value if is_object(item)) if is_array(value) else ()


def passable(value: str, name: str) -> None:
    """Refuse a text that no program can be given as an argument."""
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Refused(f"`{name}` contains a character that cannot be passed to a program.")
