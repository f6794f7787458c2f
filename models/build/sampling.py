"""Spatial sampling by folding: the pages of a few warehouses stand for those of all.

 clients, row locks, CPU, disks' speeds, log    whole    every transaction and every I/O is simulated
 pages of warehouses, counters of their rows    folded   warehouse h uses the pages of h * warehouses // whole
 item pages                                     merged   each is the sum of pages of about the same popularity
 pool, memory, page cache, marks, files         share    times as large
 intervals of write-back and checkpoints        share    times as long

A page is referred to 1/share times as often and a pool of its share turns over 1/share times as soon: hit ratios, dirty
shares and I/O per transaction stay. Why, and what is lost: docs/decisions/0007-sampling.md.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from models.scenario import ScenarioSpec
from models.workloads import ClosedClientsSpec, TerminalsSpec
from models.workloads.tpcc import WarehouseSample
from simulator.form import Checkpoint, Device, Disk, Model, RaidSet, RotatingDevice, Storage
from simulator.results import Result

LEAST_TURNOVER_RESPONSES = 10
"""The sampled pool should take so many response times to turn over: only then are the waits short against it."""
MOST_UNEVEN = 1.15
"""how many times as many warehouses may fold onto one as onto another: an uneven popularity is another hit ratio"""


def sample_of(scenario: ScenarioSpec) -> WarehouseSample:
    """Which part of a scenario's warehouses is held."""
    whole = scenario.workload.warehouses
    return WarehouseSample(max(1, round(scenario.sampling_fraction * whole)), whole)


def folded(model: Model, sample: WarehouseSample) -> Model:
    """A model whose program holds the sampled pages alone, with caches, files and daemons to match."""
    if sample.warehouses == sample.whole:
        return model
    pool, cache, checkpoint = model.pool, model.page_cache, model.checkpoint
    return replace(
        model,
        pool=replace(
            pool,
            pages=sample.scaled(pool.pages),
            resident_pages=sample.scaled(pool.resident_pages),
            writer_high_pages=sample.scaled(pool.writer_high_pages),
            writer_low_pages=sample.scaled(pool.writer_low_pages),
        ),
        page_cache=replace(
            cache,
            pages=sample.scaled(cache.pages),
            dirty_limit_pages=sample.scaled(cache.dirty_limit_pages),
            expire_ns=sample.scaled(cache.expire_ns),
            flush_interval_ns=sample.scaled(cache.flush_interval_ns),
            in_flight_pages=sample.scaled(cache.in_flight_pages),
        ),
        storage=_smaller(model.storage, sample),
        checkpoint=Checkpoint(sample.scaled(checkpoint.interval_ns), sample.scaled(checkpoint.spread_ns)),
    )


def _smaller(storage: Storage, sample: WarehouseSample) -> Storage:
    """Data disks as much smaller as what lies on them: the arm's way is the same share of its stroke."""
    data_disks, log_disks = storage.devices[: storage.data_devices], storage.devices[storage.data_devices :]
    devices = (*(_smaller_device(device, sample) for device in data_disks), *log_disks)
    log_on_data = storage.log_device < storage.data_devices
    return replace(
        storage,
        devices=devices,
        data_start_bytes=sample.scaled(storage.data_start_bytes),
        log_start_bytes=sample.scaled(storage.log_start_bytes) if log_on_data else storage.log_start_bytes,
        log_bytes=sample.scaled(storage.log_bytes) if log_on_data else storage.log_bytes,
    )


def _smaller_device(device: Device, sample: WarehouseSample) -> Device:
    if isinstance(device, RaidSet):
        return replace(device, disks=tuple(_smaller_disk(disk, sample) for disk in device.disks))
    return _smaller_disk(device, sample)


def _smaller_disk(disk: Disk, sample: WarehouseSample) -> Disk:
    if isinstance(disk, RotatingDevice):
        return replace(disk, capacity_bytes=sample.scaled(disk.capacity_bytes))
    return disk


def sampling_faults(scenario: ScenarioSpec) -> Iterator[str]:
    """Why a scenario cannot be sampled as it asks, a line each; nothing if it can or does not ask."""
    sample = sample_of(scenario)
    if sample.warehouses == sample.whole:
        return
    got = f"sampling_fraction: got {scenario.sampling_fraction:g}"
    if scenario.interval.start != "warm":
        yield (
            f"{got} with interval.start: {scenario.interval.start}; a sampled pool fills {1 / sample.share:.3g} times "
            f"as fast: set interval.start: warm, or sampling_fraction: 1"
        )
    arrivals, active = scenario.workload.arrivals, scenario.workload.active_warehouses or sample.whole
    everywhere = isinstance(arrivals, TerminalsSpec) or scenario.workload.tpcc.home_warehouse == "drawn"
    clients = arrivals.clients if isinstance(arrivals, ClosedClientsSpec) else arrivals.connections
    at_home = active if everywhere else min(active, clients)
    used = np.bincount(np.arange(at_home) * sample.warehouses // sample.whole)
    if used.max() > MOST_UNEVEN * used.min():
        yield (
            f"{got}; of the {used.sum():,} warehouses in use {used.max()} would share the pages of one and "
            f"{used.min()} those of another: use 1, or a smaller share that divides them evenly"
        )


def sampling_remarks(scenario: ScenarioSpec, result: Result) -> list[str]:
    """What a reader of a sampled result must know; nothing for a result at page level."""
    sample = sample_of(scenario)
    if sample.warehouses == sample.whole:
        return []
    held = f"{sample.warehouses:,} of {sample.whole:,} warehouses are held and stand for all"
    lines = [f"pages sampled: {held}; its error was measured in docs/sampling.md"]
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


def turnover_s(result: Result) -> float:
    """How long a run's misses take to bring in as many pages as the buffer pool holds."""
    pool = result.caches[0]
    return pool.capacity_pages * result.duration_s / max(pool.references - pool.hits, 1)


def response_s(result: Result) -> float:
    """Mean response time over all classes."""
    completed = max(sum(item.completed for item in result.classes), 1)
    return sum(item.mean_s * item.completed for item in result.classes) / completed
