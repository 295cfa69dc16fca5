"""How a tool call is shown: its title and the places it touches (ring 2).

Titles are what a user says yes or no to, so nothing in them may hide: control, bidirectional and invisible
characters are written out.
"""

import ntpath
import posixpath
import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType, ModuleType
from typing import Final

from zidane_core.data.tools import Location, ResolvedPath, ToolSpec

TITLE_LENGTH: Final = 200
"""Titles are cut to so many characters."""

_FIELD: Final = re.compile(r"\{(\w+)\}")
_LINE_END: Final = re.compile(r"[ \t]*(?:\r\n|\r|\n)[ \t]*")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_NAMED: Final[Mapping[str, str]] = MappingProxyType({"\t": " ", "\r": "\\r", "\n": "\\n"})
_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def _written_out(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN:
        return character
    code = ord(character)
    form = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return _NAMED.get(character, form)


def visible(text: str) -> str:
    r"""The text with every character that does not show, or that reorders others, as an escape (\x1b, \u202e)."""
    return text if text.isascii() and text.isprintable() else "".join(map(_written_out, text))


def shortened(text: str, length: int = TITLE_LENGTH) -> str:
    """The text with an ellipsis in place of what goes beyond the length."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _one_line(text: str) -> str:
    """All lines of a text behind each other, with a sign where each ends."""
    return visible(_LINE_END.sub(" ⏎ ", text[: TITLE_LENGTH * 4].strip()))


def is_windows(cwd: str) -> bool:
    """Whether the working folder is one of Windows; the core has no platform of its own."""
    return _WINDOWS.match(cwd) is not None


def _flavour(cwd: str) -> ModuleType:
    """The path rules that the working folder follows."""
    return ntpath if is_windows(cwd) else posixpath


def absolute(path: str, cwd: str) -> str:
    """The path joined to the working folder, with `.` and `..` folded as text; links are not followed."""
    rules = _flavour(cwd)
    joined: str = rules.normpath(rules.join(cwd, path))
    return joined[1:] if joined.startswith("//") and rules is posixpath else joined


def joined(path: str, cwd: str) -> str:
    """The path joined to the working folder and nothing folded: what `..` leads to behind a link is for the shell."""
    whole: str = _flavour(cwd).join(cwd, path)
    return whole


def relative(path: str, cwd: str) -> str:
    """How a path is shown: relative to the working folder when it lies in it, else absolute.

    With `..` in it, it is shown as written: behind a link it leads elsewhere than the text says.
    """
    rules = _flavour(cwd)
    if ".." in path.replace(rules.sep, "/").split("/"):
        return path
    whole, base = absolute(path, cwd), absolute(".", cwd)
    if whole == base:
        return "."
    start = base if base.endswith(rules.sep) else base + rules.sep
    return whole[len(start) :] if whole.startswith(start) else whole


def _paths(spec: ToolSpec, arguments: dict[str, object]) -> tuple[str, ...]:
    values = (arguments.get(name) for name in spec.path_arguments)
    return tuple(value for value in values if isinstance(value, str) and value)


def _lines(spec: ToolSpec, arguments: dict[str, object]) -> tuple[int | None, int | None]:
    """The first line of a call and its last one, both from 1."""
    if spec.line_argument is None:
        return None, None
    line, limit = arguments.get(spec.line_argument), arguments.get("limit")
    first = int(line) if isinstance(line, int | float) and line >= 1 else None
    if not isinstance(limit, int | float) or limit < 1:
        return first, None
    return first or 1, (first or 1) + int(limit) - 1


def _shown(spec: ToolSpec, name: str, arguments: dict[str, object], cwd: str) -> str:
    value = arguments.get(name)
    if name not in spec.path_arguments:
        return _one_line(value if isinstance(value, str) else "" if value is None else str(value))
    path = visible(relative(value if isinstance(value, str) and value else ".", cwd))
    first, last = _lines(spec, arguments)
    if first is None:
        return path
    return f"{path}:{first}" if last is None else f"{path}:{first}-{last}"


def title(spec: ToolSpec, arguments: dict[str, object], cwd: str) -> str:
    """One line that shows what a call does: `Edit src/a.py`, `Read README.md:10-24`, the command itself.

    A tool without a template is shown by its name and its subject.
    """
    template = spec.title or (f"{spec.name} {{{spec.subject}}}" if spec.subject else visible(spec.name))
    text = _FIELD.sub(lambda found: _shown(spec, found[1], arguments, cwd), template)
    return shortened(text.strip()) or visible(spec.name)


def outside(shown: str, paths: tuple[ResolvedPath, ...]) -> str:
    """The title of a call that leaves the roots: each real path that the title does not show, whole.

    '' when all paths lie in the roots. A title may be cut, and behind a link it shows another path than the real one.
    """
    away = tuple(path for path in paths if not path.inside)
    if not away:
        return ""
    cut = shown.endswith("…")
    named = ", ".join(dict.fromkeys(visible(path.real) for path in away if cut or path.given != path.real))
    return f"{shown} (outside the workspace{f': {named}' if named else ''})"


def argument_paths(spec: ToolSpec, arguments: dict[str, object], cwd: str) -> tuple[str, ...]:
    """The absolute paths a call names, `..` not folded; the working folder when it names none of a tool that
    takes one. Only the shell knows where they really lead.
    """
    if not spec.path_arguments:
        return ()
    return tuple(joined(path, cwd) for path in _paths(spec, arguments)) or (cwd,)


def locations(spec: ToolSpec, arguments: dict[str, object], cwd: str) -> tuple[Location, ...]:
    """The places a call names: absolute paths, lines from 1. None for a command, whose folder is no place."""
    if spec.access == "run":
        return ()
    line = _lines(spec, arguments)[0]
    return tuple(Location(absolute(path, cwd), line) for path in _paths(spec, arguments))
