"""What an embedded model says and when: events, and the pause before them (ring 1).

The core only says how long to wait; the shell waits.
"""

import re
from typing import Final

import msgspec

from zidane_core.data.models import ModelEvent, TextDelta

BATCH: Final = 128
"""Events handed over at once where nothing is waited for: between two batches a cancel is noticed."""


class Paced(msgspec.Struct, frozen=True, gc=False):
    """Events to hand over together, after a pause of `delay` seconds."""

    events: tuple[ModelEvent, ...]
    delay: float = 0.0


_PIECE: Final = re.compile(r"\n+|[^\n]{1,48}(?:\s|$)|[^\n]{1,48}")


def deltas(text: str) -> tuple[ModelEvent, ...]:
    """The text as a provider would stream it: pieces of some words, none longer than a line; joined they are the text."""
    return tuple(TextDelta(piece) for piece in _PIECE.findall(text))


def batches(events: tuple[ModelEvent, ...], size: int = BATCH) -> tuple[Paced, ...]:
    """The events without pauses, at most `size` at once."""
    return tuple(Paced(events[start : start + size]) for start in range(0, len(events), size))


def repeated(event: ModelEvent, times: int, delay: float, size: int = BATCH) -> tuple[Paced, ...]:
    """One event many times: one by one after `delay` seconds each, or in batches where there is no delay.

    Full batches are one shared record, so 200,000 repetitions cost no more memory than one batch.
    """
    if delay > 0:
        return (Paced((event,), delay),) * times
    full, rest = divmod(times, size)
    return (Paced((event,) * size),) * full + ((Paced((event,) * rest),) if rest else ())
