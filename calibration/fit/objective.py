"""Objective of a fit: distances of model and runs in units of noise, and of parameters from their priors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from calibration.fit.evaluate import Evaluator
from calibration.fit.mapping import MeasuredRun
from calibration.fit.observables import FigureKind
from calibration.fit.parameters import Parameter
from simulator.form import FloatArray

DIFFERENCE_STEP = 0.1
"""of a finite difference, in standard deviations of the prior: larger than what the engine leaves unsolved"""
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

    @property
    def total_sd(self) -> FloatArray:
        """Noise and discrepancy together."""
        return np.hypot(self.sd, self.discrepancy)

    def residuals(self, logs: FloatArray) -> FloatArray:
        """(model - measured) / standard deviation, (..., observations); 0 for censored ones that the model is above."""
        distance = (logs + self.offset - self.measured) / self.total_sd
        return np.where(self.at_least & (distance > 0), 0.0, distance)

    @property
    def is_rate(self) -> npt.NDArray[np.bool_]:
        """Mask of the observations that are rates."""
        return np.array([kind == FigureKind.RATE for kind in self.kinds], dtype=np.bool_)

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
    """Lowest and highest place of each parameter: its bounds, at most some standard deviations from its prior."""
    reachable = [each.factor is None or each.low > 0 for each in parameters]
    lowest = [each.place(each.low) if ok else -np.inf for each, ok in zip(parameters, reachable, strict=True)]
    low = np.maximum(np.array(lowest), -MOST_SIGMAS)
    high = np.array([min(each.place(each.high), MOST_SIGMAS) for each in parameters])
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

        Forward differences, or central ones. Censored observations that the model is above have no slope.
        """
        many, count = places.shape
        sides = np.where(places + DIFFERENCE_STEP > self.high, -DIFFERENCE_STEP, DIFFERENCE_STEP)
        up = places[:, None, :] + sides[:, :, None] * np.eye(count)
        down = places[:, None, :] - DIFFERENCE_STEP * np.eye(count)
        both = np.concatenate([up, down]) if central else up
        logs = self.logs(both.reshape(-1, count)).reshape(len(both), count, centre.shape[1])
        rise, fall = logs[:many], logs[many:] if central else np.full_like(logs, np.nan)
        forward = (rise - centre[:, None, :]) / sides[:, :, None]
        backward = (centre[:, None, :] - fall) / DIFFERENCE_STEP
        mean = np.where(np.isnan(forward), backward, np.where(np.isnan(backward), forward, (forward + backward) / 2))
        counts = ~(self.data.at_least & (self.data.residuals(centre) == 0.0))
        per_noise = np.swapaxes(np.nan_to_num(mean), 1, 2) / self.data.total_sd[:, None]
        return np.where(counts[:, :, None], per_noise, 0.0)
