"""What runs say of parameters and of the next figures, with what their figures share: generalised least squares.

y = J t + d + e: parameters t (standard normal beforehand), discrepancies d that runs share, as
`calibration.fit.covariance` says, and noise e. A prediction is wrong by J' (t - its estimate) and its own d. Where that
is shared with the runs, the estimate has taken part of it up, and the two are not independent (Kennedy and O'Hagan
2001).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from oltpsim.calibration.fit import (
    Calibration,
    Circumstances,
    FigureKind,
    covariance_of,
    figure_correlations,
    shared_correlations,
)
from oltpsim.calibration.predict.uncertain_value import MOST_FREEDOM
from oltpsim.simulator.form import BoolArray, FloatArray


class ErrorParts(NamedTuple):
    """Standard deviations of what a predicted logarithm is wrong by, and the degrees of freedom of their sum.

    What parameters and discrepancy have in common is taken off both, half and half.
    """

    parameters_sd: float
    discrepancy_sd: float
    freedom: float

    @property
    def variance(self) -> float:
        """Of both together."""
        return self.parameters_sd**2 + self.discrepancy_sd**2


@dataclass(frozen=True)
class Evidence:
    """Figures of runs: derivatives of their logarithms, (figures, parameters), standard deviations, circumstances."""

    slopes: FloatArray
    noise_sd: FloatArray
    missed_sd: FloatArray
    kinds: tuple[FigureKind, ...]
    where: tuple[Circumstances, ...]
    shares: BoolArray
    """whether a figure shares its discrepancy: a censored one doesn't"""

    def with_figures(self, more: Self) -> Self:
        """Both together."""
        both = {
            name: np.concatenate([getattr(self, name), getattr(more, name)])
            for name in ("slopes", "noise_sd", "missed_sd", "shares")
        }
        return replace(self, **both, kinds=(*self.kinds, *more.kinds), where=(*self.where, *more.where))

    @cached_property
    def shared(self) -> FloatArray:
        """Correlations of the figures' discrepancies."""
        return figure_correlations(self.kinds, self.where, self.shares)

    @cached_property
    def whitened(self) -> FloatArray:
        """The derivatives as those of independent figures of standard deviation 1."""
        root = np.linalg.cholesky(covariance_of(self.noise_sd, self.missed_sd, self.shared))
        return np.linalg.solve(root, self.slopes).astype(np.float64)

    @cached_property
    def covariance(self) -> FloatArray:
        """Of the parameters, by priors and figures."""
        return np.linalg.inv(self.whitened.T @ self.whitened + np.eye(self.slopes.shape[1])).astype(np.float64)

    @cached_property
    def gain(self) -> FloatArray:
        """What the parameters' estimate moves by a figure's logarithm, (parameters, figures)."""
        whole = covariance_of(self.noise_sd, self.missed_sd, self.shared)
        return (self.covariance @ np.linalg.solve(whole, self.slopes).T).astype(np.float64)

    def error(
        self,
        wanted: FloatArray,
        at: Circumstances,
        missed_sd: float,
        freedom: dict[FigureKind, float] | None = None,
        kind: FigureKind = FigureKind.RATE,
    ) -> ErrorParts:
        """What a figure is wrong by. `wanted`: its logarithm's derivatives; `missed_sd`: its discrepancy.

        `freedom`: of each kind's discrepancy, that of the figure's `kind` in its own circumstances.
        """
        moved = wanted @ self.gain
        """by each figure's logarithm"""
        alike = self.shares & np.array([each == kind for each in self.kinds], dtype=np.bool_)
        common = np.where(alike, shared_correlations([at], self.where)[0], 0.0) * self.missed_sd * missed_sd
        across = float(moved @ common)
        own = float(wanted @ self.covariance @ wanted)
        variance = max(own + missed_sd**2 - 2.0 * across, 0.0)
        parameters = min(max(own - across, 0.0), variance)
        return ErrorParts(
            float(np.sqrt(parameters)),
            float(np.sqrt(max(variance - parameters, 0.0))),
            self._freedom(moved, kind, missed_sd**2 - 2.0 * across, variance, freedom or {}),
        )

    def _freedom(
        self, moved: FloatArray, wanted: FigureKind, own: float, variance: float, freedom: dict[FigureKind, float]
    ) -> float:
        """Satterthwaite's: each kind's discrepancy makes up a part of the variance and is known with its freedom."""
        missed = self.shared * (self.missed_sd[:, None] * self.missed_sd)
        inverse = 0.0
        for kind, of_kind in freedom.items():
            mine = moved * np.array([each == kind for each in self.kinds], dtype=np.float64)
            part = float(mine @ missed @ mine) + (own if kind == wanted else 0.0)
            inverse += (max(part, 0.0) / max(variance, 1e-30)) ** 2 / of_kind
        return min(1.0 / inverse, MOST_FREEDOM) if inverse > 0.0 else MOST_FREEDOM


def figures_of(
    slopes: FloatArray, sds: Sequence[tuple[float, float]], kinds: Sequence[FigureKind], at: Circumstances
) -> Evidence:
    """Figures of one run. `sds`: noise and discrepancy of each."""
    noise, missed = np.array(sds).reshape(-1, 2).T
    return Evidence(slopes, noise, missed, tuple(kinds), (at,) * len(kinds), np.ones(len(kinds), dtype=np.bool_))


def evidence_of(calibration: Calibration) -> Evidence:
    """The fitted runs' figures at the fit.

    A file of before says nothing of single figures: of it as many that share nothing, which give its covariance.
    """
    figures = [(figure, run.circumstances) for run in calibration.runs for figure in run.figures]
    where = [at for _, at in figures if at is not None]
    if len(where) < len(figures):
        lengths, vectors = np.linalg.eigh(np.linalg.inv(np.array(calibration.joint.covariance)))
        root = vectors * np.sqrt(np.maximum(lengths - 1.0, 0.0)) @ vectors.T
        some, nobody = np.ones(len(root)), Circumstances("", "", "", ())
        kinds, shares = (FigureKind.RATE,) * len(root), np.zeros(len(root), dtype=np.bool_)
        return Evidence(root, some, np.zeros_like(some), kinds, (nobody,) * len(root), shares)
    return Evidence(
        np.array([figure.slopes for figure, _ in figures], dtype=np.float64).reshape(-1, len(calibration.parameters)),
        np.array([figure.noise_sd for figure, _ in figures]),
        np.array([figure.discrepancy_sd for figure, _ in figures]),
        tuple(figure.kind for figure, _ in figures),
        tuple(where),
        np.array([not figure.at_least for figure, _ in figures], dtype=np.bool_),
    )
