"""Recorder of a run: when it is looked at, and the snapshots that become its result."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import NS_PER_S, Progress, System, to_s
from oltpsim.simulator.results.recorder import ClassRecorder
from oltpsim.simulator.results.recording.summarise import FinishedRun, summarise
from oltpsim.simulator.results.result import Result
from oltpsim.simulator.results.snapshot import Snapshot

MOST_SERIES_STEPS = 360
FIRST_STEP_NS = NS_PER_S // 512
"""of a run whose length is not known: doubled whenever there are `MOST_SERIES_STEPS`, so 1 s, 2 s, ... of most"""


class RunRecorder(ABC):
    """Recorder of a run: snapshots at the stops of its time series, and the result. Each engine derives its recorder.

    `engine_name`: the engine as results name it.
    """

    engine_name: ClassVar[str]

    def __init__(self, system: System, seed: int) -> None:
        self.system, self.seed = system, seed
        self.step_ns = FIRST_STEP_NS if system.work else _series_step_ns(system)
        self.snapshots: list[Snapshot] = []

    @abstractmethod
    def snapshot(self, now: int) -> Snapshot:
        """All counters now."""

    @property
    @abstractmethod
    def classes(self) -> list[ClassRecorder]:
        """Completions in the measured interval, by transaction class."""

    @property
    @abstractmethod
    def checkpoints_ns(self) -> list[tuple[int, int]]:
        """Begin and end of each checkpoint that is done."""

    def result(self) -> Result:
        """The run as a result."""
        run = FinishedRun(
            self.system, self.seed, self.engine_name, self.step_ns, self.classes, self.checkpoints_ns, self.snapshots
        )
        return summarise(run)

    def stops_ns(self) -> Iterator[int]:
        """The instants to run to: ends of steps, of the warm-up and of the run; with fixed work until it is done.

        Raises InputError if the work is not done within the interval.
        """
        if self.system.work is None:
            yield from _stops_ns(self.system)
            return
        end_ns, at = self.system.interval.end_ns, 0
        while self.snapshots[-1].levels.clients_at_work:
            if at >= end_ns:
                raise InputError(self._too_long())
            at = min(at + self.step_ns, end_ns)
            yield at

    def take_snapshot(self, now: int) -> None:
        """A snapshot more. Of fixed work every other one is forgotten when there are too many."""
        if self.snapshots and self.snapshots[-1].at_ns == now:  # the last client ended at the end of a step
            self.snapshots.pop()
        self.snapshots.append(self.snapshot(now))
        if self.system.work and len(self.snapshots) > MOST_SERIES_STEPS:
            self.step_ns *= 2
            self.snapshots = [each for each in self.snapshots if each.at_ns % self.step_ns == 0 or each.at_ns == now]

    def progress(self, now: int) -> Progress:
        """Progress of the run; of fixed work the end is extrapolated at the mean rate so far."""
        end_ns, work = float(self.system.interval.end_ns), self.system.work
        if work:
            whole = work.main_per_client * len(self.system.client_registers)
            end_ns = now * whole / max(self.snapshots[-1].counters.ended_main, 1)
        return Progress(to_s(now), to_s(end_ns), self.snapshots[-1].counters.ended)

    def _too_long(self) -> str:
        assert self.system.work is not None
        last, clients, wanted = self.snapshots[-1], len(self.system.client_registers), self.system.work.main_per_client
        limit, left = f"{to_s(self.system.interval.end_ns):,.0f} s", f"{last.levels.clients_at_work:,} of {clients:,}"
        return (
            f"work.main_per_client: got {wanted:,}; after {limit} of simulated time, the most there is for "
            f"it, {left} clients are not through: {last.counters.ended_main:,} of {clients * wanted:,} are done. "
            "Ask for fewer, or for a faster machine"
        )


def _series_step_ns(system: System) -> int:
    """The step of the time series: the system's own, or whole seconds, at most MOST_SERIES_STEPS of them."""
    if system.step_ns is not None:
        return system.step_ns
    return max(1, -(-system.interval.end_ns // (MOST_SERIES_STEPS * NS_PER_S))) * NS_PER_S


def _stops_ns(system: System) -> list[int]:
    """When to take snapshots: every step, at the end of the warm-up, and at the end."""
    interval = system.interval
    stops = {*range(_series_step_ns(system), interval.end_ns + 1, _series_step_ns(system)), interval.end_ns}
    return sorted(stops | ({interval.warm_up_ns} if interval.warm_up_ns else set()))
