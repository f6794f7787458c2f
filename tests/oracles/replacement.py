"""Hit ratios under independent references by characteristic times: oracle of caches and of the analytic engine.

Groups of pages and the two policies of the engine: simulator/analytic/reading/replacement.py. Here are the
other two, and the time at which a cache of a given size is full (Che, Tung, Wang, IEEE JSAC 20, 2002).

- `frames`: the memory behind the slots of a buffer pool: the hand makes a referenced slot idle and an idle one go.
- `midpoint`: InnoDB's list in two parts. A page enters at the head of the old part; a hit there or in the new part
  moves it to the head of the new one; what the new part pushes out goes to the head of the old one.
"""

from collections.abc import Callable
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from oltpsim.simulator.analytic.reading.replacement import clock_missing, lru_missing
from oltpsim.simulator.form import OLD_PERCENT, FloatArray

SingleTimePolicy = Literal["lru", "clock", "frames"]


Policy = Literal["lru", "clock", "frames", "midpoint"]


OLD_FRACTION: Final = OLD_PERCENT / 100
TOLERANCE: Final = 1e-12
"""To which times are solved for, relative to the time"""


def frames_missing(x: npt.ArrayLike) -> FloatArray:
    """Probability that a slot has no memory, by x = rate times a revolution; any shape, 0 <= x <= inf.

    With a = exp(-x): at the hand's pass a slot becomes idle if it was referred to since the last one, or else is
    without memory. So it begins a revolution without with probability a, and is without until a reference in it, for
    (1 - a) / x of the revolution on average: a (1 - a) / x. (A page that enters right behind the hand would stay for
    1 + 1 / a revolutions; a slot that gets its memory back in its place meets the hand sooner.)
    """
    hits = np.maximum(np.asarray(x, dtype=np.float64), np.finfo(np.float64).tiny)
    return np.asarray(np.exp(-hits) * -np.expm1(-hits) / hits)


MISSING: Final[dict[SingleTimePolicy, Callable[[npt.ArrayLike], FloatArray]]] = {
    "lru": lru_missing,
    "clock": clock_missing,
    "frames": frames_missing,
}


def midpoint_missing(old: npt.ArrayLike, new: npt.ArrayLike) -> FloatArray:
    """Probability that a page isn't in the cache, by its rate times the characteristic times of the old and new parts.

    Both of one shape, or broadcast; old > 0 or both 0. With a = exp(-old), each stay in the old part ends by a hit with
    probability 1 - a, and lasts (1 - a) / rate; there are 1 / a of them, and one less in the new part, which last
    (exp(new) - 1) / rate. Together: 1 / (1 + (exp(old) - 1) exp(new)), as for the lists h = 2 of Gast, Van Houdt,
    "Transient and steady-state regime of a family of list-based cache replacement algorithms", SIGMETRICS 2015.
    """
    by_old = np.asarray(old, dtype=np.float64)
    neither = np.exp(-(by_old + np.asarray(new, dtype=np.float64)))
    return np.asarray(neither / (neither - np.expm1(-by_old)))


def characteristic_time(
    policy: SingleTimePolicy, rates: npt.ArrayLike, pages: npt.ArrayLike, capacity: npt.ArrayLike
) -> FloatArray:
    """The characteristic time (LRU) or the time of a revolution (CLOCK, frames), in the unit of time of `rates`.

    `capacity` in pages, of any shape, which is that of the result. The time is inf where all pages that are referred to
    fit, 0 for a capacity of 0. ValueError for shapes that differ, negative or infinite numbers, and where nothing is
    referred to.
    """
    rates, pages, capacity = _checked(rates, pages, capacity)
    times, inside, wanted = _trivial(pages, capacity)
    missing, shares = MISSING[policy], pages / pages.sum()

    def time(size: float) -> float:
        def excess(log_time: float) -> float:
            return float(1.0 - missing(_by_group(rates, np.exp(log_time))) @ shares - size / pages.sum())

        return float(np.exp(_root(excess, *_log_bounds(rates, pages, size))))

    times[inside] = [time(size) for size in wanted.tolist()]
    return times


def midpoint_times(
    rates: npt.ArrayLike, pages: npt.ArrayLike, capacity: npt.ArrayLike, old_fraction: float = OLD_FRACTION
) -> tuple[FloatArray, FloatArray]:
    """The characteristic times of the old and the new part of a list with a midpoint, in the unit of time of `rates`.

    As `characteristic_time`, for two times that each have the shape of `capacity`; ValueError for an `old_fraction`
    that isn't between 0 and 1.
    """
    if not 0.0 < old_fraction < 1.0:
        raise ValueError(f"old_fraction must be between 0 and 1, got {old_fraction}")
    rates, pages, capacity = _checked(rates, pages, capacity)
    old, inside, wanted = _trivial(pages, capacity)
    new, shares = old.copy(), pages / pages.sum()

    def both_times(size: float) -> tuple[float, float]:
        wanted_old = old_fraction * size / pages.sum()

        def log_of_both(log_old: float) -> float:
            """Log of the sum of both times at which the whole cache is full, with the old one known."""
            by_old = _by_group(rates, np.exp(log_old))
            least = float(rates.min()) * np.exp(log_old)
            high = np.log(np.exp(_log_bounds(rates, pages, size)[1]) - np.log(-np.expm1(-least)) / rates.min())

            def excess(log_both: float) -> float:
                by_both = _by_group(rates, np.exp(log_both))
                return float(1.0 - midpoint_missing(by_old, by_both - by_old) @ shares - size / pages.sum())

            return _root(excess, log_old - 4.0 * TOLERANCE, float(high))

        def excess_old(log_old: float) -> float:
            by_old = _by_group(rates, np.exp(log_old))
            by_new = _by_group(rates, np.exp(log_of_both(log_old))) - by_old
            present = -np.expm1(-by_old)
            return float((present * np.exp(-by_new) / (np.exp(-by_old - by_new) + present)) @ shares - wanted_old)

        most = float(np.log(characteristic_time("lru", rates, pages, size)))
        log_old = _root(excess_old, float(np.log(old_fraction * size / (rates @ pages))), most)
        return float(np.exp(log_old)), float(np.exp(log_of_both(log_old)) - np.exp(log_old))

    found = np.array([both_times(size) for size in wanted.tolist()]).reshape(-1, 2)
    old[inside], new[inside] = found.T
    return old, new


def missing_by_group(
    policy: Policy,
    rates: npt.ArrayLike,
    pages: npt.ArrayLike,
    capacity: npt.ArrayLike,
    old_fraction: float = OLD_FRACTION,
) -> FloatArray:
    """Probability that a reference to a page of each group misses; shape that of `capacity`, then (groups,).

    `old_fraction` is read for `midpoint` alone. Errors as in `characteristic_time`.
    """
    every_rate = np.asarray(rates, dtype=np.float64)
    if policy == "midpoint":
        old, new = midpoint_times(rates, pages, capacity, old_fraction)
        return midpoint_missing(_by_group(every_rate, old), _by_group(every_rate, new))
    return MISSING[policy](_by_group(every_rate, characteristic_time(policy, rates, pages, capacity)))


def hit_ratio(
    policy: Policy,
    rates: npt.ArrayLike,
    pages: npt.ArrayLike,
    capacity: npt.ArrayLike,
    old_fraction: float = OLD_FRACTION,
) -> FloatArray:
    """Share of all references that hit, in the shape of `capacity`; as `missing_by_group`."""
    missing = missing_by_group(policy, rates, pages, capacity, old_fraction)
    references = np.asarray(rates, dtype=np.float64) * np.asarray(pages, dtype=np.float64)
    return np.asarray(1.0 - missing @ (references / references.sum()))


def _checked(
    rates: npt.ArrayLike, pages: npt.ArrayLike, capacity: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rates and numbers of the pages that are referred to, and capacities, as arrays."""
    arrays = [np.asarray(given, dtype=np.float64) for given in (rates, pages, capacity)]
    for name, array in zip(("rates", "pages", "capacity"), arrays, strict=True):
        if not (np.isfinite(array).all() and (array >= 0.0).all()):
            raise ValueError(f"{name} must be finite and not negative")
    if arrays[0].ndim != 1 or arrays[0].shape != arrays[1].shape:
        raise ValueError(f"rates and pages must have one shape (groups,), got {arrays[0].shape} and {arrays[1].shape}")
    referred = (arrays[0] > 0.0) & (arrays[1] > 0.0)
    if not referred.any():
        raise ValueError("no page is referred to")
    return arrays[0][referred], arrays[1][referred], arrays[2]


def _trivial(pages: FloatArray, capacity: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_], FloatArray]:
    """Times where they are plain, inf or 0; where they aren't; and the capacities there, of shape (n,)."""
    inside = np.asarray((capacity > 0.0) & (capacity < pages.sum()))
    return np.where(capacity > 0.0, np.inf, np.zeros_like(capacity)), inside, capacity[inside]


def _by_group(rates: FloatArray, times: npt.ArrayLike) -> FloatArray:
    """Rates times times, in the shape of `times`, then (groups,); 0 for a rate of 0 also if the time is inf."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(rates > 0.0, rates * np.asarray(times)[..., np.newaxis], 0.0)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Zero between two bounds; one of them where rounding has left none between."""
    if rising(low) >= 0.0:
        return low
    if rising(high) <= 0.0:
        return high
    return float(brentq(rising, low, high, xtol=TOLERANCE))


def _log_bounds(rates: FloatArray, pages: FloatArray, capacity: float) -> tuple[float, float]:
    """Logs of times between which lies that of every policy of a single one.

    In a time t no more than t times all rates can enter, and a page is in at most 4 times as long. No policy leaves out
    more than exp(-x), nor LRU more than if all rates were the least.
    """
    low = np.log(capacity / (4.0 * (rates @ pages)))
    high = np.log(-np.log1p(-capacity / pages.sum()) / rates.min())
    return float(low), float(high) + 4.0 * TOLERANCE
