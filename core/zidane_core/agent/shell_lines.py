"""The simple commands of a shell line, whatever it is made of (ring 2).

Unlike `commands`, which understands only what is certain, this reads every line as well as it can: a guard looks at what
comes out, so that too many words are better than too few. Words have the wildcards of `wildcards` in place of what
the shell would put there.
"""

import itertools
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from zidane_core.agent.wildcards import ANY, ONE, UNKNOWN


class Simple(msgspec.Struct, frozen=True, gc=False):
    """A simple command: its words, and the files that it is redirected from or to."""

    words: tuple[str, ...]
    files: tuple[str, ...] = ()


DEEPEST: Final = 6
"""Commands within commands that are read; what lies deeper may be anything."""

_MOST_SPELLINGS: Final = 64
_SHELLS: Final = re.compile(
    r"(?:ba|da|z|k|mk|a|fi|rba|pw|power)?sh(?:ell)?|eval|exec|su|ssh|script|flock|watch|parallel|env|trap|cmd|nix-shell"
)
"""Programs that run a text which they are given as a command."""

_BLANK_OR_OPERATOR: Final = re.compile(r"[\s;|&()`$<>]")

_EXPANSION: Final = r"""
    (?P<command>\$\()
  | (?P<tick>`)
  | (?P<space>\$\{?IFS\b\}?)
  | (?P<variable>\$\{(?:[^{}]|\{[^{}]*\})*\}?|\$(?:[A-Za-z_]\w*|[0-9@*\#?$!-]))
  | (?P<joined>\\\n)
"""
_PLAIN: Final = rf"""{_EXPANSION}
  | (?P<blank>[ \t\r]+)
  | (?P<process>[<>]\()
  | (?P<redirect>[0-9]*(?:&>>|&>|>>|>\||<>|>&|<&|<<<|<<-?|>|<))
  | (?P<end>[;&|()\n]+)
  | \\(?P<escaped>[^\n])
  | \$'(?P<ansi>(?:[^'\\]|\\.)*)'?
  | '(?P<single>[^']*)'?
  | (?P<quote>\$?")
  | (?P<home>(?<![^\s=:])~[\w.+-]*)
  | (?P<braces>\{{[^{{}}\s'"`$;|&<>()]*,[^{{}}\s'"`$;|&<>()]*\}})
  | (?P<any>\*)
  | (?P<one>\?|\[[^\]\s/]+\])
  | (?P<text>[^\s'"`$\\;&|()<>*?\[{{~]+|.)
"""
_QUOTED: Final = rf"""{_EXPANSION}
  | (?P<quote>")
  | \\(?P<escaped>["\\$`])
  | (?P<text>[^"\\$`]+|.)
"""
_ANSI: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ANSI_NAMED: Final[Mapping[str, str]] = MappingProxyType(
    {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a"}
)


def simple_commands(line: str) -> tuple[Simple, ...]:
    """Every simple command of a line: those behind operators, in substitutions, and in texts that a shell is given."""
    return _commands(line, 0)


def _commands(line: str, depth: int) -> tuple[Simple, ...]:
    if depth > DEEPEST:
        return (Simple((UNKNOWN,)),)
    found, inner = _read(line)
    if any(_runs_texts(command) for command in found):
        # Whichever of the texts it is that such a program gets, also through a pipe.
        words = {word for command in found for word in (*command.words, *command.files)}
        texts = {word for word in words if _BLANK_OR_OPERATOR.search(word)}
        texts |= {" ".join(command.words[1:]) for command in found if len(command.words) > 2}
        inner = (*inner, *sorted(texts - {line}))
    return (*found, *(command for text in inner for command in _commands(text, depth + 1)))


def _runs_texts(command: Simple) -> bool:
    first = command.words[:1]
    return any(_SHELLS.fullmatch(program_name(word)) for word in command.words) or first == (UNKNOWN,)


def program_name(word: str) -> str:
    """The name of a program that is called by its path."""
    return re.split(r"[/\\]", word)[-1].removesuffix(".exe")


class _Reading:
    """What has been read so far: whole commands, the one that is read now, and its last word in pieces. It lives as long
    as one line is read."""

    def __init__(self) -> None:
        self.commands: list[Simple] = []
        self.inner: list[str] = []
        self._words: list[str] = []
        self._files: list[str] = []
        self._pieces: list[tuple[str, ...]] | None = None
        self._to_file = False

    def add(self, *spellings: str) -> None:
        """A piece of a word, in each of its spellings."""
        self._pieces = [*(self._pieces or ()), spellings]

    def end_word(self) -> None:
        if self._pieces is None:
            return
        spelt = itertools.islice(itertools.product(*self._pieces), _MOST_SPELLINGS)
        (self._files if self._to_file else self._words).extend("".join(one) for one in spelt)
        self._pieces, self._to_file = None, False

    def redirect(self) -> None:
        """The next word is a file."""
        self.end_word()
        self._to_file = True

    def end_command(self) -> None:
        self.end_word()
        if self._words or self._files:
            self.commands.append(Simple(tuple(self._words), tuple(self._files)))
        self._words, self._files, self._to_file = [], [], False


def _read(line: str) -> tuple[tuple[Simple, ...], tuple[str, ...]]:
    """The commands of a line, and the texts of the substitutions in it."""
    reading, position, quoted = _Reading(), 0, False
    # Compiled by the first command and kept by `re`: the start of the agent is waited for.
    flags = re.VERBOSE | re.DOTALL
    inside, outside = re.compile(_QUOTED, flags), re.compile(_PLAIN, flags)
    while position < len(line):
        piece = (inside if quoted else outside).match(line, position)
        if piece is None:
            break  # cannot be: both end with any character
        kind, position = piece.lastgroup or "text", piece.end()
        if kind in ("command", "process", "tick"):
            end = line.find("`", position) if kind == "tick" else _closing(line, position)
            end = len(line) if end < 0 else end
            reading.inner.append(line[position:end].replace("\\`", "`"))
            reading.add(UNKNOWN)
            position = end + 1
        elif kind == "quote":
            quoted = not quoted
            reading.add("")
        elif kind == "variable":
            reading.inner.extend([piece[kind][2:]] if "(" in piece[kind] or "`" in piece[kind] else [])
            reading.add(UNKNOWN)
        elif kind == "space" and quoted:
            reading.add(" ")
        else:
            _TAKE[kind](reading, piece[kind])
    reading.end_command()
    return tuple(reading.commands), tuple(reading.inner)


def _closing(line: str, start: int) -> int:
    """Where the bracket closes that was opened before `start`; -1 when it does not."""
    depth = 1
    for found in re.finditer(r"\\.|'[^']*'|[()]", line[start:], re.DOTALL):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return start + found.start()
    return -1


def _ansi(text: str) -> str:
    def decoded(found: re.Match[str]) -> str:
        for digits, base in ((found[1], 16), (found[2], 16), (found[3], 16), (found[4], 8)):
            if digits and int(digits, base) < 0x110000:
                return chr(int(digits, base))
        return _ANSI_NAMED.get(found[5] or "", found[5] or "")

    return _ANSI.sub(decoded, text)


_TAKE: Final[Mapping[str, Callable[[_Reading, str], None]]] = MappingProxyType(
    {
        "space": lambda reading, _: reading.end_word(),
        "joined": lambda reading, _: None,
        "blank": lambda reading, _: reading.end_word(),
        "redirect": lambda reading, _: reading.redirect(),
        "end": lambda reading, _: reading.end_command(),
        "escaped": lambda reading, text: reading.add(text),
        "ansi": lambda reading, text: reading.add(_ansi(text)),
        "single": lambda reading, text: reading.add(text),
        "home": lambda reading, _: reading.add(UNKNOWN),
        "braces": lambda reading, text: reading.add(*text[1:-1].split(",")),
        "any": lambda reading, _: reading.add(ANY),
        "one": lambda reading, _: reading.add(ONE),
        "text": lambda reading, text: reading.add(text),
    }
)
