"""The record of one run of the kernel: its counters at the steps of the time series, under the reference's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.form import IntArray
from simulator.kernel import columns as ks
from simulator.kernel.caches import CACHE, POOL, WRITES_IN_FLIGHT
from simulator.kernel.io_wait import io_wait_until
from simulator.kernel.rate_limits import limit_values
from simulator.kernel.state import USAGE
from simulator.kernel.stations import ages_at, area_until
from simulator.kernel.terminals import terminal_values
from simulator.results.record import Record, tier_values
from simulator.results.recorder import ClassRecorder
from simulator.results.result import Result
from simulator.results.summarise import Facts, Snapshot, summarise

if TYPE_CHECKING:
    from simulator.kernel.engine import KernelEngine


class KernelRecord(Record):
    """Takes snapshots of everything that accumulates."""

    def __init__(self, engine: KernelEngine, seed: int) -> None:
        super().__init__(engine.model)
        self.engine, self.seed = engine, seed

    @property
    def ended(self) -> int:
        """Transactions that have ended so far."""
        return int(self.engine.kernel.facts[ks.ENDED])

    def result(self) -> Result:
        """The run as a result."""
        kernel = self.engine.kernel
        done = int(kernel.facts[ks.CHECKPOINTS_DONE])
        facts = Facts(
            model=self.engine.model,
            seed=self.seed,
            engine="kernel",
            step_ns=self.step_ns,
            classes=[_class(row) for row in kernel.classes],
            checkpoints_ns=[(int(begin), int(end)) for begin, end in kernel.checkpoints[:done]],
        )
        return summarise(facts, self.snapshots)

    def snapshot(self, now: int) -> Snapshot:
        """All counters now."""
        kernel, state = self.engine.kernel, self.engine.state
        facts, stations = kernel.facts, kernel.stations
        values: dict[str, Any] = {
            "clients at work": facts[ks.AT_WORK],
            "ended": facts[ks.ENDED],
            "ended main": facts[ks.ENDED_MAIN],
            "cpu busy": area_until(stations[ks.CPU_STATION], ks.BUSY, now),
            "io wait": io_wait_until(kernel, now),
            "reads pending": area_until(facts, ks.READS_PENDING, now),
            "in system": area_until(facts, ks.IN_SYSTEM, now),
            "ages now": ages_at(facts, ks.IN_SYSTEM, now),
            "lock acquired": facts[ks.LOCKS_ACQUIRED],
            "lock waits": facts[ks.LOCK_WAITS],
            "lock waited": facts[ks.LOCK_WAITED],
            "log bytes": facts[ks.LOG_WRITTEN],
            "log commits": facts[ks.LOG_COMMITS],
            "log flushes": facts[ks.LOG_FLUSHES],
        }
        values |= {f"usage {name}": ns for name, ns in zip(USAGE, state.usage, strict=True)}
        for number, row in enumerate(kernel.devices):
            values |= {
                f"{number} arrived": row[ks.ARRIVED],
                f"{number} reads": row[ks.READS],
                f"{number} writes": row[ks.WRITES],
                f"{number} service": row[ks.SERVICE_NS],
                f"{number} response": row[ks.RESPONSE_NS],
                f"{number} busy": area_until(row, ks.DEVICE_BUSY, now),
                f"{number} occupied": area_until(row, ks.OCCUPIED, now),
                f"{number} queue": area_until(row, ks.QUEUE_LENGTH, now),
                f"{number} length now": row[ks.QUEUE_LENGTH],
                f"{number} ages now": ages_at(row, ks.QUEUE_LENGTH, now),
            }
            counts = row[ks.BY_PURPOSE : ks.BY_PURPOSE + len(ks.PURPOSES)]
            values |= {f"{number} purpose {name}": n for name, n in zip(ks.PURPOSES, counts, strict=True) if n}
        first_section = int(facts[ks.SECTIONS_FROM])
        for number, row in enumerate(stations[first_section:]):
            values |= {
                f"section {number} entries": row[ks.SERVED],
                f"section {number} waits": row[ks.WAITS],
                f"section {number} waited": row[ks.WAITED_NS],
                f"section {number} busy": area_until(row, ks.BUSY, now),
            }
        for number, row in enumerate(stations[1:first_section]):
            values |= {
                f"station {number} served": row[ks.SERVED],
                f"station {number} busy": area_until(row, ks.BUSY, now),
                f"station {number} number": area_until(row, ks.NUMBER, now),
            }
        values |= tier_values("pool", state.tiers.head[POOL])
        values |= tier_values("cache", state.tiers.head[CACHE])
        values["cache in flight now"] = state.tiers.head[CACHE, WRITES_IN_FLIGHT]
        values |= limit_values(kernel.limits)
        values |= terminal_values(kernel.terminals, facts[ks.IN_SYSTEM])
        return Snapshot(now, {name: int(value) for name, value in values.items()}, state.table_counts.copy())


def _class(row: IntArray) -> ClassRecorder:
    recorder = ClassRecorder()
    recorder.completed, recorder.rolled_back = int(row[ks.COMPLETED]), int(row[ks.ROLLED])
    recorder.total_ns = int(row[ks.TOTAL_NS])
    recorder.spent_ns = [int(ns) for ns in row[ks.CLASS_SPENT : ks.HISTOGRAM]]
    recorder.histogram = row[ks.HISTOGRAM :].tolist()
    return recorder
