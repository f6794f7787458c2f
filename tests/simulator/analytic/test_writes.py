"""Pages on their way from the pool to the disks: cleaned ahead of a CLOCK's hand, rewritten, merged, in heaps."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from simulator.analytic import Parameters, Workload
from simulator.analytic.devices import Writes, stalls
from simulator.analytic.page_groups import PageGroups
from simulator.analytic.writing import Cleaned, _at_the_hand, merged, until, written_back
from simulator.form.placement import round_robin
from simulator.reference.write_back import neighbours
from tests.simulator.analytic.test_system import machine

FloatArray = npt.NDArray[np.float64]


@cache
def usual() -> tuple[Workload, Parameters]:
    workload, p, _ = machine()
    return workload, p


def one(value: float) -> FloatArray:
    return np.array([value])


# Requests that pages make


def layout(length: int) -> npt.NDArray[np.int64]:
    """Popular pages three by three among others, as a file has them."""
    return np.where(np.arange(length) % 12 < 3, 0, 1)


def groups_of(kinds: npt.NDArray[np.int64], devices: int, beside: FloatArray | None = None) -> PageGroups:
    """Two groups of pages of one region that lie so."""
    count = np.bincount(kinds).astype(np.float64)
    pairs = np.zeros((2, 2))
    np.add.at(pairs, (kinds[:-devices], kinds[devices:]), 1.0)
    workload, _ = usual()
    zero = np.zeros(2)
    return replace(
        workload.groups, region=np.zeros(2, dtype=np.int64), rate=np.ones(2), pages=count, places=zero, gaps=zero,
        beside=pairs / count[:, None] if beside is None else beside,
    )  # fmt: skip


def counted_requests(kinds: npt.NDArray[np.int64], shares: FloatArray, devices: int, most: int) -> float:
    rng = np.random.default_rng(1)
    pages = np.flatnonzero(rng.random(len(kinds)) < shares[kinds]).tolist()
    return float(len(neighbours(pages, round_robin(devices), most)))


def predicted_requests(groups: PageGroups, shares: FloatArray, devices: int, most: int) -> float:
    workload, p = usual()
    p = replace(p, data_devices=one(devices), merged_pages=one(most))
    return float(merged(replace(workload, groups=groups), p, (groups.pages * shares)[None, :])[0])


@pytest.mark.parametrize(("devices", "most"), [(1, 64), (2, 64), (3, 4)])
@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.3, 0.3), (0.99, 0.0)])
def test_neighbours_make_one_request(devices: int, most: int, shares: tuple[float, float]) -> None:
    kinds, of = layout(60_000), np.array(shares)
    found = counted_requests(kinds, of, devices, most)
    assert predicted_requests(groups_of(kinds, devices), of, devices, most) == pytest.approx(found, rel=0.06)


def test_pages_that_lie_anywhere_make_more_requests() -> None:
    kinds, of = layout(60_000), np.array([0.9, 0.1])
    count = np.bincount(kinds)
    anywhere = np.tile(count / count.sum(), (2, 1))
    found = counted_requests(kinds, of, 1, 64)
    assert predicted_requests(groups_of(kinds, 1, anywhere), of, 1, 64) > 1.2 * found


def test_every_page_but_a_tables_last_has_a_neighbour() -> None:
    groups = usual()[0].groups
    shares = groups.beside.sum(axis=1)
    assert (shares <= 1.0 + 1e-9).all()
    stock = groups.region == np.bincount(groups.region, weights=groups.clustered).argmax()
    drawn = stock & (groups.pages > 0)
    without = float(((1.0 - shares) * groups.pages)[drawn].sum())
    assert without == pytest.approx(1.0)


# Write-back


def flow(pages_per_tx: float, among: float, once: float = 0.0) -> Cleaned:
    return Cleaned(np.array([[pages_per_tx]]), np.array([[among]]), np.array([[once]]))


def page_cache(**changed: float) -> Parameters:
    figures = {"expire_s": 30.0, "flush_s": 5.0, "in_flight": 2048.0, "cache_dirty_limit": 20_000.0, "direct": 0.0}
    return replace(usual()[1], **{name: one(value) for name, value in (figures | changed).items()})


def test_few_pages_are_written_as_they_come() -> None:
    share, crowded = written_back(flow(0.1, 1e9), page_cache(), one(100.0))
    assert share[0] == pytest.approx(1.0, abs=1e-3)
    assert crowded[0] < 1e-3


def test_pages_rewritten_before_they_are_old_are_written_once() -> None:
    share, _ = written_back(flow(1.0, 50.0), page_cache(), one(100.0))
    assert share[0] == pytest.approx(50.0 / (32.5 * 100.0), rel=1e-3)
    assert written_back(flow(1.0, 50.0), page_cache(direct=1.0), one(100.0))[0][0] == 1.0


def test_write_back_takes_no_more_than_it_may() -> None:
    """Few enough pages: they wait until so many are rewritten that it can."""
    some = flow(5.0, 6000.0)
    share, crowded = written_back(some, page_cache(in_flight=100.0), one(100.0))
    assert share[0] * 5.0 * 100.0 == pytest.approx(100.0 / 5.0, rel=1e-2)
    assert crowded[0] < 0.1
    assert written_back(some, page_cache(in_flight=1e6), one(100.0))[0][0] * 500.0 > 100.0


def test_too_many_dirty_pages_go_together() -> None:
    assert written_back(flow(5.0, 1e9), page_cache(in_flight=100.0), one(100.0))[1][0] > 0.95
    assert written_back(flow(5.0, 1e9), page_cache(in_flight=1e6, cache_dirty_limit=1e6), one(100.0))[1][0] < 0.05


def test_time_until_so_many_pages() -> None:
    both = flow(2.0, 1000.0, 0.5)
    time = until(both, one(700.0))
    assert both.distinct(time)[0] == pytest.approx(700.0, rel=1e-4)
    assert both.distinct(time / 2.0)[0] < 600.0


# A CLOCK's writer


def cleaned_by_simulation(changes: FloatArray, revolution: float, high: int, low: int) -> float:
    """Pages per transaction that the writer cleans: whenever there are too many dirty ones, those the hand comes to."""
    rng = np.random.default_rng(7)
    count = len(changes)
    dirty = rng.random(count) < 0.5
    chance = -np.expm1(-changes)
    cleaned, steps, from_step = 0, 12_000, 4000
    for step in range(steps):
        dirty |= rng.random(count) < chance
        if dirty.sum() > high:
            hand = int(step / revolution * count) % count
            order = np.roll(np.arange(count), -hand)
            some = order[dirty[order]][: int(dirty.sum()) - low]
            dirty[some] = False
            cleaned += len(some) if step >= from_step else 0
    return cleaned / (steps - from_step)


@pytest.mark.parametrize("revolution", [300.0, 2000.0, 1e7])
def test_the_writer_of_a_clock_cleans_ahead_of_the_hand(revolution: float) -> None:
    rng = np.random.default_rng(3)
    kinds = rng.permutation(np.repeat([0, 1], 1000))
    rates = np.array([0.02, 0.0005])
    found = cleaned_by_simulation(rates[kinds], revolution, 900, 850)
    groups = replace(groups_of(np.sort(kinds), 1), rate=rates, write=np.ones(2), gap=np.full(2, np.inf))
    p = replace(usual()[1], dirty_high=one(900.0), dirty_low=one(850.0))
    ahead = _at_the_hand(groups, p, np.ones((1, 2)), one(revolution), one(1e9))
    assert ahead.pages.sum() == pytest.approx(found, rel=0.15)
    few = replace(p, dirty_high=one(1990.0), dirty_low=one(1940.0))
    assert _at_the_hand(groups, few, np.ones((1, 2)), one(revolution), one(1e9)).pages.sum() < 0.7 * found


# Heaps


def heaps(busy: float, requests: float, service_s: float) -> Writes:
    zero = np.zeros(1)
    return Writes(
        busy=one(busy), trickling=zero, most=zero, batch=zero, pushed=np.ones(1), active=np.ones(1),
        heap=one(requests), heap_s=one(service_s), swap=zero,
    )  # fmt: skip


def test_a_heap_stops_those_who_read() -> None:
    p = replace(usual()[1], clients=one(10.0))
    stalled = stalls(p, one(1000.0), one(0.01), heaps(0.4, 20_000.0, 4e-4))
    assert stalled.among[0] < 0.4
    during = stalled.share * stalled.among * 1000.0
    assert float(((1.0 - stalled.share) * stalled.rate + during)[0]) == pytest.approx(1000.0)
    assert stalled.rate[0] > 1200.0


def test_small_heaps_stop_nobody() -> None:
    p = replace(usual()[1], clients=one(10.0))
    assert stalls(p, one(1000.0), one(0.01), heaps(0.4, 10.0, 4e-4)).rate[0] == pytest.approx(1000.0, rel=1e-3)
    assert stalls(p, one(1000.0), one(0.01), heaps(0.0, 20_000.0, 4e-4)).rate[0] == pytest.approx(1000.0)
