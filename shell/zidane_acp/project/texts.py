"""One small text file that others wrote, read without a surprise."""

import os
import re
from typing import Final, NamedTuple

from zidane_acp.tools.handles import entry, opened, stands
from zidane_acp.tools.paths import resolve
from zidane_acp.tools.results import Refused

INVISIBLE: Final = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Characters that show nothing or turn a text around: in them something can be said to a model that no reader sees."""

_LINE_END: Final = re.compile(r"\r\n?")


class Unusable(Exception):
    """A file that is there and is not used; the message goes on after its name, as in "is no regular file"."""


class TextRead(NamedTuple):
    """A text with line ends \\n, the real path of its file, and that file's size in bytes. `cut`: only its beginning
    is here. `cleaned`: invisible characters were taken out."""

    text: str
    path: str
    size: int
    cut: bool
    cleaned: bool


def read_text(path: str, most: int, within: str | None = None) -> TextRead | None:
    """At most `most` bytes of a file, cut at the end of a line; None where there is none.

    `within` is the real path of a folder that the file must really lie in. Raises Unusable.
    """
    try:
        place = resolve(path, os.path.dirname(path), (within or os.path.dirname(path),))
        if within is not None and not place.inside and os.path.lexists(path):
            raise Unusable("is a link that leads out of its folder")
        with entry(place, (within,) if within else ()) as found:
            if stands(found) != "file":
                raise Unusable("is no regular file")
            with opened(found, path) as file:
                size = os.fstat(file.fileno()).st_size
                data = file.read(most + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unusable(f"cannot be read ({error.strerror or type(error).__name__})") from None
    except Refused:
        raise Unusable("is no file that can be read") from None
    return _decoded(data, most, place.real, size)


def _decoded(data: bytes, most: int, path: str, size: int) -> TextRead:
    cut = len(data) > most
    if cut:
        data = _whole_lines(data[:most])
    if b"\0" in data:
        raise Unusable("is no text")
    try:
        text = _LINE_END.sub("\n", data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unusable("is not UTF-8") from None
    clean = INVISIBLE.sub("", text)
    return TextRead(clean, path, max(size, len(data)), cut, clean != text)


def _whole_lines(data: bytes) -> bytes:
    """The lines that are whole; of a single long one as many characters as are."""
    end = data.rfind(b"\n") + 1
    if end:
        return data[:end]
    return data.decode("utf-8", "ignore").encode() if _is_cut_character(data) else data


def _is_cut_character(data: bytes) -> bool:
    """Whether the only thing wrong with the bytes is that the last character is not whole."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False
