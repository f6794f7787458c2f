"""Simulation of a job by the kernel: clients of a program that do their work once, on a scenario's machine."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from oltpsim.simulator.errors import Infeasible
from oltpsim.simulator.form import Interval, System, Work, from_s, to_s
from oltpsim.simulator.results import Activity, Counters

if TYPE_CHECKING:
    from oltpsim.simulator.kernel import KernelEngine

ONE_TRANSACTION_EACH = Work(1)
LONGEST = Interval("cold", 0, from_s(100 * 365 * 86400))
"""Interval of a job that ends when its work is done; caches are empty at its start."""


@dataclass(frozen=True)
class FinishedJob:
    """Counters of a job that is done, and the time of its clients by activity, ns in all of them together."""

    ended_ns: int
    spent_ns: dict[Activity, int]
    counters: Counters

    @property
    def seconds(self) -> float:
        """Time from the first client's start to the last one's end."""
        return to_s(self.ended_ns)

    @property
    def cores_busy(self) -> float:
        """Processors at work on average."""
        return self.counters.cpu_busy_ns / self.ended_ns


MOST_KEPT = 4096
_finished_jobs: dict[tuple[str, int], FinishedJob] = {}
"""Jobs by hash of the system and seed: a fit asks for the same ones many times."""


def simulate_work(system: System, seed: int) -> FinishedJob:
    """Run a system to the end of its work. Raises Infeasible if that is not done within its interval."""
    key = system.digest(), seed
    if key not in _finished_jobs:
        if len(_finished_jobs) >= MOST_KEPT:
            _finished_jobs.clear()
        _finished_jobs[key] = _simulated(system, seed)
    return _finished_jobs[key]


def kernel_engine(system: System, seed: int) -> "KernelEngine":
    """The kernel with a system, before its run. It is loaded for the first job: whoever reads a scenario needs none."""
    engine: KernelEngine = import_module("oltpsim.simulator.kernel").KernelEngine(system, seed)
    return engine


def _simulated(system: System, seed: int) -> FinishedJob:
    engine = kernel_engine(system, seed)
    engine.kernel.run(system.interval.end_ns)
    ended_ns = engine.kernel.figures().now_ns
    snapshot = engine.record.snapshot(ended_ns)
    if snapshot.levels.clients_at_work:
        raise Infeasible(f"{system.name}: job: not done after {to_s(system.interval.end_ns):,.0f} s on this machine")
    spent = np.sum([each.spent_ns for each in engine.record.classes], axis=0)
    by_activity = {activity: int(spent[activity]) for activity in Activity}
    return FinishedJob(max(ended_ns, 1), by_activity, snapshot.counters)
