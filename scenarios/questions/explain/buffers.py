"""Best share of memory for the database's buffers against the page cache, and the cliff of too many buffers.

Every size of the pool is one that the machine's memory holds: pool, server process, clients and what the system
reserves are never more than RAM. What falls off the cliff is still within RAM: the system defends its page cache.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

import numpy as np

from oltpsim.models.reading import SPARE_BUFFERS, with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import memory_plan
from oltpsim.scenarios.questions.explain.machines import MachineSolver
from oltpsim.simulator.form import GIB, KIB

KEY = "database.pool.buffers"
LEAST = 100
"""as models/database/database.py allows"""
SCALE, FINER = 20, 7
"""sizes tried over the whole of memory; and between two of them, once where the best is and once where the cliff is"""
ALIKE = 1e-3
"""rates this near are not told apart: the solver's own tolerance. Of pools alike the smallest is the best"""
NEAR_BEST, CLIFF = 0.98, 0.90
"""shares of the best rate: what is as good for most purposes, and what has fallen off"""


@dataclass(frozen=True)
class PoolSize:
    """A size of the pool: page frames, their memory, its share of RAM, and new orders per minute with it."""

    buffers: int
    gib: float
    ram_fraction: float
    rate_per_min: float


@dataclass(frozen=True)
class BufferAdvice:
    """The best size of the pool, the range that is within 2 % of it, and the cliff beyond, if there is one."""

    now: PoolSize
    best: PoolSize
    low: PoolSize
    high: PoolSize
    cliff: PoolSize | None
    """the first size beyond the best that loses 10 % or more"""
    swaps_above: int | None
    """the largest pool that is never swapped; None if every pool that memory holds is"""
    most: PoolSize
    """the largest pool that memory holds at all"""
    curve: tuple[tuple[int, float], ...]
    """every size tried, with its rate"""
    page_cache: tuple[tuple[int, float], ...]
    """of these, with the share of the pool's reads that the page cache serves; none of a pool that reads nothing, and
    none at all if the database goes past the page cache"""


def best_buffers(scenario: ScenarioSpec, solver: MachineSolver) -> BufferAdvice:
    """Try pools of all sizes, then finer ones around the best and around the cliff. Raises InputError."""
    plan = memory_plan(scenario)
    per_buffer = scenario.database.pool.memory_per_buffer_kib * KIB
    most = max(int(plan.free_bytes / per_buffer), scenario.database.pool.buffers)
    needed = scenario.workload.clients + SPARE_BUFFERS
    least = max(LEAST, 2 * needed if scenario.database.page_cleaner else needed)  # of which half may be free
    floor = scenario.operating_system.page_cache.floor_fraction * scenario.machine.memory_gib * GIB
    edge = int((plan.free_bytes - floor) / per_buffer)
    now = scenario.database.pool.buffers
    rates: dict[int, float] = {}
    served: dict[int, float] = {}

    def try_(sizes: Sequence[int]) -> None:
        new = sorted({size for size in sizes if least <= size <= most} - set(rates))
        found = solver(*(with_values(scenario, {KEY: size}) for size in new))
        for size, each in zip(new, found, strict=True):
            rates[size] = each.rate_per_min
            share = each.page_cache_share
            served.update({} if share is None else {size: share})

    try_([now, edge, least, most, most // 32, most // 16, *_between(0, most, SCALE)])
    best, sizes = _best(rates), sorted(rates)
    at = sizes.index(best)
    try_([*_between(sizes[max(at - 1, 0)], best, FINER), *_between(best, sizes[min(at + 1, len(sizes) - 1)], FINER)])
    fallen = _cliff(rates)
    if fallen is not None:
        try_(_between(*fallen, FINER))
    best = _best(rates)
    low, high = _near(rates, best)
    fallen = _cliff(rates)

    def setting(size: int) -> PoolSize:
        gib = size * per_buffer / GIB
        return PoolSize(size, gib, gib / scenario.machine.memory_gib, rates[size])

    return BufferAdvice(
        now=setting(now),
        best=setting(best),
        low=setting(low),
        high=setting(high),
        cliff=None if fallen is None else setting(fallen[1]),
        swaps_above=edge if edge in rates else None,
        most=setting(most),
        curve=tuple(sorted(rates.items())),
        page_cache=tuple(sorted(served.items())),
    )


def _between(low: int, high: int, steps: int) -> list[int]:
    return [round(float(size)) for size in np.linspace(low, high, steps + 1)]


def _best(rates: dict[int, float]) -> int:
    enough = (1.0 - ALIKE) * max(rates.values())
    return min(size for size, rate in rates.items() if rate >= enough)


def _near(rates: dict[int, float], best: int) -> tuple[int, int]:
    """The ends of the sizes around the best, without a gap, that do as well but for 2 %."""

    def last_good(sizes: list[int]) -> int:
        return [best, *takewhile(lambda size: rates[size] >= NEAR_BEST * rates[best], sizes)][-1]

    return (
        last_good(sorted((size for size in rates if size < best), reverse=True)),
        last_good(sorted(size for size in rates if size > best)),
    )


def _cliff(rates: dict[int, float]) -> tuple[int, int] | None:
    """Neighbouring sizes beyond the best between which the rate falls below 90 % of it."""
    best = _best(rates)
    beyond = [size for size in sorted(rates) if size >= best]
    return next((two for two in pairwise(beyond) if rates[two[1]] < CLIFF * rates[best]), None)
