"""Objective of a fit: distances of model and runs in units of noise, and of parameters from their priors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy

from oltpsim.calibration.fit.covariance import Circumstances, covariance_of, figure_correlations
from oltpsim.calibration.fit.evaluate import Evaluator
from oltpsim.calibration.fit.mapping import MeasuredRun
from oltpsim.calibration.fit.observables import FigureKind
from oltpsim.calibration.fit.parameters import NEARLY_WHOLE, Parameter
from oltpsim.simulator.form import FloatArray

DIFFERENCE_STEP = 0.1
"""of a finite difference, in standard deviations of the prior: larger than what the engine leaves unsolved"""
NEAR_STEP = 0.02
"""of a difference where the usual step is refused on both sides"""
TINY = 1e-9
"""standard deviations of the prior: room that is none"""
BOUND_MARGIN = 0.02
"""distance from a bound at which a parameter counts as stopped by it, in standard deviations of the prior"""
MOST_SIGMAS = 3.0
"""how far from the prior's middle a parameter is looked for, beside its bounds"""


@dataclass(frozen=True)
class FitData:
    """Observations of all runs one after the other; logarithms, (observations,)."""

    measured: FloatArray
    sd: FloatArray
    at_least: npt.NDArray[np.bool_]
    kinds: tuple[FigureKind, ...]
    run: npt.NDArray[np.int64]
    """number of the run"""
    offset: FloatArray
    """what is added to the engine's logarithm: what it leaves out of this figure"""
    discrepancy: FloatArray
    """standard deviation of what the model misses"""
    shared: FloatArray | None = None
    """correlations of what it misses, (observations, observations); None: nothing is shared"""
    regimes: tuple[str, ...] = ()
    """what limits the run of each; none: not known"""

    @property
    def total_sd(self) -> FloatArray:
        """Noise and discrepancy together."""
        return np.hypot(self.sd, self.discrepancy)

    @cached_property
    def root(self) -> FloatArray:
        """Root of the covariance of noise and discrepancy, lower triangular."""
        return np.linalg.cholesky(covariance_of(self.sd, self.discrepancy, self.shared)).astype(np.float64)

    @cached_property
    def whitening(self) -> FloatArray:
        """Inverse of the root: makes of distances independent ones of standard deviation 1."""
        inverse: FloatArray = scipy.linalg.solve_triangular(self.root, np.eye(len(self.sd)), lower=True)
        return inverse

    def distances(self, logs: FloatArray) -> FloatArray:
        """Model less measured, (..., observations); 0 for censored ones that the model is above."""
        found = logs + self.offset - self.measured
        return np.where(self.at_least & (found > 0), 0.0, found)

    def residuals(self, logs: FloatArray) -> FloatArray:
        """The same as independent ones of standard deviation 1: where nothing is shared, each over its own.

        Not finite where a figure isn't.
        """
        found = self.distances(logs)
        if self.shared is None:
            return found / self.total_sd
        whole = np.isfinite(found).all(axis=-1, keepdims=True)
        return np.where(whole, np.where(whole, found, 0.0) @ self.whitening.T, np.nan)

    @property
    def is_rate(self) -> npt.NDArray[np.bool_]:
        """Mask of the observations that are rates."""
        return np.array([kind == FigureKind.RATE for kind in self.kinds], dtype=np.bool_)

    def with_shared(self, circumstances: Sequence[Circumstances]) -> Self:
        """The same data with what figures of one kind share by the circumstances of the runs, `some`."""
        where = [circumstances[number] for number in self.run.tolist()]
        shared = figure_correlations(self.kinds, where, ~self.at_least)
        return replace(self, shared=shared, regimes=tuple(each.regime for each in where))

    def with_offsets(self, offsets: Sequence[float]) -> Self:
        """The same data with other offsets."""
        return replace(self, offset=np.array(offsets))


def data_of(runs: Sequence[MeasuredRun]) -> FitData:
    """The runs' figures, without offset and discrepancy."""
    every = [(number, each) for number, run in enumerate(runs) for each in run.observations]
    nothing = np.zeros(len(every))
    return FitData(
        measured=np.array([each.log for _, each in every]),
        sd=np.array([each.sd for _, each in every]),
        at_least=np.array([each.at_least for _, each in every], dtype=np.bool_),
        kinds=tuple(each.kind for _, each in every),
        run=np.array([number for number, _ in every], dtype=np.int64),
        offset=nothing,
        discrepancy=nothing,
    )


def parameter_bounds(parameters: Sequence[Parameter]) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest place of each parameter: its bounds, at most some standard deviations from its prior.

    Of a whole number they are whole ones.
    """
    reachable = [each.factor is None or each.low > 0 for each in parameters]
    lowest = [each.place(each.low) if ok else -np.inf for each, ok in zip(parameters, reachable, strict=True)]
    low = np.maximum(np.array(lowest), -MOST_SIGMAS)
    high = np.array([min(each.place(each.high), MOST_SIGMAS) for each in parameters])
    for number, each in enumerate(parameters):
        if each.whole:
            low[number] = each.place(math.ceil(each.at(float(low[number])) - NEARLY_WHOLE))
            high[number] = each.place(math.floor(each.at(float(high[number])) + NEARLY_WHOLE))
    return low, high


def parameters_at_bound(parameters: Sequence[Parameter], place: FloatArray) -> npt.NDArray[np.bool_]:
    """Mask of the parameters that a search would move further than it may."""
    low, high = parameter_bounds(parameters)
    return np.asarray((place - low < BOUND_MARGIN) | (high - place < BOUND_MARGIN))


class FitObjective:
    """Residuals of the data and of the priors at places of the parameters' scale."""

    def __init__(self, evaluator: Evaluator, data: FitData) -> None:
        self.evaluator, self.data = evaluator, data
        self.low, self.high = parameter_bounds(evaluator.parameters)

    def logs(self, places: FloatArray) -> FloatArray:
        """Logarithms by the engine, (places, observations)."""
        return self.evaluator.at(np.atleast_2d(places))

    def costs(self, places: FloatArray, logs: FloatArray) -> FloatArray:
        """Sums of all squares, data and priors, (places,); infinite where there is no machine."""
        squares = (self.data.residuals(logs) ** 2).sum(axis=-1) + (np.atleast_2d(places) ** 2).sum(axis=-1)
        return np.where(np.isfinite(squares), squares, np.inf)

    def slopes(self, places: FloatArray, centre: FloatArray, central: bool = False) -> FloatArray:
        """Derivatives of the residuals, (places, observations, parameters); `centre`: logarithms at the places.

        Forward differences, or central ones. No step leaves the bounds, and where one is refused the difference is
        taken to the other side. What is refused on both has slope 0 here: see `differences`.
        """
        return self.differences(places, centre, central)[0]

    def differences(
        self, places: FloatArray, centre: FloatArray, central: bool = False
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """`slopes`, and of which parameters some are refused on both sides, however near, (places, parameters).

        Censored observations that the model is above have no slope.
        """
        up, down = self.high - places, places - self.low
        """room of each place on both sides, (places, parameters)"""
        first = np.where(up >= np.minimum(DIFFERENCE_STEP, down), 1.0, -1.0)
        found = self._one_sided(places, centre, first, np.minimum(DIFFERENCE_STEP, np.where(first > 0, up, down)))
        back = np.minimum(DIFFERENCE_STEP, np.where(first > 0, down, up))
        missing = np.isnan(found).any(axis=1)
        if central:
            there = np.minimum(DIFFERENCE_STEP, np.where(first > 0, up, down))[:, None, :]
            other = self._one_sided(places, centre, -first, back)
            both = (there * found + back[:, None, :] * other) / np.maximum(there + back[:, None, :], TINY)
            found = np.where(np.isnan(other), found, np.where(np.isnan(found), other, both))
        elif missing.any():
            found = _filled(found, self._one_sided(places, centre, -first, np.where(missing, back, 0.0)))
        for sign in (first, -first):  # an edge on both sides: nearer
            missing = np.isnan(found).any(axis=1)
            if missing.any():
                near = np.minimum(NEAR_STEP, np.where(sign > 0, up, down))
                found = _filled(found, self._one_sided(places, centre, sign, np.where(missing, near, 0.0)))
        counts = ~(self.data.at_least & (self.data.distances(centre) == 0.0))
        plain = np.where(counts[:, :, None], np.nan_to_num(found), 0.0)
        per_noise = plain / self.data.total_sd[:, None] if self.data.shared is None else self.data.whitening @ plain
        refused: npt.NDArray[np.bool_] = np.asarray(np.isnan(found).any(axis=1))
        return per_noise, refused

    def _one_sided(self, places: FloatArray, centre: FloatArray, sign: FloatArray, step: FloatArray) -> FloatArray:
        """Derivatives of logarithms by steps to one side, (places, observations, parameters); NaN for no step."""
        many, count = places.shape
        owner, number = np.nonzero(step > TINY)
        found = np.full((many, count, centre.shape[1]), np.nan)
        if len(owner):
            moved = places[owner]
            length = (sign * step)[owner, number]
            moved[np.arange(len(owner)), number] += length
            found[owner, number] = (self.logs(moved) - centre[owner]) / length[:, None]
        return np.swapaxes(found, 1, 2)


def _filled(found: FloatArray, other: FloatArray) -> FloatArray:
    return np.where(np.isnan(found), other, found)
