"""Machines as rows of numbers, by part: what the equations read of hardware and configuration."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.analytic.reading.clients import (
    ClientNumbers,
    IntervalNumbers,
    client_numbers,
    interval_numbers,
)
from oltpsim.simulator.analytic.reading.cpu import CpuNumbers, cpu_numbers
from oltpsim.simulator.analytic.reading.disks import QUEUES, disk_of
from oltpsim.simulator.analytic.reading.log import LogNumbers, log_numbers
from oltpsim.simulator.analytic.reading.memory import (
    PageCacheNumbers,
    PoolNumbers,
    page_cache_numbers,
    pool_numbers,
)
from oltpsim.simulator.analytic.reading.page_writes import (
    CheckpointNumbers,
    CleanerNumbers,
    WriteBackNumbers,
    WritingNumbers,
    checkpoint_numbers,
    cleaner_numbers,
    marks_of,
    write_back_numbers,
    writing_numbers,
)
from oltpsim.simulator.analytic.reading.record_columns import QUEUE_POINTS, columns, from_columns, rows, with_columns
from oltpsim.simulator.analytic.reading.storage import (
    SsdNumbers,
    StorageNumbers,
    SwapNumbers,
    WriteCacheNumbers,
    ssd_numbers,
    storage_numbers,
    swap_numbers,
    write_cache_numbers,
)
from oltpsim.simulator.analytic.reading.volumes import (
    Rates,
    Turn,
    VolumeNumbers,
    Volumes,
    least_turn_s,
    no_volume_numbers,
    sustained,
    volumes_of,
)
from oltpsim.simulator.analytic.reading.workload import Workload
from oltpsim.simulator.form import NS_PER_S, BoolArray, FlashDevice, FloatArray, System


@dataclass(frozen=True)
class Parameters:
    """Machines that run one workload: a record of columns for each part. A column of one row holds for all."""

    clients: ClientNumbers
    cpu: CpuNumbers
    pool: PoolNumbers
    page_cache: PageCacheNumbers
    writing: WritingNumbers
    checkpoints: CheckpointNumbers
    cleaners: CleanerNumbers
    write_back: WriteBackNumbers
    storage: StorageNumbers
    write_cache: WriteCacheNumbers
    ssd: SsdNumbers
    volume: VolumeNumbers
    swap: SwapNumbers
    log: LogNumbers
    interval: IntervalNumbers

    def disk_writes(self, pages: FloatArray) -> FloatArray:
        """Writes of disks for each write of so many neighbouring pages."""
        return self.storage.copies * self.units(pages) + self.storage.parities

    def units(self, pages: FloatArray) -> FloatArray:
        """Disks on which neighbouring pages of a request lie, copies and parity left out."""
        storage = self.storage
        data_units = storage.disks_per_file / storage.copies - storage.parities
        return np.minimum(1.0 + (pages - 1.0) / storage.unit_pages, data_units)

    def __len__(self) -> int:
        """Number of machines."""
        return max(map(len, columns(self)))

    def filled(self) -> Parameters:
        """Every column as long as there are machines."""
        count = len(self)
        return with_columns(self, lambda value: value if len(value) == count else np.repeat(value, count, axis=0))

    def repeated(self, count: int) -> Parameters:
        """One machine so many times."""
        return with_columns(self, lambda value: np.repeat(value, count, axis=0))

    def take(self, numbers: slice | BoolArray) -> Parameters:
        """Some of the machines."""
        return with_columns(self, lambda value: value if len(value) == 1 else value[numbers])


def combined(
    processors: Parameters, memory: Parameters, storage: Parameters, which: npt.NDArray[np.int64]
) -> Parameters:
    """Machines put together from rows of three kinds of parts, (machines, 3): which of each. None of them may swap.

    Processors alone decide `cpu`, memory and the pool's size `pool` and `page_cache`; the disks all else, but how far
    swap lies from data.
    """
    return replace(
        rows(storage.filled(), which[:, 2]),
        cpu=rows(processors.filled().cpu, which[:, 0]),
        pool=rows(memory.filled().pool, which[:, 1]),
        page_cache=rows(memory.filled().page_cache, which[:, 1]),
    )


def stacked(parameters: list[Parameters]) -> Parameters:
    """Several parameters as one, in their order."""
    return from_columns(Parameters, map(np.concatenate, zip(*map(columns, parameters), strict=True)))


def parameters_of(system: System, workload: Workload, rates: Rates | None = None) -> Parameters:
    """One system as parameters, columns of length 1. `rates`: what volumes' limits let through, if not sustained."""
    marks = marks_of(system)
    parameters = Parameters(
        clients=client_numbers(system, workload),
        cpu=cpu_numbers(system, workload),
        pool=pool_numbers(system, marks),
        page_cache=page_cache_numbers(system, marks),
        writing=writing_numbers(system),
        checkpoints=checkpoint_numbers(system, marks),
        cleaners=cleaner_numbers(system),
        write_back=write_back_numbers(system, marks),
        storage=storage_numbers(system, workload),
        write_cache=write_cache_numbers(system),
        ssd=ssd_numbers(system),
        volume=no_volume_numbers(),
        swap=swap_numbers(system),
        log=log_numbers(system, workload),
        interval=interval_numbers(system),
    )
    volumes = volumes_of(system, rates or sustained(system))
    return _behind_limits(parameters, system, volumes) if volumes.data or volumes.log else parameters


def _behind_limits(p: Parameters, system: System, volumes: Volumes) -> Parameters:
    """The same machine with its volumes' limits: turns as service times, at one server."""
    data, log = disk_of(system.storage.devices[0]), disk_of(system.storage.devices[system.storage.log_device])
    if volumes.data and isinstance(data, FlashDevice):
        page = system.storage.page_bytes
        read_s = least_turn_s(data, volumes.data, page, write=False)
        write_s = least_turn_s(data, volumes.data_writes, page, write=True)
        flush_s = least_turn_s(data, volumes.data_flushes, page, write=True)
        reads, writes = (np.full((1, QUEUE_POINTS), each) for each in (read_s, write_s))
        page_transfer_s = np.array([page * volumes.data_writes.byte_s])
        p = replace(
            p,
            storage=replace(
                p.storage,
                parallel=np.ones(1),
                read_s=reads,
                write_s=writes,
                rewrite_s=np.zeros(1),
                page_transfer_s=page_transfer_s,
            ),
            swap=replace(p.swap, read_s=reads, write_s=writes),
            volume=replace(
                p.volume,
                is_limited=np.ones(1),
                apart_page_s=np.array([page * volumes.data_apart.byte_s]),
                delay_s=np.array([data.read_ns / NS_PER_S - read_s]),
            ),
            log=replace(p.log, turns=QUEUES[None] + 1.0),
        )
        if not volumes.data_writes.request_s and not volumes.data_writes.byte_s:
            p = replace(p, volume=replace(p.volume, write_alone_s=np.array([data.write_ns / NS_PER_S])))
        if not p.log.has_own_device[0]:
            first_s = p.log.flush_overhead_s + flush_s
            log_delay_s = np.array([data.write_ns / NS_PER_S - flush_s])
            p = replace(p, log=_log_behind(p.log, volumes.data_flushes, first_s, first_s))
            p = replace(p, volume=replace(p.volume, log_delay_s=log_delay_s))
    if volumes.log and p.log.has_own_device[0] and isinstance(log, FlashDevice):
        again_s = np.maximum(p.log.first_s, volumes.log.request_s)
        p = replace(p, log=_log_behind(p.log, volumes.log, p.log.first_s, again_s))
    beside_s = volumes.log_beside.request_s
    is_behind = float(0.0 < beside_s * p.storage.disks[0] >= p.storage.read_s[0, 0])
    shared = {"log_beside_s": np.array([beside_s]), "log_is_behind": np.array([is_behind])}
    return replace(p, volume=replace(p.volume, **shared))


def _log_behind(log: LogNumbers, turn: Turn, first_s: FloatArray, again_s: FloatArray) -> LogNumbers:
    return replace(log, first_s=first_s, again_s=again_s, byte_s=np.array([turn.byte_s]))
