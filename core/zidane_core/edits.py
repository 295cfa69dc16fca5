"""Byte-exact edits of files: an edit changes only the bytes it names.

A file is decoded so that it can be written back without loss: byte order mark, encoding and every single
line ending are kept. UTF-8 comes first, then UTF-16 with a mark, then Latin-1; bytes with NUL are binary.
"""

import difflib
import re
from typing import Final, Literal, TypeAlias

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.fp import then

Encoding: TypeAlias = Literal["utf-8", "utf-16-le", "utf-16-be", "latin-1"]

_MARKS: Final[tuple[tuple[bytes, Encoding], ...]] = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_NO_MARK: Final[tuple[bytes, Encoding]] = (b"", "utf-8")
_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
_ANY_NEWLINE: Final = r"(?:\r\n|(?<!\r)\n|\r(?!\n))"
_HINT_LINES: Final = 2000
"""Files with more lines get no hint about the nearest line: it would cost too much."""


class Decoded(msgspec.Struct, frozen=True, gc=False):
    """The text of a file with its own line endings, the encoding, and the byte order mark before it."""

    text: str
    encoding: Encoding = "utf-8"
    mark: bytes = b""


class Replacement(msgspec.Struct, frozen=True, gc=False):
    """One replacement; with `everywhere` all occurrences, else there must be exactly one."""

    old: str
    new: str
    everywhere: bool = False


def decode(data: bytes) -> Result[Decoded, str]:
    """The text of a file, or that it is binary."""
    mark, encoding = next((pair for pair in _MARKS if data.startswith(pair[0])), _NO_MARK)
    body = data[len(mark) :]
    text = _strict(body, encoding)
    if text is not None and "\0" not in text:
        return Success(Decoded(text, encoding, mark))
    if b"\0" in data:
        return Failure("The file is binary, not text.")
    return Success(Decoded(data.decode("latin-1"), "latin-1"))


def _strict(body: bytes, encoding: Encoding) -> str | None:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError:
        return None


def encode(decoded: Decoded) -> Result[bytes, str]:
    """The bytes of a file. It fails when its encoding lacks a character of the text."""
    try:
        return Success(decoded.mark + decoded.text.encode(decoded.encoding))
    except UnicodeEncodeError as error:
        missing = decoded.text[error.start]
        return Failure(
            f"The file is encoded as {decoded.encoding}, which has no character U+{ord(missing):04X}; "
            "leave that character out or convert the file first."
        )


def replace(data: bytes, old: str, new: str, everywhere: bool = False) -> Result[bytes, str]:
    """The bytes of a file with `old` replaced by `new`.

    Line endings match whatever they are in the file; lines that stay keep theirs, and new lines get the
    ending that is usual around them. The failure is a sentence for the model.
    """
    return replace_each(data, (Replacement(old, new, everywhere),))


def replace_each(data: bytes, replacements: tuple[Replacement, ...]) -> Result[bytes, str]:
    """The bytes of a file after all replacements, one on the result of the other, or why one of them fails."""
    decoded = decode(data)
    if isinstance(decoded, Failure):
        return decoded
    file = decoded.unwrap()
    return then(
        replaced_text(file.text, replacements),
        lambda text: encode(msgspec.structs.replace(file, text=text)),
    )


def replaced_text(text: str, replacements: tuple[Replacement, ...]) -> Result[str, str]:
    """The same for a text that is no file's bytes, such as an editor's."""
    for number, replacement in enumerate(replacements, 1):
        result = _replaced(text, replacement)
        if isinstance(result, Failure):
            return Failure(
                f"Edit {number}: {result.failure()}" if len(replacements) > 1 else result.failure()
            )
        text = result.unwrap()
    return Success(text)


def _replaced(text: str, replacement: Replacement) -> Result[str, str]:
    old, new = _plain(replacement.old), _plain(replacement.new)
    if not old:
        return Failure("old_string is empty; give the text to replace, or use write_file for a new file.")
    if old == new:
        return Failure("old_string and new_string are the same, so there is nothing to change.")
    pattern = re.compile(_ANY_NEWLINE.join(re.escape(line) for line in old.split("\n")))
    first = pattern.search(text)
    if first is None:
        return Failure(f"old_string was not found in the file.{_hint(text, old)}")
    usual = _usual(text)
    if not replacement.everywhere:
        if pattern.search(text, first.start() + 1) is not None:
            count = _count(pattern, text)
            return Failure(
                f"old_string was found {count} times; add lines around it to name one place, "
                "or set replace_all to change all of them."
            )
        return Success(text[: first.start()] + _adopting(first.group(), new, usual) + text[first.end() :])
    return Success(pattern.sub(lambda found: _adopting(found.group(), new, usual), text))


def _count(pattern: re.Pattern[str], text: str) -> int:
    """How many places fit, overlapping ones too."""
    count, match = 0, pattern.search(text)
    while match is not None:
        count += 1
        match = pattern.search(text, match.start() + 1)
    return count


def _plain(text: str) -> str:
    """The text with \\n as its only line ending."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _usual(text: str) -> str:
    r"""The most frequent line ending of a text; \n when there is none."""
    both = text.count("\r\n")
    counts = {"\n": text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}
    return max(counts, key=lambda ending: counts[ending])


def _adopting(old: str, new: str, usual: str) -> str:
    r"""`new`, whose lines end with \n, with the endings that `old` has on the lines they share.

    Lines are shared at the start and at the end, and all of them when none was added or removed. Others get
    the most frequent ending of `old`, or the `usual` one of the file when `old` is a single line.
    """
    endings: list[str] = _NEWLINE.findall(old)
    before, after = _plain(old).split("\n"), new.split("\n")
    wanted = len(after) - 1
    most = min(len(endings), wanted)
    start = most if wanted == len(endings) else 0
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    added = _usual(old) if endings else usual
    chosen = endings[:start] + [added] * (wanted - start - end) + endings[len(endings) - end :]
    return "".join(line + ending for line, ending in zip(after, [*chosen, ""], strict=True))


def _hint(text: str, old: str) -> str:
    """Where something like the first line of `old` stands, as a sentence with a leading space, or nothing."""
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")
    lines = _plain(text).split("\n")
    if not wanted or len(wanted) > 500 or len(lines) > _HINT_LINES:
        return ""
    stripped = [line.strip()[:500] for line in lines]
    if wanted in stripped:
        number = stripped.index(wanted) + 1
        return f" Line {number} has its first line; compare the white space and the lines after it."
    near = difflib.get_close_matches(wanted, stripped, n=1, cutoff=0.7)
    return f" The nearest line is {stripped.index(near[0]) + 1}: {near[0][:200]}" if near else ""


def written(previous: bytes | None, content: str) -> Result[bytes, str]:
    r"""The bytes of a file that is written whole.

    An existing text file keeps its byte order mark, its encoding where it can hold the content, and the
    endings of its lines, unless the content has \r itself. A new or binary file is plain UTF-8.
    """
    decoded = decode(previous) if previous is not None else None
    if decoded is None or isinstance(decoded, Failure):
        return encode(Decoded(content))
    file = decoded.unwrap()
    text = written_text(file.text, content)
    kept = encode(msgspec.structs.replace(file, text=text))
    return encode(Decoded(text)) if isinstance(kept, Failure) else kept


def written_text(previous: str | None, content: str) -> str:
    r"""A text that is written whole over another: it keeps the endings of its lines, unless it has \r itself."""
    return content if previous is None or "\r" in content else _adopting(previous, content, "\n")


def ending_as(text: str, other: str) -> str:
    r"""The text with the usual line ending of another one, unless it has \r itself."""
    usual = _usual(other)
    return text if "\r" in text or usual == "\n" else text.replace("\n", usual)


def plain(text: str) -> str:
    r"""The text with \n as its only line ending: by it two texts are the same, whatever their line endings."""
    return _plain(text)
