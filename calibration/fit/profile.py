"""Intervals by profile likelihood: how far a parameter can go, the others following, until the fit is worse by so much.

Bates and Watts, Nonlinear Regression Analysis and Its Applications, 6.1; Venzon and Moolgavkar, Applied Statistics 37
(1988), 87-94; Raue et al., Bioinformatics 25 (2009), 1923-1929, for ends that there aren't. All ends are looked for at
once; the others follow by Newton's steps within their bounds, with the Jacobian of where they are: a cost that is small
at the optimum changes little there, and much once it is four times as large. Each end lies between a place that is
surely inside and one that is surely not, which are halved where Newton's steps leave them.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from oltpsim.calibration.fit.objective import FitObjective
from oltpsim.calibration.fit.search import Optimum, bounded_step
from oltpsim.simulator.form import FloatArray

INTERVAL_CONFIDENCE = 0.9
WORSE = 2.705543454095404
"""chi square of one degree of freedom at 90 %: how much worse the fit is at an end whose noise is known"""
ROUNDS = 30
CLOSE_ENOUGH = 0.03
"""of the square root of WORSE"""
FOLLOWED = 0.03
"""share of WORSE: the others have followed when their next step would make the fit better by less"""
MOST_BETTER = 0.9
"""share of the cost: what a step of the others is believed to make better at most"""
MOST_FOLLOW = 0.5
"""standard deviations of the priors that one of the others moves in a round"""
MOST_GROWTH = 2.5
"""of a step from round to round"""
NARROW = 0.02
"""of the straight line's distance: an end between two places so near to each other is found"""
END_FOUND, AT_BOUND, NO_MACHINE, NOT_FOUND = "", "bound", "no machine", "not found"
"""why an end is where it is: the fit is worse there; the parameter's bound; no machine beyond; the search gave up"""


@dataclass(frozen=True)
class Ends:
    """Ends of each parameter's interval on its scale. `low_stop`, `high_stop`: why they are there, `END_FOUND` or not.

    One that is not found is at the parameter's bound.
    """

    low: FloatArray
    high: FloatArray
    low_stop: tuple[str, ...]
    high_stop: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """From what `to_json` gave."""
        return cls(np.array(data["low"]), np.array(data["high"]), tuple(data["low_stop"]), tuple(data["high_stop"]))


class _EndSearch:
    """The search for one end. Distances are from the optimum, on the parameter's scale."""

    def __init__(
        self, objective: FitObjective, best: Optimum, covariance: FloatArray, number: int, sign: float, rise: float
    ) -> None:
        self.objective, self.best, self.number, self.sign, self.rise = objective, best, number, sign, rise
        at = best.place[number]
        self.room = float(objective.high[number] - at if sign > 0 else at - objective.low[number])
        variance = covariance[number, number]
        straight = float(np.sqrt(rise * variance))
        self.narrow = NARROW * straight
        self.distance = min(straight, self.room)
        self.place = best.place + sign * self.distance / variance * covariance[number]
        self.place = np.clip(self.place, objective.low, objective.high)
        self.inside, self.inside_place = 0.0, best.place
        self.beyond, self.is_refused = np.inf, False
        self.end, self.stop = self.room, AT_BOUND if self.room <= 0.0 else NOT_FOUND
        self.done = self.room <= 0.0

    def step_back(self) -> None:
        """Go half way back from a place without a machine, the others as they were where there was one."""
        self.beyond, self.is_refused = self.distance, True
        if not self._closed():
            self._move_to((self.inside + self.beyond) / 2.0, self.inside_place)

    def advance(self, worse: float, residuals: FloatArray, local: FloatArray) -> None:
        """Take a step; `worse`: what the sum of squares here exceeds the optimum's by, `local`: derivatives here."""
        number, objective = self.number, self.objective
        others = np.arange(len(self.place)) != number
        precision = local.T @ local + np.eye(len(self.place))
        gradient = local[:, others].T @ residuals + self.place[others]
        among = precision[np.ix_(others, others)]
        room = objective.low[others] - self.place[others], objective.high[others] - self.place[others]
        step = bounded_step(among, gradient, *room) if others.any() else gradient
        gain = -2.0 * float(gradient @ step + 0.5 * step @ among @ step)
        better = min(gain, MOST_BETTER * max(worse, 0.0))
        relative = float(np.sqrt(max(worse - better, 1e-12) / self.rise))
        followed = better < FOLLOWED * self.rise
        if worse < self.rise and self.distance >= self.inside:
            self.inside, self.inside_place = self.distance, self.place
        elif followed and relative > 1.0 and self.distance < self.beyond:
            self.beyond, self.is_refused = self.distance, False
        if followed and abs(relative - 1.0) < CLOSE_ENOUGH:
            self._finish(min(self.distance / relative, self.room), END_FOUND)
        elif followed and relative < 1.0 and self.distance >= self.room * (1 - 1e-9):
            self._finish(self.room, AT_BOUND)
        if self.done or self._closed():
            return
        far = min(self.distance * float(np.clip(1.0 / relative, 1 / MOST_GROWTH, MOST_GROWTH)), self.room)
        if not self.inside < far < self.beyond:
            far = (self.inside + min(self.beyond, self.distance if far <= self.inside else self.room)) / 2.0
        follow = -np.linalg.solve(among, precision[others, number]) if others.any() else gradient
        moved = self.place.copy()
        moved[others] += np.clip(step + self.sign * (far - self.distance) * follow, -MOST_FOLLOW, MOST_FOLLOW)
        self._move_to(far, moved)

    def give_up(self) -> None:
        """After the last round: what is surely outside, or the parameter's bound."""
        if np.isfinite(self.beyond):
            self._finish(float(self.beyond), NO_MACHINE if self.is_refused else END_FOUND)

    def _closed(self) -> bool:
        if self.beyond - self.inside >= self.narrow:
            return False
        self._finish(float(self.beyond), NO_MACHINE if self.is_refused else END_FOUND)
        return True

    def _finish(self, end: float, stop: str) -> None:
        self.end, self.stop, self.done = end, stop, True

    def _move_to(self, far: float, place: FloatArray) -> None:
        there = np.clip(place, self.objective.low, self.objective.high)
        there[self.number] = self.best.place[self.number] + self.sign * far
        self.distance, self.place = far, there


def profile(
    objective: FitObjective, best: Optimum, slopes: FloatArray, numbers: list[int], rises: FloatArray | None = None
) -> Ends:
    """Intervals of some of the parameters; those of the others are their bounds.

    `rises`: by how much the fit is worse at the ends of each parameter's, `WORSE` if None.
    """
    count = len(best.place)
    covariance: FloatArray = np.linalg.inv(slopes.T @ slopes + np.eye(count)).astype(np.float64)
    sides = [
        _EndSearch(objective, best, covariance, number, sign, WORSE if rises is None else float(rises[number]))
        for number in numbers
        for sign in (-1.0, 1.0)
    ]
    for _ in range(ROUNDS):
        here = [side for side in sides if not side.done]
        if not here:
            break
        places = np.array([side.place for side in here])
        logs = objective.logs(places)
        costs = objective.costs(places, logs) - best.cost
        possible = np.isfinite(costs)
        local = iter(objective.slopes(places[possible], logs[possible]) if possible.any() else ())
        residuals = objective.data.residuals(logs)
        for side, worse, distances in zip(here, costs.tolist(), residuals, strict=True):
            if np.isfinite(worse):
                side.advance(worse, distances, next(local))
            else:
                side.step_back()
    low, high = objective.low.copy(), objective.high.copy()
    stops = {sign: [AT_BOUND] * count for sign in (-1.0, 1.0)}
    for side in sides:
        if not side.done:
            side.give_up()
        end = best.place[side.number] + side.sign * side.end
        (high if side.sign > 0 else low)[side.number] = end
        stops[side.sign][side.number] = side.stop
    return Ends(low, high, tuple(stops[-1.0]), tuple(stops[1.0]))


def bootstrap(objective: FitObjective, best: Optimum, slopes: FloatArray, seed: int, samples: int) -> FloatArray:
    """Places fitted to figures drawn around the fit with their noise, (samples, parameters): Efron and Tibshirani 1993.

    A check of the profile: each sample is fitted by three Newton's steps with the Jacobian of the optimum.
    """
    data = objective.data
    rng = np.random.default_rng([seed, 2])
    drawn = best.logs + data.offset + rng.standard_normal((samples, len(data.measured))) @ data.root.T
    drawn = np.where(data.at_least, data.measured, drawn)
    middle = rng.standard_normal((samples, len(best.place)))
    """the priors' middles differ as well: what is known beforehand is drawn as the figures are"""
    middle = best.place + middle
    precision = slopes.T @ slopes + np.eye(len(best.place))
    places = np.repeat(best.place[None], samples, axis=0)
    for _ in range(3):
        away = np.nan_to_num(objective.logs(places) + data.offset - drawn)
        residuals = np.where(data.at_least & (away > 0), 0.0, away) @ data.whitening.T
        gradient = residuals @ slopes + places - middle
        steps = [
            bounded_step(precision, each, objective.low - place, objective.high - place)
            for each, place in zip(gradient, places, strict=True)
        ]
        places = np.clip(places + np.array(steps), objective.low, objective.high)
    return places
