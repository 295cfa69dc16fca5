"""Writing that must not hold up the loop: a bounded queue, and a daemon thread that writes."""

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Hands items to `write` in a thread of its own, in order. `put` never waits.

    `write` gets an item and how many were lost before it, because more than `bound` bytes waited.
    """

    def __init__(self, write: Callable[[T, int], None], bound: int) -> None:
        self._write = write
        self._bound = bound
        self._items: deque[tuple[T, int]] = deque()
        self._waiting = 0
        self._lost = 0
        self._busy = False
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()

    def put(self, item: T, size: int) -> None:
        """Enqueue an item of so many bytes, or count it as lost."""
        with self._changed:
            if self._waiting and self._waiting + size > self._bound:
                self._lost += 1
                return
            self._items.append((item, size))
            self._waiting += size
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="background-writer", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, within: float) -> bool:
        """Wait at most so many seconds until all is written; gives whether it is."""
        end = time.monotonic() + within
        with self._changed:
            while self._items or self._busy:
                left = end - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return not (self._items or self._busy)
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                while not self._items:
                    self._changed.wait()
                item, size = self._items.popleft()
                lost, self._lost = self._lost, 0
                self._busy = True
            self._write(item, lost)
            with self._changed:
                self._waiting -= size


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of the bytes, however long it takes. Raises OSError when that cannot be."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
