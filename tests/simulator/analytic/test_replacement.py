"""Hit ratios by characteristic times against caches that are referred to, on TPC-C's pages; others are refused."""

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.models.workloads.tpcc.rows import (
    CUSTOMER_A,
    CUSTOMERS_PER_DISTRICT,
    DISTRICTS,
    ITEM_A,
    ITEMS,
    nurand_pmf,
    pages_pmf,
)
from oltpsim.simulator.analytic.reading import page_groups
from oltpsim.simulator.analytic.reading.page_groups import alike
from oltpsim.simulator.form import NS_PER_S, OLD_PERCENT, IntArray
from tests.oracles import replacement
from tests.oracles.replacement import Policy, frames_missing, hit_ratio, midpoint_missing, midpoint_times
from tests.simulator.page_references import counted

FloatArray = npt.NDArray[np.float64]
Formula = Callable[[npt.ArrayLike], FloatArray]
WAREHOUSES = 2
WARM, COUNTED = 1_000_000, 3_000_000
TOLERANCE = 0.0015
"""Relative; the standard deviation of the hits counted is below 0.0006 of them"""
FRACTIONS = (0.1, 0.3, 0.6)


@cache
def popularity() -> FloatArray:
    """TPC-C's stock, customer and item pages as new orders refer to them: ten items, a customer by number."""
    stock = np.tile(pages_pmf(nurand_pmf(ITEM_A, 1, ITEMS), 24), WAREHOUSES) / WAREHOUSES
    customers = nurand_pmf(CUSTOMER_A, 1, CUSTOMERS_PER_DISTRICT)
    districts = WAREHOUSES * DISTRICTS
    customer = np.tile(pages_pmf(customers, 12), districts) / districts
    item = pages_pmf(nurand_pmf(ITEM_A, 1, ITEMS), 91)
    every = np.concatenate([10.0 * stock, customer, 10.0 * item])
    return np.asarray(every / every.sum())


def ones() -> FloatArray:
    return np.ones_like(popularity())


def pages_of(fraction: float) -> int:
    return round(fraction * len(popularity()))


@cache
def references() -> IntArray:
    drawn = np.random.default_rng(11).random(WARM + COUNTED)
    pages = np.searchsorted(np.cumsum(popularity()), drawn)
    return np.minimum(pages, len(popularity()) - 1)


def simulated(policy: str, fraction: float) -> float:
    """Hit ratio of the project's own cache."""
    return 1.0 - counted(references(), WARM, pages_of(fraction), policy).misses / COUNTED


def simulated_memory(fraction: float) -> float:
    """References that find memory behind their slot, in a pool that holds all pages."""
    found = counted(references(), WARM, len(popularity()), "lru", pages_of(fraction))
    assert found.misses == 0
    return 1.0 - found.swap_ins / COUNTED


def simulated_midpoint(fraction: float, tick_ns: int = NS_PER_S) -> float:
    """The same for a list with a midpoint, a reference each second, on a third of them."""
    warm, fewer = WARM // 3, COUNTED // 3
    of = references()[: warm + fewer]
    return 1.0 - counted(of, warm, pages_of(fraction), "midpoint", batch=1, tick_ns=tick_ns).misses / fewer


def ratio(policy: Policy, capacity: float, old_fraction: float = OLD_PERCENT / 100) -> float:
    return float(hit_ratio(policy, popularity(), ones(), capacity, old_fraction))


def is_refused(found: float, expected: float) -> bool:
    return abs(found / expected - 1.0) > TOLERANCE


def by_formula(formula: Formula, capacity: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """Hit ratio with another formula in LRU's place."""
    with monkeypatch.context() as patch:
        patch.setitem(replacement.MISSING, "lru", formula)
        return ratio("lru", capacity)


def fifo_missing(x: npt.ArrayLike) -> FloatArray:
    """As if hits counted for nothing."""
    return np.asarray(1.0 / (1.0 + np.asarray(x)))


def behind_the_hand_missing(x: npt.ArrayLike) -> FloatArray:
    """Second chance for pages that enter right behind the hand: they stay for 1 + exp(x) revolutions."""
    hits = np.minimum(np.asarray(x), 500.0)
    return np.asarray(1.0 / (1.0 + hits * (1.0 + np.exp(hits))))


def test_the_formula_refused_for_frames_is_the_one_it_claims_to_be() -> None:
    """One bit and entry behind the hand, hand by hand."""
    x, generator, revolutions = 0.7, np.random.default_rng(4), 0
    for _ in range(20_000):
        revolutions += 1
        while generator.random() > np.exp(-x):
            revolutions += 1
        revolutions += 1
    stay = revolutions / 20_000
    assert 1.0 / (1.0 + x * stay) == pytest.approx(float(behind_the_hand_missing(x)), rel=0.01)
    assert 1.0 / (1.0 + x * stay) != pytest.approx(float(frames_missing(x)), rel=0.01)


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_lru_on_the_pages_of_tpcc(fraction: float, monkeypatch: pytest.MonkeyPatch) -> None:
    found, capacity = simulated("lru", fraction), pages_of(fraction)
    assert not is_refused(found, ratio("lru", capacity))
    assert is_refused(found, by_formula(fifo_missing, capacity, monkeypatch))
    assert is_refused(found, ratio("lru", 0.95 * capacity))
    assert is_refused(found, ratio("clock", capacity))


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_clock_on_the_pages_of_tpcc(fraction: float) -> None:
    found, capacity = simulated("clock", fraction), pages_of(fraction)
    assert not is_refused(found, ratio("clock", capacity))
    assert is_refused(found, ratio("lru", capacity))
    assert is_refused(found, ratio("frames", capacity))
    assert is_refused(found, ratio("clock", 0.95 * capacity))


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_memory_behind_the_slots_on_the_pages_of_tpcc(fraction: float, monkeypatch: pytest.MonkeyPatch) -> None:
    found, capacity = simulated_memory(fraction), pages_of(fraction)
    assert not is_refused(found, ratio("frames", capacity))
    assert is_refused(found, by_formula(behind_the_hand_missing, capacity, monkeypatch))
    assert is_refused(found, ratio("clock", capacity))
    assert is_refused(found, ratio("frames", 0.95 * capacity))


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_a_list_with_a_midpoint_on_the_pages_of_tpcc(fraction: float) -> None:
    found, capacity = simulated_midpoint(fraction), pages_of(fraction)
    assert not is_refused(found, ratio("midpoint", capacity))
    assert is_refused(found, ratio("lru", capacity))
    assert is_refused(found, ratio("midpoint", 0.95 * capacity))
    assert is_refused(found, ratio("midpoint", capacity, old_fraction=0.7))


def test_pages_that_have_just_been_read_do_not_become_young() -> None:
    """Where all of a page's stay in the old part is within a second, few pages become young, and others stay so."""
    found, capacity = simulated_midpoint(0.3, tick_ns=1000), pages_of(0.3)
    assert found < 0.9 * ratio("midpoint", capacity)


def in_old_and_new(old_time: FloatArray, new_time: FloatArray) -> tuple[float, float]:
    """Pages in both parts of a list with a midpoint, from the number and length of the stays in each."""
    evicted = np.exp(-popularity() * old_time)
    in_old = (1.0 - evicted) / evicted
    in_new = (1.0 / evicted - 1.0) * (np.exp(popularity() * new_time) - 1.0)
    cycle = 1.0 + in_old + in_new
    np.testing.assert_allclose(1.0 / cycle, midpoint_missing(popularity() * old_time, popularity() * new_time))
    return float((in_old / cycle).sum()), float((in_new / cycle).sum())


@pytest.mark.parametrize("old_fraction", [0.05, 3 / 8, 0.95])
def test_both_parts_of_a_list_with_a_midpoint_are_full(old_fraction: float) -> None:
    capacity = 0.2 * len(popularity())
    times = midpoint_times(popularity(), ones(), capacity, old_fraction)
    parts = (old_fraction * capacity, (1.0 - old_fraction) * capacity)
    assert in_old_and_new(*times) == pytest.approx(parts, rel=1e-8)
    assert in_old_and_new(times[1], times[0]) != pytest.approx(parts, rel=1e-8)


def test_a_list_whose_new_part_is_nothing_is_lru() -> None:
    capacity = pages_of(0.3)
    assert ratio("midpoint", capacity, 1 - 1e-6) == pytest.approx(ratio("lru", capacity), rel=1e-5)
    assert ratio("midpoint", capacity) != pytest.approx(ratio("lru", capacity), rel=1e-5)


def worst_of_groups(spread: float, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> float:
    monkeypatch.setattr(page_groups, "SPREAD", spread)
    capacity = np.linspace(0.05, 0.95, 10) * len(popularity())
    like = alike(popularity(), ones())
    pages = np.bincount(like)
    few = hit_ratio(policy, np.bincount(like, weights=popularity()) / pages, pages, capacity)
    return float(np.abs(few - exact_ratios(policy)).max())


@cache
def exact_ratios(policy: Policy) -> FloatArray:
    values, numbers = np.unique(popularity(), return_counts=True)
    return hit_ratio(policy, values, numbers, np.linspace(0.05, 0.95, 10) * len(popularity()))


@pytest.mark.parametrize("policy", ["lru", "clock", "frames", "midpoint"])
def test_few_groups_stand_for_all_pages(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = page_groups.SPREAD
    assert worst_of_groups(usual, policy, monkeypatch) < 4e-3
    assert worst_of_groups(10.0 * usual, policy, monkeypatch) > 4e-3


def test_groups_hold_pages_of_like_popularity() -> None:
    like = alike(popularity(), ones())
    logs = np.log(popularity())
    weight = np.exp(logs / 2.0)
    for each in range(like.max() + 1):
        inside = like == each
        mean = np.average(logs[inside], weights=weight[inside])
        assert ((logs[inside] - mean) ** 2 * weight[inside]).sum() < 1.3 * page_groups.SPREAD * weight.sum()
    assert len(np.unique(like)) == like.max() + 1 < 30
    assert (np.diff(like[np.argsort(popularity())]) >= 0).all()
    assert not (np.diff(alike(popularity()[::-1], ones())[np.argsort(popularity())]) >= 0).all()
