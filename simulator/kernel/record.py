"""The recorder of one run of the kernel: tables that it reports become snapshots."""

from oltpsim.simulator.form import System, Table
from oltpsim.simulator.kernel.compiled import CompiledSystem
from oltpsim.simulator.results import (
    ACTIVITIES,
    CacheCounters,
    CacheLevels,
    ClassRecorder,
    Counters,
    CpuTimeCounters,
    DeviceCounters,
    Levels,
    LimiterCounters,
    LimiterLevels,
    LockCounters,
    LogCounters,
    QueueLevels,
    ResponseCounts,
    SectionCounters,
    Snapshot,
    StationCounters,
    TableCounters,
    TerminalLevels,
)
from oltpsim.simulator.results.recording import RunRecorder

PURPOSES = (
    *("data read", "eviction write", "swap in", "doublewrite", "swap out", "write-back", "log", "writer", "merge read"),
)
"""of device requests, as results name them"""
HISTOGRAM_AT = 3 + len(ACTIVITIES)
"""column of a class's first bucket in report.hpp"""


class KernelRecorder(RunRecorder):
    """Takes snapshots of everything that accumulates."""

    engine_name = "kernel"

    def __init__(self, system: System, seed: int, kernel: CompiledSystem) -> None:
        super().__init__(system, seed)
        self.kernel = kernel

    @property
    def classes(self) -> list[ClassRecorder]:
        """Completions in the measured interval, by transaction class."""
        return [_class(row) for row in self.kernel.read("classes").rows.tolist()]

    @property
    def checkpoints_ns(self) -> list[tuple[int, int]]:
        """Begin and end of each checkpoint that is done."""
        return [(began, ended) for began, ended in self.kernel.read("checkpoints").rows.tolist()]

    def snapshot(self, now: int) -> Snapshot:
        """All counters and levels now."""
        (system,) = self._records("system")
        caches, devices, limits = self._records("caches"), self._records("devices"), self._records("limits")
        counters = Counters(
            ended=system["ended"],
            ended_main=system["ended_main"],
            cpu_busy_ns=system["cpu_busy_ns"],
            io_wait_ns=system["io_wait_ns"],
            cpu_time=CpuTimeCounters(
                system["user_ns"],
                system["client_ns"],
                system["system_ns"],
                system["writer_ns"],
                system["write_back_ns"],
            ),
            reads_pending_ns=system["reads_pending_ns"],
            in_system_ns=system["in_system_ns"],
            locks=LockCounters(system["locks_acquired"], system["lock_waits"], system["lock_waited_ns"]),
            log=LogCounters(system["log_bytes"], system["log_commits"], system["log_flushes"]),
            pool=_cache(caches[0]),
            page_cache=_cache(caches[1]),
            tables=tuple(TableCounters(**record) for record in self._records("tables")),
            devices=tuple(_device(record) for record in devices),
            sections=tuple(SectionCounters(**record) for record in self._records("sections")),
            stations=tuple(StationCounters(**record) for record in self._records("stations")),
            limiters=tuple(LimiterCounters(record["closed_ps"]) for record in limits),
        )
        waiting = system["in_system"] - system["deferred_inside"]
        levels = Levels(
            clients_at_work=system["clients_at_work"],
            ages_ns=system["ages_ns"],
            pool=_levels(caches[0]),
            page_cache=_levels(caches[1]),
            devices=tuple(QueueLevels(record["length"], record["ages_ns"]) for record in devices),
            limiters=tuple(_limiter(record) for record in limits),
            terminals=TerminalLevels(system["terminals_away"], waiting) if self.system.terminals else None,
        )
        return Snapshot(now, counters, levels, ResponseCounts(self.kernel.read("classes").rows[:, HISTOGRAM_AT:]))

    def _records(self, name: str) -> list[dict[str, int]]:
        table: Table = self.kernel.read(name)
        return [dict(zip(table.columns, row, strict=True)) for row in table.rows.tolist()]


def _class(row: list[int]) -> ClassRecorder:
    recorder = ClassRecorder()
    recorder.completed, recorder.rolled_back, recorder.total_ns = row[:3]
    recorder.spent_ns, recorder.histogram = row[3:HISTOGRAM_AT], row[HISTOGRAM_AT:]
    return recorder


def _device(record: dict[str, int]) -> DeviceCounters:
    purposes = {purpose: record[purpose.replace(" ", "_").replace("-", "_")] for purpose in PURPOSES}
    return DeviceCounters(
        arrived=record["arrived"],
        reads=record["reads"],
        writes=record["writes"],
        service_ns=record["service_ns"],
        response_ns=record["response_ns"],
        busy_ns=record["busy_ns"],
        occupied_ns=record["occupied_ns"],
        queue_ns=record["queue_ns"],
        by_purpose={purpose: count for purpose, count in purposes.items() if count},
    )


def _cache(record: dict[str, int]) -> CacheCounters:
    names = ("references", "hits", "evictions", "dirty_evictions", "swap_ins", "swap_outs")
    return CacheCounters(*(record[name] for name in names))


def _levels(record: dict[str, int]) -> CacheLevels:
    names = ("capacity_pages", "used_pages", "dirty_pages", "resident_pages")
    return CacheLevels(*(record[name] for name in names))


def _limiter(record: dict[str, int]) -> LimiterLevels:
    since_ns = record["out_since_ns"]
    return LimiterLevels(record["full_at_ps"], None if since_ns < 0 else since_ns)
