"""Runner of the points of a sweep; a run that the store holds is not run again, a result is stored as soon as it ends.

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
from typing import NamedTuple

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.scenarios.questions.sweep.answer import Sweep, SweepRow
from oltpsim.scenarios.questions.sweep.design import Axis, SampledAxis, SweepPoint
from oltpsim.scenarios.run import (
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
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Estimate
from oltpsim.simulator.results.recording import mean_of_replications

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

    def needed(self, rates: list[float]) -> int:
        """Number of replications that are needed, given the rates of the first ones; their number if they suffice."""
        count = len(rates)
        if self.until_fraction is None or count >= self.most:
            return count
        fraction = half_width_fraction(mean_of_replications(rates))
        if fraction <= self.until_fraction:
            return count
        needed = math.ceil(min(count * (fraction / self.until_fraction) ** 2, self.most))
        return min(self.most, 2 * count, max(count + 1, needed))

    def shortfall(self, rates: list[float]) -> str:
        """Warning for when the most replications left the interval too wide; empty if they didn't."""
        if self.until_fraction is None:
            return ""
        fraction = half_width_fraction(mean_of_replications(rates))
        if fraction <= self.until_fraction:
            return ""
        return (
            f"after {len(rates)} replications the interval is still ±{fraction:.2%} of the rate, "
            f"wider than ±{100 * self.until_fraction:.3g}%: allow more by --replications, or take longer runs"
        )


def half_width_fraction(estimate: Estimate) -> float:
    """Half the width of an interval as a share of the mean; 0 if all rates are 0."""
    half = estimate.half_width
    return 0.0 if half == 0 else half / estimate.mean if estimate.mean > 0 else math.inf


class Replication(NamedTuple):
    """Run of a scenario with the seed that is `number` above the sweep's."""

    scenario: "ReplicatedScenario"
    number: int
    key: RunKey


class ReplicatedScenario:
    """The runs of one scenario: seeds in order, as many as the rule wants."""

    def __init__(self, scenario: ScenarioSpec, text: str, seed: int) -> None:
        self.scenario, self._text, self._seed = scenario, text, seed
        self.records: list[StoredRun | None] = []
        """by the replication's number, without results, which stay in the store; None: not finished"""
        self.is_complete = False

    def replication(self, number: int) -> Replication:
        """The replication of a number."""
        seed = self._seed + number
        return Replication(self, number, RunKey(run_hash(self._text, seed), self._text, seed))

    def next_round(self, rule: ReplicationRule) -> list[Replication]:
        """The replications to run next; empty while one is awaited, and when all are finished."""
        count = len(self.records)
        if self.is_complete or None in self.records:
            return []
        wanted = count
        if not count:
            wanted = rule.first
        elif not self.reason:
            wanted = rule.needed([figures.rate_per_min.mean for figures in self.figures])
        self.is_complete = wanted == count
        self.records += [None] * (wanted - count)
        return [self.replication(number) for number in range(count, wanted)]

    @property
    def figures(self) -> list[RunFigures]:
        """Figures of the finished replications."""
        figures = [record.figures for record in self.records if record is not None]
        return [of_run for of_run in figures if of_run is not None]

    @property
    def reason(self) -> str:
        """Why the machine can't run it; empty if it can."""
        return next((record.reason for record in self.records if record is not None and record.reason), "")


class WaitingRuns:
    """Queue of runs that weren't in the store, in their order."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: deque[Replication] = deque()
        self._claimed_elsewhere: list[Replication] = []
        self.finished_elsewhere: list[tuple[Replication, StoredRun]] = []
        """runs that another sweep on the store has finished since they were queued"""

    @property
    def count(self) -> int:
        """Number of waiting runs, with those that other sweeps run at the moment."""
        return len(self._queue) + len(self._claimed_elsewhere)

    def add(self, replication: Replication) -> None:
        """Queue a run."""
        self._queue.append(replication)

    def take(self, most: int) -> list[tuple[Replication, SimulationTask]]:
        """Claim the first ones. Those that another sweep has finished meanwhile go to `finished_elsewhere`."""
        claimed: list[tuple[Replication, SimulationTask]] = []
        while self._queue and len(claimed) < most:
            replication = self._queue.popleft()
            if not self._store.claim(replication.key):
                self._claimed_elsewhere.append(replication)
            elif (record := self._store.find(replication.key)) is not None:
                self._store.release(replication.key)
                self.finished_elsewhere.append((replication, record))
            else:
                claimed.append((replication, SimulationTask(replication.scenario.scenario, replication.key.seed)))
        return claimed

    def requeue(self) -> None:
        """Queue what other sweeps had claimed: it may be finished, or claimed no longer."""
        self._queue.extend(self._claimed_elsewhere)
        self._claimed_elsewhere.clear()


class SweepRunner:
    """Runner of a sweep's points. `store` outlives it; an interrupted sweep can be shown as far as it came.

    Points whose scenarios are equal share their runs. `runs_needed`, `reused`: numbers of runs that the rule wants so
    far, and that this sweep didn't have to run.
    """

    def __init__(self, points: Sequence[SweepPoint], store: Store, seed: int, rule: ReplicationRule) -> None:
        self.store = store
        self._points, self._seed, self._rule = points, seed, rule
        self.runs_needed = self.reused = 0
        self._by_text: dict[str, ReplicatedScenario] = {}
        self._replicated = [self._replicated_scenario(point.scenario) for point in points]
        """of each point; why it has no scenario where it has none"""
        self._waiting = WaitingRuns(store)

    def _replicated_scenario(self, scenario: ScenarioSpec | InputError) -> ReplicatedScenario | InputError:
        if isinstance(scenario, InputError):
            return scenario
        text = scenario_text(scenario)
        return self._by_text.setdefault(text, ReplicatedScenario(scenario, text, self._seed))

    def run(self, workers: int, display: Display, cluster: str | None = None) -> None:
        """Run what is not in the store yet, in this process, in several, or on the cluster at an address."""
        meter = self._begin(display)
        engines = [each.scenario.engine for each in self._by_text.values() if not each.is_complete]
        with executor_for(engines * min(self._rule.first, workers), workers, meter, cluster) as executor:
            self._run_by(executor, meter)

    def run_at(self, executor: TaskExecutor, display: Display) -> None:
        """Run what is not in the store yet by an executor such as a cluster's."""
        self._run_by(executor, self._begin(display))

    def _begin(self, display: Display) -> ProgressMeter:
        for replicated in self._by_text.values():
            self._next_rounds(replicated)
        return ProgressMeter(display, self._waiting.count)

    def _next_rounds(self, replicated: ReplicatedScenario) -> None:
        """Take from the store what the rule wants next, and queue what isn't there."""
        while replications := replicated.next_round(self._rule):
            self.runs_needed += len(replications)
            for replication in replications:
                record = self.store.find(replication.key)
                if record is None:
                    self._waiting.add(replication)
                else:
                    self.reused += 1
                    self._finish(replication, record)

    def _run_by(self, executor: TaskExecutor, meter: ProgressMeter) -> None:
        work = partial(perform_run, program_hash())
        while self._waiting.count:
            with closing(work_through(self._waiting, executor, work, meter)) as finished:
                for records in finished:
                    try:
                        self.store.keep((replication.key, record) for replication, record in records)
                        for replication, _ in records:
                            self.store.release(replication.key)
                        self._settle(records)
                    except KeyboardInterrupt:
                        self._settle_kept(records)
                        raise
                    self._settle_elsewhere()
                    meter.count = self.runs_needed - self.reused
            self._settle_elsewhere()
            if self._waiting.count:
                meter.display.step("waiting for runs that another sweep on this store has begun")
                time.sleep(POLL_S)
                self._waiting.requeue()

    def _settle_elsewhere(self) -> None:
        records, self._waiting.finished_elsewhere = self._waiting.finished_elsewhere, []
        self.reused += len(records)
        self._settle(records)

    def _settle_kept(self, records: list[tuple[Replication, StoredRun]]) -> None:
        """Count those of the runs that were kept before Ctrl-C came, and weren't counted yet."""
        for replication, record in records:
            counted = replication.scenario.records[replication.number] is not None
            if not counted and self.store.find(replication.key) is not None:
                self._finish(replication, record)

    def _settle(self, records: list[tuple[Replication, StoredRun]]) -> None:
        for replication, record in records:
            self._finish(replication, record)
            self._next_rounds(replication.scenario)

    def _finish(self, replication: Replication, record: StoredRun) -> None:
        replication.scenario.records[replication.number] = replace(record, result=b"")

    @property
    def finished(self) -> int:
        """Runs that are finished."""
        return sum(record is not None for each in self._by_text.values() for record in each.records)

    def reasons(self) -> list[str]:
        """Why each point could not be run; empty of one that could, or that isn't finished."""
        return [str(each) if isinstance(each, InputError) else each.reason for each in self._replicated]

    def sweep(self, scenario: str, axes: Sequence[Axis | SampledAxis], samples: int | None = None) -> Sweep:
        """Outcome so far, in the order of the points. Raises InputError if no point could be run."""
        rows: list[SweepRow] = []
        figures: list[RunFigures] = []
        for point, replicated, reason in zip(self._points, self._replicated, self.reasons(), strict=True):
            if reason:
                rows.append(SweepRow(point.values, reason=reason))
            elif isinstance(replicated, ReplicatedScenario) and replicated.is_complete:
                figures += replicated.figures
                rows.append(self._row(point.values, replicated.figures))
        if not figures:
            reasons = "; ".join(sorted({row.reason for row in rows if row.reason}))
            raise InputError(f"no point of the sweep could be run: {reasons or 'none was finished'}")
        return Sweep(
            scenario=scenario,
            axes=tuple(axes),
            samples=samples,
            seed=self._seed,
            replications=self._rule.most,
            until_fraction=self._rule.until_fraction,
            engine=", ".join(dict.fromkeys(of_run.engine for of_run in figures)),
            versions=figures[0].versions,
            confidence=figures[0].rate_per_min.confidence,
            rows=tuple(rows),
            main_class=figures[0].main_class,
        )

    def _row(self, values: tuple[str, ...], figures: list[RunFigures]) -> SweepRow:
        """The figures of the first replication; its rate replaced by the mean of all, with a t interval."""
        first = figures[0]
        rates = [of_run.rate_per_min.mean for of_run in figures]
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
        for number, (point, replicated) in enumerate(zip(self._points, self._replicated, strict=True), start=1):
            if isinstance(replicated, ReplicatedScenario) and replicated.is_complete and not replicated.reason:
                for replication in range(len(replicated.records)):
                    yield number, point, replicated.replication(replication).key
