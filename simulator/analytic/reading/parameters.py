"""What the analytic engine knows of machines: arrays with one entry for each configuration."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from oltpsim.simulator.analytic.reading.disks import (
    QUEUES,
    Disk,
    die_s,
    disk_of,
    drain_s,
    interface_s,
    lone_read_s,
    lone_write_s,
    service_s,
    turns,
)
from oltpsim.simulator.analytic.reading.page_writes import cleaner_fields, marks_of
from oltpsim.simulator.analytic.reading.volumes import Rates, Turn, Volumes, least_turn_s, sustained, volumes_of
from oltpsim.simulator.analytic.reading.workload import Workload
from oltpsim.simulator.form import (
    MIB,
    NEVER_BYTES,
    NS_PER_S,
    SECTOR_BYTES,
    BoolArray,
    CachingDevice,
    FlashDevice,
    FloatArray,
    RaidSet,
    RotatingDevice,
    SsdDevice,
    System,
    weighted_sum,
)

SHARING_POINTS = 65
WARM_TURNOVERS = 3.0
"""of the pool before a warm start, as in simulator/reference/start.py"""


@dataclass(frozen=True)
class Parameters:
    """Machines that run one workload; every array has shape (configurations,) or (configurations, queues).

    A field of shape (1,) holds for all configurations. Service times by the number of waiting requests are tabulated
    at `disks.QUEUES`.
    """

    clients: FloatArray
    arrivals_per_s: FloatArray
    terminals: FloatArray
    """before the clients, which are their connections; 0: none"""
    away_s: FloatArray
    """what a terminal keys and thinks, and the middle tier takes, for a transaction"""
    cpu_speed: FloatArray
    """relative to the machine that the workload was read for"""
    processors: FloatArray
    """hardware threads"""
    beside: FloatArray
    """most other threads that may be busy when a client's burst starts"""
    slowdowns: FloatArray
    """what a burst takes relative to one alone if each that may be beside it is there with chance 0 .. 1, at equal
    steps of the chance, (configurations, SHARING_POINTS)"""
    path_s: FloatArray
    """CPU time of a transaction of each class, page calls and critical sections left out, (configurations, classes)"""
    drawn_s2: FloatArray
    """variance of `path_s` as far as the program draws it, (configurations, classes)"""
    section_s: FloatArray
    """CPU time inside critical sections, (configurations, classes)"""
    network_s: FloatArray
    """the network's delays, (configurations, classes)"""
    path_before_s: FloatArray
    """CPU time as in `path_s` before each lock is asked for, (configurations, locks)"""
    handover_s: FloatArray
    slice_s: FloatArray
    """CPU time after which a client's burst queues up again; without end if it doesn't"""
    read_cpu_s: FloatArray
    write_cpu_s: FloatArray
    miss_cpu_s: FloatArray
    request_cpu_s: FloatArray
    buffers: FloatArray
    growing: FloatArray
    """1 while the pool is being filled: nothing dirty leaves it, nothing of it is in the page cache yet"""
    done: FloatArray
    """transactions since a start that has left other pages than a long run has; infinite in the long run"""
    pool_left: FloatArray
    """buffers with pages that the start has left"""
    left_places: FloatArray
    """by group the first and the last place that pages of its table have among those that the start has left, counted
    from the one that it left last, (configurations, 2 x groups); zeros: it has left nothing"""
    resident: FloatArray
    dirty_high: FloatArray
    dirty_low: FloatArray
    cleaners: FloatArray
    """page cleaners; 0: a background writer and checkpoints"""
    tail_pages: FloatArray
    """at the end of the list that page cleaners keep clean"""
    round_s: FloatArray
    """from one look of page cleaners at the ages to the next"""
    tail_round_s: FloatArray
    """and at the list's end"""
    tail_evictions: FloatArray
    """pages that have left the pool, after which they look there sooner; without end if never"""
    merged_per_s: FloatArray
    """pages that a daemon reads and changes, at most: those of changes put aside"""
    redo_bytes: FloatArray
    """of log since a page's first change, that `aged_per_s` begins and ends with"""
    redo_sync_bytes: FloatArray
    """at which pages are written whatever that says"""
    redo_full_bytes: FloatArray
    """at which commits wait"""
    aged_per_s: FloatArray
    """pages that the age of the log asks for, by its share of `redo_bytes` at equal steps, (configurations, SHARES)"""
    dirty_per_s: FloatArray
    """pages that dirty ones ask for, by their share of the pool"""
    doubled: FloatArray
    """1: a batch of direct writes is written twice, first its copies in one request"""
    closed_s: FloatArray
    """of a flush that a data disk does alone, all others waiting; 0: it does it beside them"""
    synced_s: FloatArray
    """what a data disk needs for a flush behind pages that are written twice or synced; 0: they aren't"""
    writer_batch: FloatArray
    """pages that writer and checkpoint hand to the disks at once"""
    pushed: FloatArray
    """1: by buffered I/O they go from the page cache to the disks at once"""
    cache_pages: FloatArray
    cache_background: FloatArray
    """dirty pages of the page cache above which write-back doesn't wait for their age"""
    cache_chunk: FloatArray
    """of them that it then takes along at once; 0: a page at a time"""
    cache_dirty_limit: FloatArray
    """those with which writers are as fast as the disks, be it by waiting or by pauses"""
    expire_s: FloatArray
    flush_s: FloatArray
    read_factor: FloatArray
    """device reads for each read that the caches leave: 1, but where a run has told another number"""
    write_factor: FloatArray
    """the same of writes"""
    free_behind: FloatArray
    cache_log_pages: FloatArray
    cache_log_bytes: FloatArray
    direct: FloatArray
    """1: by direct I/O, or `synced`: whoever writes pages of the pool waits until the disks have them"""
    synced: FloatArray
    """1: they go through the page cache first, and stay there"""
    data_devices: FloatArray
    """disks that have data, be they independent or a RAID set's"""
    disks_per_file: FloatArray
    """1, or all disks of the RAID set that the one file lies on"""
    copies: FloatArray
    parities: FloatArray
    unit_pages: FloatArray
    """pages that a RAID set puts on one disk before it goes on to the next; without end on independent disks"""
    again_s: FloatArray
    """what a write takes longer if the disk reads the place before, as sets with parity need"""
    flash: FloatArray
    """1 for flash, whose latency doesn't depend on how many wait; 0 for an arm"""
    dies: FloatArray
    """of an SSD, whose `write_s` are its dies' time for a page; 0 of all other disks"""
    die_s: FloatArray
    """of one, for a page"""
    interface_read_s: FloatArray
    interface_write_s: FloatArray
    acknowledged_s: FloatArray
    """a lone write into an SSD's buffer"""
    program_s: FloatArray
    interrupted_s: FloatArray
    """of a die, that programs lose by a read"""
    buffer_s: FloatArray
    """in which a full buffer is programmed"""
    data_volatile: FloatArray
    """1: data devices have no power-loss protection"""
    log_volatile: FloatArray
    """1: the log's device has no power-loss protection"""
    write_cache_s: FloatArray
    """a write into the cache of a drive with an arm; 0 without one"""
    write_cache_pages: FloatArray
    """that it holds"""
    parallel: FloatArray
    """requests that a data device serves at once"""
    reads_per_write: FloatArray
    """reads that go ahead of each write while both wait; 0: in order of arrival"""
    calls: FloatArray
    """requests of the database that one file may have at once"""
    read_s: FloatArray
    write_s: FloatArray
    page_transfer_s: FloatArray
    """what each further page of a merged write adds"""
    append_page_s: FloatArray
    """of an SSD's dies for a page that is appended, as copies of a doublewrite are"""
    merged_pages: FloatArray
    in_flight: FloatArray
    """pages that write-back may have at the disks at once"""
    swap_read_s: FloatArray
    swap_write_s: FloatArray
    swap_cluster: FloatArray
    durable: FloatArray
    flush_overhead_s: FloatArray
    log_own: FloatArray
    log_first_s: FloatArray
    """a flush of the log that nobody else was waiting for, with its overhead"""
    log_again_s: FloatArray
    """one that follows another at once: on an arm the place has just passed under the head"""
    log_byte_s: FloatArray
    log_writes: FloatArray
    """of a group, one after the other, each as large"""
    log_journal_writes: FloatArray
    """behind them, of a block each"""
    log_at_once: FloatArray
    """1 if it is flushed whenever something is logged; the other writes of a group are a stage of their own then"""
    log_sync_s: FloatArray
    """of an SSD's flush what its sync takes beyond the write"""
    log_drain_byte_s: FloatArray
    """what a byte of the log takes of an SSD's dies"""
    log_turns: FloatArray
    """requests of a device that has the log beside data until the log's is served, the log's counted in"""
    since_s: FloatArray
    """time from the start to the middle of the counted interval"""
    turnovers: FloatArray
    """how often the pool has turned over before the start"""
    checkpoint_s: FloatArray
    spread_s: FloatArray
    checkpoint_bytes: FloatArray
    """of log after which a checkpoint begins, if that is sooner; without end if nobody looks"""
    image_bytes: FloatArray
    """that a page's first change since then logs on top of its own"""
    limited: FloatArray
    """1 for cloud volumes, whose service times are their limits' turns (volumes.py)"""
    apart_page_s: FloatArray
    """what bytes of a page take of a second limit, which counts apart, over slices; 0: there is none"""
    delay_s: FloatArray
    """what a read takes beyond its turn at a limited device; less than 0 if a turn is longer"""
    free_wait_s: FloatArray
    """for a buffer of a full pool, of each read"""
    log_delay_s: FloatArray
    """the same of a flush of the log beside data"""
    write_alone_s: FloatArray
    """response time of a write behind caps that count no reads; 0: writes queue with reads"""
    log_beside_s: FloatArray
    """what a flush on a device of its own takes of each data disk's time, where both are behind one limit"""
    log_behind: FloatArray
    """1 if that limit's turns are longer than those of the data disks' own: flushes wait among reads then"""

    @property
    def data_units(self) -> FloatArray:
        """Disks' worth of data in a file's stripe."""
        return self.disks_per_file / self.copies - self.parities

    def units(self, pages: FloatArray) -> FloatArray:
        """Disks on which neighbouring pages of a request lie, copies and parity left out."""
        return np.minimum(1.0 + (pages - 1.0) / self.unit_pages, self.data_units)

    def disk_writes(self, pages: FloatArray) -> FloatArray:
        """Writes of disks for each write of so many neighbouring pages."""
        return self.copies * self.units(pages) + self.parities

    def __len__(self) -> int:
        """Number of configurations."""
        return self._count

    @cached_property
    def _count(self) -> int:
        return max(len(getattr(self, field.name)) for field in fields(self))

    def filled(self) -> Parameters:
        """Every array as long as there are configurations."""
        count = len(self)

        def whole(value: FloatArray) -> FloatArray:
            return value if len(value) == count else np.repeat(value, count, axis=0)

        return replace(self, **{field.name: whole(getattr(self, field.name)) for field in fields(self)})

    def repeated(self, count: int) -> Parameters:
        """One configuration so many times."""
        return replace(self, clients=np.repeat(self.clients, count)).filled()

    def take(self, numbers: slice | BoolArray) -> Parameters:
        """Some of the configurations."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: value if len(value) == 1 else value[numbers] for name, value in every.items()})


PROCESSORS = frozenset({
    "cpu_speed", "processors", "beside", "slowdowns", "path_s", "drawn_s2", "section_s", "path_before_s", "handover_s",
    "slice_s", "read_cpu_s", "write_cpu_s", "miss_cpu_s", "request_cpu_s",
})  # fmt: skip
"""what processors decide alone"""
MEMORY = frozenset({
    "buffers", "growing", "done", "pool_left", "left_places", "resident", "dirty_high", "dirty_low", "cache_pages",
    "cache_background", "cache_chunk", "cache_dirty_limit",
})  # fmt: skip
"""what memory and the buffer pool's size decide alone; all else is the disks', but how far swap lies from data"""


def combined(
    processors: Parameters, memory: Parameters, storage: Parameters, which: npt.NDArray[np.int64]
) -> Parameters:
    """Machines put together from rows of three kinds of parts, (machines, 3): which of each. None of them may swap."""
    part = dict.fromkeys(PROCESSORS, (processors.filled(), 0)) | dict.fromkeys(MEMORY, (memory.filled(), 1))
    rest = storage.filled(), 2
    every = {}
    for field in fields(Parameters):
        of, column = part.get(field.name, rest)
        every[field.name] = getattr(of, field.name)[which[:, column]]
    return Parameters(**every)


def parameters_of(system: System, workload: Workload, rates: Rates | None = None) -> Parameters:
    """One system as parameters, arrays of length 1. `rates`: what volumes' limits let through, if not sustained."""
    storage, cache, pool, costs = system.storage, system.page_cache, system.pool, system.costs
    marks = marks_of(system)
    first_device, data, page = storage.devices[0], disk_of(storage.devices[0]), storage.page_bytes
    own_log = storage.log_device >= storage.data_devices
    log = disk_of(storage.devices[storage.log_device])
    raid = first_device if isinstance(first_device, RaidSet) else None
    disks, stripe = (len(raid.disks), raid.data_units) if raid else (1, 1)
    data_bytes = float(workload.groups.pages.sum()) / storage.data_devices * page / stripe
    file_bytes = -(-system.program.pages // storage.data_devices) * page
    swap_bytes = pool.pages * page
    swap_span = (file_bytes + storage.data_start_bytes - storage.swap_start_bytes - swap_bytes / 2) / stripe
    to_log = (storage.data_start_bytes - storage.log_start_bytes) / stripe
    again_ns = _rewrite_ns(data) if raid and raid.parities else 0
    by_controller = isinstance(data, CachingDevice) and data.by_controller

    def one(value: float) -> FloatArray:
        return np.array([float(value)])

    def s(value: float) -> FloatArray:
        return one(value / NS_PER_S)

    def table(span: float, write: bool) -> FloatArray:
        return _table_s(data, span, page, again_ns if write else 0, write)

    ssd = data if isinstance(data, SsdDevice) else None
    log_ssd = log if isinstance(log, SsdDevice) else None
    first, again = _flush_ns(log, system.log.flush_overhead_ns)
    if not own_log and not isinstance(log, CachingDevice | FlashDevice | SsdDevice):
        first = system.log.flush_overhead_ns + service_s(log, data_bytes, page, True)[0] * NS_PER_S
    if not own_log and not by_controller:
        first, again = first + again_ns, again + again_ns
    plain = Parameters(
        clients=one(len(system.client_registers)),
        arrivals_per_s=one(system.arrivals_per_s),
        terminals=one(system.terminals.count if system.terminals else 0),
        away_s=one(workload.away_s),
        cpu_speed=one(1.0),
        processors=one(system.processors),
        beside=one(_most_beside(system)),
        slowdowns=_slowdowns(system),
        path_s=(workload.user_s + workload.system_s + workload.client_s)[None],
        drawn_s2=workload.drawn_s2[None],
        section_s=workload.inside_s.sum(axis=1)[None],
        network_s=workload.network_s[None],
        path_before_s=np.array([[lock.cpu_s for lock in workload.locks]]),
        handover_s=s(max((section.handover_ns for section in system.sections), default=0)),
        slice_s=s(system.cpu.slice_ns) if system.cpu.slice_ns else one(np.inf),
        read_cpu_s=s(costs.read_ns),
        write_cpu_s=s(costs.write_ns),
        miss_cpu_s=s(costs.miss_ns),
        request_cpu_s=s(costs.request_ns),
        buffers=one(pool.pages),
        growing=one(0.0),
        done=one(np.inf),
        pool_left=one(0.0),
        left_places=np.zeros((1, 1)),
        resident=one(pool.resident_pages),
        dirty_high=one(marks.dirty_high_pages),
        dirty_low=one(marks.dirty_low_pages),
        **cleaner_fields(system),
        doubled=one(system.writing.doubled and system.writes_victims),
        closed_s=s(data.flush_ns + 1 if isinstance(data, SsdDevice) and data.flushes_alone else 0),
        synced_s=s(data.flush_ns if isinstance(data, SsdDevice) and _flushes_pages(system) else 0),
        writer_batch=one(system.writing.batch_pages),
        pushed=one(system.writing.pushed and not system.direct_io),
        cache_pages=one(cache.pages),
        cache_background=one(marks.background_pages),
        cache_chunk=one(marks.chunk_pages),
        cache_dirty_limit=one(min(cache.dirty_limit_pages, (cache.paced_pages + cache.dirty_limit_pages) / 2)),
        expire_s=s(marks.expire_ns),
        flush_s=s(marks.flush_interval_ns),
        read_factor=one(1.0),
        write_factor=one(1.0),
        free_behind=one(cache.free_behind),
        cache_log_pages=one(cache.log_pages),
        cache_log_bytes=one(cache.log_page_bytes),
        direct=one(system.writes_victims),
        synced=one(system.writes_victims and not system.direct_io),
        data_devices=one(storage.data_devices * disks),
        disks_per_file=one(disks),
        copies=one(raid.copies if raid else 1),
        parities=one(raid.parities if raid else 0),
        unit_pages=one(raid.unit_bytes / page if raid else np.inf),
        again_s=s(0 if by_controller else again_ns),
        flash=one(isinstance(data, FlashDevice | SsdDevice)),
        dies=one(ssd.dies if ssd else 0),
        die_s=one(die_s(ssd, page) if ssd else 0),
        interface_read_s=one(interface_s(ssd, page, write=False) if ssd else 0),
        interface_write_s=one(interface_s(ssd, page, write=True) if ssd else 0),
        acknowledged_s=one(lone_write_s(ssd, page) if ssd else 0),
        program_s=s(ssd.program_ns if ssd else 0),
        interrupted_s=s(ssd.interrupted_ns if ssd else 0),
        buffer_s=one(drain_s(ssd, ssd.buffer_bytes) if ssd else 0),
        data_volatile=one(ssd.is_volatile if ssd else 0),
        log_volatile=one(log_ssd.is_volatile if log_ssd else 0),
        write_cache_s=s(data.in_cache_ns if isinstance(data, CachingDevice) else 0),
        write_cache_pages=one(data.cache_bytes / page if isinstance(data, CachingDevice) else 0.0),
        parallel=one(data.parallel if isinstance(data, FlashDevice) else 1),
        reads_per_write=one(data.reads_per_write if isinstance(data, FlashDevice) else 0),
        calls=one(storage.requests_per_device),
        read_s=table(data_bytes, False),
        write_s=table(data_bytes, True),
        page_transfer_s=one(drain_s(ssd, page) if ssd else page * _byte_s(data)),
        append_page_s=one(page * ssd.append_mib_ns / MIB / NS_PER_S if ssd else 0),
        merged_pages=one(storage.merged_pages),
        in_flight=one(cache.in_flight_pages),
        swap_read_s=table(swap_span, False),
        swap_write_s=table(swap_span, True),
        swap_cluster=one(storage.swap_cluster_pages),
        durable=one(system.log.durable),
        flush_overhead_s=s(system.log.flush_overhead_ns),
        log_own=one(own_log),
        log_first_s=s(first),
        log_again_s=s(again),
        log_byte_s=one(_byte_s(log)),
        log_writes=one(system.log.writes_per_group),
        log_journal_writes=one(system.log.journal_writes),
        log_at_once=one(system.log.at_once),
        log_sync_s=s(log_ssd.flush_ns if log_ssd else 0),
        log_drain_byte_s=one(log_ssd.append_mib_ns / MIB / NS_PER_S if log_ssd else 0),
        log_turns=_turns(log, to_log, data_bytes, page),
        since_s=s(system.interval.warm_up_ns + system.interval.duration_ns / 2),
        turnovers=one(WARM_TURNOVERS if system.interval.start == "warm" else 0.0),
        checkpoint_s=s(marks.checkpoint_interval_ns),
        spread_s=s(marks.spread_ns),
        checkpoint_bytes=one(marks.checkpoint_bytes if marks.checkpoint_bytes < NEVER_BYTES else np.inf),
        image_bytes=one(system.log.full_page_bytes),
        limited=one(0.0),
        apart_page_s=one(0.0),
        delay_s=one(0.0),
        free_wait_s=one(system.pool.free_wait_ns / NS_PER_S),
        log_delay_s=one(0.0),
        write_alone_s=one(0.0),
        log_beside_s=one(0.0),
        log_behind=one(0.0),
    )
    volumes = volumes_of(system, rates or sustained(system))
    return _behind_limits(plain, system, volumes) if volumes.data or volumes.log else plain


def _flushes_pages(system: System) -> bool:
    """Whether a flush follows pages that daemons and clients write."""
    return system.writing.doubled if system.direct_io else system.writing.synced


@lru_cache(maxsize=1 << 12)
def _table_s(disk: Disk, span_bytes: float, size_bytes: float, again_ns: int, write: bool) -> FloatArray:
    """Service times with what a place takes to come around again, (1, QUEUES); most machines of a fit share them."""
    return np.array([service_s(disk, span_bytes, size_bytes, write)]) + again_ns / NS_PER_S


@lru_cache(maxsize=256)
def _turns(log: Disk, start_bytes: float, span_bytes: float, size_bytes: float) -> FloatArray:
    return np.array([turns(log, start_bytes, span_bytes, size_bytes)])


def _behind_limits(p: Parameters, system: System, volumes: Volumes) -> Parameters:
    """The same machine with its volumes' limits: turns as service times, at one server."""
    data, log = disk_of(system.storage.devices[0]), disk_of(system.storage.devices[system.storage.log_device])
    if volumes.data and isinstance(data, FlashDevice):
        page = system.storage.page_bytes
        read_s = least_turn_s(data, volumes.data, page, write=False)
        write_s = least_turn_s(data, volumes.data_writes, page, write=True)
        flush_s = least_turn_s(data, volumes.data_flushes, page, write=True)
        reads, writes = (np.full((1, len(QUEUES)), each) for each in (read_s, write_s))
        p = replace(
            p,
            limited=np.ones(1),
            parallel=np.ones(1),
            read_s=reads,
            write_s=writes,
            swap_read_s=reads,
            swap_write_s=writes,
            again_s=np.zeros(1),
            page_transfer_s=np.array([page * volumes.data_writes.byte_s]),
            apart_page_s=np.array([page * volumes.data_apart.byte_s]),
            delay_s=np.array([data.read_ns / NS_PER_S - read_s]),
            log_turns=QUEUES[None] + 1.0,
        )
        if not volumes.data_writes.request_s and not volumes.data_writes.byte_s:
            p = replace(p, write_alone_s=np.array([data.write_ns / NS_PER_S]))
        if not p.log_own[0]:
            p = _log_behind(p, volumes.data_flushes, p.flush_overhead_s + flush_s, p.flush_overhead_s + flush_s)
            p = replace(p, log_delay_s=np.array([data.write_ns / NS_PER_S - flush_s]))
    if volumes.log and p.log_own[0] and isinstance(log, FlashDevice):
        p = _log_behind(p, volumes.log, p.log_first_s, np.maximum(p.log_first_s, volumes.log.request_s))
    beside_s = volumes.log_beside.request_s
    behind = float(0.0 < beside_s * p.data_devices[0] >= p.read_s[0, 0])
    return replace(p, log_beside_s=np.array([beside_s]), log_behind=np.array([behind]))


def _log_behind(p: Parameters, turn: Turn, first_s: FloatArray, again_s: FloatArray) -> Parameters:
    return replace(p, log_first_s=first_s, log_again_s=again_s, log_byte_s=np.array([turn.byte_s]))


def _rewrite_ns(disk: Disk) -> int:
    """Read-modify-write penalty, ns: a revolution of an arm's disk, the read of a place on flash."""
    if isinstance(disk, SsdDevice):
        return round(lone_read_s(disk, SECTOR_BYTES) * NS_PER_S)
    return disk.revolution_ns if isinstance(disk, RotatingDevice) else disk.read_ns


def _byte_s(disk: Disk) -> float:
    """What a further byte of a write takes."""
    if isinstance(disk, RotatingDevice):
        return disk.revolution_ns / disk.track_bytes / NS_PER_S
    return disk.write_mib_ns / MIB / NS_PER_S if isinstance(disk, SsdDevice) else 0.0


def _most_beside(system: System) -> int:
    clients = len(system.client_registers)
    return (system.processors if system.arrivals_per_s else min(system.processors, clients)) - 1


def _slowdowns(system: System) -> FloatArray:
    """What a burst takes relative to one alone if each that may be beside it is there with chance 0 .. 1.

    Independently of each other: a binomial number of them. What a quota lets through is spread over its periods evenly.
    """
    if system.sharing is None and not system.cpu.quota_ns:
        return np.ones((1, SHARING_POINTS))
    others = _most_beside(system)
    busy, chance = np.arange(others + 1.0), np.linspace(0.0, 1.0, SHARING_POINTS)[1:-1, None]
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, others + 1.0)))])
    ways = factorials[-1] - factorials - factorials[::-1]
    longer = np.array(system.sharing.ppm[: others + 1]) / 1e6 if system.sharing else np.ones(others + 1)
    longer = longer * np.maximum((busy + 1.0) / system.cpu.allowed_servers, 1.0) if system.cpu.quota_ns else longer
    chances = np.exp(ways + busy * np.log(chance) + (others - busy) * np.log1p(-chance))
    between = weighted_sum(chances, longer)
    return np.concatenate([longer[:1], between, longer[-1:]])[None]


def _flush_ns(log: Disk, overhead_ns: float) -> tuple[float, float]:
    """A flush out of the blue, and one right after another, without the transfer."""
    if isinstance(log, FlashDevice):
        return overhead_ns + log.write_ns, overhead_ns + log.write_ns
    if isinstance(log, SsdDevice):
        programmed_ns = drain_s(log, SECTOR_BYTES) / log.drain_mib_ns * log.append_mib_ns * NS_PER_S
        flush_ns = lone_write_s(log, 0) * NS_PER_S + log.flush_ns + (programmed_ns if log.is_volatile else 0)
        return overhead_ns + flush_ns, overhead_ns + flush_ns
    if isinstance(log, CachingDevice):
        return overhead_ns + log.in_cache_ns, overhead_ns + log.in_cache_ns
    ready = overhead_ns + log.overhead_ns
    return ready + log.revolution_ns / 2, (ready // log.revolution_ns + 1) * log.revolution_ns


def stacked(parameters: list[Parameters]) -> Parameters:
    """Several parameters as one, in their order."""
    return Parameters(
        **{field.name: np.concatenate([getattr(one, field.name) for one in parameters]) for field in fields(Parameters)}
    )


Arrays = TypeVar("Arrays")


def rows(of: Arrays, numbers: npt.NDArray[np.int64]) -> Arrays:
    """These rows of an array, or of each array in a dataclass and in the dataclasses in it."""
    whole: Any = of
    if isinstance(whole, np.ndarray):
        whole = whole[numbers]
    else:
        whole = replace(whole, **{field.name: rows(getattr(whole, field.name), numbers) for field in fields(whole)})
    return cast("Arrays", whole)
