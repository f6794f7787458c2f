"""Grid of machines around a scenario's own: combinations of RAM, buffers, clients and disks, by the analytic engine.

The machine is the warm one, as for advice (explain/machines.py). A combination that a spec or the engine refuses, or
whose pool the memory can't hold, has the reason in place of an answer.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from oltpsim.calibration.fit import AnalyticInput
from oltpsim.models.reading import with_values
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import memory_plan
from oltpsim.models.workloads import ClosedClientsSpec
from oltpsim.scenarios.questions.explain import (
    MachineSolver,
    SolvedMachine,
    for_analytic_engine,
    with_busy_connections,
)
from oltpsim.simulator.analytic import NO_PERCENTILES
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB
from oltpsim.simulator.results import main_class_of

RAM, BUFFERS = "machine.memory_gib", "database.pool.buffers"
CLIENTS, DISKS = "workload.arrivals.clients", "machine.disks.count"
TIMES: Mapping[str, tuple[float, ...]] = {
    RAM: (0.5, 1.0, 2.0, 4.0),
    BUFFERS: (0.25, 0.5, 1.0, 1.25, 2.0, 4.0),
    CLIENTS: (0.5, 1.0, 2.0),
    DISKS: (0.5, 1.0, 2.0, 4.0),
}
"""values of each setting, times the scenario's own: 288 machines at most, which take some seconds"""


@dataclass(frozen=True)
class VariedSetting:
    """Setting that varies: its dotted key, its values in rising order, the place of the scenario's own."""

    key: str
    values: tuple[float, ...]
    now: int


@dataclass(frozen=True)
class MachineAnswer:
    """Answer of the analytic engine for one machine; rates are those of the main class, per minute."""

    rate_per_min: float
    low_per_min: float | None
    high_per_min: float | None
    """ends of the interval of the formulas alone"""
    bottleneck: str
    bottleneck_share: float
    response_s: float
    """mean of the main class"""
    p95_s: float | None
    """None where the engine doesn't know it"""
    doubts: tuple[str, ...]
    """where the formulas don't hold, and swapping"""


@dataclass(frozen=True)
class WhatIf:
    """Machines at every combination of the axes' values, the last axis fastest; a reason for each that can't run."""

    main_class: str
    axes: tuple[VariedSetting, ...]
    cells: tuple[MachineAnswer | str, ...]

    def at(self, places: tuple[int, ...]) -> MachineAnswer | str:
        """The answer at the place on each axis, or why there is none."""
        number = 0
        for axis, place in zip(self.axes, places, strict=True):
            number = number * len(axis.values) + place
        return self.cells[number]

    @cached_property
    def now(self) -> tuple[int, ...]:
        """Place of the scenario's own machine."""
        return tuple(axis.now for axis in self.axes)


def what_if(scenario: ScenarioSpec, advance: Callable[[float, str], None]) -> WhatIf:
    """The grid of a scenario; `advance` hears the share that is done. Raises InputError where there can be none."""
    warm = with_busy_connections(for_analytic_engine(scenario))
    axes = tuple(_axes(scenario))
    solver = MachineSolver()
    own = solver(warm)[0]  # whose refusal is that of the grid
    size, cells = prod(len(axis.values) for axis in axes), list[MachineAnswer | str]()
    for first in axes[0].values:
        settings = [(first, *others) for others in product(*(axis.values for axis in axes[1:]))]
        changes = [dict(zip((axis.key for axis in axes), values, strict=True)) for values in settings]
        cells += _answers(warm, changes, solver)
        advance(len(cells) / size, f"{len(cells)} of {size} machines around this one")
    return WhatIf(main_class_of(own.result).name, axes, tuple(cells))


def _axes(scenario: ScenarioSpec) -> Iterator[VariedSetting]:
    """Settings that the scenario has, with their values."""
    own: dict[str, float] = {RAM: scenario.machine.memory_gib, BUFFERS: scenario.database.pool.buffers}
    if isinstance(scenario.workload.arrivals, ClosedClientsSpec):
        own[CLIENTS] = scenario.workload.arrivals.clients
    own[DISKS] = scenario.machine.disks.count
    for key, now in own.items():
        values = sorted({now * times if key == RAM else max(1, round(now * times)) for times in TIMES[key]})
        yield VariedSetting(key, tuple(values), values.index(now))


def _answers(
    warm: ScenarioSpec, changes: list[dict[str, float]], solver: MachineSolver
) -> Iterator[MachineAnswer | str]:
    """Answers for the machine with each of the changes; those of machines that are possible are solved together."""
    found: list[AnalyticInput | str] = []
    for values in changes:
        try:
            machine = with_values(warm, values)
            if machine.machine != warm.machine or machine.database != warm.database:
                _check_memory(machine)
            found.append(solver.point(machine))
        except InputError as error:
            found.append("; ".join(str(error).splitlines()).removeprefix(f"{warm.name}: "))
    solved = iter(solver.solved([point for point in found if not isinstance(point, str)]))
    return (point if isinstance(point, str) else _answer(next(solved)) for point in found)


def _check_memory(scenario: ScenarioSpec) -> None:
    """Refuse a pool that is larger than what the memory leaves for it, as no advice names one (explain/buffers.py)."""
    plan = memory_plan(scenario)
    if plan.pool_bytes > plan.free_bytes:
        raise InputError(
            f"{BUFFERS}: {scenario.database.pool.buffers} buffers take {plan.pool_bytes / GIB:.3g} GiB;"
            f" {max(plan.free_bytes, 0.0) / GIB:.3g} of {scenario.machine.memory_gib:.4g} GiB are free:"
            " some would always be swapped out"
        )


def _answer(machine: SolvedMachine) -> MachineAnswer:
    result = machine.result
    rate, main = result.rate_per_min, main_class_of(result)
    return MachineAnswer(
        rate_per_min=rate.mean,
        low_per_min=rate.low,
        high_per_min=rate.high,
        bottleneck=result.bottleneck.name,
        bottleneck_share=result.bottleneck.share,
        response_s=main.mean_s,
        p95_s=main.p95_s,
        doubts=tuple(words for words in result.warnings if not words.startswith(NO_PERCENTILES)),
    )
