"""Careful insertion into JSON with comments and trailing commas: only the bytes of the new entry change."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from returns.result import Failure, Result, Success

from zidane_acp.fields import JsonObject
from zidane_core.text import is_object

PADDING: Final = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
ATOM: Final = re.compile(r"[^\s,\]}:\"/]+")
INDENT: Final = re.compile(r"\n([ \t]+)\S")


class Member(msgspec.Struct, frozen=True, gc=False):
    """A member of an object: its key, where the key starts, and the span of its value."""

    key: str
    at: int
    start: int
    end: int


class Node(msgspec.Struct, frozen=True, gc=False):
    """A value: its span, and its members if it is an object (None otherwise)."""

    start: int
    end: int
    members: tuple[Member, ...] | None = None


class Broken(Exception):
    """The text is no JSON with comments; used inside this module only, to leave the recursion."""


def insert(text: str, path: Sequence[str], value: JsonObject) -> Result[str, str]:
    """Set `value` under the keys of `path`, keeping everything else byte for byte.

    An empty text counts as an empty object. The failure is a sentence for the user.
    """
    old = load(text)
    if isinstance(old, Failure):
        return old
    wanted = _with(old.unwrap(), path, value)
    if wanted == old.unwrap():
        return Success(text)
    try:
        new = _insert(text, path, value)
    except Broken as broken:
        return Failure(str(broken))
    # The edit is trusted only when the result means exactly the old document with the new entry.
    if load(new).value_or(None) != wanted:
        return Failure("the file has a shape that cannot be edited safely")
    return Success(new)


def load(text: str) -> Result[JsonObject, str]:
    """The document's value; the failure says what is wrong with it."""
    try:
        plain = _plain(text)
        decoded: object = msgspec.json.decode(plain) if plain.strip() else {}
    except (Broken, msgspec.DecodeError, RecursionError) as problem:
        return Failure(f"the file is not valid JSON ({problem})")
    if not is_object(decoded):
        return Failure("the file holds no JSON object")
    return Success(decoded)


def _with(document: JsonObject, path: Sequence[str], value: object) -> JsonObject:
    if not path:
        return document
    head, rest = path[0], path[1:]
    if not rest:
        return {**document, head: value}
    inner = document.get(head)
    return {**document, head: _with(inner if is_object(inner) else {}, rest, value)}


def _insert(text: str, path: Sequence[str], value: JsonObject) -> str:
    if not _plain(text).strip():
        body = text if not text.strip() or text.endswith("\n") else text + "\n"
        return body + _dump(_with({}, path, value), "", "  ") + "\n"
    node = _value(text, _skip(text, 0))
    unit = _unit(text)
    depth = 0
    rest = tuple(path)
    while True:
        if node.members is None:
            raise Broken(
                f"{path[depth - 1]!r} in the file is no object" if depth else "the file holds no JSON object"
            )
        # The last of several equal keys is the one that counts for every reader.
        member = next((m for m in reversed(node.members) if m.key == rest[0]), None)
        if member is None:
            new: object = value if len(rest) == 1 else _with({}, rest[1:], value)
            return _append(text, node, rest[0], new, unit, depth + 1)
        if len(rest) == 1:
            new_value = _lines_like(text, _dump(value, unit * (depth + 1), unit))
            return text[: member.start] + new_value + text[member.end :]
        node, rest, depth = _value(text, member.start), rest[1:], depth + 1


def _append(text: str, node: Node, key: str, value: object, unit: str, depth: int) -> str:
    newline = _lines_like(text, "\n")
    indent = unit * depth
    entry = _lines_like(text, f"{indent}{_dump(key, '', unit)}: {_dump(value, indent, unit)}")
    close = node.end - 1
    if not node.members:
        inside = text[node.start + 1 : close].rstrip()
        return f"{text[: node.start + 1]}{inside}{newline}{entry}{newline}{unit * (depth - 1)}{text[close:]}"
    last = node.members[-1].end
    after = _skip(text, last)
    comma = text[after] == ","
    # Comments behind the last member stay with it: the new entry starts before the closing brace.
    tail = text[after + 1 : close] if comma else text[last:close]
    kept = tail.rstrip()
    head = text[: after + 1] if comma else text[:last] + ","
    return f"{head}{kept}{newline}{entry}{',' if comma else ''}{newline}{unit * (depth - 1)}{text[close:]}"


def _lines_like(text: str, new: str) -> str:
    return new.replace("\n", "\r\n") if "\r\n" in text else new


def _dump(value: object, indent: str, unit: str) -> str:
    plain = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    lines = plain.split("\n")
    widened = (unit * ((len(line) - len(line.lstrip(" "))) // 2) + line.lstrip(" ") for line in lines)
    return ("\n" + indent).join(widened)


def _unit(text: str) -> str:
    found = INDENT.search(text)
    return found.group(1) if found else "  "


def _plain(text: str) -> str:
    """Strict JSON: comments blanked, trailing commas removed."""
    pieces: list[str] = []
    at = 0
    comma = -1  # index in `pieces` of a comma that may turn out to be a trailing one
    text = text.removeprefix("\ufeff")
    while at < len(text):
        if padding := PADDING.match(text, at):
            pieces.append(" ")
            at = padding.end()
            continue
        token = STRING.match(text, at)
        piece = token.group() if token else text[at]
        if piece in "}]" and comma >= 0:
            pieces[comma] = " "
        comma = len(pieces) if piece == "," else -1
        pieces.append(piece)
        at += len(piece)
    return "".join(pieces)


def _skip(text: str, at: int) -> int:
    if at == 0 and text.startswith("\ufeff"):
        at = 1
    found = PADDING.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> Node:
    if at >= len(text):
        raise Broken("the file ends too early")
    if text[at] in "{[":
        return _container(text, at)
    found = STRING.match(text, at) or ATOM.match(text, at)
    if found is None:
        raise Broken(f"unexpected {text[at]!r} at character {at}")
    return Node(at, found.end())


def _container(text: str, at: int) -> Node:
    start, is_object = at, text[at] == "{"
    close = "}" if is_object else "]"
    members: list[Member] = []
    at = _skip(text, at + 1)
    while at < len(text) and text[at] != close:
        key, key_at = "", at
        if is_object:
            found = STRING.match(text, at)
            if found is None:
                raise Broken(f"a key is missing at character {at}")
            key = msgspec.json.decode(found.group(), type=str)
            at = _skip(text, found.end())
            if text[at : at + 1] != ":":
                raise Broken(f"a colon is missing at character {at}")
            at = _skip(text, at + 1)
        inner = _value(text, at)
        members.append(Member(key, key_at, inner.start, inner.end))
        at = _skip(text, inner.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise Broken(f"a comma is missing at character {at}")
    if at >= len(text):
        raise Broken("the file ends too early")
    return Node(start, at + 1, tuple(members) if is_object else None)
