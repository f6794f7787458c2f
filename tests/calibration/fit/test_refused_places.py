"""Fits beside places where there is no machine, and beside bounds: against brute force and closed formulas."""

from typing import cast

import numpy as np
import pytest

from oltpsim.calibration.fit import Parameter, identify_parameters
from oltpsim.calibration.fit.evaluate import Evaluator
from oltpsim.calibration.fit.identifiability import sentences
from oltpsim.calibration.fit.objective import DIFFERENCE_STEP, FitData, FitObjective
from oltpsim.calibration.fit.profile import AT_BOUND, END_FOUND, NO_MACHINE, NOT_FOUND, WORSE, profile
from oltpsim.calibration.fit.search import CLOSE, Optimum, bounded_step, search
from oltpsim.simulator.form import FloatArray

SD = 0.05
WEIGHTS = np.array([[1.0, 0.6], [0.2, 0.9]])
"""of two figures' logarithms by two parameters: each is a multiple of both"""
FAR = 9.0


class Edged:
    """Figures that are products of powers; no machine where a parameter is beyond an edge."""

    def __init__(self, low: tuple[float, float], high: tuple[float, float], bounds: tuple[float, float]) -> None:
        self.low, self.high = np.array(low), np.array(high)
        ends = (2.0 ** bounds[0], 2.0 ** bounds[1])
        self.parameters = [Parameter(key, 1.0, *ends, 2.0, None, "a test") for key in ("one", "other")]
        self.asked: list[FloatArray] = []

    def at(self, places: FloatArray) -> FloatArray:
        self.asked.append(places)
        logs = places @ WEIGHTS.T
        there = ((places >= self.low) & (places <= self.high)).all(axis=1)
        return np.where(there[:, None], logs, np.nan)


def objective(
    truth: tuple[float, float], low: float = -FAR, high: float = FAR, bounds: tuple[float, float] = (-2.5, 2.5)
) -> FitObjective:
    """Measured without noise at `truth`; there is no machine with the first parameter below `low` or above `high`."""
    nothing = np.zeros(2)
    data = FitData(
        WEIGHTS @ np.array(truth), np.full(2, SD), np.zeros(2, dtype=np.bool_), ("a", "b"),
        np.zeros(2, dtype=np.int64), nothing, nothing,
    )  # fmt: skip
    return FitObjective(cast("Evaluator", Edged((low, -FAR), (high, FAR), bounds)), data)


def best_of(one: FitObjective, start: tuple[float, float] = (0.0, 0.0)) -> Optimum:
    return search(one, np.array(start), np.ones(2, dtype=np.bool_), CLOSE)


def slopes_of(one: FitObjective, best: Optimum) -> FloatArray:
    found: FloatArray = one.slopes(best.place[None], best.logs[None], central=True)[0]
    return found


def brute_cost(one: FitObjective, first: float) -> float:
    """The cost with the first parameter there, the other at its best within its bounds: a closed formula."""
    rest = (one.data.measured - WEIGHTS[:, 0] * first) / SD
    slope = WEIGHTS[:, 1] / SD
    other = float(np.clip(slope @ rest / (slope @ slope + 1.0), one.low[1], one.high[1]))
    place = np.array([[first, other]])
    return float(one.costs(place, place @ WEIGHTS.T)[0])


def brute_end(one: FitObjective, best: Optimum, sign: float) -> float:
    for step in np.arange(0.0, 3.0, 0.0005):
        if brute_cost(one, best.place[0] + sign * step) > best.cost + WORSE:
            return float(best.place[0] + sign * step)
    raise AssertionError("the cost doesn't rise")


@pytest.mark.parametrize("central", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-FAR, 0.05), (-0.05, FAR), (-0.05, 0.05), (-FAR, FAR)])
def test_a_slope_beside_a_refused_place_is_that_of_the_other_side(low: float, high: float, central: bool) -> None:
    one = objective((0.0, 0.0), low, high)
    place = np.zeros((1, 2))
    [found] = one.slopes(place, one.logs(place), central)
    np.testing.assert_allclose(found, WEIGHTS / SD, rtol=1e-6)


def test_what_is_refused_on_both_sides_is_not_known_and_not_called_unseen() -> None:
    one = objective((0.0, 0.0), -0.01, 0.01)
    place = np.zeros((1, 2))
    [found], [not_known] = one.differences(place, one.logs(place), central=True)
    assert not_known.tolist() == [True, False]
    free = np.ones(2, dtype=np.bool_)
    verdict = identify_parameters(found, ~free, free, not_known)
    assert verdict.identified.tolist() == [False, True]
    said = "\n".join(sentences(tuple(one.evaluator.parameters), verdict, np.eye(2)))
    assert "no machine is possible with a little more or less of one" in said
    assert "say nothing of one" not in said


def test_what_no_figure_shows_is_still_called_unseen() -> None:
    slopes = np.array([[0.0, 20.0], [0.0, 20.0]])
    free = np.ones(2, dtype=np.bool_)
    parameters = tuple(objective((0.0, 0.0)).evaluator.parameters)
    said = "\n".join(sentences(parameters, identify_parameters(slopes, ~free, free), np.eye(2)))
    assert "your runs say nothing of one" in said


@pytest.mark.parametrize("at", [(2.5, 0.0), (-2.5, 2.5), (2.46, -2.46)])
def test_no_difference_leaves_the_bounds(at: tuple[float, float]) -> None:
    one = objective((0.0, 0.0))
    place = np.array([at])
    for central in (False, True):
        [found] = one.slopes(place, one.logs(place), central)
        np.testing.assert_allclose(found, WEIGHTS / SD, rtol=1e-6)
    asked = np.concatenate(cast("Edged", one.evaluator).asked)
    assert (asked >= one.low - 1e-9).all()
    assert (asked <= one.high + 1e-9).all()
    assert (np.abs(asked - place) <= DIFFERENCE_STEP + 1e-9).all()


def test_an_interval_beside_a_refused_place_ends_there_and_is_whole_on_the_other_side() -> None:
    """Reported before as 161.2 .. 161.2: a refused step made the next one smaller, until there was none."""
    free = objective((0.4, 0.0))
    best = best_of(free)
    edge = float(best.place[0]) + 0.05
    one = objective((0.4, 0.0), high=edge)
    ends = profile(one, best, slopes_of(one, best), [0])
    assert (ends.low_stop[0], ends.high_stop[0]) == (END_FOUND, NO_MACHINE)
    assert ends.high[0] == pytest.approx(edge, abs=0.01)
    assert ends.low[0] == pytest.approx(brute_end(free, best, -1.0), abs=0.015)


def test_a_refused_place_beyond_the_end_changes_nothing() -> None:
    free = objective((0.4, 0.0))
    best = best_of(free)
    high = brute_end(free, best, 1.0)
    for edge in (FAR, high + 0.02):
        one = objective((0.4, 0.0), high=edge)
        ends = profile(one, best, slopes_of(one, best), [0])
        assert (ends.low_stop[0], ends.high_stop[0]) == (END_FOUND, END_FOUND)
        assert ends.high[0] == pytest.approx(high, abs=0.015)


def test_the_others_follow_within_their_bounds() -> None:
    """The other parameter is stopped at its bound on the way: the end is nearer than without bounds."""
    wide = objective((0.0, 0.1))
    best = best_of(wide)
    one = FitObjective(cast("Evaluator", Edged((-FAR, -FAR), (FAR, FAR), (-2.5, 2.5))), wide.data)
    one.high[1] = float(best.place[1]) + 0.02
    ends = profile(one, best, slopes_of(one, best), [0])
    assert ends.low[0] == pytest.approx(brute_end(one, best, -1.0), abs=0.01)
    assert ends.low[0] > brute_end(wide, best, -1.0) + 0.005


def test_an_end_that_was_not_found_is_open_at_the_bound_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oltpsim.calibration.fit.profile.ROUNDS", 0)
    one = objective((0.4, 0.0))
    best = best_of(one)
    ends = profile(one, best, slopes_of(one, best), [0])
    assert (ends.low_stop[0], ends.high_stop[0]) == (NOT_FOUND, NOT_FOUND)
    assert (ends.low[0], ends.high[0]) == (one.low[0], one.high[0])
    assert ends.low_stop[1] == AT_BOUND


@pytest.mark.parametrize("edge", [0.3, 0.02])
def test_a_search_goes_on_along_an_edge(edge: float) -> None:
    """The best machine lies beyond the edge: the other parameter still finds its best place there."""
    one = objective((1.2, -0.8), high=edge)
    best = best_of(one)
    wanted = objective((1.2, -0.8))
    wanted.high[0] = edge
    along = best_of(wanted)
    assert best.place[0] == pytest.approx(edge, abs=0.02)
    assert best.cost < along.cost + 1.0 + 0.02 * abs(along.cost)


def test_a_step_within_bounds_is_the_least_of_all_within_them() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        root = rng.normal(size=(3, 3))
        precision, gradient = root.T @ root + 0.1 * np.eye(3), rng.normal(size=3)
        low, high = -rng.random(3) * 0.3, rng.random(3) * 0.3
        step = bounded_step(precision, gradient, low, high)
        tried = rng.uniform(low, high, size=(3000, 3))
        costs = tried @ gradient + 0.5 * np.einsum("ij,jk,ik->i", tried, precision, tried)
        assert gradient @ step + 0.5 * step @ precision @ step <= costs.min() + 1e-9
        assert (step >= low - 1e-12).all()
        assert (step <= high + 1e-12).all()


def test_a_step_that_no_bound_stops_is_newtons() -> None:
    precision, gradient = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, -2.0])
    far = np.full(2, 100.0)
    np.testing.assert_allclose(bounded_step(precision, gradient, -far, far), -np.linalg.solve(precision, gradient))
