"""Pools with memory for too few buffers, and what a CLOCK does that independent references don't show."""

import heapq
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.simulator.analytic import solve
from oltpsim.simulator.analytic.reading.replacement import clock_missing, clustered_clock
from oltpsim.simulator.form import IntArray
from tests.simulator.analytic.columns import with_columns
from tests.simulator.analytic.test_system import machine
from tests.simulator.page_references import BATCH, counted

FloatArray = npt.NDArray[np.float64]


# Page faults

PAGES, RATES = np.array([2000.0, 6000.0, 12_000.0]), np.array([50.0, 5.0, 1.0])
BUFFERS = 12_000


@cache
def at_random() -> IntArray:
    each = np.repeat(RATES, PAGES.astype(int))
    return np.random.default_rng(1).choice(len(each), size=2_000_000, p=each / each.sum())


def faults(policy: str, resident: int) -> float:
    """Predicted, per reference."""
    workload, p, _ = machine()
    references, zero = RATES * PAGES / (RATES @ PAGES), np.zeros(3)
    groups = replace(
        workload.groups, region=np.zeros(3, dtype=np.int64), rate=references / PAGES, gap=np.full(3, np.inf),
        references=references, pages=PAGES, gaps=zero, write=zero, read=np.ones(3), clustered=zero, recent=zero,
        views=np.tile(references, (len(workload.groups.views), 1)), again=zero, places=zero,
        beside=np.zeros((3, 3)), window=np.inf, offspring=0.0,
    )  # fmt: skip
    few = with_columns(p, pool_buffers=np.array([float(BUFFERS)]), pool_resident=np.array([float(resident)]))
    return float(solve(replace(workload, groups=groups), few, policy).groups.faults.sum())


NEAR = {"lru": 0.12, "clock": 0.5}
"""Of a CLOCK it is not known how old the pages of each count are: docs/analytic.md says what that costs."""


@pytest.mark.parametrize("policy", ["lru", "clock"])
@pytest.mark.parametrize("short", [0.02, 0.07, 0.25])
def test_faults_of_a_pool_with_memory_for_too_few_buffers(policy: str, short: float) -> None:
    resident = round(BUFFERS * (1.0 - short))
    warm = len(at_random()) // 4
    found = counted(at_random(), warm, BUFFERS, policy, resident).swap_ins / (len(at_random()) - warm)
    assert faults(policy, resident) == pytest.approx(found, rel=NEAR[policy])
    assert faults(policy, round(BUFFERS * (1.0 - 2.0 * short))) > 1.25 * faults(policy, resident)


# Clusters of hits

OFFSPRING, WINDOW, TWICE = 1.2, 600.0, 0.5


@cache
def in_clusters() -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """References to 3,000 pages of two rates, each parent with some after it, some of which come twice; parents."""
    rng = np.random.default_rng(2)
    rates = np.repeat([4.0, 1.0], [1000, 2000])
    number = 250_000
    events: list[tuple[float, int, bool]] = []
    time = 0.0
    for page in rng.choice(len(rates), size=number, p=rates / rates.sum()).tolist():
        time += 1.0
        events.append((time, page, True))
        lasts = rng.exponential(WINDOW)
        delays = rng.random(rng.poisson(OFFSPRING * lasts / WINDOW)) * lasts
        events += [(time + delay, page, False) for delay in delays.tolist()]
    heapq.heapify(events)
    pages: list[int] = []
    parents: list[bool] = []
    while events:
        _, page, parent = heapq.heappop(events)
        times = 1 if parent or rng.random() > TWICE else 2
        pages += [page] * times
        parents += [parent] * times
    whole = len(pages) // (4 * BATCH) * 4 * BATCH
    return np.array(pages[:whole]), np.array(parents[:whole])


def predicted_misses(buffers: int, offspring: float, twice: float) -> float:
    """Per parent: that of the time of revolution at which the pages there fill the pool."""
    rates = np.array([4.0, 1.0]) / 6000.0
    pages = np.array([1000.0, 2000.0])
    low, high = 1.0, 1e7
    for _ in range(60):
        time = np.sqrt(low * high)
        x = rates[None, :] * time
        more = np.array([[0.0, 0.0], [twice, twice]])
        first, later, there = clustered_clock(x, np.full_like(x, WINDOW / time), np.full(2, offspring), more)
        low, high = (time, high) if float((there * pages).sum()) < buffers else (low, time)
    return float(((first + later * offspring) * rates * pages).sum())


@pytest.mark.parametrize("buffers", [600, 1500, 2400])
def test_misses_of_a_clock_under_clusters(buffers: int) -> None:
    references, parents = in_clusters()
    warm = len(references) // 4
    missed = counted(references, warm, buffers, "clock").misses / (len(references) - warm)
    found = missed * len(references) / parents.sum()
    assert predicted_misses(buffers, OFFSPRING, TWICE) == pytest.approx(found, rel=0.05)
    alone = predicted_misses(buffers, 1e-6, 0.0)
    assert abs(alone / found - 1.0) > (0.1 if buffers == 600 else 0.01)


def test_without_offspring_it_is_a_clock() -> None:
    x = np.geomspace(1e-3, 5.0, 9)
    first, _, there = clustered_clock(x, np.full_like(x, 5.0), np.full(9, 1e-9), np.zeros((2, 9)))
    np.testing.assert_allclose(first, clock_missing(x), rtol=1e-5)
    np.testing.assert_allclose(there, 1.0 - clock_missing(x), rtol=1e-6)
    twice = clustered_clock(x, np.full_like(x, 5.0), np.full(9, 1e-9), np.stack([np.ones(9), np.zeros(9)]))[0]
    assert (twice < first).all()
