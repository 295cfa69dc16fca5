"""What tokens cost: cached ones by their own price, nothing guessed."""

import pytest

from zidane_core.data.models import LongPrompt, Price
from zidane_core.data.outcome import Usage
from zidane_core.models.pricing import added, cost_of

PLAIN = Price(input=2.0, output=10.0)
LONG = Price(input=2.0, output=10.0, cached_read=0.2, long=LongPrompt(200_000, 2.0, 1.5))
CACHED = Price(input=2.0, output=10.0, cached_read=0.2, cached_write=2.5)


@pytest.mark.parametrize(
    ("price", "usage", "dollars"),
    [
        (PLAIN, Usage(), 0.0),
        (PLAIN, Usage(input=1_000_000, output=100_000), 3.0),
        (PLAIN, Usage(input=1_000_000, cached_read=400_000, cached_write=100_000), 2.0),
        (CACHED, Usage(input=1_000_000, cached_read=400_000, cached_write=100_000), 1.0 + 0.08 + 0.25),
        (CACHED, Usage(input=10, cached_read=1_000_000), 0.2),
        (PLAIN, Usage(output=1_000_000, thought=900_000), 10.0),
        (LONG, Usage(input=200_000, output=100_000), 1.4),
        (LONG, Usage(input=200_001, output=100_000), 0.800004 + 1.5),
        (LONG, Usage(input=300_000, cached_read=200_000), 2 * (0.2 + 0.04)),
    ],
)
def test_tokens_have_a_price(price: Price, usage: Usage, dollars: float) -> None:
    assert cost_of(price, usage) == pytest.approx(dollars)


def test_a_sum_without_a_price_is_not_known_any_more() -> None:
    assert added(1.0, PLAIN, Usage(input=1_000_000)) == pytest.approx(3.0)
    assert added(1.0, None, Usage(input=1)) is None
    assert added(None, PLAIN, Usage(input=1)) is None
    assert added(1.0, None, Usage()) == 1.0
