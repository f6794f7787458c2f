"""Spatial sampling by folding: the pages of a few units, as TPC-C's warehouses, stand for those of all.

 clients, row locks, CPU, disks' speeds, log    whole    every transaction and every I/O is simulated
 pages of units, counters of their rows    folded   warehouse h uses the pages of h * warehouses // whole
 item pages                                     merged   each is the sum of pages of about the same popularity
 pool, memory, page cache, marks, files         share    times as large
 requests that may be in flight                 whole    each waits behind as many as it would
 intervals, spreads and ages of daemons         share    times as long

A page is referred to 1/share times as often and a pool of its share turns over 1/share times as soon: hit ratios, dirty
shares and I/O per transaction stay. Why, and what is lost: docs/decisions/0007-sampling.md.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.workloads import AnyWorkloadSpec, UnitSample
from oltpsim.simulator.form import Daemon, DeviceRecord, IntArray, PageCache, RaidSet, RotatingDevice, Storage, System
from oltpsim.simulator.results import Result

LEAST_TURNOVER_RESPONSES = 10
"""The sampled pool should take so many response times to turn over: only then are the waits short against it."""
MOST_UNEVEN = 1.15
"""how many times as many warehouses may fold onto one as onto another: an uneven popularity is another hit ratio"""


def sample_of(scenario: ScenarioSpec) -> UnitSample:
    """Units of a scenario's workload that are held."""
    return scenario.workload.sample(scenario.sampling_fraction)


def folded(model: System, sample: UnitSample) -> System:
    """A model whose program holds the sampled pages alone, with caches, files and daemons to match."""
    if sample.units == sample.whole:
        return model
    return replace(
        model,
        pool=sample.with_scaled(model.pool, "pages", "resident_pages", "clean_search_pages", "old_ms"),
        page_cache=_smaller_cache(model.page_cache, sample),
        reclaim=model.reclaim and sample.with_scaled(model.reclaim, "pages", "batch_pages"),
        storage=_smaller(model.storage, sample),
        daemons=tuple(_smaller_daemon(daemon, sample) for daemon in model.daemons),
        flushing=model.flushing
        and sample.with_scaled(model.flushing, "whole_age_bytes", "full_bytes", "milli_pages", "most_milli_pages"),
    )


def _smaller_cache(cache: PageCache, sample: UnitSample) -> PageCache:
    """A page cache for the sampled pages; all of the log is written, so that a page of it stands for more."""
    fields = "pages", "dirty_limit_pages", "paced_pages", "log_pages"
    log_page_bytes = round(cache.log_page_bytes / sample.share) if cache.log_pages else cache.log_page_bytes
    return replace(sample.with_scaled(cache, *fields), log_page_bytes=log_page_bytes)


def _smaller_daemon(daemon: Daemon, sample: UnitSample) -> Daemon:
    """All operands of a daemon are pages, bytes or times."""
    steps = (replace(step, operands=tuple(map(sample.scaled, step.operands))) for step in daemon.steps)
    return replace(daemon, steps=tuple(steps))


def _smaller(storage: Storage, sample: UnitSample) -> Storage:
    """Data disks as much smaller as what lies on them: the arm's way is the same share of its stroke."""
    data_disks, log_disks = storage.devices[: storage.data_devices], storage.devices[storage.data_devices :]
    devices = (*(_smaller_device(device, sample) for device in data_disks), *log_disks)
    of_log = ("log_start_bytes", "log_bytes") if storage.log_device < storage.data_devices else ()
    return sample.with_scaled(replace(storage, devices=devices), "data_start_bytes", *of_log)


def _smaller_device(device: DeviceRecord, sample: UnitSample) -> DeviceRecord:
    if isinstance(device, RaidSet):
        return replace(device, disks=tuple(_smaller_device(disk, sample) for disk in device.disks))
    return sample.with_scaled(device, "capacity_bytes") if isinstance(device, RotatingDevice) else device


def even_fraction(scenario: ScenarioSpec, most: float) -> float:
    """The largest share up to `most` of which pages can be held, or one unit; 1 if a share can't stand for all."""
    workload = scenario.workload
    if most >= 1.0 or not workload.folds:
        return 1.0
    shares = (1.0 / each for each in range(max(math.ceil(1.0 / most), 2), workload.loaded + 1))
    return next((share for share in shares if _is_even(workload, workload.sample(share))), 1.0 / workload.loaded)


def _is_even(workload: AnyWorkloadSpec, sample: UnitSample) -> bool:
    used = _units_by_held(workload, sample)
    return bool(used.max() <= MOST_UNEVEN * used.min())


def _units_by_held(workload: AnyWorkloadSpec, sample: UnitSample) -> IntArray:
    """Units in use by the one whose pages they share."""
    return np.bincount(np.arange(workload.units_in_use) * sample.units // sample.whole)


def sampling_faults(scenario: ScenarioSpec) -> Iterator[str]:
    """Why a scenario cannot be sampled as it asks, a line each; nothing if it can or does not ask."""
    sample, workload = sample_of(scenario), scenario.workload
    got = f"sampling_fraction: got {scenario.sampling_fraction:g}"
    if not workload.folds and scenario.sampling_fraction < 1.0:
        yield (
            f"{got} with workload.kind: {workload.kind}, whose {workload.unit_words} "
            "have nothing of their own that could stand for others: set sampling_fraction: 1"
        )
    if sample.units == sample.whole:
        return
    if scenario.interval.start != "warm":
        yield (
            f"{got} with interval.start: {scenario.interval.start}; a sampled pool fills {1 / sample.share:.3g} times "
            f"as fast: set interval.start: warm, or sampling_fraction: 1"
        )
    if scenario.interval.lead_in is not None and scenario.interval.lead_in.speed == "full":
        yield f"{got} with interval.lead_in, which is for pages one by one: take it out, or set sampling_fraction: 1"
    if not _is_even(workload, sample):
        used = _units_by_held(workload, sample)
        yield (
            f"{got}; of the {used.sum():,} {workload.unit_words} in use {used.max()} would share the pages of one and "
            f"{used.min()} those of another: use 1, or a smaller share that divides them evenly"
        )


def sampling_remarks(scenario: ScenarioSpec, result: Result) -> list[str]:
    """What a reader of a sampled result must know; nothing for a result at page level."""
    sample = sample_of(scenario)
    if sample.units == sample.whole:
        return []
    held = f"{sample.units:,} of {sample.whole:,} {scenario.workload.unit_words} are held and stand for all"
    lines = [f"pages sampled: {held}; its error was measured in docs/sampling.md", *_thin_batches(scenario, sample)]
    if result.engine == "analytic":  # which has no moments that could be too long for a small pool
        return lines
    turnover, response = turnover_s(result), response_s(result)
    least = LEAST_TURNOVER_RESPONSES * response
    if turnover < least:
        lines.append(
            f"sampled too thinly: the pool held turns over in {turnover:.3g} s, a transaction takes {response:.3g} s; "
            f"a sampling_fraction {least / turnover:.2g} times as large would do"
        )
    return lines


def _thin_batches(scenario: ScenarioSpec, sample: UnitSample) -> Iterator[str]:
    """Requests are not sampled; the end of the list that page cleaners keep clean, and what a sweep writes, are."""
    writer, cleaner = scenario.database.writer, scenario.database.page_cleaner
    if writer and writer.sweep and writer.sweep.round_pages * sample.share < 1:
        yield (
            f"sampled too thinly: a round of database.writer.sweep writes up to 1 page of those held, for "
            f"{writer.sweep.round_pages * sample.share:.2g}: a sampling_fraction of {1 / writer.sweep.round_pages:.2g} "
            "would do"
        )
    if cleaner is None:
        return
    whole_rounds = cleaner.batch_pages * cleaner.cleaners / (cleaner.io_capacity_per_s * cleaner.round_s)
    if sample.share < whole_rounds < 1:
        yield (
            f"sampled too thinly: what a page cleaner writes in a round by database.page_cleaner.io_capacity_per_s is "
            f"{cleaner.batch_pages * sample.share / whole_rounds:.2g} pages of those held, fewer than a batch of "
            f"{cleaner.batch_pages}, behind which others wait less: a sampling_fraction of {whole_rounds:.2g} would do"
        )
    tail = sample.scaled(cleaner.cleaners * cleaner.lru_scan_depth_pages)
    if 0 < tail < cleaner.batch_pages:
        least = cleaner.batch_pages / (cleaner.cleaners * cleaner.lru_scan_depth_pages)
        yield (
            f"sampled too thinly: page cleaners keep {tail} pages of those held clean, fewer than a batch of "
            f"{cleaner.batch_pages}, and so write fewer at a time: a sampling_fraction of {least:.2g} would do"
        )


def turnover_s(result: Result) -> float:
    """How long a run's misses take to bring in as many pages as the buffer pool holds."""
    pool = result.caches[0]
    return pool.capacity_pages * result.duration_s / max(pool.references - pool.hits, 1)


def response_s(result: Result) -> float:
    """Mean response time over all classes."""
    completed = max(sum(item.completed for item in result.classes), 1)
    return sum(item.mean_s * item.completed for item in result.classes) / completed
