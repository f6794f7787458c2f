"""Six small machines at random, each slow in its own way: the analytic rate against the kernel's; other machines' not.

The machines are those of benchmarks/random_machines.py by number, with shorter intervals. The analytic engine
doubts its rate for two of them, the one with one arm and the one bound by locks; the bound is the same for all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from benchmarks.random_machines import random_machine
from oltpsim.models.wiring import build
from oltpsim.simulator import kernel
from oltpsim.simulator.analytic import Parameters, Solution, Workload, parameters_of, read_workload, solve
from oltpsim.simulator.form import RotatingDevice, System
from tests.simulator.analytic.columns import with_columns

TOLERANCE = 0.10


@dataclass(frozen=True)
class Machine:
    """A random machine and the interval in which its rate is stable; `twin` makes another machine of it."""

    regime: str
    number: int
    warm_up_s: float
    duration_s: float
    bound_by: str
    """the residence time of which a transaction has most, waiting or in service"""
    twin: Callable[[Parameters], Parameters]

    def __str__(self) -> str:
        return f"{self.regime} {self.number}"


def half_the_clients(p: Parameters) -> Parameters:
    return with_columns(p, clients_number=p.clients.number / 2.0)


def twice_the_cores(p: Parameters) -> Parameters:
    return with_columns(p, cpu_processors=p.cpu.processors * 2.0)


def faster_processors(p: Parameters) -> Parameters:
    return with_columns(p, cpu_speed=p.cpu.speed * 1.5)


def faster_disks(p: Parameters) -> Parameters:
    return with_columns(p, storage_read_s=p.storage.read_s / 1.5, storage_write_s=p.storage.write_s / 1.5)


CPU_BOUND = Machine("cpu bound", 2026, 10, 15, "cpu_queue_s", twice_the_cores)
FLASH_AND_MISSES = Machine("one disk", 2025, 20, 100, "cpu_queue_s", twice_the_cores)
THINKING = Machine("cpu bound", 2007, 20, 60, "cpu_s", half_the_clients)
ONE_ARM = Machine("one disk", 2003, 100, 400, "read_s", faster_disks)
TWO_ARMS = Machine("transition", 2024, 100, 400, "read_s", half_the_clients)
LOCKS = Machine("lock bound", 2006, 10, 20, "lock_s", faster_processors)
EVERY = [CPU_BOUND, FLASH_AND_MISSES, THINKING, ONE_ARM, TWO_ARMS, LOCKS]


@cache
def model_of(machine: Machine) -> System:
    scenario = random_machine(machine.regime, machine.number)
    times = {"warm_up_s": machine.warm_up_s, "duration_s": machine.duration_s}
    return build(scenario.model_copy(update={"interval": scenario.interval.model_copy(update=times)}))


@cache
def workload_of(machine: Machine) -> Workload:
    return read_workload(model_of(machine))


@cache
def counted_per_s(machine: Machine) -> float:
    return kernel.simulate(model_of(machine), 1).transactions_per_s


def solved(machine: Machine, change: Callable[[Parameters], Parameters] = lambda p: p) -> Solution:
    model, workload = model_of(machine), workload_of(machine)
    return solve(workload, change(parameters_of(model, workload)), model.pool.replacement)


def is_refused(machine: Machine, of: Solution) -> bool:
    return abs(float(of.rate[0]) / counted_per_s(machine) - 1.0) > TOLERANCE


@pytest.mark.parametrize("machine", EVERY, ids=str)
def test_the_rate_is_the_kernels(machine: Machine) -> None:
    assert not is_refused(machine, solved(machine))


@pytest.mark.parametrize("machine", EVERY, ids=str)
def test_the_rate_of_another_machine_is_refused(machine: Machine) -> None:
    assert is_refused(machine, solved(machine, machine.twin))


@pytest.mark.parametrize("machine", EVERY, ids=str)
def test_machines_are_slow_for_what_they_stand_for(machine: Machine) -> None:
    of, mix = solved(machine), workload_of(machine).mix
    parts = ("cpu_s", "cpu_queue_s", "read_s", "victim_s", "lock_s", "section_queue_s", "log_s")
    times = {name: float(getattr(of.classes, name)[0] @ mix) for name in parts}
    assert max(times, key=times.__getitem__) == machine.bound_by


def test_the_machines_differ_where_they_should() -> None:
    arms = [isinstance(model_of(machine).storage.devices[0], RotatingDevice) for machine in EVERY]
    assert arms == [False, False, False, True, True, False]
    assert {model_of(machine).direct_io for machine in EVERY} == {False, True}
    assert {model_of(machine).pool.replacement for machine in EVERY} == {"lru", "clock"}
    assert solved(FLASH_AND_MISSES).pool.reads[0] > 1.0
    assert workload_of(THINKING).think_s > 0.0 == workload_of(CPU_BOUND).think_s


def test_rates_of_the_six_are_no_accident() -> None:
    """Each machine's rate is far from all others', but for one pair."""
    counts = np.array([counted_per_s(machine) for machine in EVERY])
    found = np.array([solved(machine).rate[0] for machine in EVERY])
    near = np.abs(found[:, None] / counts - 1.0) <= TOLERANCE
    assert (near.diagonal()).all()
    assert np.triu(near | near.T, 1).sum() <= 1
