"""Hit ratios of page replacement under independent references, by characteristic times.

Pages come as groups: `rates[i]` references per unit of time (any unit) of each of `pages[i]` pages, both of shape
(groups,). In a large cache the time that a page stays without a reference, or a revolution of the hand takes, hardly
varies: it is one number for all pages, at which the pages expected to be in the cache fill it (Che, Tung, Wang,
"Hierarchical Web caching systems", IEEE JSAC 20, 2002). A page is missing for 1/rate on average and then stays; the
share of time that it is missing is the share of its references that miss, as these come at any time alike.

Policies:

- `lru`: an exact list of recency.
- `clock`: usage counts up to 5, as in caches.py: a page enters right behind the hand with a count of 1, a hit adds 1,
  the hand takes 1 off as it passes, and evicts a page that it finds at 0.

Pages that are never referred to (a rate of 0) are never in the cache.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.form import MOST_USAGE, FloatArray, matrix_product, weighted_sum

UNDERFLOWN: Final = 1000.0
"""exp(-x) is 0 from here on"""
ENTRY_USAGE: Final = 1
SURELY_IN: Final = 20.0
SHORTEST_WINDOW: Final = 1e-3
"""parents in a revolution from which on a page is never out; the shortest windows told apart, in revolutions"""


def lru_missing(x: npt.ArrayLike) -> FloatArray:
    """Probability that a page isn't in an LRU cache, by x = rate times characteristic time; any shape, 0 <= x <= inf.

    It stays until it has gone without a reference for the characteristic time (Che, Tung, Wang 2002).
    """
    return np.asarray(np.exp(-np.asarray(x, dtype=np.float64)))


def clock_missing(x: npt.ArrayLike) -> FloatArray:
    """Probability that a page isn't in a CLOCK with counts, by x = rate times a revolution; any shape, 0 <= x <= inf.

    As the hand passes, the count is a Markov chain that goes down by at most 1, up by a Poisson number of hits of mean
    x less 1, and no higher than MOST_USAGE - 1. The mean number of revolutions from a count c to the first at c - 1 is
    d[c] = exp(x) (1 + sum over j > c of d[j] P(at least j - c + 1 hits)); below 0 is out. A page enters at 1 and stays
    for d[1] + d[0]. Compare Nicola, Dan, Dias, "Analysis of the generalized clock buffer replacement scheme for
    database transaction processing", SIGMETRICS 1992. Here d[c] is multiplied by exp(-x) to the power of
    MOST_USAGE - c, so that nothing overflows.
    """
    hits = np.minimum(np.asarray(x, dtype=np.float64), UNDERFLOWN)
    none = np.exp(-hits)
    at_least = [np.ones_like(hits), -np.expm1(-hits)]
    probability = none
    for number in range(1, MOST_USAGE):
        probability = probability * hits / number
        at_least.append(at_least[-1] - probability)
    scaled: list[FloatArray] = [np.ones_like(hits)] * MOST_USAGE
    for count in reversed(range(MOST_USAGE - 1)):
        higher = range(count + 1, MOST_USAGE)
        climbs = sum(scaled[j] * none ** (j - count - 1) * at_least[j - count + 1] for j in higher)
        scaled[count] = none ** (MOST_USAGE - 1 - count) + climbs
    stay = sum(scaled[count] * none**count for count in range(ENTRY_USAGE + 1))
    least = none**MOST_USAGE
    return np.asarray(least / (least + hits * stay))


def clustered_clock(
    x: FloatArray, late: FloatArray, offspring: FloatArray, twice: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A CLOCK whose references draw others after them: parents missing, offspring missing, and the page's presence.

    A parent's window stays open for an exponential time, in which `offspring` references follow on average. The share
    `twice` of parents and of offspring hit the page once more at once. `x`: parents in a revolution, `late`:
    revolutions that a window lasts; both of one shape, (..., groups); `offspring`, `twice`: (groups,) and (2, groups).

    A page is hot while a window of its own is open. As in `clock_missing` the count goes down by at most 1, so the way
    from a count to the one below is the same at every count but for the highest: a matrix for where the page ends, hot
    or cold, and a vector for the revolutions that it takes (matrix-analytic solution of a chain of type M/G/1, Neuts
    1981). A page that is out comes back by a parent or, while it is hot, by its offspring.
    """
    x = np.minimum(x, SURELY_IN)
    z = 1.0 / np.maximum(late, SHORTEST_WINDOW)
    ends = -np.expm1(-z)  # chance that a window open at the hand's pass closes before the next
    opened = ends / z  # chance that one opened in between is open at the end
    each, rest = offspring * (1.0 - opened), offspring * ends
    by_hits = [_revolution(x, each, rest, opened, ends, number, twice) for number in range(MOST_USAGE)]
    one = np.array([1.0, 1.0])
    ways: dict[int, FloatArray] = {}
    times: dict[int, FloatArray] = {}
    for count in reversed(range(MOST_USAGE)):
        most = MOST_USAGE - 1 - count  # hits from which on the count is as high as it gets
        to = {count + number - 1: by_hits[number] for number in range(1, most + 1)}
        to[MOST_USAGE - 1] = _any(x, opened, ends) - sum(by_hits[: most + 1])
        stays, longer = np.zeros_like(by_hits[0]), np.zeros((*x.shape, 2)) + one
        for there, chance in to.items():
            way, time = np.broadcast_to(np.eye(2), chance.shape), np.zeros_like(longer)
            for step in range(there, count, -1):
                time = time + weighted_sum(way, times[step][..., None, :])
                way = matrix_product(way, ways[step])
            stays = stays + matrix_product(chance, way)
            longer = longer + weighted_sum(chance, time[..., None, :])
        back = _inverse(np.eye(2) - stays)
        ways[count], times[count] = matrix_product(back, by_hits[0]), weighted_sum(back, longer[..., None, :])
    to_first = matrix_product(ways[2], ways[1])
    once, again = matrix_product(ways[1], ways[0]), matrix_product(to_first, ways[0])
    stay = times[1][..., 0] + (ways[1][..., 0, :] * times[0]).sum(axis=-1)
    longer = times[2][..., 0] + (ways[2][..., 0, :] * times[1]).sum(axis=-1)
    longer = longer + (to_first[..., 0, :] * times[0]).sum(axis=-1)
    stay = (1.0 - twice[0]) * stay + twice[0] * longer
    hot = (1.0 - twice[0]) * once[..., 0, 0] + twice[0] * again[..., 0, 0]
    away = 1.0 / (x + offspring * z + z)
    by_offspring = hot * offspring * z * away
    out = hot * away * (1.0 + z / x) + (1.0 - hot) / x
    cycle = stay + out
    return (
        (1.0 - by_offspring) / (x * cycle),
        by_offspring / (x * np.maximum(offspring, SHORTEST_WINDOW) * cycle),
        stay / cycle,
    )


def _revolution(
    x: FloatArray,
    each: FloatArray,
    rest: FloatArray,
    opened: FloatArray,
    ends: FloatArray,
    hits: int,
    twice: FloatArray,
) -> FloatArray:
    """Chances of so many hits in a revolution, (..., 2, 2): from hot and cold to hot and cold.

    Parents are Poisson of mean `x`; each brings `each` more references on average, a window open before `rest`.
    """
    found = np.zeros((*x.shape, 2, 2))
    for parents in range(hits + 1):
        poisson = np.exp(-x) * x**parents / math.factorial(parents)
        for start in range(2):
            mean = parents * each + (rest if start == 0 else 0.0 * rest)
            chance = np.zeros_like(x)
            for number in range(hits - parents + 1):  # references of offspring
                more = hits - parents - number  # second hits, of parents or of offspring
                both = sum(
                    _binomial(parents, first, twice[0]) * _binomial(number, more - first, twice[1])
                    for first in range(more + 1)
                    if first <= parents and more - first <= number
                )
                chance = chance + np.exp(-mean) * mean**number / math.factorial(number) * both
            cold = (1.0 - opened) ** parents * (ends if start == 0 else 1.0)
            found[..., start, 0] += poisson * chance * (1.0 - cold)
            found[..., start, 1] += poisson * chance * cold
    return found


def _binomial(of: int, number: int, chance: FloatArray) -> FloatArray:
    """Chance of `number` successes in `of` trials."""
    return math.comb(of, number) * chance**number * (1.0 - chance) ** (of - number)


def _any(x: FloatArray, opened: FloatArray, ends: FloatArray) -> FloatArray:
    """Chances to go from hot and cold to hot and cold in a revolution, with any number of hits."""
    none = np.exp(-x * opened)
    cold = np.stack([none * ends, none], axis=-1)
    return np.stack([1.0 - cold, cold], axis=-1)


def _inverse(matrices: FloatArray) -> FloatArray:
    """Inverses of matrices of shape (..., 2, 2)."""
    a, b, c, d = matrices[..., 0, 0], matrices[..., 0, 1], matrices[..., 1, 0], matrices[..., 1, 1]
    rows = np.stack([np.stack([d, -b], axis=-1), np.stack([-c, a], axis=-1)], axis=-2)
    return np.asarray(rows / (a * d - b * c)[..., None, None])
