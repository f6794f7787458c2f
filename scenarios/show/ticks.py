"""Where axes are marked: a few round numbers, so that no label meets another on a phone."""

from __future__ import annotations

import math


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers on a logarithmic axis: three to six of them, whatever its length."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [s * 10.0**d for d in decades for s in steps if low <= s * 10.0**d <= high]
        if len(found) <= 6:
            break
    return found[:: math.ceil(len(found) / 6)]


def linear_ticks(longest: float) -> list[float]:
    """Round numbers from 0 to at most `longest` (above 0) on a linear axis: three to six of them."""
    power = 10.0 ** math.floor(math.log10(longest))
    step = next(power * factor for factor in (0.2, 0.25, 0.5, 1.0, 2.0) if longest / (power * factor) <= 5)
    return [step * number for number in range(int(longest / step) + 1)]
