"""The largest whole number for which something still holds, from few trials: each costs a program read anew."""

from __future__ import annotations

import math
from collections.abc import Callable

STRIDE = 2.0
"""what a number grows or shrinks by until one that holds and one that doesn't are found"""
NEAR = 1.05
"""how near these two come to each other at last"""
MOST_OFF = 0.25
"""how far a trial may be from the middle of these two, as a share of their logarithmic distance"""


def largest(margin: Callable[[int], float], start: int, most: int) -> int | None:
    """The largest number from 1 to `most` whose margin is not negative, to 5 %; None if 1 has none.

    `margin` falls with the number. Between a number that holds and one that doesn't the next trial is where the margin
    would be 0 if it fell evenly with the number's logarithm. The answer itself has been tried.
    """
    tried: dict[int, float] = {}
    at = max(1, min(start, most))
    while True:
        tried[at] = margin(at)
        good = max((number for number, value in tried.items() if value >= 0), default=0)
        bad = min((number for number, value in tried.items() if value < 0 and number > good), default=most + 1)
        if good + 1 >= bad or (good and bad <= most and bad <= good * NEAR):
            return good or None
        if bad > most:
            at = min(most, max(good + 1, int(good * STRIDE)))
        elif not good:
            at = max(1, int(bad / STRIDE))
        else:
            at = _between(good, tried[good], bad, tried[bad])


def _between(good: int, above: float, bad: int, below: float) -> int:
    share = above / (above - below) if math.isfinite(above - below) else 0.5
    share = min(max(share, 0.5 - MOST_OFF), 0.5 + MOST_OFF)
    guess = round(good * math.exp(share * math.log(bad / good)))
    return min(max(guess, good + 1), bad - 1)
