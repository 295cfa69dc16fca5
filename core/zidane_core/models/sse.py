r"""Server-sent events as a pure reducer: bytes in, the `data` of complete events out (WHATWG HTML, 9.2.6).

Event names and ids are not kept: every provider repeats what matters inside the data. Lines end with \n,
\r\n or \r; comments and a byte order mark are skipped; several `data` lines are joined with \n.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

DEFAULT_LIMIT: Final = 32 * 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"
_BLOCK: Final = 64 * 1024


class Sse(msgspec.Struct, frozen=True, gc=False):
    """What is left of the bytes so far: the open line (closed blocks and a tail) and the data lines of the open event.

    `overflowed` says that one event went past `limit` bytes; the stream cannot be read any further then.
    """

    limit: int = DEFAULT_LIMIT
    started: bool = False
    skip_newline: bool = False
    blocks: tuple[bytes, ...] = ()
    tail: bytes = b""
    lines: tuple[bytes, ...] = ()
    size: int = 0
    overflowed: bool = False


def feed(state: Sse, chunk: bytes) -> tuple[Sse, tuple[bytes, ...]]:
    """Take bytes as they come; any split of a stream gives the same data."""
    if state.overflowed or not chunk:
        return state, ()
    if not state.started:
        chunk = state.tail + chunk
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            return replace(state, tail=chunk), ()
        chunk = chunk.removeprefix(_BOM)
        state = replace(state, started=True, tail=b"")
    # A trailing \r ends its line at once; a \n that follows in the next chunk belongs to it.
    if state.skip_newline and chunk[:1] == b"\n":
        chunk = chunk[1:]
    skip = chunk[-1:] == b"\r"
    if b"\r" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    first, newline, rest = chunk.partition(b"\n")
    if not newline:
        return _extend(state, first, skip), ()
    line = b"".join((*state.blocks, state.tail, first))
    *complete, tail = rest.split(b"\n")
    lines, data = _read((line, *complete), state.lines)
    size = len(tail) + sum(map(len, lines))
    return _bounded(Sse(state.limit, True, skip, (), tail, lines, size)), data


def finish(state: Sse) -> tuple[bytes, ...]:
    """The data of an event that the end of the stream cut off before its blank line."""
    if state.overflowed:
        return ()
    _, data = _read((b"".join((*state.blocks, state.tail)), b""), state.lines)
    return data


def _extend(state: Sse, piece: bytes, skip: bool) -> Sse:
    tail = state.tail + piece
    size = state.size + len(piece)
    if len(tail) >= _BLOCK:
        return _bounded(replace(state, blocks=(*state.blocks, tail), tail=b"", size=size, skip_newline=skip))
    return _bounded(replace(state, tail=tail, size=size, skip_newline=skip))


def _bounded(state: Sse) -> Sse:
    return state if state.size <= state.limit else Sse(state.limit, True, overflowed=True)


def _read(
    lines: tuple[bytes, ...], open_lines: tuple[bytes, ...]
) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Complete lines to (the data lines of the event still open, the data of the complete events)."""
    pending = list(open_lines)
    data: list[bytes] = []
    for line in lines:
        if not line:
            if pending:
                joined = pending[0] if len(pending) == 1 else b"\n".join(pending)
                if joined:
                    data.append(joined)
                pending.clear()
        elif line.startswith(b"data:"):
            pending.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line == b"data":
            pending.append(b"")
    return tuple(pending), tuple(data)
