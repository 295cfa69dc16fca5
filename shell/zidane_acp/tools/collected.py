"""Output of any length in bounded memory: its start and its end."""

from collections import deque

from zidane_core.bounded import left_out


class Collected:
    """Keeps the first and the last bytes of what is added, each up to half of `room`."""

    def __init__(self, room: int) -> None:
        self._half = room // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._missing = 0
        self._missing_lines = 0

    def add(self, data: bytes) -> None:
        """Add what came."""
        space = self._half - len(self._head)
        self._head += data[:space]
        rest = data[space:] if space > 0 else data
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._half:
            self._drop(self._tail.popleft())

    def _drop(self, data: bytes) -> None:
        self._tail_size -= len(data)
        self._missing += len(data)
        self._missing_lines += data.count(b"\n")

    @property
    def truncated(self) -> bool:
        """Whether anything is missing in `text`."""
        return self._missing > 0 or self._tail_size > self._half

    def text(self) -> str:
        """What was kept, with a note in the place of what was not; bytes that are no UTF-8 are U+FFFD."""
        tail = b"".join(self._tail)
        over = max(len(tail) - self._half, 0)
        while over and over < len(tail) and tail[over] & 0xC0 == 0x80:
            over += 1
        cut, tail = tail[:over], tail[over:]
        head = bytes(self._head)
        if not self._missing and not cut:
            return (head + tail).decode("utf-8", "replace")
        whole = _whole_characters(head)
        missing = self._missing + len(cut) + len(head) - len(whole)
        note = left_out(missing, self._missing_lines + cut.count(b"\n"))
        return f"{whole.decode('utf-8', 'replace')}\n{note}\n{tail.decode('utf-8', 'replace')}"


def _whole_characters(data: bytes) -> bytes:
    """The bytes without an unfinished character at their end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        needed = 2 if byte >> 5 == 0b110 else 3 if byte >> 4 == 0b1110 else 4 if byte >> 3 == 0b11110 else 1
        return data[:-back] if needed > back else data
    return data
