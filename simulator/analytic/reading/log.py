"""The transaction log as the equations take it."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from oltpsim.simulator.analytic.reading.disks import Disk, disk_of, drain_s, lone_write_s, service_s, turns
from oltpsim.simulator.analytic.reading.record_columns import ByQueue, MachineColumn, column, column_s
from oltpsim.simulator.analytic.reading.storage import byte_s, data_bytes_of, is_by_controller, rewrite_ns
from oltpsim.simulator.analytic.reading.workload import Workload
from oltpsim.simulator.form import (
    MIB,
    NS_PER_S,
    SECTOR_BYTES,
    CachingDevice,
    FlashDevice,
    FloatArray,
    RaidSet,
    SsdDevice,
    System,
)


@dataclass(frozen=True)
class LogNumbers:
    """Numbers of the log and of its device."""

    is_durable: MachineColumn
    """1: commits wait for the log"""
    has_own_device: MachineColumn
    """1: the log has a device of its own; 0: it lies on the first data disk"""
    flush_overhead_s: MachineColumn
    """time of a flush before its write, which commits still join"""
    first_s: MachineColumn
    """time of a flush that follows none, with its overhead"""
    again_s: MachineColumn
    """time of a flush that follows another at once: on an arm the place has just passed under the head"""
    byte_s: MachineColumn
    """time of a byte"""
    writes: MachineColumn
    """writes of a group of commits, one after the other, each as large"""
    journal_writes: MachineColumn
    """writes behind them, of a block each"""
    is_at_once: MachineColumn
    """1: flushed whenever something is logged; the other writes of a group are a stage of their own"""
    sync_s: MachineColumn
    """time of an SSD's flush that its sync takes beyond the write"""
    drain_byte_s: MachineColumn
    """time of an SSD's dies for a byte"""
    turns: ByQueue
    """requests that a device with data serves until the log's is served, the log's counted in"""
    is_volatile: MachineColumn
    """1: the device has no power-loss protection"""
    cached_pages: MachineColumn
    """pages of the log's files in the page cache, at most; 0: the log goes past it"""
    cached_page_bytes: MachineColumn
    """bytes of log that take up a page of it"""


def log_numbers(system: System, workload: Workload) -> LogNumbers:
    """Numbers of a system's log."""
    storage, log_rules = system.storage, system.log
    log, has_own_device = disk_of(storage.devices[storage.log_device]), storage.log_device >= storage.data_devices
    device, data_bytes = storage.devices[0], data_bytes_of(system, workload)
    stripe = device.data_units if isinstance(device, RaidSet) else 1
    to_log_bytes = (storage.data_start_bytes - storage.log_start_bytes) / stripe
    ssd = log if isinstance(log, SsdDevice) else None
    first_ns, again_ns = _flush_ns(log, log_rules.flush_overhead_ns)
    if not has_own_device and not isinstance(log, CachingDevice | FlashDevice | SsdDevice):
        service_ns = service_s(log, data_bytes, storage.page_bytes, True)[0] * NS_PER_S
        first_ns = log_rules.flush_overhead_ns + service_ns
    if not has_own_device and not is_by_controller(disk_of(device)):
        penalty_ns = rewrite_ns(system)
        first_ns, again_ns = first_ns + penalty_ns, again_ns + penalty_ns
    return LogNumbers(
        is_durable=column(log_rules.durable),
        has_own_device=column(has_own_device),
        flush_overhead_s=column_s(log_rules.flush_overhead_ns),
        first_s=column_s(first_ns),
        again_s=column_s(again_ns),
        byte_s=column(byte_s(log)),
        writes=column(log_rules.writes_per_group),
        journal_writes=column(log_rules.journal_writes),
        is_at_once=column(log_rules.at_once),
        sync_s=column_s(ssd.flush_ns if ssd else 0),
        drain_byte_s=column(ssd.append_mib_ns / MIB / NS_PER_S if ssd else 0),
        turns=_turns(log, to_log_bytes, data_bytes, storage.page_bytes),
        is_volatile=column(ssd.is_volatile if ssd else 0),
        cached_pages=column(system.page_cache.log_pages),
        cached_page_bytes=column(system.page_cache.log_page_bytes),
    )


@lru_cache(maxsize=256)
def _turns(log: Disk, start_bytes: float, span_bytes: float, size_bytes: float) -> FloatArray:
    return np.array([turns(log, start_bytes, span_bytes, size_bytes)])


def _flush_ns(log: Disk, overhead_ns: float) -> tuple[float, float]:
    """Times of a flush that follows none, and of one right after another, without the transfer."""
    if isinstance(log, FlashDevice):
        return overhead_ns + log.write_ns, overhead_ns + log.write_ns
    if isinstance(log, SsdDevice):
        programmed_ns = drain_s(log, SECTOR_BYTES) / log.drain_mib_ns * log.append_mib_ns * NS_PER_S
        flush_ns = lone_write_s(log, 0) * NS_PER_S + log.flush_ns + (programmed_ns if log.is_volatile else 0)
        return overhead_ns + flush_ns, overhead_ns + flush_ns
    if isinstance(log, CachingDevice):
        return overhead_ns + log.in_cache_ns, overhead_ns + log.in_cache_ns
    ready_ns = overhead_ns + log.overhead_ns
    return ready_ns + log.revolution_ns / 2, (ready_ns // log.revolution_ns + 1) * log.revolution_ns
