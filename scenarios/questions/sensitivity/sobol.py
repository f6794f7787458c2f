"""Sobol's indices: which share of the variance of the rate's logarithm each number makes up, alone and with others.

Each number is spread evenly between its ends, on its own scale, independently of the others. Estimators: Saltelli et
al., Computer Physics Communications 181 (2010), 259-270: (b) of table 2 for the first-order index, (f), Jansen's, for
the total one; intervals by bootstrap over the base points. `scipy.stats.sobol_indices` has the same estimators, but
none for samples of which some points are impossible; the sequence is SciPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from oltpsim.calibration.fit import INTERVAL_CONFIDENCE
from oltpsim.scenarios.questions.sensitivity.ranges import ParameterRange
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import FloatArray

CHUNK = 32
"""base points evaluated together; what a Ctrl-C loses at most"""
LEAST = 16
RESAMPLES = 400
CONSTANT = 1e-9
"""standard deviation of the logarithm below which nothing varies"""


@dataclass(frozen=True)
class SobolIndex:
    """One number's share of the variance: alone (first) and with all that it does together with others (total)."""

    key: str
    first: float
    first_low: float
    first_high: float
    total: float
    total_low: float
    total_high: float


@dataclass(frozen=True)
class SobolIndices:
    """All indices, the largest total first. `left_out`: base points of which a machine is impossible."""

    indices: tuple[SobolIndex, ...]
    points: int
    left_out: int
    confidence: float
    log_sd: float
    """standard deviation of the rate's logarithm over the base points"""


@dataclass
class SobolSamples:
    """Logarithms of rates at base points A and B, and at A with one column of B each; grows by chunks."""

    ranges: Sequence[ParameterRange]
    base_points: int
    seed: int
    a: FloatArray
    b: FloatArray
    ab: FloatArray

    @classmethod
    def planned(cls, ranges: Sequence[ParameterRange], base_points: int, seed: int) -> SobolSamples:
        """Samples that are still to be evaluated. Raises InputError unless `base_points` is a power of 2."""
        if base_points < LEAST or base_points & (base_points - 1):
            raise InputError(f"--sobol {base_points}: must be a power of 2 from {LEAST} on, for example 256")
        none = np.zeros(0)
        return cls(ranges, base_points, seed, none, none, np.zeros((len(ranges), 0)))

    @property
    def done(self) -> int:
        """Base points that have been evaluated."""
        return len(self.a)

    def evaluate(self, rates: Callable[[FloatArray], FloatArray], tell: Callable[[int], None]) -> None:
        """All base points, a chunk at a time; `rates` of points of shape (points, ranges), NaN where impossible."""
        count = len(self.ranges)
        shares = scipy.stats.qmc.Sobol(2 * count, rng=self.seed).random(self.base_points)
        while self.done < self.base_points:
            chunk = shares[self.done : self.done + CHUNK]
            columns = zip((*self.ranges, *self.ranges), chunk.T, strict=True)
            values = np.array([[each.at(float(share)) for share in column] for each, column in columns]).T
            a, b = values[:, :count], values[:, count:]
            places = [a, b, *(np.where(np.arange(count) == number, b, a) for number in range(count))]
            logs = np.log(rates(np.concatenate(places))).reshape(count + 2, len(chunk))
            self.a, self.b = np.append(self.a, logs[0]), np.append(self.b, logs[1])
            self.ab = np.concatenate([self.ab, logs[2:]], axis=1)
            tell(self.done)

    def indices(self) -> SobolIndices:
        """Indices by the base points that are done. Raises InputError if too few are possible, or nothing varies."""
        good = np.isfinite(self.a) & np.isfinite(self.b) & np.isfinite(self.ab).all(axis=0)
        left_out = int(len(good) - good.sum())
        if good.sum() < LEAST:
            raise InputError(
                f"--sobol: of {len(good)} base points {left_out} are machines that can't be; make the ranges narrower"
            )
        a, b, ab = self.a[good], self.b[good], self.ab[:, good]
        sd = float(np.concatenate([a, b]).std())
        if sd < CONSTANT:
            raise InputError("--sobol: none of these numbers changes the rate within its range; vary others")
        first, total = _indices(a, b, ab)
        rng = np.random.default_rng(self.seed)
        resampled = [_indices(a[at], b[at], ab[:, at]) for at in rng.integers(len(a), size=(RESAMPLES, len(a)))]
        ends = np.quantile(
            np.array(resampled), [(1.0 - INTERVAL_CONFIDENCE) / 2.0, (1.0 + INTERVAL_CONFIDENCE) / 2.0], axis=0
        )
        low, high = ends.tolist()
        found = [
            SobolIndex(each.key, float(first[k]), low[0][k], high[0][k], float(total[k]), low[1][k], high[1][k])
            for k, each in enumerate(self.ranges)
        ]
        return SobolIndices(
            tuple(sorted(found, key=lambda one: (-one.total, one.key))), len(good), left_out, INTERVAL_CONFIDENCE, sd
        )


def _indices(a: FloatArray, b: FloatArray, ab: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First-order and total indices, (ranges,); logarithms are centred first, which the estimators' variance gains by.

    `a`, `b`: (points,), `ab`: (ranges, points).
    """
    both = np.concatenate([a, b])
    middle, variance = both.mean(), both.var()
    first = ((b - middle) * (ab - a)).mean(axis=-1) / variance
    total = np.square(a - ab).mean(axis=-1) / 2.0 / variance
    return first, total
