"""Intervals by profile likelihood: how far a parameter can go, the others following, until the fit is worse by so much.

Bates and Watts, Nonlinear Regression Analysis and Its Applications, 6.1; Venzon and Moolgavkar, Applied Statistics 37
(1988), 87-94. All ends are looked for at once; the others follow by Newton's steps with the Jacobian of
where they are: a cost that is small at the optimum changes little there, and much once it is four times as large.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from calibration.fit.objective import FitObjective
from calibration.fit.search import Optimum
from simulator.form import FloatArray

INTERVAL_CONFIDENCE = 0.9
WORSE = 2.705543454095404
"""chi square of one degree of freedom at 90 %"""
ROUNDS = 15
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


@dataclass(frozen=True)
class Ends:
    """Both ends of each parameter's interval on its scale, and whether an end is where the search had to stop."""

    low: FloatArray
    high: FloatArray
    low_open: tuple[bool, ...]
    high_open: tuple[bool, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """From what `to_json` gave."""
        return cls(np.array(data["low"]), np.array(data["high"]), tuple(data["low_open"]), tuple(data["high_open"]))


def profile(objective: FitObjective, best: Optimum, slopes: FloatArray, numbers: list[int]) -> Ends:
    """Intervals of some of the parameters; those of the others are their bounds."""
    count = len(best.place)
    precision = slopes.T @ slopes + np.eye(count)
    sides = [(number, sign) for number in numbers for sign in (-1.0, 1.0)]
    low, high = objective.low.copy(), objective.high.copy()
    opened = dict.fromkeys(sides, True)
    if not sides:
        return Ends(low, high, (True,) * count, (True,) * count)
    owners = np.array([number for number, _ in sides])
    signs = np.array([sign for _, sign in sides])
    room = np.where(signs > 0, objective.high[owners] - best.place[owners], best.place[owners] - objective.low[owners])
    covariance = np.linalg.inv(precision)
    variance = np.diag(covariance)[owners]
    distance = np.minimum(np.sqrt(WORSE * variance), room)
    places = best.place + (signs * distance / variance)[:, None] * covariance[owners]
    found = distance.copy()
    done = np.zeros(len(sides), dtype=bool)
    for _ in range(ROUNDS):
        here = np.flatnonzero(~done)
        if not len(here):
            break
        places = np.clip(places, objective.low, objective.high)
        logs = objective.logs(places[here])
        costs = objective.costs(places[here], logs) - best.cost
        residuals = np.nan_to_num(objective.data.residuals(logs))
        for row, (side, local) in enumerate(zip(here.tolist(), objective.slopes(places[here], logs), strict=True)):
            others = np.arange(count) != owners[side]
            precision = local.T @ local + np.eye(count)
            gradient = local[:, others].T @ residuals[row] + places[side, others]
            newton, follow = np.linalg.solve(
                precision[np.ix_(others, others)], np.stack([gradient, precision[others, owners[side]]], axis=1)
            ).T
            better = min(float(gradient @ newton), MOST_BETTER * max(float(costs[row]), 0.0))
            relative = np.sqrt(max(costs[row] - better, 1e-12) / WORSE)
            at_end = distance[side] >= room[side] * (1 - 1e-9)
            if better < FOLLOWED * WORSE and (abs(relative - 1.0) < CLOSE_ENOUGH or (at_end and relative < 1.0)):
                done[side], opened[sides[side]] = True, bool(at_end and relative < 1.0)
                found[side] = min(distance[side] / relative, room[side])
                continue
            growth = 1.0 / relative if np.isfinite(relative) else 0.5
            far = min(distance[side] * float(np.clip(growth, 1 / MOST_GROWTH, MOST_GROWTH)), room[side])
            step = -newton - signs[side] * (far - distance[side]) * follow
            places[side, others] += np.clip(step, -MOST_FOLLOW, MOST_FOLLOW)
            places[side, owners[side]] = best.place[owners[side]] + signs[side] * far
            distance[side] = found[side] = far
            opened[sides[side]] = False
    for at, (number, sign) in enumerate(sides):
        end = best.place[number] + sign * found[at]
        (high if sign > 0 else low)[number] = end
    low_open = tuple(opened.get((number, -1.0), True) for number in range(count))
    high_open = tuple(opened.get((number, 1.0), True) for number in range(count))
    return Ends(low, high, low_open, high_open)


def bootstrap(objective: FitObjective, best: Optimum, slopes: FloatArray, seed: int, samples: int) -> FloatArray:
    """Places fitted to figures drawn around the fit with their noise, (samples, parameters): Efron and Tibshirani 1993.

    A check of the profile: each sample is fitted by three Newton's steps with the Jacobian of the optimum.
    """
    data = objective.data
    rng = np.random.default_rng([seed, 2])
    drawn = best.logs + data.offset + data.total_sd * rng.standard_normal((samples, len(data.measured)))
    drawn = np.where(data.at_least, data.measured, drawn)
    middle = rng.standard_normal((samples, len(best.place)))
    """the priors' middles differ as well: what is known beforehand is drawn as the figures are"""
    middle = best.place + middle
    precision = slopes.T @ slopes + np.eye(len(best.place))
    places = np.repeat(best.place[None], samples, axis=0)
    for _ in range(3):
        residuals = (objective.logs(places) + data.offset - drawn) / data.total_sd
        residuals = np.nan_to_num(np.where(data.at_least & (residuals > 0), 0.0, residuals))
        gradient = residuals @ slopes + places - middle
        places = np.clip(places - gradient @ np.linalg.inv(precision), objective.low, objective.high)
    return places
