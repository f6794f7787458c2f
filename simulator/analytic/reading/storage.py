"""Data disks and swap as the equations take them: numbers of all kinds of disks, and those of single kinds."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from oltpsim.simulator.analytic.reading.disks import (
    Disk,
    die_s,
    disk_of,
    drain_s,
    interface_s,
    lone_read_s,
    lone_write_s,
    service_s,
)
from oltpsim.simulator.analytic.reading.record_columns import ByQueue, MachineColumn, column, column_s
from oltpsim.simulator.analytic.reading.workload import Workload
from oltpsim.simulator.form import (
    MIB,
    NS_PER_S,
    SECTOR_BYTES,
    CachingDevice,
    FlashDevice,
    FloatArray,
    RaidSet,
    RotatingDevice,
    SsdDevice,
    System,
)


@dataclass(frozen=True)
class StorageNumbers:
    """Numbers of data disks of every kind, and of the RAID sets that they form."""

    disks: MachineColumn
    """disks with data, a RAID set's counted one by one"""
    disks_per_file: MachineColumn
    """1, or all disks of the RAID set that the one file lies on"""
    copies: MachineColumn
    """copies of each page in a RAID set"""
    parities: MachineColumn
    """disks' worth of parity in a RAID set"""
    unit_pages: MachineColumn
    """pages that a RAID set puts on one disk before it goes on to the next; infinite on independent disks"""
    is_flash: MachineColumn
    """1: flash or an SSD, whose latency doesn't depend on the queue; 0: an arm"""
    parallel: MachineColumn
    """requests that a disk serves at once"""
    reads_per_write: MachineColumn
    """reads that go ahead of each write while both wait; 0: in order of arrival"""
    calls: MachineColumn
    """requests of the database that one file may have at once"""
    merged_pages: MachineColumn
    """neighbouring pages that one write of write-back takes, at most"""
    read_s: ByQueue
    """service time of a read of a page"""
    write_s: ByQueue
    """service time of a write of a page; of an SSD its dies' time"""
    page_transfer_s: MachineColumn
    """service time that each further page of a merged write adds"""
    rewrite_s: MachineColumn
    """read-modify-write penalty of a write, as sets with parity have it"""
    read_factor: MachineColumn
    """device reads for each read that the caches leave: 1, but where a run has told another number"""
    write_factor: MachineColumn
    """device writes for each write of a page, likewise"""


@dataclass(frozen=True)
class WriteCacheNumbers:
    """Numbers of the write cache of a drive with an arm."""

    write_s: MachineColumn
    """write into the cache; 0 without one"""
    pages: MachineColumn
    """pages that it holds"""


@dataclass(frozen=True)
class SsdNumbers:
    """Numbers of an SSD; zeros for all other disks."""

    dies: MachineColumn
    """dies, which serve reads side by side"""
    die_s: MachineColumn
    """time of one die for a read of a page"""
    interface_read_s: MachineColumn
    """time of the interface for a read of a page"""
    interface_write_s: MachineColumn
    """time of the interface for a write of a page"""
    acknowledged_s: MachineColumn
    """response time of a lone write into the buffer"""
    program_s: MachineColumn
    """time of a die for a program"""
    interrupted_s: MachineColumn
    """time of a die that programs lose by a read"""
    buffer_s: MachineColumn
    """time in which a full buffer is programmed"""
    is_volatile: MachineColumn
    """1: without power-loss protection"""
    closed_s: MachineColumn
    """duration of a flush that blocks all other requests; 0 if it overlaps them"""
    synced_s: MachineColumn
    """duration of a flush behind pages that are written twice or synced; 0 if they aren't"""
    append_page_s: MachineColumn
    """time of the dies for a page that is appended, as copies of a doublewrite are"""


@dataclass(frozen=True)
class SwapNumbers:
    """Numbers of swap, which lies on the first data disk."""

    read_s: ByQueue
    """service time of a read of a page"""
    write_s: ByQueue
    """service time of a write of a page"""
    cluster_pages: MachineColumn
    """pages that are written together"""


def data_bytes_of(system: System, workload: Workload) -> float:
    """Bytes of one data disk over which pages that are referred to spread."""
    storage = system.storage
    device = storage.devices[0]
    stripe = device.data_units if isinstance(device, RaidSet) else 1
    return float(workload.groups.pages.sum()) / storage.data_devices * storage.page_bytes / stripe


def storage_numbers(system: System, workload: Workload) -> StorageNumbers:
    """Numbers of a system's data disks."""
    storage = system.storage
    page, device, data = storage.page_bytes, storage.devices[0], disk_of(storage.devices[0])
    raid = device if isinstance(device, RaidSet) else None
    disks = len(raid.disks) if raid else 1
    span, penalty_ns = data_bytes_of(system, workload), rewrite_ns(system)
    page_s = drain_s(data, page) if isinstance(data, SsdDevice) else page * byte_s(data)
    return StorageNumbers(
        disks=column(storage.data_devices * disks),
        disks_per_file=column(disks),
        copies=column(raid.copies if raid else 1),
        parities=column(raid.parities if raid else 0),
        unit_pages=column(raid.unit_bytes / page if raid else np.inf),
        is_flash=column(isinstance(data, FlashDevice | SsdDevice)),
        parallel=column(data.parallel if isinstance(data, FlashDevice) else 1),
        reads_per_write=column(data.reads_per_write if isinstance(data, FlashDevice) else 0),
        calls=column(storage.requests_per_device),
        merged_pages=column(storage.merged_pages),
        read_s=_service_s(data, span, page, 0, write=False),
        write_s=_service_s(data, span, page, penalty_ns, write=True),
        page_transfer_s=column(page_s),
        rewrite_s=column_s(0 if is_by_controller(data) else penalty_ns),
        read_factor=column(1.0),
        write_factor=column(1.0),
    )


def write_cache_numbers(system: System) -> WriteCacheNumbers:
    """Numbers of the write caches of a system's data disks."""
    data = disk_of(system.storage.devices[0])
    if not isinstance(data, CachingDevice):
        return WriteCacheNumbers(column(0.0), column(0.0))
    return WriteCacheNumbers(column_s(data.in_cache_ns), column(data.cache_bytes / system.storage.page_bytes))


def ssd_numbers(system: System) -> SsdNumbers:
    """Numbers of a system's data disks, if they are SSDs."""
    page, ssd = system.storage.page_bytes, disk_of(system.storage.devices[0])
    if not isinstance(ssd, SsdDevice):
        return SsdNumbers(*[np.zeros(1)] * 12)
    is_flushed = system.writing.doubled if system.direct_io else system.writing.synced
    return SsdNumbers(
        dies=column(ssd.dies),
        die_s=column(die_s(ssd, page)),
        interface_read_s=column(interface_s(ssd, page, write=False)),
        interface_write_s=column(interface_s(ssd, page, write=True)),
        acknowledged_s=column(lone_write_s(ssd, page)),
        program_s=column_s(ssd.program_ns),
        interrupted_s=column_s(ssd.interrupted_ns),
        buffer_s=column(drain_s(ssd, ssd.buffer_bytes)),
        is_volatile=column(ssd.is_volatile),
        closed_s=column_s(ssd.flush_ns + 1 if ssd.flushes_alone else 0),
        synced_s=column_s(ssd.flush_ns if is_flushed else 0),
        append_page_s=column(page * ssd.append_mib_ns / MIB / NS_PER_S),
    )


def swap_numbers(system: System) -> SwapNumbers:
    """Numbers of a system's swap."""
    storage, page = system.storage, system.storage.page_bytes
    device, data = storage.devices[0], disk_of(storage.devices[0])
    stripe = device.data_units if isinstance(device, RaidSet) else 1
    file_bytes = -(-system.program.pages // storage.data_devices) * page
    swap_bytes = system.pool.pages * page
    span = (file_bytes + storage.data_start_bytes - storage.swap_start_bytes - swap_bytes / 2) / stripe
    return SwapNumbers(
        read_s=_service_s(data, span, page, 0, write=False),
        write_s=_service_s(data, span, page, rewrite_ns(system), write=True),
        cluster_pages=column(storage.swap_out_bytes / page),
    )


@lru_cache(maxsize=1 << 12)
def _service_s(disk: Disk, span_bytes: float, size_bytes: float, rewrite_ns: int, write: bool) -> FloatArray:
    """Service times with the read-modify-write penalty, (1, QUEUE_POINTS); most machines of a fit share them."""
    return np.array([service_s(disk, span_bytes, size_bytes, write)]) + rewrite_ns / NS_PER_S


def rewrite_ns(system: System) -> int:
    """Read-modify-write penalty, ns: a revolution of an arm's disk, the read of a place on flash; 0 without parity."""
    device, disk = system.storage.devices[0], disk_of(system.storage.devices[0])
    if not (isinstance(device, RaidSet) and device.parities):
        return 0
    if isinstance(disk, SsdDevice):
        return round(lone_read_s(disk, SECTOR_BYTES) * NS_PER_S)
    return disk.revolution_ns if isinstance(disk, RotatingDevice) else disk.read_ns


def is_by_controller(disk: Disk) -> bool:
    """Whether a controller's cache takes the disk's writes."""
    return isinstance(disk, CachingDevice) and bool(disk.by_controller)


def byte_s(disk: Disk) -> float:
    """Time of a further byte of a write, s."""
    if isinstance(disk, RotatingDevice):
        return disk.revolution_ns / disk.track_bytes / NS_PER_S
    return disk.write_mib_ns / MIB / NS_PER_S if isinstance(disk, SsdDevice) else 0.0
