"""What never happens, whatever allows it (ring 2): denied paths, and denied commands.

It guards against accidents: a program that a command starts can still open any file. In doubt a line is denied.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

import msgspec

from zidane_core.agent.line_paths import Segments, fits, is_absolute, named_in, segments
from zidane_core.agent.shell_lines import program_name, simple_commands
from zidane_core.agent.wildcards import coincide, is_unknown
from zidane_core.data.rules import Denials
from zidane_core.text import is_array, is_object


class PathRule(msgspec.Struct, frozen=True, gc=False):
    """A denied pattern as it was written, what it is in each place where it holds, and what it is outside of the roots."""

    text: str
    roots: tuple[Segments, ...]
    places: tuple[Segments, ...]
    elsewhere: tuple[Segments, ...] = ()


def path_rules(patterns: tuple[str, ...], roots: tuple[str, ...]) -> tuple[PathRule, ...]:
    """Patterns of paths in these roots.

    One without a slash names a file or folder anywhere, but for the folders that a root lies in; a relative one counts from
    each root, an absolute one from the top. What lies below a denied folder is denied, so a `/**` at the end says nothing more.
    """
    return tuple(_rule(pattern, roots) for pattern in patterns if pattern.strip("/ "))


def _rule(pattern: str, roots: tuple[str, ...]) -> PathRule:
    tops = tuple(segments(root, "/") for root in roots)
    whole = pattern.replace("\\", "/").rstrip("/")
    plain = whole.removeprefix("./").removesuffix("/**").rstrip("/")
    if "/" not in whole or plain.startswith("**/"):
        anywhere = ("**", *plain.removeprefix("**/").split("/"))
        return PathRule(pattern, tops, tuple((*top, *anywhere) for top in tops), (anywhere,))
    if not plain or is_absolute(plain):
        return PathRule(pattern, tops, (segments(plain, "/"),))
    return PathRule(pattern, tops, tuple(segments(plain, root) for root in roots))


def _denies(rule: PathRule, path: Segments) -> bool:
    inside = any(path[: len(top)] == top for top in rule.roots)
    return any(fits(place, path) for place in (rule.places if inside else (*rule.places, *rule.elsewhere)))


def denied_path(rules: tuple[PathRule, ...], path: str, base: str = "/") -> str:
    """The rule that denies a path (relative ones lie in `base`), '' for none."""
    return _first(rules, frozenset({segments(path, base)})) if rules else ""


def refusal(rule: str) -> str:
    """Why a call is refused, for the model."""
    return (
        f"This is denied by the user's rule {rule!r}, whatever else is allowed. Do not try it another way; "
        "tell the user what you wanted to do."
    )


def _first(rules: tuple[PathRule, ...], paths: frozenset[Segments]) -> str:
    return next((rule.text for rule in rules if any(_denies(rule, path) for path in paths)), "")


def denied_line(denials: Denials, line: str, cwd: str, roots: tuple[str, ...]) -> str:
    """The rule that denies a shell line which would run in `cwd`, '' for none."""
    if not denials.commands and not denials.paths:
        return ""
    found = simple_commands(line)
    command = next((rule for rule in denials.commands if any(_is_of(rule, one.words) for one in found)), "")
    return command or _first(path_rules(denials.paths, roots), named_in(found, (cwd, *roots)))


def denied_argument(denials: Denials, arguments: dict[str, object], cwd: str, roots: tuple[str, ...]) -> str:
    """The rule that denies the arguments of a tool that others run: a text that names a denied path, or a denied
    command under a name that commands have; '' for none."""
    rules = path_rules(denials.paths, roots)
    for name, value in _texts("", arguments, 0):
        if name in _COMMAND_NAMES:
            denied = denied_line(denials, value, cwd, roots)
        elif rules and len(value) <= _LONGEST_PATH and "\n" not in value:
            path = unquote(re.sub(r"^file://(localhost)?", "", value)) if value.startswith("file:") else value
            denied = _first(rules, frozenset(segments(path, base) for base in (cwd, *roots)))
        else:
            continue
        if denied:
            return denied
    return ""


_COMMAND_NAMES: Final = frozenset({"command", "cmd", "commands", "script", "shell"})
_ARGUMENT_NAMES: Final = ("args", "arguments", "argv")
_LONGEST_PATH: Final = 4096
_DEEPEST: Final = 8


def _texts(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Every text in the arguments with the nearest name above it; the words of a command are one text."""
    if isinstance(value, str) and value:
        yield name, value
    elif is_object(value) and depth < _DEEPEST:
        for key, inner in value.items():
            yield from _texts(key.lower(), inner, depth + 1)
            if key.lower() in _COMMAND_NAMES and isinstance(inner, str):
                yield from ((key.lower(), f"{inner} {words}") for words in _argument_words(value))
    elif is_array(value) and depth < _DEEPEST:
        if name in _COMMAND_NAMES:
            yield name, shlex.join(word for word in value if isinstance(word, str))
        for inner in value:
            yield from _texts("" if name in _COMMAND_NAMES else name, inner, depth + 1)


def _argument_words(value: dict[str, object]) -> Iterator[str]:
    """The arguments that stand beside a command, as words."""
    for name in _ARGUMENT_NAMES:
        given = value.get(name)
        if is_array(given):
            yield shlex.join(word for word in given if isinstance(word, str))


def sweeps(line: str) -> bool:
    """Whether a line may read files that it does not name: what is denied may be among them."""
    return any(_sweeps(command.words) for command in simple_commands(line))


def _sweeps(words: tuple[str, ...]) -> bool:
    program, rest = words[0] if words else "", words[1:]
    if program == "git":
        return bool({"diff", "show", "log", "stash"}.intersection(rest))
    if program in {"grep", "egrep", "fgrep"}:
        return any(re.match(r"-[a-zA-Z]*[rRd]|--(dir|rec|deref)", word) for word in rest)
    return program == "rg"


# Commands ------------------------------------------------------------------------------------------


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_WRAPPERS: Final = _set(
    "sudo doas env time nohup nice ionice timeout xargs command exec builtin stdbuf setsid chroot busybox toybox find fd "
    "parallel watch ssh strace ltrace caffeinate eval npx then do else if while until elif ! {"
)
"""Programs and words of the shell that run what stands behind them."""

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_SAME_LETTERS: Final = str.maketrans("R", "r")
_LONG: Final = (("r", "--recursive"), ("f", "--force"))
"""Flags that most programs know in two spellings."""


def _is_of(rule: str, words: tuple[str, ...]) -> bool:
    """Whether a simple command begins as the rule says, itself or behind programs that run another one."""
    wanted = rule.split()
    while wanted and wanted[-1] == "*":
        wanted = wanted[:-1]
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    if not wanted or not words:
        return False
    behind = program_name(words[0]) in _WRAPPERS
    return any(_begins(tuple(wanted), words[at:]) for at in (range(len(words)) if behind else (0,)))


def _begins(wanted: tuple[str, ...], words: tuple[str, ...]) -> bool:
    program = words[0] if is_unknown(words[0]) else program_name(words[0])
    if not coincide(program_name(wanted[0]), program) or (is_unknown(program) and len(wanted) == 1):
        return False  # a program of which nothing is known is not just any
    flags = tuple(word for word in wanted[1:] if word.startswith("-"))
    names = tuple(word for word in wanted[1:] if not word.startswith("-"))
    return all(_has_flag(flag, words[1:]) for flag in flags) and _in_order(names, words[1:])


def _in_order(names: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether the names follow each other. Flags stand anywhere, and what follows one may be its value."""
    if not names:
        return True
    for at, word in enumerate(words):
        if coincide(names[0], word) and _in_order(names[1:], words[at + 1 :]):
            return True
        if not word.startswith("-") and not (at and words[at - 1].startswith("-")):
            return False
    return False


def _has_flag(flag: str, words: tuple[str, ...]) -> bool:
    """Whether the words have a flag: a long one also cut short or with a value, letters in any order and grouping."""
    if flag.startswith("--"):
        letters = "".join(letter for letter, long in _LONG if long == flag)
        return any(_is_long(flag, word) for word in words) or (bool(letters) and _letters(words, letters))
    return _letters(words, flag[1:])


def _is_long(flag: str, word: str) -> bool:
    name = word.partition("=")[0]
    return coincide(flag, name) or (len(name) > 3 and name.startswith("--") and flag.startswith(name))


def _letters(words: tuple[str, ...], letters: str) -> bool:
    """Whether all these letters are among the flags; `*` is any flag."""
    short = {word[1:] for word in words if word.startswith("-") and not word.startswith("--")}
    given = set("".join(short).translate(_SAME_LETTERS))
    given |= {letter for letter, long in _LONG if any(_is_long(long, word) for word in words)}
    wanted = set(letters.translate(_SAME_LETTERS))
    return wanted - {"*"} <= given and ("*" not in wanted or any(word.startswith("-") for word in words))
