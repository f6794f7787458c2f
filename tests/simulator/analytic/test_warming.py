"""The course from a cold start: it rises, it takes time where a disk fills the pool, and it is the kernel's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from models.build import build
from models.reading import load_scenario
from simulator import kernel
from simulator.analytic import Course, course, parameters_of, read_workload, solve
from simulator.analytic.warming import interval_mean_per_s
from simulator.form import System
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
    return kernel.simulate(model_of(settings, interval), 1).transactions_per_s


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


def test_what_a_load_leaves_is_better_than_nothing() -> None:
    early = Interval("after_load", 0, 5)
    assert mean_per_s(BUSY, early) > 1.1 * mean_per_s(BUSY, replace(early, start="cold"))


def test_the_machine_of_a_rate_is_that_of_its_moment() -> None:
    of = course_of(THINKING)
    slow, middle, steady = (float(of.like(rate).buffers[0]) for rate in (0.0, 35.0, of.steady_per_s))
    assert slow < middle < steady
    assert of.like(of.steady_per_s).growing.tolist() == [0.0]
    assert of.like(0.0).growing.tolist() == [1.0]


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
