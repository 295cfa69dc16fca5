"""What tokens cost (ring 1). Nothing is guessed: without a price the sum is not known any more."""

from typing import Final

from zidane_core.data.models import LongPrompt, Price
from zidane_core.data.outcome import Usage

TOKENS: Final = 1_000_000
"""The tokens that a price is for."""


def cost_of(price: Price, usage: Usage) -> float:
    """US dollars for these tokens; cached input without a price of its own costs what all input does."""
    read = price.input if price.cached_read is None else price.cached_read
    write = price.input if price.cached_write is None else price.cached_write
    long = price.long if price.long is not None and usage.input > price.long.above else _USUAL
    plain = max(usage.input - usage.cached_read - usage.cached_write, 0)
    given = plain * price.input + usage.cached_read * read + usage.cached_write * write
    return (given * long.input + usage.output * price.output * long.output) / TOKENS


_USUAL: Final = LongPrompt(0, 1.0, 1.0)


def added(cost: float | None, price: Price | None, usage: Usage) -> float | None:
    """A sum with these tokens in it; None when the sum or their price is not known."""
    if cost is None or price is None:
        return cost if usage == Usage() else None
    return cost + cost_of(price, usage)
