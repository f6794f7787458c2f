"""How often a CLOCK finds a page used: the usage counts of a page by its references."""

import math
from functools import lru_cache
from itertools import product

import numpy as np

from oltpsim.simulator.form import MOST_USAGE, FloatArray

HIGHEST_LOAD = 5.0
"""references in a revolution from which on a page is always in"""


class UsageCounts:
    """Usage counts of a page, by its references in a revolution; each is drawn `drawn` times by each of `looks` more.

    Looked at when the hand has passed, or the page has come in right behind it: a Markov chain that goes up by a
    compound Poisson number of hits and down by 1 (compare Nicola, Dan, Dias, "Analysis of the generalized clock buffer
    replacement scheme for database transaction processing", SIGMETRICS 1992). A reference, which comes at any time
    alike, finds the page as it is on average.
    """

    def __init__(self, looks: float, drawn: float) -> None:
        numbers = range(MOST_USAGE)
        each = [math.exp(-drawn) * drawn**number / math.factorial(number) for number in numbers]
        more = [math.exp(-looks * (1.0 - each[0]))]
        for number in numbers[1:]:
            more.append(
                looks / number * sum(place * each[place] * more[number - place] for place in range(1, number + 1))
            )
        self.burst = [0.0, *more]  # of a reference and those that follow it, by their number
        self.loads = np.geomspace(1e-6, HIGHEST_LOAD, 200)
        self.entering = np.diff(self._below(np.zeros(1), first=1)[0], prepend=0.0)
        counts = MOST_USAGE + 1
        steps = np.zeros((len(self.loads), counts, counts))
        hits = np.diff(self._below(self.loads), axis=1, prepend=0.0)
        for count, found in product(range(counts), range(counts)):
            usage = min(count + found, MOST_USAGE)
            if usage > 0:
                steps[:, count, usage - 1] += hits[:, found]
        visits = _visits(steps, self.entering)
        self.revolutions = visits.sum(axis=1)
        self.usage_below = np.cumsum(visits, axis=1) / self.revolutions[:, None]

    def missing(self, load: FloatArray) -> FloatArray:
        """Chance that a reference finds the page out."""
        return np.asarray(1.0 / (1.0 + load * np.interp(load, self.loads, self.revolutions)))

    def revolutions_left(self, load: FloatArray, draws: list[FloatArray]) -> FloatArray:
        """For how long a page stays after a reference if no other comes; `draws`: five uniform numbers each."""
        missed, at, hand, hits, followers = draws
        load = np.minimum(load, HIGHEST_LOAD)
        is_new = missed < self.missing(load)
        count = sum((at >= np.interp(load, self.loads, column)).astype(np.int64) for column in self.usage_below.T[:-1])
        count = count + (hits[:, None] >= self._below(load * hand)[:, :-1]).sum(axis=1)
        entered = np.searchsorted(np.cumsum(self.entering)[:-1], followers, side="right")
        usage = np.minimum(np.where(is_new, 0, count) + entered, MOST_USAGE)
        return np.asarray(usage + np.where(is_new, 1.0, 1.0 - hand))

    def _below(self, load: FloatArray, first: int = 0) -> FloatArray:
        """Chances of at most 0, 1, .. MOST_USAGE hits, the last one 1, shape (loads, MOST_USAGE + 1).

        A recursion for compound Poisson numbers (Panjer, ASTIN Bulletin 12, 1981). `first`: one reference for certain,
        whose hits are 1 and those that follow.
        """
        numbers = range(MOST_USAGE + 1)
        if first:
            chances = [np.full(len(load), share) for share in self.burst]
        else:
            chances = [np.exp(-load)]
            for number in numbers[1:]:
                found = sum(place * self.burst[place] * chances[number - place] for place in range(1, number + 1))
                chances.append(load / number * found)
        below = np.cumsum(np.stack(chances, axis=1), axis=1)
        below[:, -1] = 1.0
        return np.asarray(below)


def _visits(steps: FloatArray, entering: FloatArray) -> FloatArray:
    """Visits to each count before a page goes out, (loads, counts), by chances of steps, (loads, counts, counts).

    Elimination without exchanges of rows: every page goes out in the end, so that no pivot vanishes.
    """
    counts = len(entering)
    from_outside = np.broadcast_to(entering[:, None], (len(steps), counts, 1))
    rows = np.concatenate([np.eye(counts) - steps.transpose(0, 2, 1), from_outside], axis=2)
    for pivot in range(counts):
        rows[:, pivot] = rows[:, pivot] / rows[:, pivot, pivot, None]
        for row in range(counts):
            if row != pivot:
                rows[:, row] = rows[:, row] - rows[:, row, pivot, None] * rows[:, pivot]
    return np.asarray(rows[:, :, -1])


@lru_cache(maxsize=8)
def usage_counts(looks: float, drawn: float) -> UsageCounts:
    """As `UsageCounts`, solved once."""
    return UsageCounts(looks, drawn)
