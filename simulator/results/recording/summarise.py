"""From the snapshots of a run to its result."""

import platform
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from importlib.metadata import version

import numpy as np

from oltpsim.simulator.form import NS_PER_S, System, to_s
from oltpsim.simulator.results.figures import (
    ROW_LOCKS,
    bottleneck_of,
    connections_result,
    warnings_of_credits,
    warnings_of_overload,
    warnings_of_swapping,
    with_interrupts,
)
from oltpsim.simulator.results.laws import check_laws
from oltpsim.simulator.results.recorder import ACTIVITIES, ClassRecorder, histogram_quantile_ns
from oltpsim.simulator.results.recording.balance import imbalances
from oltpsim.simulator.results.recording.devices import device_results, shared_limits
from oltpsim.simulator.results.recording.percentiles import SHARES, percentile_intervals
from oltpsim.simulator.results.recording.series import steps_at_full_work, time_series
from oltpsim.simulator.results.recording.steady_rate import rate_estimates
from oltpsim.simulator.results.result import (
    CacheResult,
    ClassResult,
    CpuResult,
    Estimate,
    LockResult,
    LogResult,
    Result,
    StationResult,
    TableResult,
)
from oltpsim.simulator.results.snapshot import CacheCounters, CacheLevels, Levels, Snapshot, Window


@dataclass(frozen=True)
class FinishedRun:
    """A run of a simulating engine: what it ran, and what was counted. Times in ns of simulated time."""

    system: System
    seed: int
    engine: str
    step_ns: int
    """step of the time series"""
    classes: list[ClassRecorder]
    checkpoints_ns: list[tuple[int, int]]
    snapshots: list[Snapshot]


def summarise(run: FinishedRun) -> Result:
    """The result of a run: rates over the measured interval, shares, laws, the bottleneck."""
    system, snapshots = run.system, run.snapshots
    window = Window(snapshots, system.interval.warm_up_ns)
    counters = window.counters
    series = time_series(system, snapshots, run.step_ns)
    rates = np.array(series.values[series.rate_key])
    rates = rates[: steps_at_full_work(system, snapshots, run.step_ns)]
    exact = counters.ended_main * 60 / window.seconds
    classes = [
        _class(name, recorder, window) for name, recorder in zip(system.program.classes, run.classes, strict=True)
    ]
    cpu, devices, locks = _cpu(system, window), device_results(system, window), _locks(system, window)
    stations, main = _stations(system, window), classes[system.program.main_class]
    if system.interrupts:
        served_per_s = stations[system.interrupts.station].visits_per_s if system.interrupts.station >= 0 else 0.0
        per_s = counters.ended / window.seconds
        cpu = with_interrupts(system, system.interrupts, cpu, devices, per_s, served_per_s)
    if system.terminals:
        stations.append(connections_result(system, system.terminals, classes, window.seconds))
    volume_limits = shared_limits(system, window)
    rate, steady_rate, steady_from_s = rate_estimates(
        rates, series.step_s, to_s(system.interval.warm_up_ns), exact, imbalances(system, window, devices)
    )
    if rate.is_steady:
        steps = [each for each in snapshots if each.at_ns % run.step_ns == 0][: rates.size + 1]
        seen = [each.responses for each in steps if each.at_ns >= system.interval.warm_up_ns]
        classes = [
            replace(each, intervals=percentile_intervals(run.classes[number], number, seen, series.step_s))
            for number, each in enumerate(classes)
        ]
    done = sum(each.completed for each in classes)
    return Result(
        scenario=system.name,
        engine=run.engine,
        seed=run.seed,
        versions=_versions(),
        model_hash=system.digest(),
        start=system.interval.start,
        warm_up_s=to_s(system.interval.warm_up_ns),
        duration_s=window.seconds,
        main_class=main.name,
        rate_per_min=rate,
        steady_rate_per_min=steady_rate,
        steady_from_s=steady_from_s,
        transactions_per_s=counters.ended / window.seconds,
        classes=classes,
        cpu=cpu,
        devices=devices,
        reads_pending=counters.reads_pending_ns / window.ns,
        caches=_caches(window),
        tables=[
            TableResult(name, *astuple(table))
            for name, table in zip(system.program.region_names, counters.tables, strict=True)
        ],
        locks=locks,
        log=LogResult(
            bytes_per_s=counters.log.written_bytes / window.seconds,
            commits_per_s=counters.log.commits / window.seconds,
            flushes_per_s=counters.log.flushes / window.seconds,
        ),
        swap_in_per_s=counters.pool.swap_ins / window.seconds,
        swap_out_per_s=counters.pool.swap_outs / window.seconds,
        checkpoints_s=[[to_s(begin), to_s(end)] for begin, end in run.checkpoints_ns],
        bottleneck=bottleneck_of(cpu, devices[: len(system.storage.devices)], locks, stations, main, volume_limits),
        series=series,
        laws=check_laws(system, window, classes, cpu),
        warnings=[
            *_warnings(window, rate),
            *warnings_of_overload(system.arrivals_per_s, done, window.seconds, len(system.client_registers)),
            *warnings_of_credits(devices, volume_limits),
        ],
        stations=stations,
        volume_limits=volume_limits,
    )


def _versions() -> dict[str, str]:
    versions = {name: version(name) for name in ("oltpsim", "numpy", "simpy")}
    return versions | {"python": platform.python_version()}


def _class(name: str, recorder: ClassRecorder, window: Window) -> ClassResult:
    histogram = np.array(recorder.histogram, dtype=np.int64)
    count = max(recorder.completed, 1)
    p50, p90, p95, p99, p999 = (histogram_quantile_ns(histogram, share) / NS_PER_S for share in SHARES)
    return ClassResult(
        name=name,
        completed=recorder.completed,
        rolled_back=recorder.rolled_back,
        rate_per_min=recorder.completed * 60 / window.seconds,
        mean_s=to_s(recorder.total_ns / count),
        p50_s=p50,
        p90_s=p90,
        p95_s=p95,
        p99_s=p99,
        p999_s=p999,
        time_by_s={
            activity: to_s(spent / count) for activity, spent in zip(ACTIVITIES, recorder.spent_ns, strict=True)
        },
    )


def _cpu(system: System, window: Window) -> CpuResult:
    capacity = system.processors * window.ns
    counters = window.counters
    at_work = counters.cpu_busy_ns / capacity
    sections = zip(counters.sections, system.sections, strict=True)
    handed = sum(section.waits * each.handover_ns for section, each in sections)
    handing = min(handed / capacity, max(1.0 - at_work, 0.0))
    busy, total = at_work + handing, max(counters.cpu_time.total, 1)
    shares = {name: ns / total * at_work for name, ns in counters.cpu_time.by_activity().items()}
    shares["hand-over"] = handing
    user = shares["transaction"] + shares["client program"]
    waiting = min(counters.io_wait_ns / capacity, 1.0 - busy)
    return CpuResult(
        cores=system.cpu.cores,
        user=user,
        system=busy - user,
        iowait=waiting,
        idle=1.0 - busy - waiting,
        by_activity=shares,
    )


def _caches(window: Window) -> list[CacheResult]:
    """The page cache is referred to at misses of the buffer pool, but for pages that are created there."""
    pool, cache = window.counters.pool, window.counters.page_cache
    references = pool.misses - sum(table.created for table in window.counters.tables)
    return [
        _cache("buffer pool", pool, pool.references, window, lambda now: now.pool),
        _cache("page cache", cache, references, window, lambda now: now.page_cache),
    ]


def _cache(
    name: str, counters: CacheCounters, references: int, window: Window, pages: Callable[[Levels], CacheLevels]
) -> CacheResult:
    capacity, hits = pages(window.last.levels).capacity_pages, counters.hits
    resident = window.mean(lambda now: pages(now).resident_pages)
    return CacheResult(
        name=name,
        capacity_pages=capacity,
        references=references,
        hits=hits,
        hit_ratio=hits / max(references, 1),
        evictions=counters.evictions,
        dirty_evictions=counters.dirty_evictions,
        dirty_fraction=window.mean(lambda now: pages(now).dirty_pages) / max(capacity, 1),
        resident_fraction=resident / max(window.mean(lambda now: pages(now).used_pages), 1),
    )


def _locks(system: System, window: Window) -> list[LockResult]:
    """Row locks, which are never busy, and critical sections."""
    rows = window.counters.locks
    mean_wait_s = to_s(rows.waited_ns / max(rows.waits, 1))
    return [LockResult(ROW_LOCKS, rows.acquired, rows.waits, mean_wait_s, utilisation=0.0)] + [
        LockResult(
            name=section.name,
            acquisitions=each.entries,
            waits=each.waits,
            mean_wait_s=to_s(each.waited_ns / max(each.waits, 1)),
            utilisation=each.busy_ns / window.ns,
        )
        for section, each in zip(system.sections, window.counters.sections, strict=True)
    ]


def _stations(system: System, window: Window) -> list[StationResult]:
    return [
        StationResult(
            name=station.name,
            servers=station.servers,
            visits_per_s=each.served / window.seconds,
            utilisation=each.busy_ns / window.ns / station.servers,
            mean_number=each.number_ns / window.ns,
        )
        for station, each in zip(system.stations, window.counters.stations, strict=True)
    ]


def _warnings(window: Window, rate: Estimate) -> list[str]:
    warnings = []
    if window.counters.ended_main < 1000:
        warnings.append(f"only {window.counters.ended_main} transactions of the main class were counted")
    warnings += warnings_of_swapping(window.counters.pool.swap_ins / window.seconds)
    return warnings if rate.is_steady else [*warnings, rate.method]
