"""Bottleneck of a machine, the next one, and the rate there: the rate if the present limit were free.

Free means without a limit of its own: a core for every client with no memory bus between them, data or log on devices
that answer at once, no critical section, rows that nobody else has locked. What it costs in CPU time stays.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from oltpsim.calibration.fit import AnalyticInput
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.explain.machines import MachineSolver, SolvedMachine, machines
from oltpsim.simulator.form import ALL_VOLUMES
from oltpsim.simulator.results import ROW_LOCKS

DISK = re.compile(r"disk \d+$")
CAP = " (cap of"
"""begins what a device's limit is called behind its name"""
AT_ONCE_US = 0.001
MOST_AT_ONCE = 4096
MOST_CORES = 4096
"""as models/machine/machine.py allows"""


@dataclass(frozen=True)
class Limit:
    """A part and how much of it is in use."""

    name: str
    used_fraction: float


@dataclass(frozen=True)
class Bottlenecks:
    """The present limit; the next one if that were free, and new orders per minute then."""

    now: Limit
    rate_per_min: float
    next: Limit
    next_rate_per_min: float


def bottlenecks(scenario: ScenarioSpec, machine: SolvedMachine, solver: MachineSolver) -> Bottlenecks:
    """Bottlenecks of a scenario and its solved machine."""
    limit = machine.bottleneck
    [freed] = machines([_free(scenario, limit.name, machine, solver)])
    then = freed.bottleneck
    follows = Limit(then.name, then.share)
    both_disks = all(DISK.match(name.partition(CAP)[0]) for name in (then.name, limit.name))
    if then.name == limit.name or both_disks:  # equal disks are free together, and so are their caps
        follows = Limit(then.next_name, then.next_share)
    return Bottlenecks(
        now=Limit(limit.name, limit.share),
        rate_per_min=machine.rate_per_min,
        next=follows,
        next_rate_per_min=freed.rate_per_min,
    )


def _free(scenario: ScenarioSpec, name: str, machine: SolvedMachine, solver: MachineSolver) -> AnalyticInput:
    device = name.partition(CAP)[0]
    if name == ROW_LOCKS:
        workload = machine.point.workload
        never = tuple(replace(lock, acquisitions=0.0) for lock in workload.locks)
        return replace(machine.point, workload=replace(workload, locks=never))
    changes: dict[str, Any] = {}
    devices = [device.name for device in machine.result.devices]
    if name == "cpu":
        cores = min(max(scenario.workload.clients, scenario.machine.cpu.cores), MOST_CORES)
        changes = {
            "machine.cpu.cores": cores,
            "machine.cpu.memory_bus_share": 0.0,
            "machine.cpu.all_core_clock_fraction": 1.0,
            "machine.cpu.quota_cores": None,
            "database.path.shared_lines": 0.0,
        }
    elif device == ALL_VOLUMES:
        changes = {"machine.volume_limits": ()}
    elif device == "log disk":
        changes = {"machine.log_disk": _at_once(scenario.machine.log_disk)}
    elif device in devices:
        changes = {"machine.disks.disk": _at_once(scenario.machine.disks.disk)}
    else:
        changes = {"database.critical_section.share_of_path": 0.0}
    return solver.point(with_values(scenario, changes))


def _at_once(disk: Any) -> dict[str, Any]:
    return {
        "kind": "flash",
        "name": disk.name,
        "capacity_gib": disk.capacity_gib,
        "read_latency_us": AT_ONCE_US,
        "write_latency_us": AT_ONCE_US,
        "parallel_requests": MOST_AT_ONCE,
        "source": "a disk that answers at once",
    }
