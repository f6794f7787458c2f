"""Identifiability: how far the data alone pin down each parameter, and which they can't tell apart.

The singular values of the scaled Jacobian are the lengths of what the data see of each combination of parameters, in
standard deviations of noise for one of the prior: Golub and Van Loan, Matrix Computations; Brun, Reichert and Kuensch,
Water Resources Research 37 (2001), 1015-1030, for the question.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from oltpsim.calibration.fit.objective import MOST_SIGMAS
from oltpsim.calibration.fit.parameters import Parameter
from oltpsim.simulator.form import FloatArray

MOST_SHARE = 0.5
"""a parameter is identified if the data alone tell it to at most this share of its prior's standard deviation"""
LEAST_SEEN = 1.0
"""standard deviations of noise that one of the prior must change; else the runs say less than the prior does"""
PARTNER = 0.1
"""a parameter takes part in a combination whose vector has at least this component"""
NOTHING = 0.5
"""a parameter whose prior's standard deviation changes less than this share of the noise says nothing"""
LINKED = 0.5
"""two of them belong together from this correlation on, in what isn't told or in what is told of both"""
CLOSE = 0.95
"""correlation from which two identified parameters are named as hard to tell apart"""


@dataclass(frozen=True)
class Identified:
    """Identifiability of each parameter: whether data see it, identify it, and with which others they mix it up.

    `share`: standard deviation by the data alone over that of the prior, no combination known worse than by
    `MOST_SIGMAS`; infinite for what they don't see.
    """

    lengths: FloatArray
    """what one standard deviation of its prior changes, in standard deviations of the figures' noise"""
    seen: npt.NDArray[np.bool_]
    identified: npt.NDArray[np.bool_]
    at_bound: npt.NDArray[np.bool_]
    not_known: npt.NDArray[np.bool_]
    """no machine on either side: what the data say of it isn't known"""
    share: FloatArray
    confused_with: tuple[tuple[int, ...], ...]
    directions: FloatArray
    """combinations that the data don't tell, (combinations, parameters), of those that are seen"""


def seen_by(slopes: FloatArray) -> npt.NDArray[np.bool_]:
    """Parameters that the figures depend on, each by itself. `slopes`: derivatives over noise, without priors."""
    return np.asarray(np.linalg.norm(slopes, axis=0) >= LEAST_SEEN)


def identify_parameters(
    slopes: FloatArray,
    at_bound: npt.NDArray[np.bool_],
    free: npt.NDArray[np.bool_],
    not_known: npt.NDArray[np.bool_] | None = None,
) -> Identified:
    """Identifiability from derivatives over noise at the optimum, (observations, parameters).

    What the search stopped at its bound isn't identified: something else is wrong that it tries to stand for. Neither
    is what wasn't `free`, or is `not_known`.
    """
    if not_known is None:
        not_known = np.zeros_like(free)
    count = slopes.shape[1]
    seen = seen_by(slopes)
    columns = np.flatnonzero(seen)
    share = np.full(count, np.inf)
    directions = np.zeros((0, count))
    if len(columns):
        _, lengths, vectors = np.linalg.svd(slopes[:, columns], full_matrices=True)
        lengths = np.concatenate([lengths, np.zeros(len(columns) - len(lengths))])
        spread = 1.0 / np.maximum(lengths, 1.0 / MOST_SIGMAS)
        share[columns] = np.sqrt(((vectors * spread[:, None]) ** 2).sum(axis=0))
        directions = np.zeros((int((spread > MOST_SHARE).sum()), count))
        directions[:, columns] = vectors[spread > MOST_SHARE]
    identified = (share <= MOST_SHARE) & ~at_bound & free & ~not_known
    partners = []
    groups = _mixed(np.where(identified, 0.0, directions))
    for number in range(count):
        [others] = [group for group in groups if number in group] or [()]
        partners.append(tuple(other for other in others if other != number) if not identified[number] else ())
    lengths = np.linalg.norm(slopes, axis=0)
    return Identified(lengths, seen, identified, at_bound, not_known, share, tuple(partners), directions)


def _mixed(directions: FloatArray) -> list[tuple[int, ...]]:
    """Parameters that stand for each other in what isn't told, in groups: whatever vectors span it."""
    projection = directions.T @ directions
    size = np.sqrt(np.diag(projection))
    identified = np.sqrt(np.clip(1.0 - size**2, 0.0, 1.0))
    bound = np.minimum(np.outer(size, size), np.outer(identified, identified))
    linked = (np.abs(projection) >= LINKED * bound) & (np.abs(projection) >= PARTNER**2)
    left = [number for number in range(len(size)) if size[number] >= PARTNER]
    groups = []
    while left:
        group = [left.pop(0)]
        for one in group:  # grows on the way
            near = [other for other in left if linked[one, other]]
            group += near
            left = [other for other in left if other not in near]
        groups.append(tuple(sorted(group)))
    return groups


def correlations(slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Covariance of the parameters by data and priors (Gauss-Newton), on their scale, and its correlations."""
    covariance: FloatArray = np.linalg.inv(slopes.T @ slopes + np.eye(slopes.shape[1])).astype(np.float64)
    sd = np.sqrt(np.diag(covariance))
    return covariance, covariance / np.outer(sd, sd)


def sentences(parameters: tuple[Parameter, ...], verdict: Identified, correlation: FloatArray) -> list[str]:
    """Sentences about what the runs don't identify."""
    lines = []
    lengths = verdict.lengths
    lines += [
        f"no machine is possible with a little more or less of {parameters[number].key} where the fit has ended: what "
        "your runs say of it isn't known; correct what it contradicts in the base scenario"
        for number in np.flatnonzero(verdict.not_known & ~verdict.at_bound)
    ]
    for number in np.flatnonzero(~verdict.seen & ~verdict.at_bound & ~verdict.not_known):
        much = "nothing" if lengths[number] < NOTHING else "next to nothing"
        lines.append(
            f"your runs say {much} of {parameters[number].key}: it stays at its prior ({parameters[number].prior})"
        )
    groups = [group for group in _mixed(np.where(verdict.identified, 0.0, verdict.directions)) if len(group) > 1]
    for group in groups:
        block = verdict.directions[:, group]
        direction = np.zeros(len(parameters))
        direction[list(group)] = np.linalg.eigh(block.T @ block)[1][:, -1]
        numbers = sorted(group, key=lambda number: -abs(direction[number]))
        names = [parameters[number].key for number in numbers]
        if len(names) == 2:
            lines.append(
                f"your runs can't tell {names[0]} from {names[1]}: "
                f"{_moves(parameters, direction, numbers)} changes no figure beyond its noise"
            )
        else:
            names = [parameters[number].key for number in group]
            alone = len(names) - int(np.linalg.matrix_rank(block, tol=PARTNER))
            lines.append(
                f"your runs can't tell {', '.join(names[:-1])} and {names[-1]} apart: they fix {alone} of "
                f"{len(names)} combinations of them; vary fewer, or add runs where one of them matters alone"
            )
    named = {number for group in groups for number in group}
    lines += [
        f"{parameters[number].key} was stopped at the end of what its prior allows ({parameters[number].prior}): "
        "something else differs from the base scenario that it tries to stand for; correct that, or widen its bounds"
        for number in np.flatnonzero(verdict.at_bound)
    ]
    lines += [
        f"your runs say little of {parameters[number].key}: {min(verdict.share[number], 1.0):.0%} of what its prior "
        "leaves open stays open"
        for number in np.flatnonzero(verdict.seen & ~verdict.identified & ~verdict.at_bound & ~verdict.not_known)
        if number not in named
    ]
    for one in range(len(parameters)):
        for other in range(one):
            value = correlation[one, other]
            if verdict.identified[one] and verdict.identified[other] and abs(value) >= CLOSE:
                way = "one for the other" if value < 0 else "both together"
                lines.append(
                    f"{parameters[other].key} and {parameters[one].key} are told apart, but badly: more of {way} fits "
                    f"nearly as well (correlation {value:+.2f})"
                )
    return lines


def _moves(parameters: tuple[Parameter, ...], direction: FloatArray, numbers: list[int]) -> str:
    """A step along a combination as changes of its parameters, the first one up."""
    step = direction * math.copysign(1.0, direction[numbers[0]]) / np.abs(direction).max()
    parts = []
    for number in numbers:
        parameter = parameters[number]
        if parameter.factor is not None:
            parts.append(f"{parameter.key} times {parameter.factor ** step[number]:.2f}")
        else:
            assert parameter.sd is not None
            parts.append(f"{parameter.key} {parameter.sd * step[number]:+.2g}")
    return " with ".join(parts)
