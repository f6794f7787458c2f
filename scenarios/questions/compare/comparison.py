"""Scenarios side by side, by paired differences of runs with the same seeds, with Student's t interval.

Scenarios are files, names of the library, lines that describe a machine or saved runs, each under a letter. Runs of one
seed draw the same numbers from the same named streams, so that most of what chance does is in both and not in their
difference. Source: Law, Simulation Modeling and Analysis, 10.2.1 (paired t) and 11.2 (common random numbers). The
ratio's interval is that of the mean difference of logarithms.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from oltpsim.calibration.fit import Calibration, apply_calibration
from oltpsim.calibration.predict import MeasurementInterval, Uncertainty, guesses_of, ratio_interval, uncertainty_of
from oltpsim.models.reading import Description, scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import asked_scenario
from oltpsim.scenarios.run import Display, SimulationTask, pool_rates, read_saved_run, run_all
from oltpsim.simulator.errors import InputError, InternalError
from oltpsim.simulator.form import FloatArray
from oltpsim.simulator.results import Result
from oltpsim.simulator.results.recording import CONFIDENCE_LEVEL, student_t_factor

LABELS = string.ascii_uppercase
OF_ONE = re.compile(r"^\s*([A-Z])\s*:(.*)$", re.DOTALL)
POOLED = "t interval over"
LEAST_FOR_CORRELATION = 3
"""two pairs always lie on a line"""
LEAST_SEEDS = 4
"""before an interval may be called narrow enough"""


@dataclass(frozen=True)
class ComparedScenario:
    """Compared scenario. `word`: how the command line names it; `saved_result`: of a saved run that still holds.

    `uncalibrated`: the scenario without the calibrated values that it has, if it has some. `description`: what a line
    that describes it comes to.
    """

    label: str
    word: str
    changes: tuple[str, ...]
    scenario: ScenarioSpec
    saved_result: Result | None
    uncalibrated: ScenarioSpec | None = None
    description: Description | None = None

    @property
    def title(self) -> str:
        """Title: its word and its changes, as on the command line."""
        return ", ".join([self.word, *self.changes])


def read_sides(
    words: Sequence[str], settings: Sequence[str], calibration: Calibration | None = None
) -> list[ComparedScenario]:
    """Each word with the settings for all and those for it, `B:key=value`, and with calibrated values.

    Raises InputError.
    """
    if not 2 <= len(words) <= len(LABELS):
        raise InputError(f"compare: got {len(words)} scenarios; give 2 to {len(LABELS)} of them")
    labels = LABELS[: len(words)]
    changes: dict[str, list[str]] = {label: [] for label in labels}
    for setting in settings:
        one = OF_ONE.match(setting)
        if one is None:
            for label in labels:
                changes[label].append(setting)
        elif one[1] in changes:
            changes[one[1]].append(one[2])
        else:
            raise InputError(f"--set {setting}: there is no scenario {one[1]}; compared are {', '.join(labels)}")
    sides = [_side(label, word, changes[label]) for label, word in zip(labels, words, strict=True)]
    first, *others = (side.scenario.workload for side in sides)
    for label, other in zip(labels[1:], others, strict=True):
        if other.main_class != first.main_class:
            raise InputError(
                f"compare: A runs {first.name}, {label} {other.name}, whose transactions are others: give machines "
                "with one workload"
            )
    if calibration is None:
        return sides
    return [
        replace(
            side, scenario=apply_calibration(calibration, side.scenario), uncalibrated=side.scenario, saved_result=None
        )
        for side in sides
    ]


def _side(label: str, word: str, changes: list[str]) -> ComparedScenario:
    saved_result, description = None, None
    if not word.endswith(".json"):
        asked = asked_scenario(word, changes)
        scenario, description = asked.scenario, asked.description
    else:
        run = read_saved_run(Path(word))
        scenario, result = run.scenario, run.result
        if changes:
            scenario = scenario_from_mapping(scenario.model_dump(mode="json"), word, changes)
        elif (
            not result.rate_per_min.method.startswith(POOLED)
            and result.engine == scenario.engine
            and build(scenario).digest() == result.model_hash
        ):
            saved_result = result
    return ComparedScenario(label, word, tuple(changes), scenario, saved_result, None, description)


@dataclass(frozen=True)
class PairedInterval:
    """A mean and where it may lie."""

    mean: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies in it."""
        return self.low <= value <= self.high

    def exp(self) -> PairedInterval:
        """The interval of a quantity whose logarithm has this one."""
        return PairedInterval(math.exp(self.mean), math.exp(self.low), math.exp(self.high))


@dataclass(frozen=True)
class Difference:
    """Difference of another scenario's rate from the first one's; intervals are None of a single pair."""

    seeds: int
    confidence: float
    difference_per_min: float
    ratio: float
    difference_interval: PairedInterval | None
    ratio_interval: PairedInterval | None
    correlation: float | None
    """of the two scenarios' rates over the seeds; None of fewer than 3, or if one of them doesn't vary"""
    variance_reduction: float | None
    """variance of the difference with independent seeds over that with the same; None of fewer than 3, or if the
    difference has none"""

    measured_ratio: tuple[float, float] | None = None
    """in which the ratio of two measured rates would fall; None where that isn't asked for or can't be said"""

    @property
    def same(self) -> bool:
        """Whether every pair is equal, to the last bit."""
        return self.difference_interval == PairedInterval(0.0, 0.0, 0.0)

    @property
    def distinguishable(self) -> bool | None:
        """Whether the ratio's interval excludes 1; None of a single pair."""
        return None if self.ratio_interval is None else not self.ratio_interval.holds(1.0)

    @property
    def half_width_fraction(self) -> float:
        """Half-width of the ratio's interval, as a share of the ratio; infinite of a single pair."""
        if self.ratio_interval is None:
            return math.inf
        return math.sqrt(self.ratio_interval.high / self.ratio_interval.low) - 1.0


def paired(first: Sequence[float], other: Sequence[float], comparisons: int = 1) -> Difference:
    """The difference `other` - `first` of rates by seed, all above 0.

    With several comparisons all intervals hold together at the usual confidence (Bonferroni).
    """
    if len(first) != len(other) or not first or min(*first, *other) <= 0:
        raise InternalError("a paired difference needs as many rates of both, all above 0")
    a, b = np.array(first), np.array(other)
    confidence = 1.0 - (1.0 - CONFIDENCE_LEVEL) / comparisons
    differences, logs = b - a, np.log(b) - np.log(a)
    mean, log = float(differences.mean()), float(logs.mean())
    single = len(a) < 2
    enough = len(a) >= LEAST_FOR_CORRELATION
    spread = 0.0 if single else float(differences.var(ddof=1))
    apart = 0.0 if single else float(a.var(ddof=1) + b.var(ddof=1))
    return Difference(
        seeds=len(a),
        confidence=confidence,
        difference_per_min=mean,
        ratio=math.exp(log),
        difference_interval=None if single else _around(mean, differences, confidence),
        ratio_interval=None if single else _around(log, logs, confidence).exp(),
        correlation=float(np.corrcoef(a, b)[0, 1]) if enough and a.std() and b.std() else None,
        variance_reduction=apart / spread if enough and spread > 0 else None,
    )


def _around(mean: float, values: FloatArray, confidence: float) -> PairedInterval:
    half = student_t_factor(len(values) - 1, confidence) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return PairedInterval(mean, mean - half, mean + half)


@dataclass(frozen=True)
class ScenarioComparison:
    """Every side's results by seed, seeds in the same order, and the differences from the first side."""

    sides: tuple[ComparedScenario, ...]
    results: tuple[tuple[Result, ...], ...]
    differences: tuple[Difference, ...]
    measured: tuple[MeasurementInterval | str, ...]
    """where a measurement of each side would fall, or why that isn't known; empty if only chance is asked for"""

    @property
    def seeds(self) -> list[int]:
        """Seeds of every side's runs; of the analytic engine one."""
        return [result.seed for result in self.results[0]]


@dataclass
class Comparer:
    """Executor of the runs of all sides, seed by seed; what it has run can be compared after an interruption."""

    sides: Sequence[ComparedScenario]
    seed: int
    _results: dict[tuple[int, int], Result] = field(default_factory=dict)
    """by the side's number and the seed"""

    def __post_init__(self) -> None:
        for number, side in enumerate(self.sides):
            if side.saved_result is not None:
                self._results[number, side.saved_result.seed] = side.saved_result

    def run(self, replications: int, workers: int, display: Display) -> None:
        """Run seeds `seed` .. `seed` + `replications` - 1 of every side. Raises InputError if a side can't be run."""
        seeds = range(self.seed, self.seed + replications)
        runs = [(number, seed) for seed in seeds for number in range(len(self.sides))]
        runs = [run for run in runs if run not in self._results]
        tasks = [SimulationTask(self.sides[number].scenario, seed) for number, seed in runs]
        with closing(run_all(tasks, workers, display)) as outcomes:
            for at, outcome in outcomes:
                if isinstance(outcome, InputError):
                    raise InputError(f"{self.sides[runs[at][0]].label}: {outcome}") from outcome
                self._results[runs[at]] = outcome

    def run_until(self, half_width_fraction: float, most_seeds: int, workers: int, display: Display) -> None:
        """Run more seeds until every ratio's interval is within this share of it, or there are `most_seeds`."""
        replications = min(LEAST_SEEDS, most_seeds)
        while True:
            self.run(replications, workers, display)
            compared = self.comparison()
            assert compared is not None
            widest = max(difference.half_width_fraction for difference in compared.differences)
            if widest <= half_width_fraction or replications >= most_seeds:
                return
            replications = min(most_seeds, replications + max(2, replications // 2))

    def comparison(self) -> ScenarioComparison | None:
        """Comparison over the seeds that every side has; None if there is none yet."""
        numbers = range(len(self.sides))
        seeds = sorted({seed for _, seed in self._results})
        seeds = [seed for seed in seeds if all((number, seed) in self._results for number in numbers)]
        if not seeds:
            return None
        results = tuple(tuple(self._results[number, seed] for seed in seeds) for number in numbers)
        rates = [[result.rate_per_min.mean for result in of_side] for of_side in results]
        for side, rates_of_side in zip(self.sides, rates, strict=True):
            if min(rates_of_side) <= 0:
                raise InputError(f"{side.label}: {side.title}: no transaction ended in the interval; make it longer")
        differences = tuple(paired(rates[0], others, len(self.sides) - 1) for others in rates[1:])
        return ScenarioComparison(tuple(self.sides), results, differences, ("",) * len(self.sides))


def measured_comparison(found: ScenarioComparison, calibration: Calibration | None = None) -> ScenarioComparison:
    """The comparison with where measurements would fall: each side's rate, and its ratio to the first one's.

    What is wrong of two sides alike leaves their ratio as it is.
    """
    left: list[Uncertainty | str] = []
    for side, results in zip(found.sides, found.results, strict=True):
        try:
            rate = pool_rates(results).rate_per_min
            guesses = None if side.description is None else guesses_of(side.description, calibration)
            left.append(uncertainty_of(side.uncalibrated or side.scenario, rate, calibration, guesses))
        except InputError as error:
            left.append(f"where a measurement would fall can't be said: {'; '.join(str(error).splitlines())}")
    first, *others = left
    differences = tuple(
        each
        if isinstance(first, str) or isinstance(other, str) or each.same
        else replace(each, measured_ratio=ratio_interval(first, other, each.ratio, _chance_sd(each)))
        for each, other in zip(found.differences, others, strict=True)
    )
    measured = tuple(each if isinstance(each, str) else each.interval for each in left)
    return replace(found, differences=differences, measured=measured)


def _chance_sd(difference: Difference) -> float | None:
    """What chance does to the ratio's logarithm, as a standard deviation."""
    if difference.ratio_interval is None:
        return None
    return math.log1p(difference.half_width_fraction) / student_t_factor(difference.seeds - 1, difference.confidence)
