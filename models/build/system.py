"""From a scenario to a model: specs in, stations and program out.

 workload ──> tables and transactions ──> program ─┐
 machine, operating system, database ──> stations ─┴──> model (simulator.model.Model) ──> any engine
                                                          └─ folded, if pages are sampled (models/build/sampling.py)

Memory of the machine, as the operating system shares it out:

 |<- kernel, daemons ->|<- server process ->|<- clients ->|<- buffer pool ... ->|<- page cache ->|
                                                           what does not fit is swapped out; the
                                                           page cache never gets less than its floor
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from models.build.cluster import cluster_paths
from models.build.file_layout import by_table
from models.build.paths import costs_of, interrupts_of, paths_of, speed_of
from models.build.sampling import folded, sample_of
from models.database import WriterSpec
from models.machine import DiskArraySpec, DiskSpec, MachineSpec, RateLimitSpec, RotatingDiskSpec, slowdowns
from models.operating_system import CfqSpec, NoopSpec
from models.scenario import IntervalSpec, ScenarioSpec
from models.workloads import ClosedClientsSpec, OpenArrivalsSpec, WorkloadSpec
from models.workloads.tpcc import ClusterPaths, Interrupts, Paths, Sample, client_registers, terminals_of, tpcc_program
from simulator.errors import InputError
from simulator.form import GIB, KIB, MIB, NS_PER_MS, NS_PER_US, Program, from_s
from simulator.form import Interrupts as InterruptParts
from simulator.form import model as parts

LOG_AREA_BYTES = 1 * GIB
"""assumption: the log is a file of 1 GiB that is used round and round"""
MOST_WORK_S = 86_400
"""simulated time after which a run of a fixed amount of work is given up"""
PPM = 1_000_000


@dataclass(frozen=True)
class MemoryPlan:
    """How the machine's memory is shared out, in bytes and pages."""

    free_bytes: float
    """what kernel, server process and clients leave"""
    pool_bytes: float
    page_cache_pages: int
    resident_buffers: int
    """buffers that have memory; the others are swapped out"""


def clients_of(workload: WorkloadSpec) -> int:
    """Client programs, or connections of an open workload or of terminals."""
    arrivals = workload.arrivals
    return arrivals.clients if isinstance(arrivals, ClosedClientsSpec) else arrivals.connections


def memory_plan(scenario: ScenarioSpec) -> MemoryPlan:
    """Who gets how much memory."""
    machine, system, database = scenario.machine, scenario.operating_system, scenario.database
    total = machine.memory_gib * GIB
    local_clients = clients_of(scenario.workload) if machine.network.clients_on_server else 0
    taken = (system.reserved_memory_gib + database.process_memory_gib) * GIB
    free = total - taken - local_clients * system.memory_per_client_mib * MIB
    buffer_bytes = database.pool.memory_per_buffer_kib * KIB
    pool_bytes = database.pool.buffers * buffer_bytes
    floor = system.page_cache.floor_fraction * total
    resident = min(database.pool.buffers, int((free - floor) / buffer_bytes))
    cache = max(floor, free - pool_bytes)
    return MemoryPlan(
        free_bytes=free,
        pool_bytes=pool_bytes,
        page_cache_pages=max(1, int(cache / (database.page_kib * KIB))) if database.io == "buffered" else 1,
        resident_buffers=max(1, resident),
    )


def build(scenario: ScenarioSpec) -> parts.Model:
    """The model of a scenario, which must have passed `models.reading`'s check. Raises InputError if it has a job."""
    if scenario.job is not None:
        raise InputError(f"{scenario.name}: job: {scenario.job.kind!r} runs no transactions; 'oltpsim run' answers it")
    machine, system, database, workload = (
        scenario.machine,
        scenario.operating_system,
        scenario.database,
        scenario.workload,
    )
    sample, interrupts = sample_of(scenario), interrupts_of(machine, system)
    bound = interrupts.bound if interrupts else 0
    # specs are frozen, so that pydantic gives them a hash, which the type checker doesn't see
    cluster = cluster_paths(scenario)
    program = _program(workload, paths_of(machine, system, database), sample, cluster)  # pyright: ignore[reportArgumentType]
    plan = memory_plan(scenario)
    clients = clients_of(workload)
    open_rate = workload.arrivals.transactions_per_s if isinstance(workload.arrivals, OpenArrivalsSpec) else 0.0
    handover_us = system.cpu.contended_handover_us * database.critical_section.entries_per_transaction
    cache, pool = system.page_cache, database.pool
    interval = database.checkpoint.interval_s
    whole = parts.Model(
        name=scenario.name,
        program=program,
        client_registers=client_registers(program, workload, sample, clients),
        arrivals_per_s=open_rate,
        cpu=parts.Cpu(cores=machine.cpu.cores - bound),
        sections=tuple(
            parts.Section(name, round(handover_us * NS_PER_US / speed_of(machine))) for name in program.sections
        ),
        stations=tuple(parts.Station(name, bound) for name in program.stations),
        pool=parts.Pool(
            pages=pool.buffers,
            replacement=pool.replacement,
            resident_pages=plan.resident_buffers,
            writer_high_pages=int(database.writer.dirty_high_fraction * pool.buffers),
            writer_low_pages=int(database.writer.dirty_low_fraction * pool.buffers),
        ),
        page_cache=parts.PageCache(
            pages=plan.page_cache_pages,
            dirty_limit_pages=max(1, int(cache.dirty_limit_fraction * plan.page_cache_pages)),
            expire_ns=from_s(cache.dirty_expire_s),
            flush_interval_ns=from_s(cache.flush_interval_s),
            in_flight_pages=cache.in_flight_pages,
            free_behind=cache.free_behind,
        ),
        storage=_storage(scenario),
        log=parts.Log(
            durable=database.log.commit == "durable",
            flush_overhead_ns=round(database.log.flush_overhead_us * NS_PER_US),
        ),
        checkpoint=parts.Checkpoint(
            interval_ns=from_s(interval), spread_ns=from_s(interval * database.checkpoint.spread_fraction)
        ),
        costs=costs_of(machine, system, database),
        direct_io=database.io == "direct",
        interval=_interval(scenario.interval),
        sharing=_sharing(machine),
        work=parts.Work(each) if (each := scenario.interval.new_orders_per_client) else None,
        volume_limits=tuple(map(rate_limit_of, machine.volume_limits)) or None,
        writing=writing if (writing := _writing(database.writer)) != parts.Writing() else None,
        controllers=_controllers(machine.disks),
        fair_queueing=_fair_queueing(system.io_scheduler),
        terminals=terminals_of(program, workload, sample),
        interrupts=_interrupts(interrupts, workload.tpcc.round_trips) if interrupts else None,
    )
    if database.file_layout == "by_table":
        whole = replace(whole, extents=by_table(program.regions, whole.storage.data_devices, whole.storage.page_bytes))
    return folded(whole, sample)


def _interrupts(interrupts: Interrupts, round_trips: int) -> InterruptParts:
    per_transaction, bound = round_trips * interrupts.per_message, interrupts.bound
    return InterruptParts(per_transaction, 0 if bound else -1, round(interrupts.served_ns) if bound else 0)


def _interval(interval: IntervalSpec) -> parts.Interval:
    counted_s = MOST_WORK_S if interval.duration_s is None else interval.duration_s
    return parts.Interval(interval.start, warm_up_ns=from_s(interval.warm_up_s), duration_ns=from_s(counted_s))


def _writing(writer: WriterSpec) -> parts.Writing:
    return parts.Writing(writer.batch_pages, writer.coalesced_pages)


def _sharing(machine: MachineSpec) -> parts.Sharing | None:
    """How the hardware threads slow each other down; None if they don't. A hypervisor's guests don't know siblings."""
    longer = slowdowns(machine.cpu, placed_by_cores=machine.hardware_share_lost == 0)
    return parts.Sharing(tuple(round(each * PPM) for each in longer)) if longer.max() > 1.0 else None


@lru_cache(maxsize=64)
def _program(workload: WorkloadSpec, paths: Paths, sample: Sample, cluster: ClusterPaths) -> Program:
    """Kept: a fit or a sweep asks for few programs again and again."""
    return tpcc_program(workload, paths, sample, cluster)


def _storage(scenario: ScenarioSpec) -> parts.Storage:
    """Device 0 holds, in this order, swap (as large as RAM), the log unless it has its own device, and data."""
    machine, database = scenario.machine, scenario.database
    devices: list[parts.Device] = list(_data_devices(machine.disks))
    count = len(devices)
    swap_bytes = int(machine.memory_gib * GIB)
    own_log = machine.log_disk is not None
    if machine.log_disk is not None:
        devices.append(_log_device(machine.log_disk, machine.log_disks, round(machine.disks.stripe_kib * KIB)))
    return parts.Storage(
        devices=tuple(devices),
        data_devices=count,
        log_device=count if own_log else 0,
        page_bytes=round(database.page_kib * KIB),
        data_start_bytes=swap_bytes + LOG_AREA_BYTES,
        log_start_bytes=0 if own_log else swap_bytes,
        log_bytes=LOG_AREA_BYTES,
        swap_start_bytes=0,
        swap_cluster_pages=scenario.operating_system.swap.cluster_pages,
        merged_pages=max(1, round(scenario.operating_system.page_cache.merged_write_kib / database.page_kib)),
        requests_per_device=database.requests_per_file,
    )


def _data_devices(array: DiskArraySpec) -> tuple[parts.Device, ...]:
    layout = array.layout
    if layout is None:
        return tuple(device_of(array.disk, f"disk {number + 1}") for number in range(array.count))
    names = [f" {number + 1}" for number in range(array.sets)] if array.sets > 1 else [""]
    return tuple(
        parts.RaidSet(
            f"{array.level_name} set{name}",
            tuple(device_of(array.disk, f"disk {n + 1} of the set{name}") for n in range(array.count // array.sets)),
            round(array.stripe_kib * KIB),
            layout.copies,
            layout.parities,
        )
        for name in names
    )


def _log_device(disk: DiskSpec, count: int, stripe_bytes: int) -> parts.Device:
    if count == 1:
        return device_of(disk, "log disk")
    disks = tuple(device_of(disk, f"disk {number + 1} of the log set") for number in range(count))
    return parts.RaidSet("log set", disks, stripe_bytes)


def _controllers(array: DiskArraySpec) -> parts.Controllers | None:
    limits = tuple(map(rate_limit_of, array.controller_limits))
    return parts.Controllers(array.controllers, limits) if limits else None


def _fair_queueing(scheduler: NoopSpec | CfqSpec) -> parts.FairQueueing | None:
    if isinstance(scheduler, NoopSpec):
        return None
    slices = (round(each * NS_PER_MS) for each in (scheduler.slice_ms, scheduler.background_slice_ms))
    return parts.FairQueueing(scheduler.quantum, *slices)


def device_of(disk: DiskSpec, name: str) -> parts.Disk:
    """One disk as the engines know it."""
    if isinstance(disk, RotatingDiskSpec):
        revolution_ns = round(60e9 / disk.rpm)
        arm = parts.RotatingDevice(
            name=name,
            capacity_bytes=round(disk.capacity_gib * GIB),
            revolution_ns=revolution_ns,
            track_bytes=round(disk.transfer_mib_per_s * MIB * revolution_ns / 1e9),
            seek_track_ns=round(disk.seek_track_to_track_ms * 1e6),
            seek_average_ns=round(disk.seek_average_ms * 1e6),
            seek_full_ns=round(disk.seek_full_stroke_ms * 1e6),
            overhead_ns=round(disk.overhead_ms * 1e6),
            queue_depth=disk.queue_depth,
            scheduler=disk.scheduler,
        )
        room = round(disk.write_cache_mib * MIB)
        return arm.with_cache(room, max(disk.write_cache_sorted, disk.queue_depth)) if room else arm
    flash = parts.FlashDevice(
        name=name,
        read_ns=round(disk.read_latency_us * NS_PER_US),
        write_ns=round(disk.write_latency_us * NS_PER_US),
        parallel=disk.parallel_requests,
        reads_per_write=disk.reads_per_write or 0,
    )
    return flash.with_limits(tuple(map(rate_limit_of, disk.limits))) if disk.limits else flash


def rate_limit_of(limit: RateLimitSpec) -> parts.RateLimit:
    """A limit as the engines know it."""
    return parts.RateLimit(
        of=limit.of,
        per_s=limit.per_s,
        burst_per_s=limit.burst_per_s or limit.per_s,
        credits=limit.credits,
        credits_at_start=limit.credits * limit.credits_at_start_fraction,
        unit_bytes=round(limit.unit_kib * KIB),
    )
