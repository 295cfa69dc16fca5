"""What a shell line is, as far as permission needs to know (ring 2).

Only lines that are one simple command with fixed words are understood. Every doubt makes the answer None,
which means that the user is asked.
"""

import re
import shlex
from typing import Final

from zidane_core.agent.prefixes import OFFERS, Offer
from zidane_core.agent.readers import GIT, READERS, Reader, Valued

_RESERVED: Final = re.compile(
    r"case|coproc|do|done|elif|else|esac|fi|for|function|if|in|select|then|time|until|while"
)
_BLANKS: Final = re.compile(r"[ \t]+")
# One piece of a word. A tilde may only stand inside a word, where no shell expands it; `=` and `:` before it
# are left to the check of the whole line below.
_PIECE: Final = r"""(?P<plain>[^\s\x00-\x20\x7f'"\\$`;&|<>()*?\[\]{}~#!]+)
      | (?P<tilde>(?<=[^\s'"=:])~)
      | (?P<hash>(?<=[^\s])\#)
      | '(?P<single>[^']*)'
      | "(?P<double>(?:[^"\\$`]|\\["\\$`])*)"
      | \\(?P<escaped>[^\n])
"""
_ESCAPE_IN_DOUBLE: Final = re.compile(r'\\(["\\$`])')
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


def simple_words(line: str) -> tuple[str, ...] | None:
    """The words of a line that is one simple command with fixed words, quotes removed; else None.

    None for operators, redirections, expansions, patterns, comments, assignments, reserved words, line ends.
    """
    text = line.strip(" \t")
    if not text or _CONTROL.search(text):
        return None
    words: list[str] = []
    pieces: list[str] = []
    # Compiled by the first command and kept by `re`: the start of the agent is waited for.
    pattern = re.compile(_PIECE, re.VERBOSE)
    raw_first, position = "", 0
    while position < len(text):
        blank = _BLANKS.match(text, position)
        if blank:
            words.append("".join(pieces))
            pieces = []
            position = blank.end()
            continue
        piece = pattern.match(text, position)
        if piece is None:
            return None
        kind = piece.lastgroup
        value = piece[kind] if kind else piece[0]
        pieces.append(_ESCAPE_IN_DOUBLE.sub(r"\1", value) if kind == "double" else value)
        raw_first = raw_first if words else text[: piece.end()]
        position = piece.end()
    words.append("".join(pieces))
    if _RESERVED.fullmatch(raw_first) or _ASSIGNMENT.match(raw_first) or not words[0]:
        return None
    return tuple(words)


def read_only_paths(line: str) -> tuple[str, ...] | None:
    """The paths that a line reads when it is a command known to change nothing; None when it is not known.

    The paths are as written, relative ones to the folder the command runs in. Words that may be a path or
    something else (a git revision) are among them.
    """
    words = simple_words(line)
    if words is None:
        return None
    if words[0] == "git":
        return _git(words[1:])
    if words[0] == "find":
        return _find(words[1:])
    if words[0] == "sed":
        return _sed(words[1:])
    reader = READERS.get(words[0])
    return None if reader is None else _read(reader, words[1:])


def program(line: str) -> str:
    """The command of a line with fixed words; '' for any other line."""
    words = simple_words(line)
    return words[0] if words else ""


def _git(words: tuple[str, ...]) -> tuple[str, ...] | None:
    rest = words[1:] if words[:1] == ("--no-pager",) else words
    two, one = " ".join(rest[:2]), rest[0] if rest else ""
    if two in GIT:
        return _read(GIT[two], rest[2:])
    return _read(GIT[one], rest[1:]) if one in GIT else None


_FIND_FLAGS: Final = re.compile(
    r"-(print|print0|ls|empty|not|o|or|a|and|prune|depth|mount|xdev|readable|writable|executable)|[()!]"
)
_FIND_VALUED: Final = re.compile(
    r"-(i?name|i?path|wholename|i?regex|type|maxdepth|mindepth|size|[mca]time|[mca]min|perm|user|group|links)"
)
_FIND_FILE: Final = re.compile(r"-(newer|anewer|cnewer|samefile)")


def _find(words: tuple[str, ...]) -> tuple[str, ...] | None:
    start = next(
        (index for index, word in enumerate(words) if word.startswith(("-", "(", "!", ","))), len(words)
    )
    paths, rest = list(words[:start]), words[start:]
    index = 0
    while index < len(rest):
        word = rest[index]
        valued = index + 1 < len(rest)
        if valued and _FIND_VALUED.fullmatch(word):
            index += 2
        elif valued and _FIND_FILE.fullmatch(word):
            paths.append(rest[index + 1])
            index += 2
        elif _FIND_FLAGS.fullmatch(word):
            index += 1
        else:
            return None
    return tuple(paths)


_SED_PRINT: Final = re.compile(r"(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p")


def _sed(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Only `sed -n 10,20p FILE`: the language of sed can write files and run commands."""
    if len(words) < 3 or words[0] != "-n" or not _SED_PRINT.fullmatch(words[1]):
        return None
    return None if any(word.startswith("-") for word in words[2:]) else words[2:]


def _read(reader: Reader, words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The paths among the words after a command, by its table entry; None when a word is not in the table."""
    if reader.operands == "anything":
        return ()
    operands: list[str] = []
    late: list[str] = []
    used: set[str] = set()
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--":
            used.add("--")
            operands.extend(words[index:])
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        taken = _flag(reader, word, words[index] if index < len(words) else None)
        if taken is None:
            return None
        used.update(taken.names)
        # What stands behind a flag may be an operand to some versions of the program, and after the first
        # operand some platforms take every word for a file name: read both ways.
        late.extend(words[index : index + taken.extra])
        late.extend([word] if operands else [])
        index += taken.extra
    return _operands(reader, operands, late, used)


def _flag(reader: Reader, word: str, following: str | None) -> Valued | None:
    """The names of the flags in a word, and how many words after it belong to it; None when one is unknown."""
    if word in reader.exact:
        return Valued((word,), 0)
    if reader.number and re.fullmatch(r"-[0-9]+", word):
        return Valued((word,), 0)
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        if reader.refused and reader.refused in value:
            return None
        if name in reader.optional or (name in reader.long and not equals):
            return Valued((name,), 0)
        if name in reader.valued:
            return Valued((name,), 0) if equals else _next(reader, (name,), following)
        return None
    names: list[str] = []
    for position, letter in enumerate(word[1:], 1):
        names.append(f"-{letter}")
        if letter in reader.flags:
            continue
        if letter not in reader.valued_flags:
            return None
        return Valued(tuple(names), 0) if word[position + 1 :] else _next(reader, tuple(names), following)
    return Valued(tuple(names), 0)


def _next(reader: Reader, names: tuple[str, ...], following: str | None) -> Valued | None:
    if following is None or following.startswith("-") or (reader.refused and reader.refused in following):
        return None
    return Valued(names, 1)


def _operands(reader: Reader, operands: list[str], late: list[str], used: set[str]) -> tuple[str, ...] | None:
    if operands and (reader.operands == "none" or (reader.needs and not used & reader.needs)):
        return None
    if reader.operands == "format" and not all(word.startswith("+") for word in operands):
        return None
    if reader.operands not in ("paths", "pattern"):
        return ()
    if reader.operands == "pattern" and not used & reader.pattern_given:
        operands = operands[1:]
    return tuple(word for word in (*operands, *late) if word != "-")


_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]*")


def _offer(words: tuple[str, ...], offer: Offer) -> tuple[str, ...] | None:
    first = words[: offer.depth]
    if len(first) < offer.depth or not all(map(_PLAIN_WORD.fullmatch, first)):
        return None
    if offer.second and first[1] not in offer.second:
        return None
    return None if _too_much(words[offer.depth :], offer) else first


def _too_much(words: tuple[str, ...], offer: Offer) -> bool:
    """Whether words beyond the prefix do more than it says."""
    if "=" in offer.refused and any("=" in word for word in words):
        return True
    own = words[: words.index("--")] if "--" in words and "=" not in offer.refused else words
    return any(word.startswith(offer.refused) for word in own)


def prefix(line: str) -> tuple[str, ...] | None:
    """The first words to offer for a standing permission (`git diff`, `npm run test`).

    None means that only the exact line may be remembered: it is no simple command, or one that can run
    anything by its arguments, such as an interpreter.
    """
    words = simple_words(line)
    if words is None:
        return None
    offers = OFFERS.get(words[0], ())
    return next((found for found in (_offer(words, offer) for offer in offers) if found), None)


def covers(granted: tuple[str, ...], line: str) -> bool:
    """Whether a granted prefix covers a line; never one with operators, expansions or dangerous flags."""
    words = simple_words(line)
    if words is None or not granted or words[: len(granted)] != granted:
        return False
    rest = words[len(granted) :]
    return not any(_too_much(rest, offer) for offer in OFFERS.get(words[0], ()) if _fits(granted, offer))


def _fits(granted: tuple[str, ...], offer: Offer) -> bool:
    return not offer.second or len(granted) < 2 or granted[1] in offer.second


def shown_prefix(granted: tuple[str, ...]) -> str:
    """A granted prefix in words for the user: `git diff *`."""
    return f"{shlex.join(granted)} *"
