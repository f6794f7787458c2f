"""The course from a cold start: it rises, it takes time where a disk fills the pool, and it is the kernel's."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.simulator import analytic, kernel
from oltpsim.simulator.analytic import course, parameters_of, read_workload, solve
from oltpsim.simulator.analytic.equations.warming import Course, interval_mean_per_s, joined_courses, machines_at
from oltpsim.simulator.analytic.reading.parameters import Parameters
from oltpsim.simulator.form import System
from tests.simulator.tpcc_systems import TINY

TOLERANCE = 0.20
ARM = ("workload.warehouses=5", "machine.memory_gib=0.5", "database.io=direct", "database.pool.buffers=20000")
BUSY = (*ARM, "workload.arrivals={kind: closed, clients: 10, think_time_s: 0}")
THINKING = (*ARM, "workload.arrivals={kind: closed, clients: 10, think_time_s: 0.2}")
SMALL_POOL = (*BUSY, "database.pool.buffers=6000")


@dataclass(frozen=True)
class Interval:
    """What is counted after a start of a kind."""

    start: str
    warm_up_s: float
    duration_s: float

    def __str__(self) -> str:
        return f"{self.start} {self.warm_up_s:g} {self.duration_s:g}"


LATE = Interval("cold", 4000, 400)


@cache
def model_of(settings: tuple[str, ...], interval: Interval) -> System:
    times = f"{{start: {interval.start}, warm_up_s: {interval.warm_up_s}, duration_s: {interval.duration_s}}}"
    return build(load_scenario(TINY, [*settings, f"interval={times}"]))


def without_loaded_windows(model: System) -> System:
    """As if no order had been loaded that stock level looks up: the caches' course alone."""
    return replace(model, program=replace(model.program, loaded_windows=model.program.loaded_windows[:0]))


@cache
def course_of(settings: tuple[str, ...], start: str = "cold") -> Course:
    model = model_of(settings, Interval(start, 0, 10))
    workload = read_workload(model)
    parameters = parameters_of(model, workload)
    return course(model, workload, parameters, solve(workload, parameters, model.pool.replacement))


def mean_per_s(settings: tuple[str, ...], interval: Interval) -> float:
    model = model_of(settings, interval)
    return interval_mean_per_s(model, read_workload(model), course_of(settings, interval.start))


@cache
def counted_per_s(settings: tuple[str, ...], interval: Interval) -> float:
    return kernel.simulate(without_loaded_windows(model_of(settings, interval)), 1).transactions_per_s


def is_refused(found: float, expected: float) -> bool:
    return abs(expected / found - 1.0) > TOLERANCE


def is_rising(of: Course) -> bool:
    """Whether more is done at each later time."""
    times = np.linspace(0.0, 3.0 * float(of.times_s[-1]), 200).tolist()
    return all(of.done_by(b) > of.done_by(a) for a, b in pairwise(times))


@pytest.mark.parametrize("settings", [BUSY, THINKING, SMALL_POOL])
@pytest.mark.parametrize("start", ["cold", "after_load"])
def test_more_is_done_at_each_later_time(settings: tuple[str, ...], start: str) -> None:
    of = course_of(settings, start)
    assert is_rising(of)
    assert of.done_by(0.0) == 0.0
    assert not is_rising(replace(of, done=of.done[::-1]))


@pytest.mark.parametrize("settings", [BUSY, THINKING, SMALL_POOL])
def test_times_are_those_in_which_the_rates_do_so_much(settings: tuple[str, ...]) -> None:
    of = course_of(settings)
    steps = np.diff(of.done) / np.diff(of.times_s)
    low, high = (choose(of.rates_per_s[1:], of.rates_per_s[:-1]) for choose in (np.minimum, np.maximum))
    assert (steps >= low * (1 - 1e-9)).all()
    assert (steps <= high * (1 + 1e-9)).all()
    assert not (np.diff(of.done) / np.diff(1.5 * of.times_s) >= low * (1 - 1e-9)).all()


@pytest.mark.parametrize("settings", [BUSY, THINKING, SMALL_POOL])
def test_a_cold_start_is_slow_where_a_disk_fills_the_pool(settings: tuple[str, ...]) -> None:
    steady = course_of(settings).steady_per_s
    assert mean_per_s(settings, Interval("cold", 0, 2)) < mean_per_s(settings, Interval("cold", 0, 5)) < 0.8 * steady
    assert mean_per_s(settings, LATE) == pytest.approx(steady, rel=1e-9)


def test_a_machine_is_steady_at_some_time() -> None:
    of = course_of(THINKING)
    assert 0.0 < of.steady_from_s < float(of.times_s[-1])
    assert of.mean_per_s(10 * of.times_s[-1], 11 * of.times_s[-1]) == pytest.approx(of.steady_per_s)
    assert of.mean_per_s(0.0, of.times_s[-1]) != pytest.approx(of.steady_per_s, rel=0.01)


def test_a_course_goes_on_from_what_is_done() -> None:
    """Full after 50 transactions, at 10 per second, then 5; by hand."""
    hits = np.array([0.0, 1.0])
    fast = Course(np.array([0.0, 10.0]), np.array([0.0, 50.0]), np.array([0.0, 10.0]), 10.0, hits, hits)
    slow = Course(np.array([0.0, 20.0]), np.array([0.0, 50.0]), np.array([0.0, 5.0]), 5.0, hits, hits)
    early, late = joined_courses([(5.0, fast), (100.0, slow)]), joined_courses([(20.0, fast), (100.0, slow)])
    assert [early.done_by(time) for time in (5.0, 15.0, 25.0)] == pytest.approx([25.0, 50.0, 100.0])
    assert [late.done_by(time) for time in (10.0, 20.0, 40.0)] == pytest.approx([50.0, 150.0, 250.0])
    assert late.mean_per_s(10.0, 40.0) == pytest.approx(200.0 / 30.0)
    assert np.interp(5.0, early.times_s, early.pool_hits) == pytest.approx(0.5)
    assert slow.done_by(40.0) == pytest.approx(150.0), "as if it began anew"
    assert joined_courses([(100.0, slow)]).done_by(40.0) == pytest.approx(slow.done_by(40.0))


def test_what_a_load_leaves_is_better_than_nothing() -> None:
    early = Interval("after_load", 0, 5)
    assert mean_per_s(BUSY, early) > 1.1 * mean_per_s(BUSY, replace(early, start="cold"))


def test_the_figures_are_those_of_a_moment_at_which_the_rate_is_the_mean() -> None:
    model = model_of(THINKING, Interval("cold", 0, 10))
    workload, of = read_workload(model), course_of(THINKING)
    parameters = parameters_of(model, workload)

    def machine(begin_s: float, end_s: float) -> Parameters:
        done = of.done_at_mean_rate(begin_s, end_s)
        return machines_at(model, workload, parameters, np.array([done])) if np.isfinite(done) else parameters

    for begin_s, end_s in ((0.0, 5.0), (5.0, 20.0)):
        found = solve(workload, machine(begin_s, end_s), model.pool.replacement)
        assert float(found.rate[0]) == pytest.approx(of.mean_per_s(begin_s, end_s), rel=0.05)
    assert machine(0.0, 5.0).pool.growing.tolist() == [1.0]
    assert machine(1e6, 2e6) is parameters
    # it has come to the steady rate before the pool is full, and nothing was written until then
    last_s = float(of.times_s[-1])
    assert machine(0.0, 2.1 * last_s) is parameters
    assert machine(0.0, 1.9 * last_s).pool.growing.tolist() == [1.0]


@pytest.mark.parametrize(
    ("settings", "interval"),
    [
        (BUSY, Interval("cold", 0, 20)),
        (BUSY, Interval("cold", 0, 200)),
        (THINKING, Interval("cold", 0, 20)),
        (THINKING, Interval("cold", 0, 300)),
        (SMALL_POOL, Interval("cold", 0, 60)),
        (BUSY, Interval("after_load", 0, 200)),
    ],
    ids=str,
)
def test_a_cold_start_is_the_kernels(settings: tuple[str, ...], interval: Interval) -> None:
    found = counted_per_s(settings, interval)
    assert not is_refused(found, mean_per_s(settings, interval))
    assert is_refused(found, mean_per_s(settings, interval) * 1.5)


def test_the_steady_rate_is_refused_for_a_cold_start() -> None:
    for settings in (BUSY, THINKING):
        found = counted_per_s(settings, Interval("cold", 0, 20))
        assert is_refused(found, course_of(settings).steady_per_s)


def test_what_a_load_left_in_windows_is_in_doubt() -> None:
    """Not once the run has filled them anew, nor where none are filled or looked up, nor from warm caches."""

    def doubts_of(model: System) -> list[str]:
        return [line for line in analytic.simulate(model, 1).warnings if "still on disk from the load" in line]

    early = model_of(BUSY, Interval("cold", 0, 20))
    assert doubts_of(early)
    assert doubts_of(model_of(BUSY, Interval("after_load", 0, 20)))
    assert not doubts_of(without_loaded_windows(early))
    mix = "workload.mix={new_order: 0.5, payment: 0.5, order_status: 0, delivery: 0, stock_level: 0}"
    assert not doubts_of(model_of((*BUSY, mix), Interval("cold", 0, 20)))
    assert not doubts_of(model_of(BUSY, Interval("cold", 1000, 20)))
    assert not doubts_of(model_of(BUSY, Interval("warm", 0, 20)))
