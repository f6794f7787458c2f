"""Least squares from several starts.

Trust region reflective: Branch, Coleman and Li, SIAM J. Sci. Comput. 21 (1999), 1-23, as in scipy.optimize. Starts by
Latin hypercube, scipy.stats.qmc. Steps within bounds by active sets: Stark and Parker, Computational Statistics 10
(1995), 129-141, as in scipy.optimize.lsq_linear.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy

from oltpsim.calibration.fit.objective import FitObjective
from oltpsim.simulator.form import BoolArray, FloatArray

SCREENED = 16
"""starts whose cost is looked at"""
STARTS = 4
"""those of them that are followed: the priors' middle and the best"""
MOST_STEPS = 30
ROUGH, CLOSE = 1e-2, 1e-3
"""how close the searches from several starts end, and those that go on from the best"""
MOST_CHORDS = 5
NEAR = 0.02
"""standard deviations of the priors: a step of Newton's that is shorter is the last one"""
MOST_EDGES = 3
"""times that a search goes on along an edge beyond which no machine is possible"""
EDGE_HALVES = 7
"""halves of a step by which such an edge is looked for"""
WORTH_GOING_ON = 0.05
"""of a sum of squares: what a step within the edges must be expected to make better"""
MARGIN = 1e-3
"""distance from the bounds that a start keeps"""
START_SIGMAS = 1.6448536269514722
"""starts lie in the middle 90 % of each prior"""


@dataclass(frozen=True)
class Optimum:
    """Optimum at which a search has ended."""

    place: FloatArray
    cost: float
    """sum of squares of data and priors"""
    logs: FloatArray
    slopes: FloatArray
    """derivatives over noise there, (observations, parameters); 0 of those that weren't free"""

    def to_json(self) -> dict[str, Any]:
        """The optimum as plain JSON."""
        lists = {"place": self.place.tolist(), "said": self.logs.tolist(), "slopes": self.slopes.tolist()}
        return {"cost": self.cost, **lists}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """From what `to_json` gave."""
        place, logs = np.array(data["place"]), np.array(data["said"])
        return cls(place, float(data["cost"]), logs, np.array(data["slopes"]).reshape(len(logs), len(place)))


def starts(objective: FitObjective, seed: int) -> FloatArray:
    """The priors' middle and a Latin hypercube over them, (starts, parameters)."""
    count = len(objective.low)
    cube = scipy.stats.qmc.LatinHypercube(count, rng=np.random.default_rng([seed, 1])).random(SCREENED)
    places = (2.0 * cube - 1.0) * START_SIGMAS
    return _inside(objective, np.concatenate([np.zeros((1, count)), places]))


def search(
    objective: FitObjective, start: FloatArray, free: BoolArray, close: float, held: BoolArray | None = None
) -> Optimum:
    """The nearest minimum, parameters that aren't `free` kept at 0, the prior's middle, or where they are if `held`.

    It ends when a step improves the sum of squares or moves the place by less than the share `close`.
    """
    others = np.zeros(len(start)) if held is None else np.where(held, start, 0.0)
    if not free.any():
        place = others
        logs = objective.logs(place)
        return Optimum(place, float(objective.costs(place, logs)[0]), logs[0], np.zeros((logs.shape[1], len(start))))
    seen: dict[bytes, FloatArray] = {}

    def whole(x: FloatArray) -> FloatArray:
        place = others.copy()
        place[free] = x
        return place

    def logs_at(x: FloatArray) -> FloatArray:
        key = x.tobytes()
        if key not in seen:
            seen[key] = objective.logs(whole(x))[0]
        return seen[key]

    def residuals(x: FloatArray) -> FloatArray:
        return np.concatenate([objective.data.residuals(logs_at(x)), x])

    def slopes(x: FloatArray) -> FloatArray:
        return np.concatenate([objective.slopes(whole(x)[None], logs_at(x)[None])[0][:, free], np.eye(len(x))])

    begin = _inside(objective, start)[free]
    bounds = objective.low[free], objective.high[free]
    turn = 0
    while True:
        answer = scipy.optimize.least_squares(
            residuals,
            begin,
            jac=slopes,
            bounds=bounds,
            ftol=close,
            xtol=close,
            gtol=close,
            max_nfev=MOST_STEPS,
        )
        if turn == MOST_EDGES or all(np.isfinite(logs).all() for logs in seen.values()):
            break
        within = _bounds_at_edges(objective, whole(answer.x), answer.grad, answer.jac, free)
        precision = answer.jac.T @ answer.jac
        step = bounded_step(precision, answer.grad, within[0] - answer.x, within[1] - answer.x)
        if -float(answer.grad @ step + 0.5 * step @ precision @ step) * 2.0 < WORTH_GOING_ON:
            break
        bounds, begin, turn = within, answer.x, turn + 1
    logs = logs_at(answer.x)
    found_slopes = np.zeros((len(logs), len(start)))
    found_slopes[:, free] = answer.jac[: len(logs)]
    return Optimum(whole(answer.x), 2.0 * float(answer.cost), logs, found_slopes)


def bounded_step(precision: FloatArray, gradient: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The step s between `low` and `high` at which s' precision s / 2 + gradient' s is least."""
    step: FloatArray = -np.linalg.solve(precision, gradient).astype(np.float64)
    if ((step >= low) & (step <= high)).all():
        return step
    root = np.linalg.cholesky(precision).T
    wanted = -np.linalg.solve(root.T, gradient)
    found: FloatArray = scipy.optimize.lsq_linear(root, wanted, (low, np.maximum(high, low + 1e-12)), method="bvls").x
    return np.clip(found, low, high)


def _bounds_at_edges(
    objective: FitObjective, place: FloatArray, gradient: FloatArray, slopes: FloatArray, free: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the free parameters, nearer where a Newton's step of one alone leads to no machine.

    A search that was refused goes on along such an edge, instead of with ever smaller steps.
    """
    low, high = objective.low.copy(), objective.high.copy()
    numbers = np.flatnonzero(free)
    x = place[free]
    step = bounded_step(slopes.T @ slopes, gradient, low[free] - x, high[free] - x)
    shares = 0.5 ** np.arange(EDGE_HALVES)
    tried = np.repeat(place[None], len(numbers) * EDGE_HALVES, axis=0).reshape(len(numbers), EDGE_HALVES, -1)
    tried[np.arange(len(numbers)), :, numbers] += step[:, None] * shares
    finite: BoolArray = np.isfinite(objective.logs(tried.reshape(-1, len(place))))
    ok = finite.all(axis=1).reshape(len(numbers), EDGE_HALVES).tolist()
    for number, one, possible in zip(numbers.tolist(), step.tolist(), ok, strict=True):
        if possible[0]:
            continue
        farthest = max((share for share, there in zip(shares.tolist(), possible, strict=True) if there), default=0.0)
        end = place[number] + farthest * one
        if one > 0:
            high[number] = max(end, place[number] + MARGIN)
        else:
            low[number] = min(end, place[number] - MARGIN)
    return low[free], high[free]


def chord(objective: FitObjective, best: Optimum, slopes: FloatArray) -> Optimum:
    """Optimum with other offsets: Newton's steps with the derivatives that were there before.

    `slopes`: over the noise that the objective's data have.
    """
    precision = slopes.T @ slopes + np.eye(len(best.place))
    place, logs = best.place, best.logs
    cost = float(objective.costs(place, logs)[0])
    for _ in range(MOST_CHORDS):
        gradient = slopes.T @ np.nan_to_num(objective.data.residuals(logs)) + place
        there = place + bounded_step(precision, gradient, objective.low - place, objective.high - place)
        logs_there = objective.logs(there)[0]
        cost_there = float(objective.costs(there, logs_there)[0])
        if not cost_there < cost:
            break
        far = float(np.abs(there - place).max())
        place, logs, cost = there, logs_there, cost_there
        if far < NEAR:
            break
    return Optimum(place, cost, logs, slopes)


def _inside(objective: FitObjective, places: FloatArray) -> FloatArray:
    return np.clip(places, objective.low + MARGIN, objective.high - MARGIN)
