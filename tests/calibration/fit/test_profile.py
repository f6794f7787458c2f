"""Ends of intervals against a brute-force minimum over the other parameters."""

from typing import Any, cast

import numpy as np
import pytest

from oltpsim.calibration.fit import Parameter
from oltpsim.calibration.fit.evaluate import Evaluator
from oltpsim.calibration.fit.objective import FitData, FitObjective
from oltpsim.calibration.fit.profile import WORSE, profile
from oltpsim.calibration.fit.search import CLOSE, Optimum, search
from oltpsim.simulator.form import FloatArray

ROWS_US, BESIDE_US, SD = 1000.0, 150.0, 0.05


class TwoTerms:
    """A figure that is the sum of two costs, each log-normal by a factor of 2 beforehand: the small one hides."""

    def __init__(self) -> None:
        self.parameters = [Parameter(key, 1.0, 0.01, 100.0, 2.0, None, "a test") for key in ("rows", "beside")]

    def at(self, places: FloatArray) -> FloatArray:
        both = np.log(ROWS_US * 2.0 ** places[:, 0] + BESIDE_US * 2.0 ** places[:, 1])
        return np.stack([both, both], axis=1)


def objective(measured_us: float) -> FitObjective:
    logs = np.full(2, np.log(measured_us))
    no = np.zeros(2)
    data = FitData(logs, np.full(2, SD), np.zeros(2, dtype=np.bool_), ("a", "b"), np.zeros(2, dtype=np.int64), no, no)
    return FitObjective(cast("Evaluator", TwoTerms()), data)


def best_of(one: FitObjective) -> Optimum:
    return search(one, np.zeros(2), np.ones(2, dtype=np.bool_), CLOSE)


def brute(one: FitObjective, best: Optimum, sign: float) -> float:
    """Where the cost, least over a fine grid of the other parameter, has risen by `WORSE`."""
    others = np.linspace(one.low[1], one.high[1], 2001)
    for step in np.arange(0.0, 2.0, 0.001):
        here = best.place[0] + sign * step
        places = np.stack([np.full_like(others, here), others], axis=1)
        if one.costs(places, one.logs(places)).min() > best.cost + WORSE:
            return float(here)
    raise AssertionError("the cost doesn't rise")


@pytest.mark.parametrize("measured_us", [1150.0, 1300.0, 2400.0])
def test_ends_are_those_of_a_brute_force_search(measured_us: float) -> None:
    one = objective(measured_us)
    best = best_of(one)
    [slopes] = one.slopes(best.place[None], best.logs[None], central=True)
    ends = profile(one, best, slopes, [0])
    assert ends.low[0] == pytest.approx(brute(one, best, -1.0), abs=0.015)
    assert ends.high[0] == pytest.approx(brute(one, best, 1.0), abs=0.015)
    assert (ends.low[1], ends.high[1]) == (one.low[1], one.high[1])


def test_what_hides_at_the_optimum_makes_the_interval_longer_on_its_side() -> None:
    one = objective(1150.0)
    best = best_of(one)
    [slopes] = one.slopes(best.place[None], best.logs[None], central=True)
    ends = profile(one, best, slopes, [0])
    straight = np.sqrt(WORSE * np.linalg.inv(slopes.T @ slopes + np.eye(2))[0, 0])
    assert best.place[0] - ends.low[0] > 1.2 * straight
    assert ends.high[0] - best.place[0] < straight


def test_derivatives_of_many_places_are_those_of_each() -> None:
    one = objective(1300.0)
    places = np.array([[0.0, 0.0], [0.5, -1.0], [float(one.high[0]), 1.0]])
    said = one.logs(places)
    together: Any = one.slopes(places, said, central=True)
    for place, here, slopes in zip(places, said, together, strict=True):
        assert slopes == pytest.approx(one.slopes(place[None], here[None], central=True)[0])
    weight = ROWS_US / (ROWS_US + BESIDE_US) * np.log(2.0) / SD
    assert together[0][:, 0] == pytest.approx(weight, rel=0.01)
