"""Standard input and output as a transport: pipes, sockets, terminals and regular files.

No descriptor is made non-blocking: that would hold for everyone who shares it, such as the parent's terminal, or
stderr where both go into one pipe. Writes that cannot block do instead.
"""

import os
import select
import socket
import stat
from collections.abc import Callable
from typing import Final

import anyio
import anyio.lowlevel

from zidane_acp.descriptors import read_ready

CHUNK: Final = 1 << 18
PIECE: Final = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe takes at once when it says that it is writable."""


class StdioTransport:
    """Reads one descriptor and writes another, with no thread and without blocking the loop.

    `moved` is called whenever the reader has taken something.
    """

    def __init__(self, source: int, sink: int, moved: Callable[[], None] = lambda: None) -> None:
        self._source = source
        self._polled_source = _can_poll(source)
        self._moved = moved
        self._terminal = _own_terminal(sink)
        self._sink = sink if self._terminal is None else self._terminal
        self._room = select.poll()
        self._room.register(self._sink, select.POLLOUT)
        self._socket = socket.socket(fileno=sink) if stat.S_ISSOCK(os.fstat(sink).st_mode) else None
        self._write = self._to_socket if self._socket else self._to_pipe if _can_poll(sink) else self._to_file

    async def receive(self) -> bytes:
        """The next bytes, b"" at the end."""
        while True:
            if self._polled_source:
                await anyio.wait_readable(self._source)
            else:
                # A regular file never blocks; give the other tasks their turn.
                await anyio.lowlevel.checkpoint()
            data = read_ready(self._source, CHUNK)
            if data is not None:
                return data

    async def send(self, data: bytes) -> None:
        """Write all of the bytes. Raises OSError when nobody reads any more."""
        view = memoryview(data)
        while view:
            try:
                written = self._write(view)
            except BlockingIOError:
                written = 0
            if written:
                view = view[written:]
                self._moved()
            else:
                await anyio.wait_writable(self._sink)

    async def aclose(self) -> None:
        """Give the descriptors back to who opened them."""
        if self._socket is not None:
            self._socket.detach()
        if self._terminal is not None:
            os.close(self._terminal)

    def _to_pipe(self, view: memoryview) -> int:
        """A piece that does not block, 0 when there is no room."""
        return os.write(self._sink, view[:PIECE]) if self._room.poll(0) else 0

    def _to_socket(self, view: memoryview) -> int:
        assert self._socket is not None
        return self._socket.send(view, socket.MSG_DONTWAIT)

    def _to_file(self, view: memoryview) -> int:
        return os.write(self._sink, view)


def _can_poll(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(descriptor))


def _own_terminal(sink: int) -> int | None:
    """The terminal opened a second time, for us alone and not waiting; None when it is none, or not ours."""
    if not os.isatty(sink):
        return None
    try:
        return os.open(os.ttyname(sink), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
