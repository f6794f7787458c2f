"""Machines at random have one rate, which goes smoothly with every number of theirs and depends on nothing else."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.random_machines import REGIMES, random_machine
from oltpsim.models.wiring import build
from oltpsim.simulator.analytic import Parameters, Workload, parameters_of, read_workload, solve, stacked
from oltpsim.simulator.analytic.equations.solution import at_rate
from oltpsim.simulator.form import FloatArray
from tests.simulator.analytic.columns import by_name, column_of, with_columns

NUMBERS = (3000, 3019)
"""first and last of each regime"""
CHANGED = (
    "clients.number",
    "cpu.speed",
    "cpu.processors",
    "pool.buffers",
    "page_cache.pages",
    "storage.read_s",
    "storage.write_s",
    "log.first_s",
)
SIZES = ("pool.resident", "pool.dirty_high", "pool.dirty_low")
"""what changes with the buffers"""
SWITCHES = {
    "pool.growing",
    "write_back.free_behind",
    "writing.direct",
    "log.is_durable",
    "log.has_own_device",
    "volume.is_limited",
    "volume.log_is_behind",
    "storage.is_flash",
    "writing.synced",
}
POOL = ("pool.buffers", "pool.resident", "pool.dirty_high", "pool.dirty_low")
"""Change together: one buffer without memory is the first that is swapped, a step that the kernel shows too."""
COUNTS = {"storage.disks", "storage.disks_per_file", "storage.copies", "storage.parities", "storage.parallel"}
"""of disks and of what one disk serves at once: whole numbers, of which one percent more is no machine"""
PERCENT, MOST, MOST_OF_POOL = 1.01, 1.05, 1.1
"""`MOST_OF_POOL`: where the pool holds nearly all pages, the last hundredth of them is a large part of what misses"""
NARROW = 1e-3
"""a rate is sharper than that where nothing changes by steps, as a writer does that begins to act"""
SEARCHES = 12


@dataclass(frozen=True)
class Drawn:
    """A random machine by its key, and what its numbers are multiplied by."""

    regime: str
    number: int
    changes: tuple[tuple[str, float], ...] = ()

    def parameters(self) -> Parameters:
        p = machine(self.regime, self.number)[1]
        for name, factor in self.changes:
            names = (name, *SIZES * (name == "pool.buffers"))
            p = with_columns(p, **{each: column_of(p, each) * factor for each in names})
        return p

    @property
    def workload(self) -> Workload:
        return machine(self.regime, self.number)[0]

    @property
    def policy(self) -> str:
        return machine(self.regime, self.number)[2]


@cache
def machine(regime: str, number: int) -> tuple[Workload, Parameters, str]:
    model = build(random_machine(regime, number))
    workload = read_workload(model)
    return workload, parameters_of(model, workload), model.pool.replacement


@st.composite
def machines(draw: st.DrawFn) -> Drawn:
    names = draw(st.lists(st.sampled_from(CHANGED), max_size=3, unique=True))
    changes = tuple((name, draw(st.sampled_from((0.7, 0.9, 1.1, 1.4)))) for name in names)
    return Drawn(draw(st.sampled_from(REGIMES)), draw(st.integers(*NUMBERS)), changes)


def rate_of(of: Drawn) -> float:
    return float(solve(of.workload, of.parameters(), of.policy).rate[0])


def populations(of: Drawn, rates: FloatArray) -> FloatArray:
    return at_rate(of.workload, of.parameters().repeated(len(rates)), of.policy, rates).population


# One rate


@settings(max_examples=150)
@given(machines())
def test_clients_needed_cross_those_there_are_at_one_rate(of: Drawn) -> None:
    """Below it fewer are busy than there are, above it more: over a grid from a millionth to three times the rate."""
    rate = rate_of(of)
    rates = rate * np.union1d(np.geomspace(1e-6, 3.0, 300), np.exp(np.linspace(-0.03, 0.03, 101)))
    found = populations(of, rates)
    assert (found[rates < rate * (1.0 - NARROW)] < 1.0).all(), of
    assert (found[rates > rate * (1.0 + NARROW)] > 1.0).all(), of


@settings(max_examples=100)
@given(machines(), st.integers(0, 99))
def test_bisection_from_anywhere_ends_at_the_rate_of_solve(of: Drawn, seed: int) -> None:
    rate = rate_of(of)
    starts = np.concatenate([[1e-6, 1e3], np.exp(np.random.default_rng(seed).uniform(-14.0, 7.0, SEARCHES - 2))])
    low = high = rate * starts
    for _ in range(80):
        too_many, enough = populations(of, high) > 1.0, populations(of, low) <= 1.0
        if too_many.all() and enough.all():
            break
        low, high = np.where(enough, low, low / 1.7), np.where(too_many, high, high * 1.7)
    for _ in range(60):
        middle = np.sqrt(low * high)
        too_many = populations(of, middle) > 1.0
        low, high = np.where(too_many, low, middle), np.where(too_many, middle, high)
    np.testing.assert_allclose(low, rate, rtol=NARROW, err_msg=str(of))


# Smooth


@settings(max_examples=120)
@given(machines())
def test_one_percent_of_any_number_moves_the_rate_by_five_at_most(of: Drawn) -> None:
    p = of.parameters()
    numbers = [
        name
        for name, each in by_name(p).items()
        if name not in SWITCHES | COUNTS and np.isfinite(each).all() and each.any()
    ]
    together = [(name,) for name in numbers if name not in POOL] + [POOL, POOL[2:]]
    steps = [(names, factor) for names in together for factor in (PERCENT, 1.0 / PERCENT)]
    others = [
        with_columns(p, **{name: column_of(p, name) * factor for name in names}).filled() for names, factor in steps
    ]
    moved = solve(of.workload, stacked(others), of.policy).rate / rate_of(of)
    far = {f"{names} x {factor:.4f}": round(float(by), 4) for (names, factor), by in zip(steps, moved, strict=True)}
    most = {names: MOST_OF_POOL if "pool.buffers" in names else MOST for names in far}
    far = {names: by for names, by in far.items() if not 1.0 / most[names] <= by <= most[names]}
    assert not far, f"{of}: {far}"


# Nothing but the machine


def figures(of: Drawn, p: Parameters, rates: FloatArray | None = None) -> list[dict[str, FloatArray]]:
    """Figures of each machine, those of groups of pages left out; at `rates`, or as `solve` finds them."""
    found = solve(of.workload, p, of.policy) if rates is None else at_rate(of.workload, p, of.policy, rates)
    known = {name: value for name, value in by_name(found).items() if not name.startswith("groups.")}
    return [{name: value[row] for name, value in known.items()} for row in range(len(p))]


def differing(one: dict[str, FloatArray], other: dict[str, FloatArray]) -> list[str]:
    return [name for name, value in one.items() if value.tobytes() != other[name].tobytes()]


@settings(max_examples=150)
@given(machines())
def test_figures_belong_to_the_rate(of: Drawn) -> None:
    p = of.parameters()
    (found,) = figures(of, p)
    (at_that_rate,) = figures(of, p, np.array([found["rate"]]))
    assert differing(found, at_that_rate) == [], str(of)


@settings(max_examples=60)
@given(machines(), st.lists(st.floats(0.3, 3.0), min_size=100, max_size=300))
def test_a_machine_is_the_same_alone_and_among_many(of: Drawn, factors: list[float]) -> None:
    """So many that they are solved by several threads, after machines of other sizes."""
    p = of.parameters()
    by = np.array(factors)
    others = with_columns(
        p.repeated(len(by)),
        clients_number=p.clients.number * by,
        pool_buffers=p.pool.buffers * by,
        pool_resident=p.pool.resident * by,
    )
    (alone,) = figures(of, p)
    first, *_, last = figures(of, stacked([p.filled(), others, p.filled()]))
    assert differing(alone, first) == [], str(of)
    assert differing(alone, last) == [], str(of)
    assert differing(alone, figures(of, others)[0]) != [] or factors[0] == 1.0
