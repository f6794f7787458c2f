"""Uncertain value: a positive number, and the independent components of what it is uncertain by.

The logarithm is Student's around that of the value. Variances of the components add up; degrees of freedom are those
of each component as far as it makes up the sum (Satterthwaite, Biometrics Bulletin 2 (1946), 110-114). Two values that
have a component of the same key are wrong by it alike, so that it cancels in their ratio.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from oltpsim.calibration.fit import INTERVAL_CONFIDENCE, Circumstances, shared_correlation
from oltpsim.simulator.results.recording import student_t_factor

MISSED, ONE_RUN, FORMULAS, CHANCE = "what the model misses", "one run from the next", "the formulas", "chance"
CALIBRATED = "the calibrated parameters"
ALIKE = "runs of machines alike"
MOST_FREEDOM = 1e6
"""degrees of freedom from which on Student's distribution is a normal one"""
QUANTILES = np.linspace(0.005, 0.995, 100)
"""places at which the mean below a limit is taken"""


@dataclass(frozen=True)
class Contribution:
    """A part of an interval: a standard deviation of the value's logarithm."""

    what: str
    sd: float


@dataclass(frozen=True)
class Component:
    """Component of an uncertain value: a standard deviation of its logarithm, with the sign of the change."""

    what: str
    """name for people"""
    sd: float
    key: str = ""
    """name that values share which are wrong by it alike; empty: it is independent of all others"""
    freedom: float | None = None
    """degrees of freedom that `sd` is known with; None: it is known exactly"""
    at: Circumstances | None = None
    """circumstances that decide how alike two components of the key are; None: entirely"""

    def less(self, other: Component) -> Component:
        """The component of a ratio: this one is its numerator's, `other` its denominator's."""
        if self.at is None or other.at is None:
            return replace(self, sd=self.sd - other.sd)
        common = 2.0 * shared_correlation(self.at, other.at) * self.sd * other.sd
        freedoms = [each.freedom for each in (self, other) if each.freedom is not None]
        sd = math.sqrt(max(self.sd**2 + other.sd**2 - common, 0.0))
        return replace(self, sd=sd, freedom=min(freedoms, default=None))


@dataclass(frozen=True)
class UncertainValue:
    """A number above 0 with the components of its uncertainty; `negligible` is added before the logarithm.

    `most`: a value beyond it shows as no more than it (Tobin, Econometrica 26 (1958), 24-36).
    """

    centre: float
    components: tuple[Component, ...] = ()
    confidence: float = INTERVAL_CONFIDENCE
    negligible: float = 0.0
    most: float | None = None

    @property
    def value(self) -> float:
        """The middle of the interval, within the scale."""
        return self._within_scale(self.centre)

    @property
    def sd(self) -> float:
        """Standard deviation of the logarithm, all components together."""
        return math.hypot(*(each.sd for each in self.components))

    @property
    def freedom(self) -> float:
        """Degrees of freedom that `sd` is known with."""
        known = [each for each in self.components if each.freedom is not None and each.sd]
        inverse = sum((each.sd / self.sd) ** 4 / (each.freedom or MOST_FREEDOM) for each in known)
        return min(1.0 / inverse, MOST_FREEDOM) if inverse > 0.0 else MOST_FREEDOM

    @property
    def log_half_width(self) -> float:
        """Half the interval of the logarithm."""
        return self.sd * student_t_factor(self.freedom, self.confidence) if math.isfinite(self.sd) else math.inf

    @property
    def low(self) -> float:
        """The interval's lower end."""
        return self._end(-1.0)

    @property
    def high(self) -> float:
        """The interval's upper end."""
        return self._end(1.0)

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends, between which the number lies with probability `confidence`."""
        return self.low, self.high

    @property
    def parts(self) -> tuple[Contribution, ...]:
        """Standard deviations of the components by name, the largest first; those of one name together."""
        names = dict.fromkeys(each.what for each in self.components)
        found = (Contribution(name, self.sd_of(name)) for name in names)
        return tuple(sorted((part for part in found if part.sd > 0.0), key=lambda part: -part.sd))

    def sd_of(self, what: str) -> float:
        """Standard deviation by the components of a name; 0 if there is none."""
        return math.hypot(*(each.sd for each in self.components if each.what == what))

    def plus(self, components: Iterable[Component]) -> UncertainValue:
        """The value with further components."""
        return replace(self, components=(*self.components, *components))

    def without(self, what: str) -> UncertainValue:
        """The value without the components of a name."""
        return replace(self, components=tuple(each for each in self.components if each.what != what))

    def __truediv__(self, other: UncertainValue) -> UncertainValue:
        """The ratio of two values; what is wrong of both alike leaves it as it is."""
        theirs = {each.key: each for each in other.components if each.key}
        ours = {each.key for each in self.components if each.key}
        components = [each.less(theirs[each.key]) if each.key in theirs else each for each in self.components]
        components += [replace(each, sd=-each.sd) for each in other.components if each.key not in ours]
        return UncertainValue(self.value / other.value, tuple(components), self.confidence)

    def to_json(self) -> dict[str, Any]:
        """The value as plain JSON; `sd` and those of the parts are of the logarithm."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "sd": self.sd,
            "parts": {part.what: part.sd for part in self.parts},
        }

    def chance_of(self, least: float) -> float:
        """Probability of a number of at least so much."""
        if self.value <= 0.0 or self.sd <= 0.0:
            return float(self.value >= least)
        return float(scipy.special.stdtr(self.freedom, math.log(self.value / least) / self.sd))

    def mean_shortfall(self, wanted: float) -> float:
        """Mean of what is missing to `wanted` where it isn't reached; 0 if it surely is."""
        chances = QUANTILES * (1.0 - self.chance_of(wanted))
        if chances[-1] <= 1e-12 or self.value <= 0.0:
            return 0.0 if self.value > 0.0 else wanted
        numbers = self.value * np.exp(self.sd * scipy.special.stdtrit(self.freedom, chances))
        return float(np.mean(wanted - numbers))

    def _end(self, sign: float) -> float:
        return self._within_scale(
            (self.centre + self.negligible) * math.exp(sign * self.log_half_width) - self.negligible
        )

    def _within_scale(self, number: float) -> float:
        return max(number, 0.0) if self.most is None else min(max(number, 0.0), self.most)
