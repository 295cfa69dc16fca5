"""The values that are never written, among them those that are learned while the program runs."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final


class Secrets:
    """The secret values of an environment, those of `named` variables among them, and more as they become known; iterated
    anew for each line that is written."""

    def __init__(self, environment: Mapping[str, str], named: Collection[str] = ()) -> None:
        self._environment: Final = environment
        self._named: Final = named
        self._learned: frozenset[str] = frozenset()
        self._values: tuple[str, ...] | None = None

    def add(self, values: Iterable[str]) -> None:
        """Learn more of them."""
        learned = self._learned.union(values)
        if learned != self._learned:
            self._learned, self._values = learned, None

    def __iter__(self) -> Iterator[str]:
        if self._values is None:
            # Imported only when something is written: the start of the agent is waited for.
            from zidane_acp.masking import SHORTEST, secret_values

            found = {
                *secret_values(self._environment, self._named),
                *(one for one in self._learned if len(one) >= SHORTEST),
            }
            self._values = tuple(sorted(found, key=len, reverse=True))
        return iter(self._values)
