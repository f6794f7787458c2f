"""The kernel's daemons: log, write-back, background writer, checkpoints, arrivals. As in reference/daemons.py."""

# pyright: reportReturnType=false

from simulator.kernel import columns as ks
from simulator.kernel.caches import (
    CACHE,
    DIRTY_COUNT,
    DIRTY_FIRST,
    POOL,
    WRITES_IN_FLIGHT,
    is_dirty_since,
    least_recent_dirty,
)
from simulator.kernel.calendar import NOW, after, at_once, urgently
from simulator.kernel.columns import STAGE, Kernel
from simulator.kernel.compiled import compiled_apart, compiled_inside
from simulator.kernel.devices import submit
from simulator.kernel.io_wait import sleep_in_io
from simulator.kernel.page_writes import run_job, start_job, wait_for_written
from simulator.kernel.state import COSTS, DIRECT_IO, FLUSH_NS, REQUEST_NS, State
from simulator.kernel.stations import append, enter, leave
from simulator.kernel.streams import exponential_ns
from simulator.kernel.terminal_events import arrive
from simulator.kernel.write_back import flush_dirt

# Phases of a checkpoint after its job (page_writes.py)
_SYNC_OLD, _SYNC_REST = 10, 11


@compiled_apart
def wake_daemon(state: State, kernel: Kernel, entity: int) -> None:
    """A daemon's event."""
    stage = kernel.life[entity, STAGE]
    if stage == ks.SERVING:
        leave(kernel, entity)
    daemon = entity - kernel.facts[ks.CLIENTS]
    if daemon == ks.FLUSHER:
        _flush(state, kernel, entity, stage)
    elif daemon == ks.WRITER:
        _write(state, kernel, entity, stage)
    elif daemon == ks.CHECKPOINTS:
        _checkpoint(state, kernel, entity, stage)
    elif daemon == ks.LOGGER:
        _log(kernel, entity, stage)
    else:
        _arrive(kernel, entity, stage)


@compiled_inside
def commit(kernel: Kernel, client: int, size_bytes: int) -> bool:
    """Log a commit; True if the client has to wait until it is durable. Nothing to log: no wait."""
    facts = kernel.facts
    if size_bytes == 0:
        return False
    facts[ks.LOG_COMMITS] += 1
    facts[ks.LOG_PENDING] += size_bytes
    if not facts[ks.DURABLE]:
        return False
    kernel.life[client, STAGE] = ks.COMMITTING
    append(kernel.life, facts, ks.COMMIT_FIRST, ks.COMMIT_LAST, client)
    if not facts[ks.FLUSHING]:
        facts[ks.FLUSHING] = 1
        urgently(kernel.calendar, facts[ks.CLIENTS] + ks.LOGGER)
    return True


@compiled_inside
def _log(kernel: Kernel, entity: int, stage: int) -> None:
    """The log's group flush: all who wait when it begins share one write."""
    facts, life = kernel.facts, kernel.life
    if stage == ks.TIMED:
        life[entity, STAGE] = ks.WRITING
        sleep_in_io(kernel, 1)
        write_log(kernel, entity)
        return
    if stage == ks.WRITING:
        sleep_in_io(kernel, -1)
        client = facts[ks.GROUP_FIRST]
        while client != ks.NONE:
            at_once(kernel.calendar, client)
            client = life[client, ks.NEXT]
        if facts[ks.COMMIT_FIRST] == ks.NONE:
            facts[ks.FLUSHING] = 0
            life[entity, STAGE] = ks.NEW
            return
    facts[ks.GROUP_FIRST] = facts[ks.COMMIT_FIRST]
    facts[ks.COMMIT_FIRST] = ks.NONE
    life[entity, STAGE] = ks.TIMED
    after(kernel.calendar, facts[ks.FLUSH_OVERHEAD], entity)


@compiled_inside
def write_log(kernel: Kernel, who: int) -> None:
    """Write what is pending, at the end of the log (a ring)."""
    facts = kernel.facts
    size = facts[ks.LOG_PENDING]
    byte = facts[ks.LOG_START] + facts[ks.LOG_POSITION] % facts[ks.LOG_SIZE]
    facts[ks.LOG_PENDING] = 0
    facts[ks.LOG_POSITION] += size
    facts[ks.LOG_WRITTEN] += size
    facts[ks.LOG_FLUSHES] += 1
    submit(kernel, facts[ks.LOG_DEVICE], byte, size, 1, ks.LOG_WRITE, who)


@compiled_inside
def _flush(state: State, kernel: Kernel, entity: int, stage: int) -> None:
    """The operating system's write-back: pages dirty for too long, and what the log left behind."""
    facts, now = kernel.facts, kernel.calendar.clock[NOW]
    if stage == ks.TIMED:
        if facts[ks.LOG_PENDING] and not facts[ks.DURABLE]:
            write_log(kernel, ks.NOBODY)
        room = facts[ks.MOST_IN_FLIGHT] - state.tiers.head[CACHE, WRITES_IN_FLIGHT]
        if now >= facts[ks.EXPIRE] and room > 0:
            written = flush_dirt(state, kernel, now - facts[ks.EXPIRE], room)
            if written:
                demand = written * state.tables[COSTS, REQUEST_NS]
                state.usage[FLUSH_NS] += demand
                enter(kernel, ks.CPU_STATION, entity, demand, False)
                return
    kernel.life[entity, STAGE] = ks.TIMED
    after(kernel.calendar, facts[ks.FLUSH_EVERY], entity)


@compiled_inside
def _write(state: State, kernel: Kernel, entity: int, stage: int) -> None:
    """The database's writer: above the high mark, the pages nearest to replacement, down to the low mark."""
    facts, dirty = kernel.facts, state.tiers.head[POOL]
    running = stage not in (ks.NEW, ks.SLEEPING)
    while True:
        if running and not run_job(state, kernel, ks.WRITER_JOB, entity):
            return
        if dirty[DIRTY_COUNT] <= facts[ks.WRITER_HIGH]:
            facts[ks.WRITER_SLEEPS] = 1
            kernel.life[entity, STAGE] = ks.SLEEPING
            return
        most = dirty[DIRTY_COUNT] - facts[ks.WRITER_LOW]
        count = least_recent_dirty(state.tiers, POOL, most, kernel.job_pages[ks.WRITER_JOB])
        start_job(kernel, ks.WRITER_JOB, count, 0)
        running = True


@compiled_inside
def _checkpoint(state: State, kernel: Kernel, entity: int, stage: int) -> None:
    """Every interval: write all pages dirty now, in disk order, then wait until the disks have them."""
    facts, job, now = kernel.facts, kernel.jobs[ks.CHECKPOINT_JOB], kernel.calendar.clock[NOW]
    if stage == ks.NEW:
        _sleep_until_checkpoint(kernel, entity)
        return
    if stage == ks.TIMED:
        pages = kernel.job_pages[ks.CHECKPOINT_JOB]
        count = least_recent_dirty(state.tiers, POOL, facts[ks.POOL_PAGES], pages)
        start_job(kernel, ks.CHECKPOINT_JOB, count, facts[ks.CHECKPOINT_SPREAD])
    if job[ks.JOB_PHASE] < _SYNC_OLD:
        if not run_job(state, kernel, ks.CHECKPOINT_JOB, entity):
            return
        job[ks.JOB_PHASE], job[ks.JOB_MARK] = _SYNC_OLD, now
    if state.tables[COSTS, DIRECT_IO] == 0 and not _is_synced(state, kernel, entity):
        return
    done = facts[ks.CHECKPOINTS_DONE]
    kernel.checkpoints[done, 0], kernel.checkpoints[done, 1] = job[ks.JOB_BEGAN], now
    facts[ks.CHECKPOINTS_DONE] += 1
    _sleep_until_checkpoint(kernel, entity)


@compiled_inside
def _sleep_until_checkpoint(kernel: Kernel, entity: int) -> None:
    job, now = kernel.jobs[ks.CHECKPOINT_JOB], kernel.calendar.clock[NOW]
    job[ks.JOB_DUE] = max(job[ks.JOB_DUE] + kernel.facts[ks.CHECKPOINT_EVERY], now)
    kernel.life[entity, STAGE] = ks.TIMED
    after(kernel.calendar, job[ks.JOB_DUE] - now, entity)


@compiled_inside
def _is_synced(state: State, kernel: Kernel, entity: int) -> bool:
    """Flush what was dirty in the page cache when the sync began, and wait for all that is in flight by then."""
    facts, job, head = kernel.facts, kernel.jobs[ks.CHECKPOINT_JOB], state.tiers.head[CACHE]
    if job[ks.JOB_PHASE] == _SYNC_OLD:
        first = head[DIRTY_FIRST]
        if first >= 0 and is_dirty_since(state.tiers, first, job[ks.JOB_MARK]):
            room = facts[ks.MOST_IN_FLIGHT] - head[WRITES_IN_FLIGHT]
            if room > 0:
                flush_dirt(state, kernel, job[ks.JOB_MARK], room)
            wait_for_written(kernel, entity)
            kernel.life[entity, STAGE] = ks.SYNCING
            return False
        job[ks.JOB_PHASE], job[ks.JOB_MARK] = _SYNC_REST, facts[ks.PAGES_WRITTEN] + head[WRITES_IN_FLIGHT]
    if facts[ks.PAGES_WRITTEN] < job[ks.JOB_MARK]:
        wait_for_written(kernel, entity)
        kernel.life[entity, STAGE] = ks.SYNCING
        return False
    return True


@compiled_inside
def _arrive(kernel: Kernel, entity: int, stage: int) -> None:
    """A Poisson arrival: it goes to a free connection, or waits for one."""
    if stage == ks.TIMED:
        arrive(kernel, kernel.calendar.clock[NOW], 0)
    kernel.life[entity, STAGE] = ks.TIMED
    after(kernel.calendar, exponential_ns(kernel.arrival_stream, 0, kernel.facts[ks.ARRIVAL_MEAN]), entity)
