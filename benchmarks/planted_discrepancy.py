"""How often intervals hold the truth where what a model misses is known: linear systems with planted discrepancies.

Runs of one machine in two regimes and of different sizes, five kinds of figures each, five parameters from their
priors. The model misses of them what is assumed, half or twice as much, with the assumed correlations or one of 0.7 of
all runs. A fit is linear, so that a draw takes 15 ms; all else is the fit's own code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from oltpsim.calibration.fit import (
    INTERVAL_CONFIDENCE,
    Circumstances,
    Evaluator,
    FigureKind,
    FitData,
    FitObjective,
    Optimum,
    Parameter,
    assumed_discrepancy,
    estimated_discrepancy,
    identify_parameters,
    profile_intervals,
    shared_correlations,
    student_rises,
    with_discrepancy,
)
from oltpsim.calibration.predict import Component, Evidence, UncertainValue
from oltpsim.simulator.form import FloatArray

KINDS = (FigureKind.RATE, FigureKind.CPU, FigureKind.READS, FigureKind.WRITES, FigureKind.MISSES)
PARAMETERS = 5
RUNS = (2, 4, 12)


@dataclass(frozen=True)
class Planted:
    """What is planted: multiples of the assumed discrepancy, and of the assumed noise of rates.

    `correlation`: of all runs, if it isn't the assumed one.
    """

    missed: float = 1.0
    correlation: float | None = None
    noise: float = 1.0


CASES = {
    "as assumed": Planted(),
    "half of it": Planted(missed=0.5),
    "twice of it": Planted(missed=2.0),
    "all runs correlated by 0.7": Planted(correlation=0.7),
    "as assumed, rates scatter by 15 %": Planted(noise=5.0),
}
EDGE = 0.05
"""standard deviations of the prior: how far the fit lies from a place without a machine"""


@dataclass(frozen=True)
class IntervalHits:
    """Whether the truth of one system lies in the intervals of its identified parameters and of the held-out rate.

    `beside_edge`: of the first parameter, whose other values than those below an edge make no machine; None if the
    truth lies beyond it, or it isn't identified.
    """

    parameters: tuple[bool, ...]
    rate: bool
    half_width: float
    beside_edge: bool | None


class _LinearEvaluator:
    """Stands for an evaluator: figures are linear, with no machine beyond an edge of the first parameter."""

    def __init__(self, slopes: FloatArray, edge: float) -> None:
        self.slopes, self.edge = slopes, edge
        self.parameters = [Parameter(str(at), 1.0, 1e-9, 1e9, 2.0, None, "planted") for at in range(slopes.shape[1])]

    def at(self, places: FloatArray) -> FloatArray:
        """Logarithms at the places."""
        found: FloatArray = np.where((places[:, :1] <= self.edge), places @ self.slopes.T, np.nan)
        return found


def interval_hits(seed: int, runs: int, case: str) -> IntervalHits:
    """One system of so many runs and one held out."""
    planted = CASES[case]
    rng = np.random.default_rng([seed, runs])
    where = [
        Circumstances("a machine", str(at), ("disk", "cpu")[int(rng.integers(2))], tuple(rng.normal(size=2).tolist()))
        for at in range(runs + 1)
    ]
    usual = {kind: rng.normal(0.0, 0.25, PARAMETERS) * (rng.random(PARAMETERS) < 0.6) for kind in KINDS}
    slopes = np.array(
        [usual[kind] + rng.normal(0.0, 0.12, PARAMETERS) * (usual[kind] != 0) for _ in where for kind in KINDS]
    )
    kinds, run = KINDS * len(where), np.repeat(np.arange(runs + 1), len(KINDS))
    alike = shared_correlations(where, where)
    if planted.correlation is not None:
        alike = planted.correlation + (1.0 - planted.correlation) * np.eye(runs + 1)
    root = np.linalg.cholesky(alike + 1e-10 * np.eye(runs + 1))
    missed = (
        (root @ rng.normal(size=(runs + 1, len(KINDS)))).ravel() * planted.missed * [kind.missed_sd for kind in kinds]
    )
    noise = np.array([kind.noise_sd for kind in kinds])
    truth = rng.normal(size=PARAMETERS)
    scatter = noise * [planted.noise if kind == FigureKind.RATE else 1.0 for kind in kinds]
    measured = slopes @ truth + missed + scatter * rng.normal(size=len(kinds))
    seen, count = slopes[run < runs], runs * len(KINDS)
    no = np.zeros(count)
    data = FitData(
        measured[:count], noise[:count], np.zeros(count, dtype=np.bool_), kinds[:count], run[:count], no, no
    ).with_shared(where[:runs])
    data = with_discrepancy(data, assumed_discrepancy(), no.tolist(), 1.0)
    place, _ = _fitted(data, seen)
    discrepancy = estimated_discrepancy(data, seen @ place, data.whitening @ seen, place)
    data = with_discrepancy(data, discrepancy, no.tolist(), 1.0)
    place, covariance = _fitted(data, seen)
    own = data.whitening @ seen
    rises = student_rises(data, own, discrepancy, INTERVAL_CONFIDENCE)
    nobody = np.zeros(PARAMETERS, dtype=np.bool_)
    told = identify_parameters(own, nobody, ~nobody).identified
    inside = np.abs(place - truth) <= np.sqrt(rises * np.diag(covariance))
    evidence = Evidence(
        seen, data.sd, data.discrepancy, data.kinds, tuple(where[at] for at in run[:count]), data.sd > 0
    )
    here = discrepancy.scatter_of(FigureKind.RATE, where[-1].regime)
    freedom = {kind: discrepancy.scatter_of(kind).freedom for kind in KINDS} | {FigureKind.RATE: here.freedom}
    parts = evidence.error(slopes[count], where[-1], FigureKind.RATE.missed_sd * here.scale, freedom)
    components = (
        Component("known", float(np.sqrt(parts.variance)), freedom=parts.freedom),
        Component("noise", noise[count]),
    )
    width = UncertainValue(1.0, components, INTERVAL_CONFIDENCE).log_half_width
    edge = float(place[0]) + EDGE
    beside = None
    if told[0] and truth[0] <= edge:
        objective = FitObjective(cast("Evaluator", _LinearEvaluator(seen, edge)), data)
        logs = seen @ place
        best = Optimum(place, float(objective.costs(place[None], logs[None])[0]), logs, own)
        ends = profile_intervals(objective, best, own, [0], rises)
        beside = bool(ends.low[0] <= truth[0] <= ends.high[0])
    return IntervalHits(
        tuple(inside[told].tolist()), bool(abs(slopes[count] @ place - measured[count]) <= width), width, beside
    )


def _fitted(data: FitData, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    own = data.whitening @ slopes
    covariance: FloatArray = np.linalg.inv(own.T @ own + np.eye(slopes.shape[1])).astype(np.float64)
    place: FloatArray = covariance @ own.T @ (data.whitening @ data.measured)
    return place, covariance
