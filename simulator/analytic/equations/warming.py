"""How a machine warms up: its rate from a cold start, or from what a load, a prewarm and a lead-in leave.

What has been referred to since the start is in the buffer pool, as in a full pool whose characteristic time is the
transactions done so far, until these fill it; the page cache below likewise. What is left of either beside that holds
what the start left last (LRU; a CLOCK of the same size is taken to hold as much). So each moment is a smaller machine,
whose rate X says how fast the next one comes: dn/dt = X(n), n the transactions done. A lead-in begins with its n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from oltpsim.simulator.analytic.equations.solution import Solution, solve
from oltpsim.simulator.analytic.reading import Parameters, Workload
from oltpsim.simulator.form import FloatArray, System, to_s

MOMENTS = 14
EARLIEST = 1e-3
"""the first moment, as a share of the transactions that fill the caches"""
LEAD_IN_FACTOR = 1.2
"""transactions at the last moment by those of the lead-in, where these have filled the caches"""
STEADY = 0.95
ENDLESS_S = 1e9
"""interval of checkpoints that don't come"""


@dataclass(frozen=True)
class Course:
    """Transactions done and rate, at times since the start; from the last one on the rate is steady.

    `done` counts from the state before the lead-in, so that its first is the lead-in's. `pool_hits`, `cache_hits`: hit
    ratios of pool and page cache at these times.
    """

    times_s: FloatArray
    done: FloatArray
    rates_per_s: FloatArray
    steady_per_s: float
    pool_hits: FloatArray
    cache_hits: FloatArray

    def done_by(self, time_s: float) -> float:
        """Transactions done by a time."""
        last_s, last = float(self.times_s[-1]), float(self.done[-1])
        if time_s > last_s:
            return last + (time_s - last_s) * self.steady_per_s
        return float(np.interp(time_s, self.times_s, self.done))

    def time_of(self, done: float) -> float:
        """When so many transactions are done."""
        last_s, last = float(self.times_s[-1]), float(self.done[-1])
        if done > last:
            return last_s + (done - last) / self.steady_per_s
        return float(np.interp(done, self.done, self.times_s))

    def mean_per_s(self, begin_s: float, end_s: float) -> float:
        """Mean rate over an interval."""
        return (self.done_by(end_s) - self.done_by(begin_s)) / (end_s - begin_s)

    @property
    def steady_from_s(self) -> float:
        """When the rate has come to 95 % of the steady one."""
        slow = np.flatnonzero(self.rates_per_s < STEADY * self.steady_per_s)
        return float(self.times_s[slow[-1]]) if len(slow) else 0.0

    def done_at_mean_rate(self, begin_s: float, end_s: float) -> float:
        """Transactions done when the rate is an interval's mean; infinite if it is steady for most of the interval.

        A pool that fills has the rates of a full one without its writes, so that a rate alone doesn't tell them apart.
        """
        if (begin_s + end_s) / 2.0 >= self.times_s[-1]:
            return float("inf")
        times = np.linspace(begin_s, min(end_s, float(self.times_s[-1])), 101)
        rates = np.interp(times, self.times_s, self.rates_per_s)
        nearest = int(np.abs(rates - self.mean_per_s(begin_s, end_s)).argmin())
        return self.done_by(float(times[nearest]))


def joined_courses(phases: Sequence[tuple[float, Course]]) -> Course:
    """The course of a machine that changes: each course until a time, s since the start, the last one for ever.

    Caches keep what they have, so that a course goes on from the transactions that were done before.
    """
    _, first = phases[0]
    at_s, done = 0.0, float(first.done[0])
    pieces = []
    for number, (end_s, of) in enumerate(phases):
        shift_s = at_s - of.time_of(done)
        last_s = float(of.times_s[-1]) + shift_s if number == len(phases) - 1 else end_s
        times = of.times_s + shift_s
        times = np.array([at_s, *times[(times > at_s) & (times < last_s)], *([last_s] if last_s > at_s else [])])
        columns = [
            np.interp(times - shift_s, of.times_s, each) for each in (of.rates_per_s, of.pool_hits, of.cache_hits)
        ]
        columns[0][times - shift_s > of.times_s[-1]] = of.steady_per_s
        pieces.append((times, np.array([of.done_by(float(each)) for each in times - shift_s]), *columns))
        at_s, done = float(times[-1]), float(pieces[-1][1][-1])
    times, done_at, rates, pool_hits, cache_hits = (np.concatenate(each) for each in zip(*pieces, strict=True))
    return Course(times, done_at, rates, phases[-1][1].steady_per_s, pool_hits, cache_hits)


def course(system: System, w: Workload, p: Parameters, steady: Solution) -> Course:
    """The course of a machine that doesn't start warm; `steady`: its solution."""
    led_in = float(system.interval.lead_in_transactions)
    full = _filling_transactions(system, w)
    if not system.direct_io:
        full = max(full, min(float(steady.cache_time[0]), _most_transactions(w)))
    full = max(full, LEAD_IN_FACTOR * led_in)
    done = np.geomspace(max(EARLIEST * full, led_in), full, MOMENTS)
    rates, misses, reads = _solved(w, machines_at(system, w, p, done), system.pool.replacement)
    middle = 2.0 / (rates[1:] + rates[:-1])
    first_s = (done[0] - led_in) / rates[0]
    times = np.concatenate([[0.0, first_s], first_s + np.cumsum(np.diff(done) * middle)])
    references = float(w.groups.references.sum() + w.groups.repeated.sum())
    pool_hits = 1.0 - misses / max(references, 1e-300)
    cache_hits = 1.0 - reads / np.maximum(misses, 1e-300)
    kept = slice(1, None) if done[0] <= led_in else slice(None)
    return Course(
        times_s=times[kept],
        done=np.concatenate([[led_in], done])[kept],
        rates_per_s=np.concatenate([rates[:1], rates])[kept],
        steady_per_s=float(steady.rate[0]),
        pool_hits=np.concatenate([pool_hits[:1], pool_hits])[kept],
        cache_hits=np.concatenate([cache_hits[:1], cache_hits])[kept],
    )


def policy_at(p: Parameters, policy: str) -> str:
    """How a machine's pool replaces pages: while it fills nothing is, and a list has no use for a midpoint."""
    return "lru" if policy == "midpoint" and p.growing[0] > 0 else policy


def _solved(w: Workload, machines: Parameters, policy: str) -> FloatArray:
    """Rates, misses and reads, shape (3, machines)."""
    if policy != "midpoint":
        solution = solve(w, machines, policy)
        return np.array([solution.rate, solution.misses, solution.reads])
    found = np.zeros((3, len(machines)))
    grows = machines.growing > 0
    for which in (grows, ~grows):
        if which.any():
            some = machines.take(which)
            solution = solve(w, some, policy_at(some, policy))
            found[:, which] = solution.rate, solution.misses, solution.reads
    return found


def machines_at(system: System, w: Workload, p: Parameters, done: FloatArray) -> Parameters:
    """The machine at moments by which so many transactions are done since the state before the lead-in."""
    table, pages = w.table("lru"), float(system.pool.pages)
    seen = np.exp(np.interp(np.log(done), np.log(table.times), np.log(table.filled)))
    places = _left_places(system, w)
    buffers = np.minimum(seen, pages)
    machines = replace(
        p.repeated(len(done)),
        buffers=buffers,
        growing=(seen < pages).astype(np.float64),
        done=done,
        pool_left=pages - buffers if places.any() and system.interval.prewarms_pool else np.zeros(len(done)),
        left_places=np.repeat(places, len(done), axis=0),
    )
    if system.interval.end_ns < p.checkpoint_s[0] * 1e9:  # the run is over before the first
        never = np.full(len(done), ENDLESS_S)
        return replace(machines, checkpoint_s=never, spread_s=np.zeros(len(done)))
    return machines


def interval_mean_per_s(system: System, w: Workload, of: Course) -> float:
    """The rate that the system's interval counts; of fixed work until clients that are all alike have done it."""
    if system.work:
        whole = _transactions_of_work(system, w)
        return whole / of.time_of(float(of.done[0]) + whole)
    return of.mean_per_s(*counted_s(system))


def counted_s(system: System) -> tuple[float, float]:
    """Begin and end of what the interval counts."""
    return to_s(system.interval.warm_up_ns), to_s(system.interval.end_ns)


def machine_at_mean_rate(system: System, w: Workload, p: Parameters, of: Course) -> Parameters:
    """The machine at a moment of the counted interval at which its rate is the mean, or the steady one."""
    begin_s, end_s = counted_s(system)
    if system.work:
        begin_s, end_s = 0.0, of.time_of(float(of.done[0]) + _transactions_of_work(system, w))
    done = of.done_at_mean_rate(begin_s, end_s)
    return machines_at(system, w, p, np.array([max(done, 1.0)])) if np.isfinite(done) else p


def _transactions_of_work(system: System, w: Workload) -> float:
    assert system.work is not None
    return system.work.main_per_client * len(system.client_registers) / float(w.mix[w.main_class])


def _most_transactions(w: Workload) -> float:
    """The longest characteristic time of a cache that is known, in transactions."""
    return float(w.table("lru").times[-1])


def _filling_transactions(system: System, w: Workload) -> float:
    """Transactions that refer to as many different pages as the pool has room for."""
    table = w.table("lru")
    if system.pool.pages >= table.filled[-1]:
        return _most_transactions(w)
    return float(np.exp(np.interp(np.log(system.pool.pages), np.log(table.filled), np.log(table.times))))


def _left_places(system: System, w: Workload) -> FloatArray:
    """As `Parameters.left_places`: a table's pages are taken to lie evenly from its first to its last one."""
    start = system.interval.start
    order = {"after_load": system.program.load_order, "after_prewarm": system.prewarm_order}.get(start)
    groups = len(w.groups.region)
    if order is None or not len(order):
        return np.zeros((1, 2 * groups))
    behind = np.cumsum(order[::-1, 3])[::-1] - order[:, 3]
    begin, end = np.zeros(len(system.program.regions)), np.zeros(len(system.program.regions))
    for region in np.unique(order[:, 0]).tolist():
        rows = np.flatnonzero(order[:, 0] == region)
        begin[region], end[region] = behind[rows].min(), (behind + order[:, 3])[rows].max()
    return np.concatenate([begin[w.groups.region], end[w.groups.region]])[None]
