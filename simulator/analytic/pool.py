"""Misses of the buffer pool, and page faults of its frames: what doesn't depend on the rate.

If the operating system has too little memory for all buffers, second chance takes a frame once the hand has found it
unused twice: between one and two of its revolutions after the buffer's last use, evenly. A page that is replaced gives
its frame too, and must be read back for that. So a buffer is without memory if it still holds its page and its age is
above that time; how many are, gives the revolution.
"""

from dataclasses import dataclass

import numpy as np

from simulator.analytic.caches import PoolTable
from simulator.analytic.configurations import rows
from simulator.analytic.page_groups import PageGroups
from simulator.analytic.parameters import Parameters
from simulator.analytic.workload import Workload
from simulator.form import MOST_USAGE, FloatArray

AGES, CLOCK_STEPS = 8, 22
"""ages between one and two revolutions; steps of the search for the revolution, each twice as fine"""
COUNTS = range(MOST_USAGE)
PHASES = (1 / 6, 1 / 2, 5 / 6)
"""of a revolution of the pool's hand"""


def clock_faults(groups: PageGroups, p: Parameters, time: FloatArray, missing: FloatArray) -> FloatArray:
    """Faults per transaction by group, (configurations, groups), in CLOCK pools of revolution `time`.

    A page of count c holds its buffer for c more of the pool hand's passes. References come at random, so that the
    count some time ago says nothing of references since: without one for an age a are the share exp(-rate a) of those
    whose count was as high as the number of passes since. Hits that follow a reference before the hand passes count
    with it; of those that windows draw this is the share of the window that a revolution is.
    """
    hot = groups.clustered > 0
    again = float(groups.again[groups.recent > 0].max(initial=0.0))
    at_once = time[:, None] / (time[:, None] + groups.window) if np.isfinite(groups.window) else np.ones((len(time), 1))
    drawn = np.where(hot, groups.offspring, 0.0)
    rate = groups.rate * (1.0 + drawn * (1.0 - at_once))
    batch = 1.0 + groups.again + drawn * at_once * (1.0 + again)
    there = np.where(rate > 0, groups.pages * (1.0 - missing), 0.0)
    reached = _counts(rate * time[:, None], batch)
    short = np.maximum(p.buffers - p.resident, 0.0)

    def left(turn: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Shares of each group's buffers that are without memory, and that the pool's hand finds so in a revolution."""
        without, given = np.zeros_like(there), np.zeros_like(there)
        for number in range(AGES):
            age = turn * (1.0 + (number + 0.5) / AGES)
            passes = age / time
            below = np.minimum(passes.astype(np.int64), MOST_USAGE)
            part = np.clip(passes - below, 0.0, 1.0)[:, None]
            row = np.arange(len(age))
            at, above = reached[row, :, below], reached[row, :, np.minimum(below + 1, MOST_USAGE + 1)]
            unused = np.exp(-np.minimum(rate * age[:, None], 700.0)) / AGES
            without += unused * ((1.0 - part) * at + part * above)
            given += unused * (at - above)
        return without, given

    low, high = np.log(time / 1e3), np.log(time * (MOST_USAGE + 1.0))
    for _ in range(CLOCK_STEPS):
        middle = (low + high) / 2.0
        too_many = (there * left(np.exp(middle))[0]).sum(axis=1) > short
        low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
    without, given = left(np.exp((low + high) / 2.0))
    victims = (there * given).sum(axis=1) / time
    wanted = groups.references * missing * groups.read
    share = wanted / np.maximum(wanted.sum(axis=1, keepdims=True), 1e-300)
    return np.where(rate > 0, groups.references * (1.0 - missing) * without, 0.0) + share * victims[:, None]


def _counts(x: FloatArray, batch: FloatArray) -> FloatArray:
    """Chance that a page in the pool has a count of at least 0 .. MOST_USAGE + 1, by references in a revolution.

    Shape that of `x`, then MOST_USAGE + 2. A reference brings `batch` hits on average, a page comes in with as many.
    Right after a pass the count is a Markov chain.
    """
    x = np.clip(x, 1e-9, 50.0)
    batch = np.clip(batch, 1.0, MOST_USAGE - 1.0)
    more = batch - np.floor(batch)
    size = [np.where(np.floor(batch) == n, 1.0 - more, np.where(np.floor(batch) == n - 1, more, 0.0)) for n in COUNTS]
    hits = _hits(x, size)
    step = np.zeros((*x.shape, MOST_USAGE, MOST_USAGE))
    enters = np.zeros((*x.shape, MOST_USAGE, 1))
    for count in COUNTS:
        for number in range(MOST_USAGE - count):
            if count + number > 0:
                step[..., count, count + number - 1] += hits[number]
        step[..., count, MOST_USAGE - 1] += 1.0 - sum(hits[: MOST_USAGE - count])
        enters[..., count, 0] = size[count]
    chain = np.eye(MOST_USAGE) * (1.0 + 1e-12) - np.swapaxes(step, -1, -2)
    visits = np.linalg.solve(chain, enters)[..., 0]
    visits = visits / visits.sum(axis=-1, keepdims=True)
    reached = np.zeros((*x.shape, MOST_USAGE + 2))
    reached[..., 0] = 1.0
    for phase in PHASES:
        some = _hits(x * phase, size)
        for least in range(1, MOST_USAGE + 1):
            for count in COUNTS:
                fewer = sum(some[: max(least - count, 0)])
                reached[..., least] += visits[..., count] * (1.0 - fewer) / len(PHASES)
    return reached


def _hits(x: FloatArray, size: list[FloatArray]) -> list[FloatArray]:
    """Chances of 0 .. MOST_USAGE - 1 hits by a Poisson number of references of these sizes (Panjer 1981)."""
    chances = [np.exp(-x)]
    for number in range(1, MOST_USAGE):
        chances.append(x / number * sum(n * size[n] * chances[number - n] for n in range(1, number + 1)))
    return chances


LRU_STEPS = 28
"""of the search for the frames' time of revolution, each twice as fine as the one before"""


@dataclass(frozen=True)
class PoolMisses:
    """The buffer pools of some configurations, as far as their rate doesn't matter. Shapes (configurations, ...)."""

    time: FloatArray
    """characteristic time in transactions"""
    missing: FloatArray
    """by group"""
    misses: FloatArray
    """pages brought in per transaction, new ones left out; (configurations, groups)"""
    faults: FloatArray
    """references to buffers in swap, (configurations, groups)"""


def pool_of(workload: Workload, table: PoolTable, p: Parameters) -> PoolMisses:
    """Misses and page faults; machines that are alike in memory are looked at once."""
    if p.held.any():
        return _pool_of(workload, table, p)
    sizes = np.stack([p.buffers, p.resident], axis=1)
    _, first, which = np.unique(sizes, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(p):
        return _pool_of(workload, table, p)
    return rows(_pool_of(workload, table, rows(p, first)), which.ravel())


def _pool_of(workload: Workload, table: PoolTable, p: Parameters) -> PoolMisses:
    groups = workload.groups
    time = table.time(np.maximum(p.buffers, 1.0))
    missing = table.at(time) * (1.0 - p.held * groups.read)
    faults = np.zeros_like(missing)
    if (p.resident < p.buffers).any():
        kept = _frames(workload, p, time) if table.policy == "lru" else clock_faults(workload.groups, p, time, missing)
        faults = np.where((p.resident < p.buffers)[:, None], kept, 0.0)
    return PoolMisses(time, missing, groups.references * missing * groups.read, faults)


def _frames(workload: Workload, p: Parameters, time: FloatArray) -> FloatArray:
    """References to buffers without memory, (configurations, groups); a page that is replaced gives its frame too.

    Of an LRU pool (frames.py has CLOCK): the frames in use are the mean of `filled` over ages from one to two
    revolutions, which gives the revolution, and the faults are references times the mean of the missing shares over
    the same ages.
    """
    table = workload.table("lru")
    low, high = np.full(len(time), np.log(table.times[0])), np.log(time)
    for _ in range(LRU_STEPS):
        middle = np.exp((low + high) / 2.0)
        fits = table.mean_filled(middle, 2.0 * middle, time) < p.resident
        low, high = np.where(fits, np.log(middle), low), np.where(fits, high, np.log(middle))
    turn = np.exp((low + high) / 2.0)
    return workload.groups.references * table.mean_missing(turn, np.minimum(2.0 * turn, time), turn)
