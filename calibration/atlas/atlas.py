"""What public runs say of a machine's rate: a factor for the model's rate, its uncertainty, the nearest runs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from oltpsim.calibration.atlas.kernel import AtlasKernel
from oltpsim.calibration.atlas.runs import AtlasRun, Place, read_atlas_runs
from oltpsim.simulator.form import FloatArray

DECIMALS = 6
"""Decimals of logarithms: an answer is the same whatever BLAS has solved"""
LEAST_ALIKE, MOST_NEARBY = 0.2, 3
"""Correlation from which on a run counts as nearby; number of such runs that are named"""


@dataclass(frozen=True)
class Nearby:
    """A measured run, and the correlation of what the model misses of it and of the machine in question."""

    run: AtlasRun
    correlation: float


@dataclass(frozen=True)
class Adjustment:
    """What runs say of a machine: mean and standard deviation of the logarithm of its measured by its calculated rate.

    `prior_sd`: the same without any run; `nearest`: runs by correlation, the nearest first.
    """

    log: float
    sd: float
    prior_sd: float
    nearest: tuple[Nearby, ...]

    @property
    def factor(self) -> float:
        """Factor by which the model's rate is multiplied."""
        return math.exp(self.log)

    @property
    def learned(self) -> float:
        """Share of the prior variance that runs have taken away."""
        return 1.0 - (self.sd / self.prior_sd) ** 2

    def to_json(self) -> dict[str, Any]:
        """The adjustment as plain JSON."""
        runs = [
            {
                "line": each.run.line,
                "source": each.run.source,
                "measured_per_min": each.run.measured_per_min,
                "calculated_per_min": each.run.calculated_per_min,
                "correlation": each.correlation,
            }
            for each in self.nearest
        ]
        return {"factor": self.factor, "sd": self.sd, "learned": self.learned, "runs": runs}

    def log_rate(self, calculated: float, simulated: float | None = None) -> float:
        """Logarithm of the rate by the formulas' and the kernel's rates.

        Runs were compared with the formulas. The kernel's difference counts as far as runs haven't taught it already.
        """
        found = math.log(calculated) + self.log
        return found if simulated is None else found + (1.0 - self.learned) * math.log(simulated / calculated)


@dataclass(frozen=True)
class Atlas:
    """Runs and the kernel of what the model misses of them."""

    runs: tuple[AtlasRun, ...]
    kernel: AtlasKernel

    def adjustment(self, place: Place) -> Adjustment:
        """What the runs say of a machine."""
        across = self.kernel.between([place], self._places)[0]
        alone = self.kernel.variance(place)
        gain = np.linalg.solve(self._known, across)
        variance = alone - float(across @ gain)
        return Adjustment(
            log=round(float(self._missed @ gain), DECIMALS),
            sd=round(math.sqrt(variance), DECIMALS),
            prior_sd=round(math.sqrt(alone), DECIMALS),
            nearest=self._nearest(place),
        )

    def _nearest(self, place: Place) -> tuple[Nearby, ...]:
        """The nearest run of each of the nearest machines, of the same engine and workload: rates of one unit."""
        correlations = self._correlations(place)
        found: dict[str, Nearby] = {}
        for k in np.argsort(-correlations, kind="stable"):
            if len(found) == MOST_NEARBY or correlations[k] < LEAST_ALIKE:
                break
            if self.runs[k].place.kinds[:2] == place.kinds[:2]:
                found.setdefault(self.runs[k].machine, Nearby(self.runs[k], float(correlations[k])))
        return tuple(found.values())

    def assumption_sds(self, place: Place, facts: Mapping[str, float]) -> dict[str, float]:
        """Standard deviations of the rate's logarithm by assumed facts, as far as the runs' lines did say them.

        What lines left to the same assumption is part of what the model missed of them. A run counts by the square of
        its correlation; without any run every fact is open.
        """
        weights = self._correlations(place) ** 2
        whole = float(weights.sum())
        found = {}
        for fact, sd in facts.items():
            said = [fact not in run.assumed for run in self.runs]
            share = float(weights @ said) / whole if whole > 0.0 else 1.0
            if sd * share > 0.0:
                found[fact] = round(sd * math.sqrt(share), DECIMALS)
        return found

    def _correlations(self, place: Place) -> FloatArray:
        """Correlations of what the model misses of a machine and of each run, `single` apart."""
        scale = np.sqrt((self.kernel.variance(place) - self.kernel.single**2) * self._variances)
        correlations: FloatArray = self.kernel.between([place], self._places)[0] / np.maximum(scale, 1e-30)
        return correlations

    @cached_property
    def _places(self) -> list[Place]:
        return [run.place for run in self.runs]

    @cached_property
    def _missed(self) -> FloatArray:
        return np.array([run.missed for run in self.runs])

    @cached_property
    def _between(self) -> FloatArray:
        return self.kernel.between(self._places, self._places)

    @cached_property
    def _variances(self) -> FloatArray:
        return self._between.diagonal()

    @cached_property
    def _known(self) -> FloatArray:
        noise = np.array([run.noise_sd for run in self.runs])
        return self._between + np.diag(noise**2 + self.kernel.single**2)


@cache
def shipped_atlas() -> Atlas:
    """The atlas that comes with the program."""
    return Atlas(read_atlas_runs(), AtlasKernel.read())
