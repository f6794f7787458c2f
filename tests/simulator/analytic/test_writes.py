"""Pages on their way from the pool to the disks: cleaned ahead of a CLOCK's hand, rewritten, merged, in heaps.

Machines whose pool does one thing alone, at given rates of transactions.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.simulator.analytic import Parameters, Solution, Workload
from oltpsim.simulator.analytic.equations.solution import at_rate
from oltpsim.simulator.analytic.reading.page_groups import PageGroups
from oltpsim.simulator.analytic.reading.pool_table import pool_table
from oltpsim.simulator.form.placement import round_robin
from oltpsim.simulator.reference.write_back import neighbours
from tests.simulator.analytic.columns import with_columns
from tests.simulator.analytic.test_system import machine

FloatArray = npt.NDArray[np.float64]
NEVER = 1e12


@cache
def usual() -> tuple[Workload, Parameters]:
    workload, p, _ = machine()
    return workload, p


def one(value: float) -> FloatArray:
    return np.array([value])


def groups_of(
    rates: FloatArray, pages: FloatArray, *, write: FloatArray | None = None, beside: FloatArray | None = None
) -> PageGroups:
    """Groups of one region's pages, each referred to so often in a transaction; every reference changes its page."""
    workload, _ = usual()
    count = len(rates)
    zero, ones = np.zeros(count), np.ones(count)
    return replace(
        workload.groups, region=np.zeros(count, dtype=np.int64), rate=rates, gap=np.full(count, np.inf),
        references=rates * pages, pages=pages, gaps=zero, write=ones if write is None else write, read=ones,
        clustered=zero, recent=zero, views=np.tile(rates * pages, (len(workload.groups.views), 1)), again=zero,
        places=zero, beside=np.zeros((count, count)) if beside is None else beside, window=np.inf, offspring=0.0,
    )  # fmt: skip


def written(
    groups: PageGroups, policy: str, per_s: float, of: tuple[Workload, Parameters] | None = None, **changed: float
) -> Solution:
    """At a rate; no writer, no checkpoint, buffered I/O and a pool that holds all pages, but for what is changed."""
    workload, p = of or usual()
    pages = float(groups.pages.sum())
    figures = {
        "pool_buffers": 2.0 * pages,
        "pool_dirty_high": NEVER,
        "pool_dirty_low": NEVER,
        "checkpoints_interval_s": NEVER,
        "checkpoints_spread_s": 0.0,
    }
    figures |= {
        "write_back_expire_s": 30.0,
        "write_back_interval_s": 5.0,
        "write_back_in_flight_pages": 2048.0,
        "page_cache_dirty_limit_pages": 20_000.0,
        "writing_direct": 0.0,
    }
    figures |= {"page_cache_pages": 10.0 * pages, "cpu_page_write_s": 0.0} | changed
    p = with_columns(p, **{name: one(value) for name, value in figures.items()})
    return at_rate(replace(workload, groups=groups), with_columns(p, pool_resident=p.pool.buffers), policy, one(per_s))


# Requests that pages make


def layout(length: int) -> npt.NDArray[np.int64]:
    """Popular pages three by three among others, as a file has them."""
    return np.where(np.arange(length) % 12 < 3, 0, 1)


def pairs_of(kinds: npt.NDArray[np.int64], devices: int) -> FloatArray:
    """Share of each kind's pages whose next one on the same device is of the other."""
    pairs = np.zeros((2, 2))
    np.add.at(pairs, (kinds[:-devices], kinds[devices:]), 1.0)
    return pairs / np.bincount(kinds)[:, None]


def counted_requests(kinds: npt.NDArray[np.int64], shares: FloatArray, devices: int, most: int) -> float:
    rng = np.random.default_rng(1)
    pages = np.flatnonzero(rng.random(len(kinds)) < shares[kinds]).tolist()
    return float(len(neighbours(pages, round_robin(devices), most)))


def predicted_requests(
    kinds: npt.NDArray[np.int64], beside: FloatArray, shares: FloatArray, devices: int, most: int
) -> float:
    """Of a checkpoint in a pool that holds all pages, of which these shares have been changed since the last one."""
    cycle, per_s = 1000.0, 10.0
    rates = -np.log1p(-np.maximum(shares, 1e-4)) / cycle
    groups = groups_of(rates, np.bincount(kinds).astype(np.float64), beside=beside)
    changed = {"checkpoints_interval_s": cycle / per_s, "storage_disks": devices, "storage_merged_pages": most}
    found = written(groups, "lru", per_s, **changed)
    assert found.writes.pages[0] * cycle == pytest.approx((shares * np.bincount(kinds)).sum(), rel=2e-3)
    return float(found.writes.requests[0]) * cycle


@pytest.mark.parametrize(("devices", "most"), [(1, 64), (2, 64), (3, 4)])
@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.3, 0.3), (0.99, 0.0)])
def test_neighbours_make_one_request(devices: int, most: int, shares: tuple[float, float]) -> None:
    kinds, of = layout(60_000), np.array(shares)
    found = counted_requests(kinds, of, devices, most)
    beside = pairs_of(kinds, devices)
    assert predicted_requests(kinds, beside, of, devices, most) == pytest.approx(found, rel=0.06)


def test_pages_that_lie_anywhere_make_more_requests() -> None:
    kinds, of = layout(60_000), np.array([0.9, 0.1])
    count = np.bincount(kinds)
    anywhere = np.tile(count / count.sum(), (2, 1))
    found = counted_requests(kinds, of, 1, 64)
    assert predicted_requests(kinds, anywhere, of, 1, 64) > 1.2 * found


def test_every_page_but_a_tables_last_has_a_neighbour() -> None:
    groups = usual()[0].groups
    shares = groups.beside.sum(axis=1)
    assert (shares <= 1.0 + 1e-9).all()
    stock = groups.region == np.bincount(groups.region, weights=groups.clustered).argmax()
    drawn = stock & (groups.pages > 0)
    without = float(((1.0 - shares) * groups.pages)[drawn].sum())
    assert without == pytest.approx(1.0)


# Write-back


def evicting(per_transaction: float, among: float, per_s: float = 100.0, **changed: float) -> Solution:
    """So many different pages, as many of which leave the pool dirty in a transaction: hardly one is still there."""
    beside = np.ones((1, 1))
    buffers = {"pool_buffers": max(1e-3 * among, 1.0)}
    found = written(
        groups_of(one(per_transaction / among), one(among), beside=beside),
        "lru",
        per_s,
        **buffers,
        **changed,
    )
    assert found.pool.misses[0] == pytest.approx(per_transaction, rel=0.025)
    return found


def test_few_pages_are_written_as_they_come() -> None:
    found = evicting(0.1, 1e9)
    assert found.writes.pages[0] / found.pool.misses[0] == pytest.approx(1.0, abs=1e-3)
    assert found.writes.requests[0] / found.writes.pages[0] == pytest.approx(1.0, abs=1e-3)


def test_pages_rewritten_before_they_are_old_are_written_once() -> None:
    assert evicting(1.0, 50.0).writes.pages[0] == pytest.approx(50.0 / (32.5 * 100.0), rel=1e-3)
    direct = evicting(1.0, 50.0, writing_direct=1.0)
    assert direct.writes.pages[0] == pytest.approx(direct.pool.misses[0], rel=1e-9)


def test_write_back_takes_no_more_turns_than_reads_leave_it() -> None:
    """Few enough pages: where reads go before writes they wait until so many are rewritten that it can."""
    _, p = usual()
    turns_per_s = float((p.storage.disks * p.storage.parallel / p.storage.write_s.ravel()[0])[0])
    ahead = turns_per_s / 20.0 - 1.0
    assert evicting(5.0, 6000.0, storage_reads_per_write=ahead).writes.pages[0] * 100.0 == pytest.approx(20.0, rel=1e-2)
    assert evicting(5.0, 6000.0, storage_reads_per_write=0.0).writes.pages[0] * 100.0 > 100.0


@pytest.mark.parametrize("in_flight", [8.0, 1e6])
def test_what_may_be_in_flight_is_no_rate(in_flight: float) -> None:
    """Pages that are written when they are old enough: 6,000 that are changed again and again, each once in 32.5 s."""
    many = evicting(5.0, 6000.0, write_back_in_flight_pages=in_flight)
    assert many.writes.pages[0] * 100.0 == pytest.approx(6000.0 * (1 - np.exp(-16_250 / 6000.0)) / 32.5, rel=0.03)


def test_too_many_dirty_pages_go_together() -> None:
    """Half of all pages, in order, once so many are dirty: by then one in seven has been changed again."""
    together = evicting(5.0, 40_000.0, write_back_expire_s=1e4)
    until = 40_000.0 * np.log(2.0) / together.pool.misses[0]
    assert together.writes.pages[0] == pytest.approx(20_000.0 / until, rel=1e-3)
    assert together.writes.requests[0] / together.writes.pages[0] == pytest.approx(0.5, abs=0.02)
    by_age = evicting(5.0, 40_000.0, page_cache_dirty_limit_pages=1e6)
    assert by_age.writes.requests[0] / by_age.writes.pages[0] > 0.9


# Writers


def cleaned_by_recency(changes: FloatArray, high: int, low: int) -> float:
    """Pages per transaction that the writer cleans: whenever there are too many dirty ones, those changed longest ago.

    Nothing else than changes refers to pages.
    """
    rng = np.random.default_rng(7)
    dirty, used = np.ones(len(changes), dtype=bool), -rng.random(len(changes)) / changes
    pages, steps, from_step = 0, 12_000, 4000
    for step in range(steps):
        hit = rng.random(len(changes)) < -np.expm1(-changes)
        dirty |= hit
        used[hit] = step
        if dirty.sum() > high:
            numbers = np.flatnonzero(dirty)
            oldest = numbers[np.argsort(used[numbers])][: len(numbers) - low]
            dirty[oldest] = False
            pages += len(oldest) if step >= from_step else 0
    return pages / (steps - from_step)


@pytest.mark.parametrize("high", [900, 1500])
def test_the_writer_of_an_lru_pool_cleans_the_oldest(high: int) -> None:
    rates, pages = np.array([0.02, 0.0005]), np.array([1000.0, 1000.0])
    found = cleaned_by_recency(np.repeat(rates, 1000), high, high - 50)
    groups = groups_of(rates, pages)
    of = written(groups, "lru", 1.0, pool_dirty_high=high, pool_dirty_low=high - 50)
    assert of.writes.background[0] == pytest.approx(found, rel=0.05)
    assert of.pool.dirty[0] == pytest.approx(high - 25, rel=0.03)
    assert (
        written(groups, "lru", 1.0, pool_dirty_high=1.1 * high, pool_dirty_low=1.1 * high - 50).writes.background[0]
        < 0.8 * found
    )


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


def cleaned(changes: FloatArray, revolution: float, high: float, low: float) -> float:
    """Predicted, in a pool through which so many pages stream that its hand needs that long.

    References are so frequent that none of the others leaves it; some of them change their page.
    """
    often = max(10.0 / revolution, float(changes.max()))
    stream = revolution < 1e6
    rates, pages = np.array([often, often, 1e-9]), np.array([1000.0, 1000.0, 1e9 * stream])
    groups = groups_of(rates, pages, write=np.append(changes / often, 0.0))
    table = pool_table(groups, "clock")
    buffers = float(np.interp(revolution, table.times, table.filled)) if stream else 1e4
    found = written(groups, "clock", 1.0, pool_buffers=buffers, pool_dirty_high=high, pool_dirty_low=low)
    assert found.pool.time[0] == pytest.approx(revolution, rel=0.02) or not stream
    return float(found.writes.background[0])


@pytest.mark.parametrize("revolution", [300.0, 2000.0, 1e7])
def test_the_writer_of_a_clock_cleans_ahead_of_the_hand(revolution: float) -> None:
    rng = np.random.default_rng(3)
    kinds = rng.permutation(np.repeat([0, 1], 1000))
    rates = np.array([0.02, 0.0005])
    found = cleaned_by_simulation(rates[kinds], revolution, 900, 850)
    assert cleaned(rates, revolution, 900.0, 850.0) == pytest.approx(found, rel=0.15)
    assert cleaned(rates, revolution, 1990.0, 1940.0) < 0.7 * found


# Heaps


def reading(per_s: float, flush_s: float, writes: float, slower: float = 1.0) -> Solution:
    """Ten clients that read 5.5 pages in a transaction, beside so many written ones, which wait for the next flush."""
    rates, pages = np.array([writes, 5.5 - writes]) / 1e9, np.array([1e9, 1e9])
    write_s = np.full_like(usual()[1].storage.write_s, 4e-3)
    changed = {
        "pool_buffers": 1000.0,
        "page_cache_pages": 1e6,
        "write_back_in_flight_pages": 1e6,
        "page_cache_dirty_limit_pages": 1e6,
        "write_back_interval_s": flush_s,
    }
    workload, p = usual()
    p = with_columns(
        p,
        clients_number=one(10.0),
        log_is_durable=one(0.0),
        storage_page_transfer_s=one(0.0),
        storage_write_s=write_s,
        storage_read_s=p.storage.read_s * slower,
    )
    groups = groups_of(rates, pages, write=np.array([1.0, 0.0]))
    return written(groups, "lru", per_s, of=(workload, p), **changed)


def test_a_heap_stops_those_who_read() -> None:
    """All of them, until it is over: so they do in the rest of the time what they did in all of it."""
    found = reading(20.0, 30.0, 5.0)
    share = float(found.disks.heaps[0])
    assert share == pytest.approx(0.4, rel=0.02)
    outside = float(reading(20.0 / (1.0 - share), 30.0, 1e-6).disks.read_s[0])
    stopped = 10.0 * share / (20.0 * float(found.pool.reads[0]))
    assert stopped > 4.0 * outside
    assert found.disks.read_s[0] == pytest.approx(outside + stopped, rel=0.05)


def test_small_heaps_stop_nobody() -> None:
    """They leave a slower disk."""
    found = reading(20.0, 0.1, 5.0)
    share = float(found.disks.heaps[0])
    assert share == pytest.approx(0.4, rel=0.15)
    slower = float(reading(20.0, 0.1, 1e-6, slower=1.0 / (1.0 - share)).disks.read_s[0])
    assert slower < found.disks.read_s[0] < 1.5 * slower
    assert found.disks.read_s[0] < 0.4 * reading(20.0, 30.0, 5.0).disks.read_s[0]
