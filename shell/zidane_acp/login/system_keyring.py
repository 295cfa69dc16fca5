"""The system's keyring, if the package is there and a real one answers in time.

A keyring that is locked, or whose bus is away, may hang: every call has a thread of its own and a bound.
"""

import queue
import threading
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

T = TypeVar("T")

READ_WITHIN: Final = 2.0
WRITE_WITHIN: Final = 30.0
"""Seconds that a call has; one that writes may have the user unlock the keyring."""

UNFIT: Final = ("keyring.backends.null", "keyring.backends.fail", "keyrings.alt")
"""Modules of backends that keep nothing, or keep it in the clear."""


class Unavailable(Exception):
    """There is no keyring that does this, or it did not do it in time."""


class Backend(Protocol):
    """What is used of a backend of the package."""

    def get_password(self, service: str, username: str, /) -> str | None: ...

    def set_password(self, service: str, username: str, password: str, /) -> None: ...

    def delete_password(self, service: str, username: str, /) -> None: ...


class _Outcome(Generic[T]):
    def __init__(self, value: T | None = None, failed: str = "") -> None:
        self.value = value
        self.failed = failed


class SystemKeyring:
    """Keys by name under one service. Its methods wait, and raise Unavailable."""

    def __init__(
        self, service: str, read_within: float = READ_WITHIN, write_within: float = WRITE_WITHIN
    ) -> None:
        self._service = service
        self._read_within = read_within
        self._write_within = write_within

    def read(self, names: tuple[str, ...]) -> dict[str, str]:
        """The keys that are there."""
        found = self._within(
            self._read_within,
            lambda backend: {name: backend.get_password(self._service, name) for name in names},
        )
        return {name: key for name, key in found.items() if key}

    def put(self, name: str, key: str) -> None:
        """Keep a key, and see that it is there."""

        def work(backend: Backend) -> bool:
            backend.set_password(self._service, name, key)
            return backend.get_password(self._service, name) == key

        if not self._within(self._write_within, work):
            raise Unavailable("it did not keep the key")

    def forget(self, names: tuple[str, ...]) -> None:
        """Remove keys; one that is not there is no failure."""

        def work(backend: Backend) -> None:
            for name in names:
                if backend.get_password(self._service, name) is not None:
                    backend.delete_password(self._service, name)

        self._within(self._write_within, work)

    def _within(self, seconds: float, work: Callable[[Backend], T]) -> T:
        done: queue.SimpleQueue[_Outcome[T]] = queue.SimpleQueue()

        def run() -> None:
            try:
                done.put(_Outcome(work(_backend())))
            except Unavailable as problem:
                done.put(_Outcome(failed=str(problem)))
            except Exception as error:
                # Only the kind: what a backend says may hold anything.
                done.put(_Outcome(failed=f"it failed ({type(error).__name__})"))

        # A daemon, so that one that hangs does not keep the process.
        threading.Thread(target=run, name="keyring", daemon=True).start()
        try:
            outcome = done.get(timeout=seconds)
        except queue.Empty:
            raise Unavailable(f"it did not answer within {seconds:g} seconds") from None
        if outcome.failed:
            raise Unavailable(outcome.failed)
        return outcome.value  # type: ignore[return-value]  # T may be None itself


def _backend() -> Backend:
    """The first backend that keeps keys safely. Raises Unavailable."""
    try:
        import keyring
        from keyring.backends.chainer import ChainerBackend
    except ImportError:
        raise Unavailable("the package keyring is not installed") from None
    chosen: Backend = keyring.get_keyring()
    offered: tuple[Backend, ...] = tuple(chosen.backends) if isinstance(chosen, ChainerBackend) else (chosen,)
    for backend in offered:
        kind = type(backend)
        if not kind.__module__.startswith(UNFIT) and "plaintext" not in kind.__name__.lower():
            return backend
    raise Unavailable("the system has no keyring that is safe")
