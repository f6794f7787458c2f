"""Baselines against arithmetic, where they hold and where they don't apply."""

from collections.abc import Sequence
from typing import Any

import pytest

from oltpsim.calibration.fit import judged_rate
from oltpsim.calibration.judge.baselines import (
    BASELINES,
    CLIENTS,
    BaselineRun,
    baseline_run,
    compare_baselines,
    differing,
    line,
    other_device,
    same_memory,
    scalability_law,
)
from tests.calibration.synthetic import base

BUFFERS, MEMORY, LATENCY = "database.pool.buffers", "machine.memory_gib", "machine.disks.disk.read_latency_us"


def at(name: str, rate: float, **settings: Any) -> BaselineRun:
    """A point whose settings have short names here."""
    keys = {"users": CLIENTS, "buffers": BUFFERS, "memory": MEMORY, "latency": LATENCY, "commit": "database.log.commit"}
    usual = {"users": 8, "buffers": 1000, "memory": 2.0, "latency": 100.0, "commit": "durable"}
    return BaselineRun(name, {keys[name]: value for name, value in (usual | settings).items()}, rate)


def law(users: float) -> float:
    return 100.0 * users / (1.0 + 0.03 * (users - 1) + 0.0004 * users * (users - 1))


def ladder(users: Sequence[float]) -> list[BaselineRun]:
    return [at(f"{n:g} users", law(n), users=n) for n in users]


def test_a_straight_line_through_the_two_nearest() -> None:
    others = [at("a", 100, buffers=500), at("b", 200, buffers=2000), at("far", 9000, buffers=90_000)]
    said = line(at("x", 1, buffers=1000), others)
    assert said.rate == pytest.approx(100 + 100 * 500 / 1500)
    assert said.why == "a and b, along database.pool.buffers"


def test_runs_that_differ_in_two_things_make_no_line() -> None:
    others = [at("a", 100, buffers=500, users=4), at("b", 200, buffers=2000)]
    assert line(at("x", 1), others).rate is None
    assert line(at("x", 1), [*others, at("c", 300, buffers=4000)]).rate is not None


def test_what_is_no_number_makes_no_line() -> None:
    others = [at("a", 100, commit="buffered"), at("b", 200, commit="none")]
    assert line(at("x", 1), others).rate is None


def test_memory_that_does_not_matter() -> None:
    others = [at("a", 100, buffers=500), at("b", 200, buffers=2000, memory=4.0), at("c", 7000, users=16)]
    assert same_memory(at("x", 1), others).rate == pytest.approx(150)
    assert same_memory(at("x", 1), others[2:]).rate is None


def test_the_other_devices_curve_is_rescaled_by_what_both_gave() -> None:
    slow = [at(f"slow {n}", rate, users=n, latency=900.0) for n, rate in ((2, 10), (4, 18), (8, 30))]
    fast = [at(f"fast {n}", rate, users=n) for n, rate in ((2, 40), (4, 72))]
    said = other_device(at("x", 1, users=8), [*slow, *fast])
    assert said.rate == pytest.approx(120)
    assert other_device(at("x", 1, users=8), [*slow[:2], *fast]).why.startswith("no other run differs from it in its")
    assert other_device(at("x", 1, users=8), slow).why.startswith("no second pair of runs")


def test_the_scalability_law_is_found_again_and_extrapolated() -> None:
    said = scalability_law(ladder([64])[0], ladder([1, 2, 4, 8]))
    assert said.rate == pytest.approx(law(64), rel=1e-6)


def test_the_scalability_law_needs_three_smaller_numbers_of_users() -> None:
    assert scalability_law(ladder([4])[0], ladder([1, 2, 8, 16])).rate is None
    assert scalability_law(ladder([64])[0], [*ladder([1, 2]), at("other", 1, users=4, buffers=7)]).rate is None


def test_the_scalability_law_never_speeds_up_beyond_linear() -> None:
    """A curve that bends upwards: its coefficients stay at 0, which is the straight line through the origin."""
    bent = [at(f"{n} users", float(n * n), users=n) for n in (1, 2, 3)]
    said = scalability_law(at("x", 1, users=30), bent)
    assert said.rate is not None
    assert said.rate <= 30 * 3.0


def test_a_baseline_that_the_model_does_not_beat_is_named() -> None:
    points = ladder([1, 2, 4, 8, 16])
    good = [judged_rate(each.name, each.rate, (each.rate * 1.0000001, 1.0, 1e9)) for each in points]
    bad = [judged_rate(each.name, each.rate, (each.rate * 1.5, 1.0, 1e9)) for each in points]
    beaten = {each.name: each.beaten for each in compare_baselines(points, good)}
    assert beaten["straight line through two runs"] is True
    beaten = {each.name: each.beaten for each in compare_baselines(points, bad)}
    assert beaten["universal scalability law"] is False
    assert beaten["memory doesn't matter"] is None
    assert set(beaten) == set(BASELINES)


def test_a_better_median_on_fewer_runs_is_no_victory() -> None:
    """Nearer on two of five runs only, though those make the median better."""
    points = ladder([1, 2, 4, 8, 16])
    line_errors = {row.name: row.error for row in compare_baselines(points, [])[0].rows}
    factors = dict.fromkeys(line_errors, 0.0)
    for name, error in line_errors.items():
        assert error is not None
        factors[name] = abs(error) * 1.01
    best = sorted(factors, key=factors.__getitem__)[2:4]
    factors |= dict.fromkeys(best, 0.0)
    model = [judged_rate(each.name, each.rate, (each.rate * (1 + factors[each.name]), 1.0, 1e9)) for each in points]
    found = compare_baselines(points, model)[0]
    assert found.errors is not None
    assert found.model is not None
    assert found.model.median < found.errors.median
    assert found.nearer == 2
    assert found.beaten is False


def test_the_model_is_compared_on_the_runs_that_a_baseline_applies_to() -> None:
    points = ladder([1, 2, 4, 8, 16])
    wrong = {"1 users": 3.0, "2 users": 3.0, "4 users": 3.0}
    model = [judged_rate(each.name, each.rate, (each.rate * wrong.get(each.name, 1.01), 1.0, 1e9)) for each in points]
    found = next(each for each in compare_baselines(points, model) if each.name == "universal scalability law")
    assert found.model is not None
    assert found.model.count == 2
    assert found.model.median == pytest.approx(0.01)


def test_what_names_or_times_a_run_is_no_difference() -> None:
    one = baseline_run("a", base("interval.duration_s=60"), 1.0)
    assert not differing(one, baseline_run("b", base("interval.duration_s=61", "name=other"), 1.0))
    assert differing(one, baseline_run("b", base("workload.arrivals.clients=3"), 1.0)) == {CLIENTS}
    assert differing(one, baseline_run("b", base("machine.disks.disk.read_latency_us=3"), 1.0)) == {LATENCY}
