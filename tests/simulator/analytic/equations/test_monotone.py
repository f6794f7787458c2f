"""A tenth more speed of a part, or of memory, never lowers the rate of a machine by the formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.random_systems import random_system
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.analytic import (
    Parameters,
    Workload,
    parameters_of,
    read_workload,
    retimed,
    solve,
    striped,
    transactions_key,
)
from oltpsim.simulator.analytic.equations.solution import at_rate
from oltpsim.simulator.errors import OltpsimError
from oltpsim.simulator.form import FloatArray
from tests.simulator.analytic.columns import by_name, with_columns

FASTER = 1.1
RANDOM_SYSTEMS, PARTS = 80, 8
TOLERANCE = 2e-7
"""of a rate: twice what the search leaves of the clients, `ENOUGH` in rate.hpp"""
BELOW = 5e-5
"""of a rate: as near to it as others are looked at"""
DEVICES = ("storage", "ssd", "swap", "write_cache", "volume")
"""parts of a machine's numbers whose times are those of data disks"""

KERNEL_FALLS = {
    ("random 24", "memory"),
    ("random 77", "memory"),
}
"""Machines bound by a critical section. Fewer reads make longer bursts of CPU, so that a section that is handed over
waits longer for a processor. The kernel's rate falls too: random 24 by 0.07 ± 0.03 %, random 77 by 0.64 ± 0.09 %."""

FORMULAS_FALL: dict[tuple[str, str], float] = {
    # heaps of write-back, which grow with the page cache; not asked of the kernel
    ("laboratory/postgresql-clients-2", "memory"): 0.0651,
    # the same at arms and at a volume's limit; kernel: 76 +0.7 ± 0.4 %, 35 +0.14 ± 0.06 %, 51 +4.2 ± 0.1 %
    ("random 76", "memory"): 0.021,
    ("random 51", "memory"): 0.0266,
    ("random 35", "memory"): 0.0062,
    ("kept-back/box-sm7045-80w", "memory"): 0.0097,
    # clients that come back from one log flush queue for longer where no read parts them; kernel: +0.24 ± 0.04 %
    ("random 44", "memory"): 0.013,
    # one limit of all volumes, divided among their queues; kernel: -0.05 ± 0.04 %
    ("random 8", "one disk"): 0.0062,
    # a critical section as above, too little for the kernel to show
    ("published/v20z-10w", "memory"): 1e-5,
    ("v20z-10-warehouses", "memory"): 1e-5,
    # page writes: a larger pool or a faster writer makes a few more; kernel: 15 +1.6 ± 2.0 %, 62 +0.35 ± 0.03 %
    ("random 15", "pool"): 0.00025,
    ("random 64", "pool"): 4e-05,
    ("random 62", "cpu"): 6e-05,
    ("pgbench/simple-update-50", "pool"): 4e-06,
}
"""Falls that the kernel doesn't show, and their most: each is an error of the formulas, still to be mended."""

Falls = dict[tuple[str, str], float]


def changes_of(scenario: ScenarioSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    """Parts of a scenario, and the keys that make each faster or larger."""
    cpu, disks, pool = scenario.machine.cpu, scenario.machine.disks, scenario.database.pool
    yield "cpu", {"machine.cpu.relative_speed": cpu.relative_speed * FASTER}
    if cpu.quota_cores is None:
        yield "core", {"machine.cpu.cores": cpu.cores + 1}
    yield "memory", {"machine.memory_gib": scenario.machine.memory_gib * FASTER}
    buffers = int(pool.buffers * FASTER)
    usable = 1.0 - scenario.operating_system.page_cache.floor_fraction
    more_gib = (buffers - pool.buffers) * pool.memory_per_buffer_kib / 2**20 / usable
    memory_gib = scenario.machine.memory_gib + more_gib
    yield "pool", {"database.pool.buffers": buffers, "machine.memory_gib": memory_gib}
    set_size = disks.sets if disks.level == "raid1" else disks.layout.copies if disks.layout else 1
    yield "one disk", {"machine.disks.count": disks.count + set_size}


def faster(parameters: Parameters, part: str) -> Parameters:
    """The machine with shorter times of one kind of device."""
    numbers = by_name(parameters)
    if part == "log":
        overhead_s = numbers["log.flush_overhead_s"]
        flushes = {name: (numbers[name] - overhead_s) / FASTER + overhead_s for name in ("log.first_s", "log.again_s")}
        others = {name: numbers[name] / FASTER for name in ("log.byte_s", "log.sync_s", "log.drain_byte_s")}
        return with_columns(parameters, **flushes, **others)
    parts = ("clients.network_s",) if part == "network" else DEVICES
    names = [name for name in numbers if name.endswith("_s") and name.startswith(parts)]
    return with_columns(parameters, **{name: numbers[name] / FASTER for name in names})


def rate_of(workload: Workload, parameters: Parameters, policy: str) -> float:
    return float(solve(workload, parameters, policy).rate[0])


def falls_of(name: str, scenario: ScenarioSpec) -> Falls:
    """Parts whose tenth more lowers the rate, and by how much; none for a scenario that the formulas refuse."""
    system = build(scenario)
    policy = system.pool.replacement
    try:
        workload = read_workload(system)
    except OltpsimError:
        return {}
    parameters = parameters_of(system, workload)
    before = rate_of(workload, parameters, policy)
    rates = {part: rate_of(workload, faster(parameters, part), policy) for part in ("disk", "log", "network")}
    for part, keys in changes_of(scenario):
        try:
            changed = build(with_values(scenario, keys))
        except OltpsimError:
            continue  # as a RAID set that one more disk doesn't fit
        same = transactions_key(changed) == transactions_key(system)
        of = striped(retimed(workload, changed), changed.storage.data_devices) if same else read_workload(changed)
        rates[part] = rate_of(of, parameters_of(changed, of), changed.pool.replacement)
    return {(name, part): 1.0 - rate / before for part, rate in rates.items() if not rate >= before * (1.0 - TOLERANCE)}


def scenarios(part: int) -> Iterator[tuple[str, ScenarioSpec]]:
    """Every `PARTS`th scenario from one on, the library's and random ones."""
    for name, path in list(library_files().items())[part::PARTS]:
        try:
            yield name, load_scenario_file(path)
        except OltpsimError:
            continue  # as one that only describes jobs
    for number in range(part, RANDOM_SYSTEMS, PARTS):
        yield f"random {number}", random_system(number)[1]


def lower_rates(workload: Workload, parameters: Parameters, policy: str) -> FloatArray:
    """Rates below the one that is found, on a grid, at which all clients would be busy."""
    rates = rate_of(workload, parameters, policy) * np.exp(np.linspace(-3.0, -BELOW, 200))
    return rates[at_rate(workload, parameters.repeated(len(rates)), policy, rates).population >= 1.0]


@pytest.mark.slow
def test_no_lower_rate_keeps_all_clients_busy() -> None:
    for number in range(RANDOM_SYSTEMS):
        system = build(random_system(number)[1])
        if not system.arrivals_per_s:
            workload = read_workload(system)
            assert len(lower_rates(workload, parameters_of(system, workload), system.pool.replacement)) == 0, number


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_tenth_more_of_a_part_never_lowers_the_rate(part: int) -> None:
    specs = dict(scenarios(part))
    falls = {key: fall for name, scenario in specs.items() for key, fall in falls_of(name, scenario).items()}
    known = {key: FORMULAS_FALL.get(key, 1.0) for key in KERNEL_FALLS | FORMULAS_FALL.keys() if key[0] in specs}
    deeper = {key: fall for key, fall in falls.items() if fall > known.get(key, 0.0)}
    assert deeper == {}
    assert falls.keys() == known.keys(), "a fall that is mended leaves its list"


def test_a_part_that_is_slower_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "FASTER", 1.0 / FASTER)
    falls = falls_of("v20z", load_scenario_file(library_files()["v20z"]))
    assert ("v20z", "cpu") in falls
    assert max(falls.values()) > 1e-3
