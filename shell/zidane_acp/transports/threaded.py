"""Standard input and output by threads, for platforms where pipes cannot be polled (Windows)."""

import os
from collections.abc import Callable
from typing import Final

import anyio.to_thread

CHUNK: Final = 1 << 16


class ThreadedTransport:
    """Reads one descriptor and writes another, each call in a worker thread.

    A cancelled read leaves its thread behind, which ends with the process. `moved` is called whenever the reader
    has taken something.
    """

    def __init__(self, source: int, sink: int, moved: Callable[[], None] = lambda: None) -> None:
        self._source = source
        self._sink = sink
        self._moved = moved

    async def receive(self) -> bytes:
        """The next bytes, b"" at the end."""
        return await anyio.to_thread.run_sync(self._read, abandon_on_cancel=True)

    async def send(self, data: bytes) -> None:
        """Write all of the bytes. Raises OSError when nobody reads any more."""
        view = memoryview(data)
        while view:
            view = view[await anyio.to_thread.run_sync(os.write, self._sink, view, abandon_on_cancel=True) :]
            self._moved()

    async def aclose(self) -> None:
        """Nothing to give back."""

    def _read(self) -> bytes:
        try:
            return os.read(self._source, CHUNK)
        except OSError:  # the other side is gone
            return b""
