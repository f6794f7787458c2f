"""All answers about one machine, from one solver."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.explain.bottlenecks import Bottlenecks, bottlenecks
from oltpsim.scenarios.questions.explain.buffers import BufferAdvice, best_buffers
from oltpsim.scenarios.questions.explain.capacity import Capacity, Growth, capacity_of, growth
from oltpsim.scenarios.questions.explain.credits import CreditUse, credits_of
from oltpsim.scenarios.questions.explain.machines import (
    MachineSolver,
    PercentileObjective,
    SolvedMachine,
    for_analytic_engine,
    with_busy_connections,
)
from oltpsim.scenarios.questions.explain.upgrades import UnitPrice, Upgrade, upgrades
from oltpsim.scenarios.questions.explain.warming import Warming, warming


@dataclass(frozen=True)
class ExplainOptions:
    """Options of an explanation. `growth_per_year`: a share; `load_per_min`: new orders asked for now."""

    prices: Mapping[str, UnitPrice] = field(default_factory=dict)
    objective: PercentileObjective | None = None
    growth_per_year: float | None = None
    load_per_min: float | None = None


@dataclass(frozen=True)
class Explanation:
    """Answers about the steady machine; of transactions that arrive by themselves with all connections busy."""

    scenario: str
    start: str
    rate_per_min: float
    doubts: tuple[str, ...]
    """where the analytic engine's assumptions don't hold of that machine"""
    bottlenecks: Bottlenecks
    steps: tuple[Upgrade, ...]
    buffers: BufferAdvice
    room: Capacity | None
    """None of a workload without warehouses"""
    warming: Warming
    credits: CreditUse | None
    """None if no volume has any"""
    growth: Growth | None
    main_class: str
    """what the rates count"""


@dataclass(frozen=True)
class PurchaseAdvice:
    """The short part of an explanation, of the same machine: its limit, one more of each, and the pool."""

    rate_per_min: float
    doubts: tuple[str, ...]
    bottlenecks: Bottlenecks
    steps: tuple[Upgrade, ...]
    buffers: BufferAdvice


def advise(
    scenario: ScenarioSpec, prices: Mapping[str, UnitPrice], solver: MachineSolver | None = None
) -> PurchaseAdvice:
    """Advice about the steady machine, in about a second. Raises InputError where the analytic engine can't answer.

    `solver`: one that has answered before, which has read more.
    """
    solver = solver or MachineSolver()
    most = with_busy_connections(for_analytic_engine(scenario))
    [machine] = solver(most)
    return _advice(most, machine, solver, prices, lambda _: None)


def _advice(
    most: ScenarioSpec,
    machine: SolvedMachine,
    solver: MachineSolver,
    prices: Mapping[str, UnitPrice],
    tell: Callable[[str], None],
) -> PurchaseAdvice:
    tell("what limits it")
    limits = bottlenecks(most, machine, solver)
    tell("what more of each would give")
    more = upgrades(most, machine, solver, prices)
    tell("buffers against page cache")
    return PurchaseAdvice(machine.rate_per_min, machine.doubts, limits, more, best_buffers(most, solver))


def explain_scenario(scenario: ScenarioSpec, options: ExplainOptions, tell: Callable[[str], None]) -> Explanation:
    """Every answer, each told by its name before it is looked for. Raises InputError."""
    solver = MachineSolver()
    analytic = for_analytic_engine(scenario)
    most = with_busy_connections(analytic)
    tell("the machine")
    [machine] = solver(most)
    advice = _advice(most, machine, solver, options.prices, tell)
    holds = None
    if scenario.workload.unit_users:
        tell("how much it holds")
        holds = capacity_of(analytic, machine, solver, options.objective)
    tell("how it gets warm")
    warms = warming(most, solver)
    grows = None
    if options.growth_per_year is not None:
        tell("how long it lasts")
        share, load_per_min = options.growth_per_year, options.load_per_min
        grows = growth(analytic, machine, solver, options.objective, share, load_per_min)
    return Explanation(
        scenario=scenario.name,
        start=scenario.interval.start,
        rate_per_min=advice.rate_per_min,
        doubts=advice.doubts,
        bottlenecks=advice.bottlenecks,
        steps=advice.steps,
        buffers=advice.buffers,
        room=holds,
        warming=warms,
        credits=credits_of(analytic, solver),
        growth=grows,
        main_class=scenario.workload.main_class,
    )
