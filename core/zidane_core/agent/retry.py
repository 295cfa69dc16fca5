"""When a failed model round is tried again, and after how long (ring 2)."""

from hashlib import sha256

import msgspec

from zidane_core.agent.state import Limits
from zidane_core.data.models import Broke
from zidane_core.faults import Fault


class Again(msgspec.Struct, frozen=True, gc=False):
    """Try again after so many seconds."""

    seconds: float


def decide(limits: Limits, broke: Broke, tries: int, seed: str) -> Again | None:
    """Whether the round that failed for the `tries`-th time is tried again.

    A wait that the provider asks for is obeyed up to a bound; else the wait doubles, with jitter that is
    derived from `seed` so that a replay waits the same.
    """
    if not broke.retryable or tries >= limits.tries:
        return None
    if broke.retry_after is not None:
        return Again(broke.retry_after) if broke.retry_after <= limits.retry_after_most else None
    doubled = min(limits.retry_first * 2 ** (tries - 1), limits.retry_most)
    return Again(round(doubled * (0.5 + 0.5 * _fraction(seed)), 3))


def _fraction(seed: str) -> float:
    return int.from_bytes(sha256(seed.encode("utf-8", "replace")).digest()[:4], "big") / 2**32


def waiting(broke: Broke, again: Again, tries: int, limits: Limits) -> str:
    """What the user is told while waiting."""
    return f"{broke.fault.message} Trying again in {again.seconds:.1f} s (try {tries + 1} of {limits.tries})."


def cut(fault: Fault) -> Fault:
    """The fault of a round that had already shown something."""
    message = f"{fault.message} The answer was cut off there; what had come is kept."
    return Fault(fault.code, message, {**(fault.data or {}), "cut": True})
