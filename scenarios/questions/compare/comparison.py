"""Runs of all sides with the same seeds, as many as are wanted or until the intervals are narrow enough."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from scenarios.questions.compare.pairing import Difference, paired
from scenarios.questions.compare.side import ComparedScenario
from scenarios.run import Display, SimulationTask, run_all
from simulator.errors import InputError
from simulator.results import Result

LEAST_SEEDS = 4
"""before an interval may be called narrow enough"""


@dataclass(frozen=True)
class ScenarioComparison:
    """Every side's results by seed, seeds in the same order, and the differences from the first side."""

    sides: tuple[ComparedScenario, ...]
    results: tuple[tuple[Result, ...], ...]
    differences: tuple[Difference, ...]

    @property
    def seeds(self) -> list[int]:
        """Of every side's runs; of the analytic engine one."""
        return [result.seed for result in self.results[0]]


@dataclass
class Comparer:
    """Runs what isn't there yet; keeps what is done so that an interrupted comparison can still be shown."""

    sides: Sequence[ComparedScenario]
    seed: int
    _found: dict[tuple[int, int], Result] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, side in enumerate(self.sides):
            if side.kept is not None:
                self._found[number, side.kept.seed] = side.kept

    def run(self, replications: int, workers: int, display: Display) -> None:
        """Seeds `seed` .. `seed` + `replications` - 1 of every side. Raises InputError if a side can't be run."""
        seeds = range(self.seed, self.seed + replications)
        wanted = [(number, seed) for seed in seeds for number in range(len(self.sides))]
        wanted = [each for each in wanted if each not in self._found]
        tasks = [SimulationTask(self.sides[number].scenario, seed) for number, seed in wanted]
        with closing(run_all(tasks, workers, display)) as outcomes:
            for at, outcome in outcomes:
                if isinstance(outcome, InputError):
                    raise InputError(f"{self.sides[wanted[at][0]].label}: {outcome}") from outcome
                self._found[wanted[at]] = outcome

    def until(self, half_width: float, most: int, workers: int, display: Display) -> None:
        """More seeds until every ratio's interval is within `half_width` of it, or there are `most`."""
        replications = min(LEAST_SEEDS, most)
        while True:
            self.run(replications, workers, display)
            widest = max(each.half_width for each in self.comparison().differences)
            if widest <= half_width or replications >= most:
                return
            replications = min(most, replications + max(2, replications // 2))

    def comparison(self) -> ScenarioComparison:
        """Of the seeds that every side has. Raises KeyboardInterrupt if there is none yet."""
        wanted = sorted({seed for _, seed in self._found})
        seeds = [seed for seed in wanted if all((number, seed) in self._found for number in range(len(self.sides)))]
        if not seeds:
            raise KeyboardInterrupt
        results = tuple(tuple(self._found[number, seed] for seed in seeds) for number in range(len(self.sides)))
        rates = [[result.rate_per_min.mean for result in mine] for mine in results]
        for side, mine in zip(self.sides, rates, strict=True):
            if min(mine) <= 0:
                raise InputError(f"{side.label}: {side.title}: no transaction ended in the interval; make it longer")
        differences = tuple(paired(rates[0], mine, len(self.sides) - 1) for mine in rates[1:])
        return ScenarioComparison(tuple(self.sides), results, differences)
