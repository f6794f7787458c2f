"""An LRU cache under independent references against Che's approximation; other formulas and sizes are refused.

Source: Che, Tung, Wang, "Hierarchical Web caching systems", IEEE JSAC 20, 2002; first in first out and random
replacement: Martina, Garetto, Leonardi, INFOCOM 2014.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq

from oltpsim.simulator.reference.cache import POLICIES

FloatArray = npt.NDArray[np.float64]
PAGES, CAPACITY = 2000, 400
WARM, COUNTED = 20_000, 250_000
TOLERANCE = 0.003


def popularity(exponent: float) -> FloatArray:
    weights = 1.0 / np.arange(1, PAGES + 1) ** exponent
    return np.asarray(weights / weights.sum())


def by_lru(rate_times: FloatArray) -> FloatArray:
    """Probability that a page is in the cache, by its rate times the characteristic time."""
    return 1.0 - np.exp(-rate_times)


def by_fifo(rate_times: FloatArray) -> FloatArray:
    return rate_times / (1.0 + rate_times)


def predicted(pmf: FloatArray, capacity: int, occupied: Callable[[FloatArray], FloatArray]) -> float:
    """Hit ratio with the characteristic time at which the pages expected in the cache fill it."""
    time: Any = brentq(lambda t: float(occupied(pmf * t).sum()) - capacity, 1e-3, 1e9)
    return float((pmf * occupied(pmf * time)).sum())


def simulated(pmf: FloatArray, policy: str) -> float:
    cache = POLICIES[policy](CAPACITY)
    pages = np.random.default_rng(3).choice(PAGES, size=WARM + COUNTED, p=pmf).tolist()
    hits = 0
    for number, page in enumerate(pages):
        frame = cache.where.get(page)
        if frame is not None:
            cache.touch(frame)
            hits += number >= WARM
        else:
            frame = cache.next_frame()
            assert frame is not None
            if frame.page >= 0:
                cache.evict(frame)
            cache.insert(frame, page)
    return hits / COUNTED


@pytest.mark.parametrize("exponent", [0.6, 1.0])
def test_lru_is_as_che_says(exponent: float) -> None:
    pmf = popularity(exponent)
    found = simulated(pmf, "lru")
    assert found == pytest.approx(predicted(pmf, CAPACITY, by_lru), abs=TOLERANCE)
    assert abs(found - predicted(pmf, CAPACITY, by_fifo)) > 3 * TOLERANCE
    assert abs(found - predicted(pmf, round(0.9 * CAPACITY), by_lru)) > 3 * TOLERANCE


def test_usage_counts_keep_the_popular_pages() -> None:
    """CLOCK with counts up to 5 hits more often than LRU where popularity doesn't change: Che's formula refuses it."""
    pmf = popularity(1.0)
    assert simulated(pmf, "clock") > predicted(pmf, CAPACITY, by_lru) + 2 * TOLERANCE
