"""The record of a run, the reference engine's too: cumulative counters, read at instants, and what they add up to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING

from simulator.errors import InputError
from simulator.form import NS_PER_S, IntArray, Model, Progress, to_s
from simulator.kernel.caches import (
    CACHE,
    CAPACITY,
    DIRTY_COUNT,
    DIRTY_EVICTIONS,
    EVICTIONS,
    HITS,
    POOL,
    REFERENCES,
    RESIDENT,
    SWAP_INS,
    SWAP_OUTS,
    USED,
    WRITES_IN_FLIGHT,
)
from simulator.kernel.rate_limits import limit_values
from simulator.kernel.state import USAGE
from simulator.kernel.terminals import terminal_values
from simulator.reference.io_wait import IoWait
from simulator.results.recorder import ClassRecorder
from simulator.results.result import Result
from simulator.results.summarise import Facts, Snapshot, summarise

if TYPE_CHECKING:
    from simulator.reference.engine import ReferenceEngine

MOST_STEPS = 360
FIRST_STEP_NS = NS_PER_S // 512
"""of a run whose length is not known: doubled whenever there are `MOST_STEPS`, so 1 s, 2 s, ... of most"""


class Record(ABC):
    """When a run is looked at, and what was seen; an engine's own record takes the snapshots."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.step_ns = FIRST_STEP_NS if model.work else step_ns_of(model)
        self.snapshots: list[Snapshot] = []

    @abstractmethod
    def snapshot(self, now: int) -> Snapshot:
        """All counters now."""

    def stops_ns(self) -> Iterator[int]:
        """The instants to run to: ends of steps, of the warm-up and of the run; with fixed work until it is done.

        Raises InputError if the work is not done within the interval.
        """
        if self.model.work is None:
            yield from stops_of(self.model)
            return
        end_ns, at = self.model.interval.end_ns, 0
        while self._last("clients at work"):
            if at >= end_ns:
                raise InputError(self._too_long())
            at = min(at + self.step_ns, end_ns)
            yield at

    def note(self, now: int) -> None:
        """Take a snapshot. Of fixed work every other step is forgotten when there are too many."""
        if self.snapshots and self.snapshots[-1].at_ns == now:  # the last client ended at the end of a step
            self.snapshots.pop()
        self.snapshots.append(self.snapshot(now))
        if self.model.work and len(self.snapshots) > MOST_STEPS:
            self.step_ns *= 2
            self.snapshots = [each for each in self.snapshots if each.at_ns % self.step_ns == 0 or each.at_ns == now]

    def progress(self, now: int) -> Progress:
        """How far the run is; with fixed work the end is where it would be at the mean rate so far."""
        end_ns, work = float(self.model.interval.end_ns), self.model.work
        if work:
            whole = work.main_per_client * len(self.model.client_registers)
            end_ns = now * whole / max(self._last("ended main"), 1)
        return Progress(to_s(now), to_s(end_ns), self._last("ended"))

    def _last(self, name: str) -> int:
        return self.snapshots[-1].values[name]

    def _too_long(self) -> str:
        assert self.model.work is not None
        clients, each = len(self.model.client_registers), self.model.work.main_per_client
        limit, left = f"{to_s(self.model.interval.end_ns):,.0f} s", f"{self._last('clients at work'):,} of {clients:,}"
        return (
            f"interval.new_orders_per_client: got {each:,}; after {limit} of simulated time, the most there is for it, "
            f"{left} clients are not through: {self._last('ended main'):,} of {clients * each:,} are done. "
            "Ask for fewer, or for a faster machine"
        )


class RunRecord(Record):
    """Counts what ends, and takes snapshots of everything that accumulates."""

    def __init__(self, engine: ReferenceEngine, seed: int) -> None:
        super().__init__(engine.model)
        self.engine, self.seed = engine, seed
        program, interval = engine.model.program, engine.model.interval
        self.counts_from_ns = interval.warm_up_ns
        self.classes = [ClassRecorder() for _ in program.classes]
        self.main_class = program.main_class
        self.ended = self.ended_main = 0
        self.io_wait = IoWait(engine)

    def end(self, transaction_class: int, response_ns: int, spent_ns: list[int], rolled_back: int) -> None:
        """A transaction has ended now."""
        self.ended += 1
        if transaction_class == self.main_class:
            self.ended_main += 1
        if self.engine.env.now >= self.counts_from_ns:
            self.classes[transaction_class].record(response_ns, spent_ns, rolled_back)

    def result(self) -> Result:
        """The run as a result."""
        engine = self.engine
        facts = Facts(
            model=engine.model,
            seed=self.seed,
            engine="reference",
            step_ns=self.step_ns,
            classes=self.classes,
            checkpoints_ns=engine.checkpoint_times_ns,
        )
        return summarise(facts, self.snapshots)

    def snapshot(self, now: int) -> Snapshot:
        """All counters now."""
        engine = self.engine
        values: dict[str, int] = {
            "clients at work": engine.at_work,
            "ended": self.ended,
            "ended main": self.ended_main,
            "cpu busy": engine.cpu.busy.area_until(now),
            "io wait": self.io_wait.area_until(now),
            "reads pending": engine.reads_pending.area_until(now),
            "in system": engine.in_system.area_until(now),
            "ages now": engine.in_system.ages_at(now),
            "lock acquired": engine.locks.acquired,
            "lock waits": engine.locks.waits,
            "lock waited": engine.locks.waited_ns,
            "log bytes": engine.log.written_bytes,
            "log commits": engine.log.commits,
            "log flushes": engine.log.flushes,
        }
        values |= {f"usage {name}": int(ns) for name, ns in zip(USAGE, engine.state.usage, strict=True)}
        for number, device in enumerate(engine.devices):
            values |= {
                f"{number} arrived": device.arrived,
                f"{number} reads": device.reads,
                f"{number} writes": device.writes,
                f"{number} service": device.service_ns,
                f"{number} response": device.response_ns,
                f"{number} busy": device.busy.area_until(now),
                f"{number} occupied": device.occupied.area_until(now),
                f"{number} queue": device.queue_length.area_until(now),
                f"{number} length now": device.queue_length.value,
                f"{number} ages now": device.queue_length.ages_at(now),
            }
            values |= {f"{number} purpose {purpose}": count for purpose, count in device.by_purpose.items()}
        for number, section in enumerate(engine.sections):
            values |= {
                f"section {number} entries": section.entries,
                f"section {number} waits": section.waits,
                f"section {number} waited": section.waited_ns,
                f"section {number} busy": section.busy.area_until(now),
            }
        for number, station in enumerate(engine.stations):
            values |= {
                f"station {number} served": station.served,
                f"station {number} busy": station.busy.area_until(now),
                f"station {number} number": station.number.area_until(now),
            }
        values |= tier_values("pool", engine.state.tiers.head[POOL])
        values |= tier_values("cache", engine.state.tiers.head[CACHE])
        values["cache in flight now"] = int(engine.state.tiers.head[CACHE, WRITES_IN_FLIGHT])
        values |= limit_values(engine.limits.rows)
        values |= terminal_values(engine.terminals.terminals, engine.in_system.value)
        return Snapshot(now, values, engine.state.table_counts.copy())


def step_ns_of(model: Model) -> int:
    """The step of the time series: the model's own, or whole seconds, at most MOST_STEPS of them."""
    if model.step_ns is not None:
        return model.step_ns
    return max(1, -(-model.interval.end_ns // (MOST_STEPS * NS_PER_S))) * NS_PER_S


def stops_of(model: Model) -> list[int]:
    """When to take snapshots: every step, at the end of the warm-up, and at the end."""
    interval = model.interval
    stops = {*range(step_ns_of(model), interval.end_ns + 1, step_ns_of(model)), interval.end_ns}
    return sorted(stops | ({interval.warm_up_ns} if interval.warm_up_ns else set()))


def tier_values(name: str, head: IntArray) -> dict[str, int]:
    """A tier's counters, under the names that summaries use."""
    entries = {
        "references": REFERENCES,
        "hits": HITS,
        "evictions": EVICTIONS,
        "dirty evictions": DIRTY_EVICTIONS,
        "swap ins": SWAP_INS,
        "swap outs": SWAP_OUTS,
        "used now": USED,
        "dirty now": DIRTY_COUNT,
        "resident now": RESIDENT,
        "capacity": CAPACITY,
    }
    return {f"{name} {key}": int(head[index]) for key, index in entries.items()}
