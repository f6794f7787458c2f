"""What the kernel keeps beside the shared state: who waits for what, the stations, the devices, the counters.

Entities are numbered: clients, then the daemons, then the devices, then the device requests. An entity has one
pending event at most, so an event is an entity's number; what happens then follows from its row in `life`.
Queues are lists through `life[entity, NEXT]` (requests: `requests[request, FOLLOWER]`).
"""

from dataclasses import astuple
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.errors import InputError
from simulator.form import (
    CachingDevice,
    Int32Array,
    IntArray,
    Model,
    RaidSet,
    RotatingDevice,
    Writing,
    io_wait_shares,
    limiters_of,
)
from simulator.kernel.calendar import MOST_ENTITIES, Calendar, new_calendar
from simulator.kernel.disk import WINDOW_ROWS, geometry, most_writes
from simulator.kernel.rate_limits import limiter_rows
from simulator.kernel.streams import seed_streams
from simulator.kernel.terminals import TerminalState, new_terminals
from simulator.results import ACTIVITIES, HISTOGRAM_BUCKETS

# Daemons, behind the clients
FLUSHER, WRITER, CHECKPOINTS, LOGGER, ARRIVALS = range(5)
DAEMONS = 5
# Codes of events at an instant: what, and the entity behind it
RESUME, DONE, LIST, BEGIN, SCHEDULE = range(5)
KIND_BITS = 32
NUMBER_MASK = (1 << KIND_BITS) - 1
NO_ENTITY = MOST_ENTITIES
# Columns of `life`
STAGE, NEXT, TAIL, ASKED, BEGAN, A, B, WAITED, STATION, BURST, SECTION, MAIN_DONE = range(12)
WHOSE, SPENT = 12, 13
ACTIVITY_COUNT = len(ACTIVITIES)
LIFE_WIDTH = SPENT + ACTIVITY_COUNT
# Response time by activity, behind SPENT
(
    SPENT_CPU,
    SPENT_CPU_QUEUE,
    SPENT_SECTION,
    SPENT_ROW_LOCKS,
    SPENT_DISK_READ,
    SPENT_PAGE_WAIT,
    SPENT_SWAP,
    SPENT_THROTTLE,
    SPENT_LOG,
    SPENT_NETWORK,
    SPENT_STATIONS,
    SPENT_CONNECTION,
) = range(ACTIVITY_COUNT)
# Stages of a client or daemon: what its next event means
(
    NEW,
    THINKING,
    ARRIVING,
    TURN,
    SERVING,
    SECTION_TURN,
    SECTION_HANDOVER,
    CALL_TURN,
    READING,
    VICTIM,
    FAULT,
    LOCK_TURN,
    COMMITTING,
    PAGE_WAIT,
    THROTTLED,
    ON_NETWORK,
    TIMED,
    SLEEPING,
    SPREADING,
    SYNCING,
    WRITING,
    STOPPED,
) = range(22)
# Column A of `life` while SERVING: what for
FOR_CPU, FOR_SECTION, FOR_STATION = range(3)
# A gauge takes two places: its value, and the sum of its changes times their instants. A population takes three: last,
# the sum of the instants at which those inside came
# Rows of `stations`: the CPU, then the plain stations, then the critical sections
(FREE, FIRST, LAST, SERVED, BUSY, NUMBER, WAITS, WAITED_NS, HANDOVER) = (0, 1, 2, 3, 4, 7, 10, 11, 12)
STATION_WIDTH = 13
CPU_STATION = 0
# Columns of `devices`
(KIND, CALLS_FREE, CALL_FIRST, CALL_LAST, READS, WRITES, SERVICE_NS, RESPONSE_NS, ARRIVED) = range(9)
QUEUE_LENGTH, DEVICE_BUSY = 9, 12
(SCHEDULER, DEPTH, ARM, UPWARDS, LAST_FED, WAITING, HELD, IDLE, CHOSEN, SERVICE, ROTATING) = range(15, 26)
(PARALLEL_FREE, READ_TIME, WRITE_TIME, QUEUE_FIRST, QUEUE_LAST, UP_SIDE) = range(26, 32)
WAITING_SIDES = 32
READS_PER_WRITE, READS_AHEAD, WRITE_FIRST, WRITE_LAST = range(34, 38)
FIRST_DISK, PLACES_OF_STRIPE, COPIES, PARITIES, UNIT = range(38, 43)
CACHE_ROOM, CACHE_USED, WRITES_HELD, MOST_CHOOSING, CHOOSING, RING_FIRST, RING_COUNT, DESTAGES = range(43, 51)
STAGES, OCCUPIED, BY_PURPOSE = 51, 55, 57
"""STAGES: first and end of the limiters that requests pass, in two stages. OCCUPIED: 1 while there is a request"""
PURPOSES = ("data read", "eviction write", "swap in", "swap out", "write-back", "log", "writer")
DATA_READ, EVICTION_WRITE, SWAP_IN, SWAP_OUT, WRITE_BACK, LOG_WRITE, WRITER_WRITE = range(len(PURPOSES))
# Fair queueing (scheduler.py). ON_TURN: who owns the device: the column of a queue, A_CLIENT or NONE
(QUANTUM, SLICE, BACKGROUND_SLICE, SLICE_END, ON_TURN, HANDED_OVER, TURN_FIRST, TURN_LAST, OWNERS) = range(
    BY_PURPOSE + len(PURPOSES), BY_PURPOSE + len(PURPOSES) + 9
)
A_CLIENT = 0
DEVICE_WIDTH = OWNERS + 3 * (len(PURPOSES) - SWAP_OUT)
FLASH_KIND, ROTATING_KIND, RAID_KIND, LIMITED_KIND = range(4)
FCFS, LOOK, C_LOOK = range(3)
SCHEDULERS = ("fcfs", "look", "c-look")
PPM = 1_000_000
# Columns of `requests`. WHO: the entity that waits for it, or one of the codes below. A request to a RAID set is the
# WHOLE of its parts, of which so many are LEFT. PASSED (never of a WHOLE): stages of limiters, or BEING_SERVED
BYTE, SIZE, WRITE, PURPOSE, SUBMITTED, WHO, FIRST_PAGE, PAGES, FOLLOWER, DEVICE, WHOLE, LEFT = range(12)
REQUEST_WIDTH, PASSED, BEING_SERVED = 12, LEFT, 3
NOBODY, WRITTEN_BACK, PART_OF_WHOLE = -1, -2, -3
# Entries of `facts`: constants, then counters, then gauges
(
    CLIENTS,
    DEVICES,
    FIRST_DEVICE,
    FIRST_REQUEST,
    DATA_DEVICES,
    LOG_DEVICE,
    PAGE_BYTES,
    DATA_START,
    LOG_START,
    LOG_SIZE,
    SWAP_START,
    SWAP_CLUSTER,
    MERGED_PAGES,
    DURABLE,
    FLUSH_OVERHEAD,
    CHECKPOINT_EVERY,
    CHECKPOINT_SPREAD,
    EXPIRE,
    FLUSH_EVERY,
    MOST_IN_FLIGHT,
    WRITER_HIGH,
    WRITER_LOW,
    POOL_PAGES,
    COUNT_FROM,
    MAIN_CLASS,
    ARRIVAL_MEAN,
    PROCESSORS,
    SECTIONS_FROM,
    MOST_PARTS,
    MAIN_PER_CLIENT,
    WRITER_BATCH,
    COALESCED,
) = range(32)
(
    ENDED,
    ENDED_MAIN,
    PAGES_WRITTEN,
    SWAP_OUTS_ISSUED,
    WRITER_SLEEPS,
    LOCKS_ACQUIRED,
    LOCK_WAITS,
    LOCK_WAITED,
    LOG_POSITION,
    LOG_PENDING,
    LOG_WRITTEN,
    LOG_COMMITS,
    LOG_FLUSHES,
    FLUSHING,
    COMMIT_FIRST,
    COMMIT_LAST,
    GROUP_FIRST,
    WRITTEN_FIRST,
    WRITTEN_TAIL,
    BUFFER_FIRST,
    BUFFER_TAIL,
    IDLE_FIRST,
    IDLE_LAST,
    ARRIVED_FIRST,
    ARRIVED_COUNT,
    CHECKPOINTS_DONE,
    FREE_REQUEST,
    FREE_REQUESTS,
    BATCH_NEXT,
    TRACED,
    IO_AREA,
    IO_SINCE,
    IO_BUSY_THEN,
    IO_ASLEEP,
    AT_WORK,
) = range(32, 67)
READS_PENDING, IN_SYSTEM = 67, 70
FIRST_TERMINAL, INTERRUPT_STATION, INTERRUPT_NS = 73, 74, 75
FACTS = 76
NONE = -1
# Rows of `jobs`: what writes buffers, and how far it is
WRITER_JOB, CHECKPOINT_JOB = range(2)
(JOB_COUNT, JOB_BATCH, JOB_AT, JOB_WRITTEN, JOB_BEGAN, JOB_OUTSTANDING, JOB_PHASE, JOB_SPREAD, JOB_DUE, JOB_MARK) = (
    range(10)
)
# Columns of `extents`: as simulator.placement.Extent
FIRST_PAGE_OF, END_PAGE, FIRST_OF_DEVICES, STRIPED_OVER, START_BYTES = range(5)
# Columns of `classes` before the histogram
COMPLETED, ROLLED, TOTAL_NS, CLASS_SPENT = 0, 1, 2, 3
HISTOGRAM = CLASS_SPENT + len(ACTIVITIES)


class Kernel(NamedTuple):
    """See the module's text; the columns' names are above."""

    calendar: Calendar
    facts: IntArray
    life: IntArray
    stations: IntArray
    longer_ppm: IntArray
    """(busy processors,): what a burst takes that starts when so many are busy, in millionths of its time alone"""
    io_shares: IntArray
    """see simulator/form/io_wait.py"""
    devices: IntArray
    limits: IntArray
    geometry: npt.NDArray[np.float64]
    waiting_requests: IntArray
    """(rotating device, side, place, [key, order, request]): what the operating system holds, by byte"""
    window: npt.NDArray[np.float64]
    """(rotating device, [byte, size, arrival at the drive, work space], place): what the drive holds"""
    held: IntArray
    destaging: npt.NDArray[np.float64]
    """as `window`: the cached writes that the drive chooses among"""
    cached: IntArray
    """(rotating device, [byte, size], place): rings of the other writes in the drive's cache"""
    requests: IntArray
    locks: Int32Array
    """(lock, [first, last]) who waits"""
    waiting: Int32Array
    """the first who waits for the page in a buffer, or NONE"""
    extents: IntArray
    """where pages lie: the columns below"""
    jobs: IntArray
    job_pages: Int32Array
    scratch: IntArray
    """pages that are being flushed"""
    classes: IntArray
    checkpoints: IntArray
    arrived: IntArray
    """(place, [time, whose]): ring of the arrivals that nobody serves yet"""
    terminals: TerminalState
    arrival_stream: npt.NDArray[np.uint64]
    trace: IntArray
    """(time, client, class, response time) of the first transactions that ended; as long as asked for"""


def new_kernel(model: Model, seed: int, traced: int = 0) -> Kernel:
    """The kernel's own state at time 0. Raises InputError if the model has more parts than an event can name."""
    clients, every = len(model.client_registers), model.storage.with_disks
    devices = len(every)
    requests = 4 * requests_margin(model)
    first_terminal = clients + DAEMONS + devices
    first_request = first_terminal + (model.terminals.count if model.terminals else 0)
    if first_request + 64 * requests > MOST_ENTITIES:
        who = f"{first_request - first_terminal:,} terminals" if model.terminals else f"{clients:,} clients"
        raise InputError(f"{who} are more than the kernel can tell apart ({MOST_ENTITIES:,} with all else)")
    rotating = [device for device in every if isinstance(device, RotatingDevice)]
    caching = [device for device in rotating if isinstance(device, CachingDevice)]
    chosen_among = max((device.destages_among for device in caching), default=1)
    in_cache = max((most_writes(device.cache_bytes) for device in caching), default=1)
    depth = max((device.queue_depth for device in rotating), default=1)
    pool, locks = model.pool.pages, int(model.program.lock_tables[:, 1].sum()) + 1
    facts = _facts(model, clients, devices, first_request)
    life = np.zeros((clients + DAEMONS, LIFE_WIDTH), dtype=np.int64)
    life[:, NEXT] = life[:, TAIL] = NONE
    kernel = Kernel(
        calendar=new_calendar(first_request + requests),
        facts=facts,
        life=life,
        stations=_stations(model),
        longer_ppm=np.array([PPM, *(model.sharing.ppm if model.sharing else [PPM] * model.processors)], dtype=np.int64),
        io_shares=io_wait_shares(model.processors),
        devices=np.zeros((devices, DEVICE_WIDTH), dtype=np.int64),
        limits=limiter_rows(limiters_of(model.storage, model.volume_limits, model.controllers).limits),
        geometry=np.array([geometry(device) for device in rotating] or np.zeros((1, 8)), dtype=np.float64),
        waiting_requests=np.zeros((max(len(rotating), 1), 2, requests if rotating else 1, 3), dtype=np.int64),
        window=np.zeros((max(len(rotating), 1), WINDOW_ROWS, depth)),
        held=np.zeros((max(len(rotating), 1), depth), dtype=np.int64),
        destaging=np.zeros((max(len(rotating), 1), WINDOW_ROWS, chosen_among)),
        cached=np.zeros((max(len(rotating), 1), 2, in_cache), dtype=np.int64),
        requests=np.zeros((requests, REQUEST_WIDTH), dtype=np.int64),
        locks=np.full((locks, 2), NONE, dtype=np.int32),
        waiting=np.full(pool, NONE, dtype=np.int32),
        extents=np.array([astuple(extent) for extent in model.placement], dtype=np.int64),
        jobs=np.zeros((2, 10), dtype=np.int64),
        job_pages=np.zeros((2, pool), dtype=np.int32),
        scratch=np.zeros(max(model.page_cache.in_flight_pages, 64), dtype=np.int64),
        classes=np.zeros((len(model.program.classes), HISTOGRAM + HISTOGRAM_BUCKETS), dtype=np.int64),
        checkpoints=np.zeros((model.interval.end_ns // model.checkpoint.interval_ns + 2, 2), dtype=np.int64),
        arrived=np.zeros((1 << 16, 2), dtype=np.int64),
        terminals=new_terminals(model, seed),
        arrival_stream=seed_streams(seed, "arrivals", 1),
        trace=np.zeros((traced, 4), dtype=np.int64),
    )
    link_free_requests(kernel, 0)
    return kernel


def requests_margin(model: Model) -> int:
    """Requests that one event may submit at most: a flush, or what a client makes the page cache give up."""
    batch = model.writing.batch_pages if model.writing else 0
    return (max(model.page_cache.in_flight_pages, 64, batch) + 1024) * most_parts(model)


def most_parts(model: Model) -> int:
    """Entries that one request takes at most: its own, and one on each disk of a RAID set."""
    return max(1 + len(device.disks) if isinstance(device, RaidSet) else 1 for device in model.storage.devices)


def link_free_requests(kernel: Kernel, first: int) -> None:
    """Put the requests from `first` on in front of the free list."""
    total = len(kernel.requests)
    kernel.requests[first:, FOLLOWER] = np.arange(first + 1, total + 1)
    kernel.requests[-1, FOLLOWER] = kernel.facts[FREE_REQUEST] if kernel.facts[FREE_REQUESTS] else NONE
    kernel.facts[FREE_REQUEST] = first
    kernel.facts[FREE_REQUESTS] += total - first


def _facts(model: Model, clients: int, devices: int, first_request: int) -> IntArray:
    storage, cache, writing = model.storage, model.page_cache, model.writing or Writing()
    facts = np.zeros(FACTS, dtype=np.int64)
    constants = {
        CLIENTS: clients,
        DEVICES: devices,
        FIRST_DEVICE: clients + DAEMONS,
        FIRST_REQUEST: first_request,
        DATA_DEVICES: storage.data_devices,
        LOG_DEVICE: storage.log_device,
        PAGE_BYTES: storage.page_bytes,
        DATA_START: storage.data_start_bytes,
        LOG_START: storage.log_start_bytes,
        LOG_SIZE: storage.log_bytes,
        SWAP_START: storage.swap_start_bytes,
        SWAP_CLUSTER: storage.swap_cluster_pages,
        MERGED_PAGES: storage.merged_pages,
        DURABLE: int(model.log.durable),
        FLUSH_OVERHEAD: model.log.flush_overhead_ns,
        CHECKPOINT_EVERY: model.checkpoint.interval_ns,
        CHECKPOINT_SPREAD: model.checkpoint.spread_ns,
        EXPIRE: cache.expire_ns,
        FLUSH_EVERY: cache.flush_interval_ns,
        MOST_IN_FLIGHT: cache.in_flight_pages,
        WRITER_HIGH: model.pool.writer_high_pages,
        WRITER_LOW: model.pool.writer_low_pages,
        POOL_PAGES: model.pool.pages,
        COUNT_FROM: model.interval.warm_up_ns,
        MAIN_CLASS: model.program.main_class,
        ARRIVAL_MEAN: round(1e9 / model.arrivals_per_s) if model.arrivals_per_s else 0,
        PROCESSORS: model.processors,
        SECTIONS_FROM: 1 + len(model.stations),
        MOST_PARTS: most_parts(model),
        MAIN_PER_CLIENT: model.work.main_per_client if model.work else 0,
        WRITER_BATCH: writing.batch_pages,
        COALESCED: writing.coalesced_pages,
        AT_WORK: clients,
        FIRST_TERMINAL: clients + DAEMONS + devices,
        INTERRUPT_STATION: NONE,
    }
    if model.interrupts and model.interrupts.station >= 0:
        constants |= {INTERRUPT_STATION: 1 + model.interrupts.station, INTERRUPT_NS: model.interrupts.served_ns}
    for place, value in constants.items():
        facts[place] = value
    facts[[COMMIT_FIRST, COMMIT_LAST, GROUP_FIRST, WRITTEN_FIRST, WRITTEN_TAIL]] = NONE
    facts[[BUFFER_FIRST, BUFFER_TAIL, IDLE_FIRST, IDLE_LAST, BATCH_NEXT]] = NONE
    return facts


def _stations(model: Model) -> IntArray:
    servers = [model.processors, *(station.servers for station in model.stations), *(1 for _ in model.sections)]
    stations = np.zeros((len(servers), STATION_WIDTH), dtype=np.int64)
    stations[:, FREE] = servers
    stations[:, FIRST] = stations[:, LAST] = NONE
    for row, section in zip(stations[1 + len(model.stations) :], model.sections, strict=True):
        row[HANDOVER] = section.handover_ns
    return stations
