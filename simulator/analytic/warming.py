"""How a machine warms up: its rate from a cold start, or from what a bulk load leaves, until it is steady.

Before the buffer pool is full it answers what has been referred to since the start, as a full pool would whose
characteristic time is the transactions done so far. So each moment is a smaller machine, whose rate X says how fast the
next one comes: dn/dt = X(n), n the transactions done.
"""

from dataclasses import dataclass, replace

import numpy as np

from simulator.analytic.parameters import Parameters
from simulator.analytic.solution import Solution, solve
from simulator.analytic.workload import Workload
from simulator.form import FloatArray, System, to_s

MOMENTS = 14
EARLIEST = 1e-3
"""the first moment, as a share of the transactions that fill the pool"""
STEADY = 0.95


@dataclass(frozen=True)
class Course:
    """Transactions done and rate, at times since the start; from the last one on the rate is steady."""

    times_s: FloatArray
    done: FloatArray
    rates_per_s: FloatArray
    steady_per_s: float
    machines: Parameters
    """the machine at each moment, the steady one last"""

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

    def like(self, rate_per_s: float) -> Parameters:
        """The machine at the moment when its rate was about this one."""
        at = int(np.abs(np.append(self.rates_per_s[1:], self.steady_per_s) - rate_per_s).argmin())
        return self.machines.take(slice(at, at + 1))


def course(system: System, w: Workload, p: Parameters, steady: Solution) -> Course:
    """The course of a machine that starts cold or after a load; `steady`: its solution."""
    table = w.table(system.pool.replacement)
    full = min(float(steady.pool_time[0]), float(table.times[-1]))
    done = np.geomspace(EARLIEST * full, full, MOMENTS)
    buffers = np.exp(np.interp(np.log(done), np.log(table.times), np.log(table.filled)))
    held = np.zeros((MOMENTS, len(w.groups.rate)))
    if system.interval.start == "after_load":
        left = np.clip(1.0 - buffers / system.pool.pages, 0.0, 1.0)
        held = left[:, None] * _loaded(system, system.pool.pages)[w.groups.region]
    moments = replace(p.repeated(MOMENTS), buffers=buffers, growing=np.ones(MOMENTS), held=held)
    rates = solve(w, moments, system.pool.replacement).rate
    middle = 2.0 / (rates[1:] + rates[:-1])
    times = np.concatenate([[0.0, done[0] / rates[0]], done[0] / rates[0] + np.cumsum(np.diff(done) * middle)])
    return Course(
        times_s=times,
        done=np.concatenate([[0.0], done]),
        rates_per_s=np.concatenate([rates[:1], rates]),
        steady_per_s=float(steady.rate[0]),
        machines=moments.followed_by(replace(p, held=np.zeros((1, held.shape[1])))),
    )


def interval_mean_per_s(system: System, w: Workload, of: Course) -> float:
    """The rate that the system's interval counts; of fixed work until clients that are all alike have done it."""
    if system.work:
        whole = system.work.main_per_client * len(system.client_registers) / float(w.mix[w.main_class])
        return whole / of.time_of(whole)
    begin, end = to_s(system.interval.warm_up_ns), to_s(system.interval.end_ns)
    return of.mean_per_s(begin, end)


def _loaded(system: System, most: int) -> FloatArray:
    """Share of each region's loaded pages that are in a pool of `most` pages when the load is over: the last ones."""
    loaded = np.zeros(len(system.program.regions))
    kept = np.zeros(len(system.program.regions))
    room = most
    for region, _, _, pages in system.program.load_order[::-1].tolist():
        loaded[region] += pages
        kept[region] += min(pages, room)
        room -= min(pages, room)
    return np.divide(kept, loaded, out=np.zeros_like(kept), where=loaded > 0)
