"""The machine that a scenario describes, as this host can emulate it; what it can't is refused by its key."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oltpsim.calibration.lab.groups import GroupLimits
from oltpsim.calibration.lab.load_generator import LoadGenerator
from oltpsim.calibration.lab.pgbench import Pgbench
from oltpsim.calibration.lab.tpcc_kit import TpccKit
from oltpsim.models.database import DatabaseSpec
from oltpsim.models.machine import DiskArraySpec, DiskSpec
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import ClosedClientsSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, MIB

OTHERS_WEIGHT = 400
"""of CPU time for disks and driver where they share the database's cores: they come first, as from other machines"""
ENGINES = {"PostgreSQL": "postgresql", "MariaDB": "mariadb"}
"""by how the database's name begins"""
GENERATORS: dict[str, type[LoadGenerator]] = {"tpcc": TpccKit, "rows": Pgbench}
"""Load generators by the workload's kind."""
LONGEST_ROUND_TRIP_US = 100.0
"""that a socket of the host and the load generator's own time may be taken for"""


@dataclass(frozen=True)
class EmulatedMachine:
    """Limits of the groups, and the disks. `swap_bytes`: at the end of the data disks; 0: none."""

    engine: str
    database: GroupLimits
    others: GroupLimits
    data: DiskArraySpec
    log: DiskArraySpec | None
    swap_bytes: int
    dirty_bytes: int


def emulated(scenario: ScenarioSpec, where: str, cores: Sequence[int] | None = None) -> EmulatedMachine:
    """The machine of a scenario. Raises InputError with all that it can't be.

    `where`: its name, for sentences; `cores`: those that this host lends, by number.
    """
    lent = sorted(os.sched_getaffinity(0)) if cores is None else list(cores)
    problems = [
        *_problems_of_machine(scenario, len(lent)),
        *_problems_of_clients(scenario),
        *GENERATORS[scenario.workload.kind].problems(scenario),
        *_problems_of_run(scenario),
    ]
    if problems:
        raise InputError("\n".join(f"{where}: {problem}" for problem in problems))
    machine, system = scenario.machine, scenario.operating_system
    mine = tuple(lent[: machine.cpu.cores])
    others = tuple(lent[machine.cpu.cores :]) or mine
    memory_bytes = round(machine.memory_gib * GIB)
    swap_gib = machine.memory_gib if system.swap.size_gib is None else system.swap.size_gib
    assert system.page_cache.dirty_limit_mib is not None
    return EmulatedMachine(
        engine=engine_of(scenario.database),
        database=GroupLimits(mine, machine.cpu.quota_cores, memory_bytes, swappiness=60 if swap_gib else 0),
        others=GroupLimits(others, weight=OTHERS_WEIGHT),
        data=_one_device(machine.disks, scenario.database.page_kib),
        log=None if machine.log_disk is None else _log_device(machine.log_disk, machine.log_disks),
        swap_bytes=round(swap_gib * GIB),
        dirty_bytes=round(system.page_cache.dirty_limit_mib * MIB),
    )


def engine_of(database: DatabaseSpec) -> str:
    """Which server runs it; "" for one that the laboratory doesn't have."""
    return next((engine for name, engine in ENGINES.items() if database.name.startswith(name)), "")


def _one_device(disks: DiskArraySpec, page_kib: float) -> DiskArraySpec:
    """The same disks as one device; independent ones are striped page by page, as a database does."""
    if disks.count == 1 or disks.level != "independent":
        return disks
    return disks.model_copy(update={"level": "raid0", "stripe_kib": page_kib})


def _log_device(disk: DiskSpec, count: int) -> DiskArraySpec:
    return DiskArraySpec(disk=disk, count=count, level="independent" if count == 1 else "raid0")


def _problems_of_machine(scenario: ScenarioSpec, cores: int) -> Iterator[str]:
    machine, cpu = scenario.machine, scenario.machine.cpu
    if cpu.cores > cores:
        yield f"machine.cpu.cores: got {cpu.cores}; this host lends at most {cores}"
    if cpu.threads_per_core > 1:
        yield f"machine.cpu.threads_per_core: got {cpu.threads_per_core}; emulated cores have 1"
    host_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    if machine.memory_gib > 0.6 * host_gib:
        yield f"machine.memory_gib: got {machine.memory_gib:g}; this host has {host_gib:.0f}, lend at most 60 % of it"
    if machine.disks.sets > 1 or machine.disks.controllers:
        yield "machine.disks: got sets or controllers; emulated is one device without them"
    if machine.network.round_trip_us > LONGEST_ROUND_TRIP_US:
        got = f"machine.network.round_trip_us: got {machine.network.round_trip_us:g}"
        yield f"{got}; at most {LONGEST_ROUND_TRIP_US:g}: the load generator is on this host, behind a socket"
    if machine.volume_limits:
        yield "machine.volume_limits: not emulated; give the disk limits of its own"
    if scenario.operating_system.page_cache.dirty_limit_mib is None:
        yield "operating_system.page_cache.dirty_limit_mib: missing; the laboratory sets it, so say how much"


def _problems_of_clients(scenario: ScenarioSpec) -> Iterator[str]:
    arrivals = scenario.workload.arrivals
    if not isinstance(arrivals, ClosedClientsSpec):
        yield f"workload.arrivals.kind: got {arrivals.kind}; the laboratory's clients are closed"


def _problems_of_run(scenario: ScenarioSpec) -> Iterator[str]:
    interval, engine = scenario.interval, engine_of(scenario.database)
    if not engine:
        yield f"database.name: got {scenario.database.name}; the laboratory runs {' and '.join(ENGINES)}"
    if scenario.job is not None or scenario.cluster is not None:
        yield "job, cluster: a laboratory's run is one server's transactions"
    if scenario.database.io == "direct" and engine == "postgresql":
        yield "database.io: got direct; PostgreSQL's is buffered"
    if interval.start not in {"cold", "after_prewarm"}:
        yield (
            f"interval.start: got {interval.start}; a laboratory's run starts from the restored state: cold, or "
            "after_prewarm with a lead_in"
        )
    if interval.duration_s is None:
        yield "interval.duration_s: missing; a laboratory counts seconds"
    if (prewarm := interval.prewarm) is not None:
        if prewarm.tables or prewarm.most_gib:
            yield "interval.prewarm: got tables or most_gib; the laboratory reads all tables in the order of the load"
        if prewarm.into == "page_cache" and engine == "mariadb":
            yield "interval.prewarm.into: got page_cache; MariaDB reads into its pool: pool"
