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
from typing import Any

import numpy as np

from oltpsim.calibration.fit import Calibration, apply_calibration
from oltpsim.calibration.predict import (
    CHANCE,
    Component,
    MeasurementInterval,
    UncertainValue,
    guesses_of,
    measurement_interval,
)
from oltpsim.models.reading import Description, scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.scenarios.library import asked_scenario
from oltpsim.scenarios.run import Display, SimulationTask, pool_rates, read_saved_run, run_all
from oltpsim.simulator.errors import InputError, InternalError
from oltpsim.simulator.results import Result, times_faster
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
class Difference:
    """Difference of another scenario's rate from the first one's; a single pair has no interval of chance."""

    seeds: int
    difference_per_min: float
    difference_ends: tuple[float, float] | None
    ratio: UncertainValue
    """the other's rate over the first one's, uncertain by chance alone"""
    correlation: float | None
    """of the two scenarios' rates over the seeds; None of fewer than 3, or if one of them doesn't vary"""
    variance_reduction: float | None
    """variance of the difference with independent seeds over that with the same; None of fewer than 3, or if the
    difference has none"""

    measured_ratio: UncertainValue | None = None
    """ratio of two measured rates; None where that isn't asked for or can't be said"""

    @property
    def same(self) -> bool:
        """Whether every pair is equal, to the last bit."""
        return self.difference_per_min == 0.0 and self.difference_ends == (0.0, 0.0)

    @property
    def ratio_ends(self) -> tuple[float, float] | None:
        """The ratio's interval of chance; None of a single pair."""
        return None if self.seeds < 2 else self.ratio.interval

    @property
    def distinguishable(self) -> bool | None:
        """Whether the ratio's interval excludes 1; None of a single pair."""
        return None if self.ratio_ends is None else not self.ratio_ends[0] <= 1.0 <= self.ratio_ends[1]

    @property
    def half_width_fraction(self) -> float:
        """Half-width of the ratio's interval, as a share of the ratio; infinite of a single pair."""
        return math.inf if self.ratio_ends is None else math.expm1(self.ratio.log_half_width)

    def to_json(self) -> dict[str, Any]:
        """The difference as plain JSON."""
        ends = {"difference_interval": (self.difference_per_min, self.difference_ends),
                "ratio_interval": (self.ratio.value, self.ratio_ends)}  # fmt: skip
        return {
            "seeds": self.seeds,
            "confidence": self.ratio.confidence,
            "difference_per_min": self.difference_per_min,
            "ratio": self.ratio.value,
            **{
                name: found and {"mean": mean, "low": found[0], "high": found[1]}
                for name, (mean, found) in ends.items()
            },
            "correlation": self.correlation,
            "variance_reduction": self.variance_reduction,
            "measured_ratio": self.measured_ratio and list(self.measured_ratio.interval),
            "distinguishable": self.distinguishable,
            "same": self.same,
        }


def paired(first: Sequence[float], other: Sequence[float], comparisons: int = 1) -> Difference:
    """The difference `other` - `first` of rates by seed, all above 0.

    With several comparisons all intervals hold together at the usual confidence (Bonferroni).
    """
    if len(first) != len(other) or not first or min(*first, *other) <= 0:
        raise InternalError("a paired difference needs as many rates of both, all above 0")
    a, b = np.array(first), np.array(other)
    confidence = 1.0 - (1.0 - CONFIDENCE_LEVEL) / comparisons
    differences, logs = b - a, np.log(b) - np.log(a)
    mean, count = float(differences.mean()), len(a)
    single, enough = count < 2, count >= LEAST_FOR_CORRELATION
    spread = 0.0 if single else float(differences.var(ddof=1))
    apart = 0.0 if single else float(a.var(ddof=1) + b.var(ddof=1))
    half = 0.0 if single else student_t_factor(count - 1, confidence) * math.sqrt(spread / count)
    chance_sd = 0.0 if single else float(logs.std(ddof=1)) / math.sqrt(count)
    chance = Component(CHANCE, chance_sd, freedom=count - 1)
    return Difference(
        seeds=count,
        difference_per_min=mean,
        difference_ends=None if single else (mean - half, mean + half),
        ratio=UncertainValue(math.exp(float(logs.mean())), () if single else (chance,), confidence),
        correlation=float(np.corrcoef(a, b)[0, 1]) if enough and a.std() and b.std() else None,
        variance_reduction=apart / spread if enough and spread > 0 else None,
    )


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
        return ScenarioComparison(tuple(self.sides), results, _differences(results), ("",) * len(self.sides))


def measured_comparison(found: ScenarioComparison, calibration: Calibration | None = None) -> ScenarioComparison:
    """The comparison with where measurements would fall: each side's rate, and its ratio to the first one's.

    What is wrong of two sides alike leaves their ratio as it is.
    """
    measured: list[MeasurementInterval | str] = []
    for side, results in zip(found.sides, found.results, strict=True):
        try:
            rate = pool_rates(results).rate_per_min
            guesses = None if side.description is None else guesses_of(side.description, calibration)
            measured.append(measurement_interval(side.uncalibrated or side.scenario, rate, calibration, guesses))
        except InputError as error:
            measured.append(f"where a measurement would fall can't be said: {'; '.join(str(error).splitlines())}")
    corrected = tuple(map(_corrected, found.results, measured))
    found = replace(found, results=corrected, differences=_differences(corrected))
    first, *others = measured
    differences = tuple(
        each
        if isinstance(first, str) or isinstance(other, str) or each.same
        else replace(each, measured_ratio=_measured_ratio(each, first.rate, other.rate))
        for each, other in zip(found.differences, others, strict=True)
    )
    return replace(found, differences=differences, measured=tuple(measured))


def _differences(results: Sequence[Sequence[Result]]) -> tuple[Difference, ...]:
    """Differences of all sides from the first one, pair by pair of seeds."""
    first, *others = ([result.rate_per_min.mean for result in of_side] for of_side in results)
    return tuple(paired(first, rates, len(results) - 1) for rates in others)


def _measured_ratio(difference: Difference, first: UncertainValue, other: UncertainValue) -> UncertainValue:
    """The ratio of two measured rates. Chance is that of the pairs of runs; of a single pair that of both rates."""
    ratio = replace(other / first, centre=difference.ratio.value)
    return ratio if difference.seeds < 2 else ratio.without(CHANCE).plus(difference.ratio.components)


def _corrected(results: tuple[Result, ...], expected: MeasurementInterval | str) -> tuple[Result, ...]:
    """Results of a side's seeds as measured runs correct their mean."""
    if isinstance(expected, str) or expected.nearby is None:
        return results
    return tuple(times_faster(result, expected.correction) for result in results)
