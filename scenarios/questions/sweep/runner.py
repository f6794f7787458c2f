"""Runner of the points of a sweep that no sweep has run before; each result is stored as soon as it ends.

A point gets a fixed number of replications, or as many as make the interval narrow enough. Their number depends on the
rates of the seeds in their order alone, never on which run was finished first, nor on what a store holds beyond them.
It grows by rounds, each as long as the last interval says is needed, and at most doubles: few looks at the interval
keep its coverage near what it claims (Law, Simulation Modeling and Analysis, section 9.4.1).
"""

import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from models.scenario import ScenarioSpec
from scenarios.questions.sweep.answer import Sweep, SweepRow
from scenarios.questions.sweep.design import Axis, SampledAxis, SweepPoint
from scenarios.run import (
    POLL_S,
    Display,
    ProgressMeter,
    RunFigures,
    RunKey,
    SimulationTask,
    Store,
    StoredRun,
    TaskExecutor,
    executor_for,
    perform_run,
    program_hash,
    run_hash,
    scenario_text,
    work_through,
)
from simulator.errors import InputError
from simulator.results import Estimate
from simulator.results.recording import mean_of_replications

LEAST_UNTIL = 5
"""Fewer rates may lie close together by chance, and would stop the replications too early."""
MOST_UNTIL = 100


@dataclass(frozen=True)
class ReplicationRule:
    """`most` replications; with `until_fraction` fewer, once half the interval is at most this share of the mean."""

    most: int = 1
    until_fraction: float | None = None

    def __post_init__(self) -> None:
        if self.until_fraction is not None and self.most < LEAST_UNTIL:
            raise InputError(
                f"--replications: got {self.most}; with --until it is the most that are run, and an interval is "
                f"trusted from {LEAST_UNTIL} on: give {LEAST_UNTIL} or more, or leave it out for {MOST_UNTIL}"
            )

    @property
    def first(self) -> int:
        """Replications before the first look at the interval."""
        return self.most if self.until_fraction is None else LEAST_UNTIL

    def wanted(self, rates: list[float]) -> int:
        """Number of replications that are needed, given the rates of the first ones; their number if they suffice."""
        count = len(rates)
        if self.until_fraction is None or count >= self.most:
            return count
        share = half_width(mean_of_replications(rates))
        if share <= self.until_fraction:
            return count
        needed = math.ceil(min(count * (share / self.until_fraction) ** 2, self.most))
        return min(self.most, 2 * count, max(count + 1, needed))

    def shortfall(self, rates: list[float]) -> str:
        """Warning for when the most replications left the interval too wide; empty if they didn't."""
        if self.until_fraction is None or (share := half_width(mean_of_replications(rates))) <= self.until_fraction:
            return ""
        return (
            f"after {len(rates)} replications the interval is still ±{share:.2%} of the rate, "
            f"wider than ±{100 * self.until_fraction:.3g}%: allow more by --replications, or take longer runs"
        )


def half_width(estimate: Estimate) -> float:
    """Half the width of an interval as a share of the mean; 0 if all rates are 0."""
    half = estimate.high - estimate.mean
    return 0.0 if half == 0 else half / estimate.mean if estimate.mean > 0 else math.inf


class ReplicatedScenario:
    """The runs of one scenario: seeds in order, as many as the rule asks for."""

    def __init__(self, scenario: ScenarioSpec, text: str, seed: int) -> None:
        self.scenario, self._text, self._seed = scenario, text, seed
        self.records: list[StoredRun | None] = []
        self.is_complete = False

    def run(self, number: int) -> RunKey:
        """Key of the run that is the replication of a number."""
        seed = self._seed + number
        return RunKey(run_hash(self._text, seed), self._text, seed)

    def take(self, number: int, record: StoredRun) -> None:
        """The record of a replication; its result stays in the store."""
        self.records[number] = replace(record, result=b"")

    def next_round(self, rule: ReplicationRule) -> range:
        """The replications to run next; empty while some are awaited, and when all are there."""
        count = len(self.records)
        if self.is_complete or None in self.records:
            return range(0)
        wanted = count
        if not count:
            wanted = rule.first
        elif not self.reason:
            wanted = rule.wanted([figures.rate_per_min.mean for figures in self.figures])
        self.is_complete = wanted == count
        self.records += [None] * (wanted - count)
        return range(count, wanted)

    @property
    def figures(self) -> list[RunFigures]:
        """Figures of all replications that are done."""
        found = [record.figures for record in self.records if record is not None]
        return [figures for figures in found if figures is not None]

    @property
    def reason(self) -> str:
        """Why the machine can't run it; empty if it can."""
        return next((record.reason for record in self.records if record is not None and record.reason), "")


Item = tuple[ReplicatedScenario, int]


class WaitingRuns:
    """The runs that are neither in the store nor claimed by another sweep on it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._items: deque[Item] = deque()
        self._with_others: list[Item] = []
        self.found: list[tuple[Item, StoredRun]] = []

    @property
    def left(self) -> int:
        """Number of waiting runs, with those that other sweeps run at the moment."""
        return len(self._items) + len(self._with_others)

    def add(self, item: Item) -> None:
        """Queue a run."""
        self._items.append(item)

    def take(self, most: int) -> list[tuple[Item, SimulationTask]]:
        """The first ones, claimed. What another sweep has finished meanwhile goes to `found`."""
        taken: list[tuple[Item, SimulationTask]] = []
        while self._items and len(taken) < most:
            item = replicated, number = self._items.popleft()
            run = replicated.run(number)
            if not self._store.claim(run):
                self._with_others.append(item)
            elif (record := self._store.find(run)) is not None:
                self._store.release(run)
                self.found.append((item, record))
            else:
                taken.append((item, SimulationTask(replicated.scenario, run.seed)))
        return taken

    def try_again(self) -> None:
        """Queue again what other sweeps had claimed: it may be finished, or claimed no more."""
        self._items.extend(self._with_others)
        self._with_others.clear()


class SweepRunner:
    """The points of a sweep, what is known of each, and what is still to run. `store` outlives it.

    Points whose scenarios are equal share their runs. An interrupted sweep can still be shown.
    """

    def __init__(self, points: Sequence[SweepPoint], store: Store, seed: int, rule: ReplicationRule) -> None:
        self.store = store
        self._points, self._seed, self._rule = points, seed, rule
        self.wanted = self.finished = self.reused = 0
        self._texts = [
            scenario_text(each.scenario) if isinstance(each.scenario, ScenarioSpec) else "" for each in points
        ]
        self._scenarios: dict[str, ReplicatedScenario] = {}
        for point, text in zip(points, self._texts, strict=True):
            if isinstance(point.scenario, ScenarioSpec) and text not in self._scenarios:
                self._scenarios[text] = ReplicatedScenario(point.scenario, text, seed)
        self._waiting = WaitingRuns(store)

    def run(self, workers: int, display: Display) -> None:
        """Run what is not in the store yet, in this process or in several."""
        meter = self._begin(display)
        engines = [each.scenario.engine for each in self._scenarios.values() if not each.is_complete]
        with executor_for(engines * min(self._rule.first, workers), workers, meter) as executor:
            self._run_by(executor, meter)

    def run_at(self, executor: TaskExecutor, display: Display) -> None:
        """Run what is not in the store yet by an executor such as a cluster's."""
        self._run_by(executor, self._begin(display))

    def _begin(self, display: Display) -> ProgressMeter:
        for replicated in self._scenarios.values():
            self._ask(replicated)
        return ProgressMeter(display, self._waiting.left)

    def _ask(self, replicated: ReplicatedScenario) -> None:
        """Take from the store what the rule asks for, and queue the rest."""
        while numbers := replicated.next_round(self._rule):
            self.wanted += len(numbers)
            for number in numbers:
                record = self.store.find(replicated.run(number))
                if record is None:
                    self._waiting.add((replicated, number))
                else:
                    self.reused += 1
                    self.finished += 1
                    replicated.take(number, record)

    def _run_by(self, executor: TaskExecutor, meter: ProgressMeter) -> None:
        work = partial(perform_run, program_hash())
        while self._waiting.left:
            with closing(work_through(self._waiting, executor, work, meter)) as finished:
                for records in finished:
                    self.store.keep((replicated.run(number), record) for (replicated, number), record in records)
                    for (replicated, number), _ in records:
                        self.store.release(replicated.run(number))
                    self._settle(records)
                    self._take_found()
                    meter.count = self.wanted - self.reused
            self._take_found()
            if self._waiting.left:
                meter.display.step("waiting for runs that another sweep on this store has begun")
                time.sleep(POLL_S)
                self._waiting.try_again()

    def _take_found(self) -> None:
        found, self._waiting.found = self._waiting.found, []
        self.reused += len(found)
        self._settle(found)

    def _settle(self, records: list[tuple[Item, StoredRun]]) -> None:
        for (replicated, number), record in records:
            replicated.take(number, record)
            self.finished += 1
            self._ask(replicated)

    def sweep(self, scenario: str, axes: Sequence[Axis | SampledAxis], samples: int | None = None) -> Sweep:
        """Outcome so far, in the order of the points. Raises InputError if no point could be run."""
        rows: list[SweepRow] = []
        example: RunFigures | None = None
        engines: list[str] = []
        for point, replicated in self._replicated():
            if isinstance(point.scenario, InputError):
                rows.append(SweepRow(point.values, reason=str(point.scenario)))
            elif replicated is not None and replicated.reason:
                rows.append(SweepRow(point.values, reason=replicated.reason))
            elif replicated is not None and replicated.is_complete:
                figures = replicated.figures
                example = example or figures[0]
                engines += [each.engine for each in figures]
                rows.append(self._row(point.values, figures))
        if example is None:
            reasons = "; ".join(sorted({row.reason for row in rows if row.reason}))
            raise InputError(f"no point of the sweep could be run: {reasons or 'none was finished'}")
        return Sweep(
            scenario=scenario,
            axes=tuple(axes),
            samples=samples,
            seed=self._seed,
            replications=self._rule.most,
            until_fraction=self._rule.until_fraction,
            engine=", ".join(dict.fromkeys(engines)),
            versions=example.versions,
            confidence=example.rate_per_min.confidence,
            rows=tuple(rows),
        )

    def _row(self, values: tuple[str, ...], figures: list[RunFigures]) -> SweepRow:
        """The figures of the first replication; its rate replaced by the mean of all, with a t interval."""
        first = figures[0]
        rates = [each.rate_per_min.mean for each in figures]
        rate = mean_of_replications(rates) if len(rates) > 1 else first.rate_per_min
        shortfall = self._rule.shortfall(rates)
        return SweepRow(
            values=values,
            rate_per_min=rate.mean,
            low_per_min=rate.low,
            high_per_min=rate.high,
            replications=len(figures),
            bottleneck=first.bottleneck,
            cpu_utilisation=first.cpu_utilisation,
            disk_utilisation=first.disk_utilisation,
            hit_ratios=first.hit_ratios,
            model_hash=first.model_hash,
            warnings=(*first.warnings, *([shortfall] if shortfall else [])),
        )

    def runs(self) -> Iterator[tuple[int, SweepPoint, RunKey]]:
        """Every run of a finished point, with the number of the point from 1 and the point itself; for exports."""
        for number, (point, replicated) in enumerate(self._replicated(), start=1):
            if replicated is not None and replicated.is_complete and not replicated.reason:
                for replication in range(len(replicated.records)):
                    yield number, point, replicated.run(replication)

    def _replicated(self) -> Iterator[tuple[SweepPoint, ReplicatedScenario | None]]:
        for point, text in zip(self._points, self._texts, strict=True):
            yield point, self._scenarios.get(text)
