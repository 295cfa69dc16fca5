"""Standard input and output as a transport: pipes, sockets, terminals and regular files."""

import os
import stat

import anyio

CHUNK = 1 << 18


class StdioTransport:
    """Reads one descriptor and writes another, with no thread and without blocking the loop."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._polled_source = _can_poll(source)
        self._polled_sink = _can_poll(sink) and not _same_file(sink, 2)
        if self._polled_sink:
            os.set_blocking(sink, False)

    async def receive(self) -> bytes:
        """The next bytes, b"" at the end."""
        while True:
            if self._polled_source:
                await anyio.wait_readable(self._source)
            else:
                # A regular file never blocks; give the other tasks their turn.
                await anyio.lowlevel.checkpoint()
            try:
                return os.read(self._source, CHUNK)
            except BlockingIOError:
                continue
            except ConnectionError:
                return b""

    async def send(self, data: bytes) -> None:
        """Write all of the bytes. Raises OSError when nobody reads any more."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._sink, view) :]
            except BlockingIOError:
                await anyio.wait_writable(self._sink)

    async def aclose(self) -> None:
        """Give the descriptor back as it was; it may be shared with the program that started us."""
        if self._polled_sink:
            os.set_blocking(self._sink, True)


def _can_poll(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(descriptor))


def _same_file(one: int, other: int) -> bool:
    try:
        return os.path.sameopenfile(one, other)
    except OSError:
        return False
