"""Model discrepancy of each kind of figure, by what limits the run: the scatter of residuals beyond the runs' noise.

Before any run is seen it is an assumption: so much for each kind, with the analytic engine's own error where no kernel
corrects it. The runs scale it: the scale's square is known beforehand as an inverse chi square with few degrees of
freedom, and estimated by restricted likelihood (Patterson and Thompson, Biometrika 58 (1971), 545-554): the one at
which a sum of squares is what is expected of it. What the parameters take up of a figure is what this figure told them,
not an even share (leverage: Cook and Weisberg, Residuals and Influence in Regression (1982), 2.2); shared discrepancies
count as the fewer that they are, and what is only noise, such as what repeats differ by, says nothing of them. Scales
of kinds are alike: what all of them say together is where each begins, and a kind's where each of its regimes begins.
Why discrepancy belongs into every prediction: Kennedy and O'Hagan, J. R. Statist. Soc. B 63 (2001), 425-464.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from oltpsim.calibration.fit.covariance import covariance_of
from oltpsim.calibration.fit.objective import FitData
from oltpsim.calibration.fit.observables import FigureKind
from oltpsim.simulator.form import BoolArray, FloatArray

ASSUMED_FREEDOM = 3.0
"""assumption: degrees of freedom that a kind's `missed_sd` is worth"""
ALIKE_FREEDOM = 8.0
"""assumption: most degrees of freedom that the scale of all regimes is worth to one of them"""
ROUNDS = 60
"""most, of scales and what residuals are with them"""
LEAST_INVERSE = 1e-6
"""of degrees of freedom: a normal distribution's"""
SETTLED = 0.002
"""of the logarithm of a scale's square: the last round"""


@dataclass(frozen=True)
class Scatter:
    """Model discrepancy as a multiple of the assumption, and the degrees of freedom that it is known with.

    `from_runs`: those of them that the residuals tell, the others are known beforehand.
    """

    scale: float = 1.0
    freedom: float = ASSUMED_FREEDOM
    from_runs: float = 0.0


@dataclass(frozen=True)
class Discrepancy:
    """What is missed by kind of figure, and of those regimes that were seen."""

    by_kind: dict[FigureKind, Scatter] = field(default_factory=lambda: dict.fromkeys(FigureKind, Scatter()))
    by_regime: dict[tuple[FigureKind, str], Scatter] = field(default_factory=dict)

    def scatter_of(self, kind: FigureKind, regime: str = "") -> Scatter:
        """A kind's in a regime; where none was seen, that of all."""
        return self.by_regime.get((kind, regime), self.by_kind[kind])


def assumed_discrepancy() -> Discrepancy:
    """Discrepancy before anything is fitted."""
    return Discrepancy()


def assumed_sd(kind: FigureKind, left_out_sd: float, missing: float) -> float:
    """Assumed sd of a figure's logarithm. `left_out_sd`: what its correction leaves out; `missing`: see `FitTask`."""
    return float(np.hypot(kind.missed_sd * missing, left_out_sd))


def with_discrepancy(data: FitData, discrepancy: Discrepancy, left_out_sd: Sequence[float], missing: float) -> FitData:
    """The observations with a discrepancy. `left_out_sd`: what each one's correction leaves out."""
    regimes = data.regimes or ("",) * len(data.kinds)
    sd = [
        assumed_sd(kind, left_out, missing) * discrepancy.scatter_of(kind, regime).scale
        for kind, regime, left_out in zip(data.kinds, regimes, left_out_sd, strict=True)
    ]
    return replace(data, discrepancy=np.array(sd))


def estimated_discrepancy(
    data: FitData, logs: FloatArray, slopes: FloatArray, place: FloatArray | None = None
) -> Discrepancy:
    """Discrepancy by the residuals of a fit whose data have the assumed one, and which has ended at `place`.

    `slopes`: derivatives over noise and discrepancy. The parameters follow, as if the model were linear there.
    """
    place = np.zeros(slopes.shape[1]) if place is None else place
    plain = data.root @ slopes
    linear = _LinearModel(data, plain, -data.distances(logs) + plain @ place)
    used = ~data.at_least & (data.discrepancy > 0.0)
    groups = {kind: used & (np.array(data.kinds) == kind) for kind in FigureKind}
    squares = np.ones(len(data.kinds))
    by_kind: dict[FigureKind, Scatter] = {}
    for _ in range(ROUNDS):
        seen = linear.residuals_with(squares)
        own = {kind: seen.score_of(some) for kind, some in groups.items() if some.any()}
        together = sum(each.information * np.log(each.next_square(1.0, ASSUMED_FREEDOM)) for each in own.values())
        around = float(np.exp(together / (sum(each.information for each in own.values()) + ASSUMED_FREEDOM)))
        by_kind = {
            kind: own[kind].scatter(around, ASSUMED_FREEDOM) if kind in own else Scatter(float(np.sqrt(around)))
            for kind in FigureKind
        }
        before = squares
        squares = np.array([by_kind[kind].scale ** 2 for kind in data.kinds])
        if (np.abs(np.log(squares / before)) < SETTLED).all():
            break
    regimes = np.array(data.regimes or ("",) * len(data.kinds))
    parts = {
        (kind, regime): some & (regimes == regime)
        for kind, some in groups.items()
        for regime in dict.fromkeys(regimes[some].tolist())
    }
    by_regime: dict[tuple[FigureKind, str], Scatter] = {}
    for _ in range(ROUNDS):
        seen, before = linear.residuals_with(squares), squares.copy()
        for (kind, regime), some in parts.items():
            whole, mine = by_kind[kind], seen.score_of(some)
            elsewhere = min(max(whole.freedom - mine.information, ASSUMED_FREEDOM), ALIKE_FREEDOM)
            alone = (some == groups[kind]).all()
            by_regime[kind, regime] = whole if alone else mine.scatter(whole.scale**2, elsewhere)
            squares[some] = by_regime[kind, regime].scale ** 2
        if (np.abs(np.log(squares / before)) < SETTLED).all():
            break
    return Discrepancy(by_kind, by_regime)


@dataclass(frozen=True)
class _ScaleScore:
    """What residuals say of one scale's square, which is `square` now; all else is in degrees of freedom.

    `found` and `expected`: a sum of squares, and what is expected of it if the scale is right (the score of restricted
    likelihood: Patterson and Thompson, Biometrika 58 (1971), 545-554). `information`: degrees of freedom that they know
    the scale with. What is noise, or a parameter's, counts in none of them.
    """

    square: float
    found: float
    expected: float
    information: float

    def next_square(self, around: float, freedom: float) -> float:
        """The scale's square after a step of Fisher's scoring on its logarithm.

        `around`: where it is known beforehand, with so much `freedom`.
        """
        beforehand = freedom * around / self.square
        step = (self.found - self.expected + beforehand - freedom) / (self.information + beforehand)
        return self.square * float(np.exp(np.clip(step, -1.0, 1.0)))

    def scatter(self, around: float, freedom: float) -> Scatter:
        """The same, with what is known of it."""
        return Scatter(float(np.sqrt(self.next_square(around, freedom))), freedom + self.information, self.information)


@dataclass(frozen=True)
class _LinearResiduals:
    """Residuals of a linear model with some discrepancy, ready for sums over groups of figures."""

    squares: FloatArray
    missed: FloatArray
    """covariance of the discrepancies"""
    weighted: FloatArray
    """residuals over the whole covariance"""
    precision: FloatArray
    """of the figures, the parameters being known by their priors"""

    def score_of(self, some: BoolArray) -> _ScaleScore:
        """The score of some figures' common scale."""
        inside = some.astype(np.float64)
        mine = self.missed * (inside[:, None] + inside) / 2.0
        per_scale = self.precision @ mine
        return _ScaleScore(
            float(self.squares[some].mean()) if some.any() else 1.0,
            max(float(self.weighted @ mine @ self.weighted), 0.0),
            float(np.trace(per_scale)),
            float((per_scale * per_scale.T).sum()),
        )


@dataclass(frozen=True)
class _LinearModel:
    """A linear model of figures. `slopes`: their derivatives; `measured`: by which the parameters are fitted."""

    data: FitData
    slopes: FloatArray
    measured: FloatArray

    def residuals_with(self, squares: FloatArray) -> _LinearResiduals:
        """The residuals if the discrepancies' variances are so many times what is assumed."""
        data, plain = self.data, self.slopes
        sd = data.discrepancy * np.sqrt(squares)
        missed = covariance_of(np.zeros_like(data.sd), sd, data.shared)
        inverse = np.linalg.inv(missed + np.diag(data.sd**2))
        told = inverse @ plain
        known = np.linalg.inv(plain.T @ told + np.eye(plain.shape[1]))
        precision: FloatArray = (inverse - told @ known @ told.T).astype(np.float64)
        return _LinearResiduals(squares, missed, precision @ self.measured, precision)


def student_rises(data: FitData, slopes: FloatArray, discrepancy: Discrepancy, confidence: float) -> FloatArray:
    """How much worse a fit is at the ends of each parameter's interval: squares of Student's quantiles, (parameters,).

    The degrees of freedom are those of the discrepancies as far as they make up a parameter's variance.
    """
    covariance = np.linalg.inv(slopes.T @ slopes + np.eye(slopes.shape[1]))
    moved = covariance @ slopes.T @ data.whitening
    missed = covariance_of(np.zeros_like(data.sd), data.discrepancy, data.shared)
    inverse = np.zeros(slopes.shape[1])
    for kind in dict.fromkeys(data.kinds):
        mine = moved * (np.array(data.kinds) == kind)
        part = np.einsum("ij,jk,ik->i", mine, missed, mine) / np.diag(covariance)
        inverse += part**2 / discrepancy.by_kind[kind].freedom
    rises: FloatArray = scipy.special.stdtrit(1.0 / np.maximum(inverse, LEAST_INVERSE), (1.0 + confidence) / 2.0) ** 2
    return rises
