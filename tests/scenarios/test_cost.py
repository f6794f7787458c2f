"""What throughput costs: bought by its rate, rented by what it does in an hour."""

import pytest

from models.machine import PriceSpec
from scenarios.show.summary import cost_words


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ({"usd": 550}, "2.75 USD for 1,000/min at the price of 2009"),
        ({"usd": 2000, "usd_at_most": 2500}, "10.0 to 12.5 USD for 1,000/min at the price of 2009"),
        ({"usd": 0.2, "per": "hour"}, "0.0167 USD for a million at the price of 2009"),
    ],
)
def test_cost(price: dict[str, object], words: str) -> None:
    spec = PriceSpec.model_validate({**price, "year": 2009, "source": "a test"})
    assert cost_words(spec, 200_000.0) == words
