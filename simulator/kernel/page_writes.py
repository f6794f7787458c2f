"""The kernel's writing of buffers, for the background writer and for checkpoints: batch by batch, maybe spread out."""

# pyright: reportReturnType=false

from simulator.kernel import columns as ks
from simulator.kernel.caches import DIRTY, FLAGS, POOL, clear_dirty
from simulator.kernel.calendar import NOW, after
from simulator.kernel.columns import STAGE, Kernel
from simulator.kernel.compiled import compiled_apart, compiled_inside
from simulator.kernel.devices import byte_of, device_of, extent_of, submit
from simulator.kernel.memory import cache_is_full_of_dirt, cache_write
from simulator.kernel.state import COSTS, DIRECT_IO, WRITE_NS, WRITER_NS, State
from simulator.kernel.stations import enter, join_those_who_wait
from simulator.kernel.write_back import flush_dirt, write_evicted

# Phases: a batch is being written; its CPU time is paid; its direct writes are done; it was spread out
_BATCH, _PAID, _WRITTEN, _SPREAD = range(4)


@compiled_inside
def start_job(kernel: Kernel, job: int, count: int, spread_ns: int) -> None:
    """Begin to write the first `count` pages of the job's list."""
    row = kernel.jobs[job]
    row[ks.JOB_COUNT], row[ks.JOB_BEGAN], row[ks.JOB_SPREAD] = count, kernel.calendar.clock[NOW], spread_ns
    row[ks.JOB_BATCH] = row[ks.JOB_AT] = row[ks.JOB_WRITTEN] = row[ks.JOB_PHASE] = 0


@compiled_apart
def run_job(state: State, kernel: Kernel, job: int, entity: int) -> bool:
    """Go on with a job until it has to wait (False) or is done (True)."""
    row, now = kernel.jobs[job], kernel.calendar.clock[NOW]
    while row[ks.JOB_BATCH] < row[ks.JOB_COUNT]:
        if row[ks.JOB_PHASE] == _BATCH:
            if not _write_batch(state, kernel, job, entity):
                return False
            row[ks.JOB_PHASE] = _PAID
            if row[ks.JOB_WRITTEN]:
                demand = row[ks.JOB_WRITTEN] * state.tables[COSTS, WRITE_NS]
                row[ks.JOB_WRITTEN] = 0
                state.usage[WRITER_NS] += demand
                enter(kernel, ks.CPU_STATION, entity, demand, False)
                return False
        if row[ks.JOB_PHASE] == _PAID:
            row[ks.JOB_PHASE] = _WRITTEN
            if row[ks.JOB_OUTSTANDING] > 0:
                kernel.life[entity, STAGE] = ks.WRITING
                return False
        if row[ks.JOB_PHASE] == _WRITTEN:
            row[ks.JOB_PHASE] = _SPREAD
            due = row[ks.JOB_BEGAN] + row[ks.JOB_SPREAD] * row[ks.JOB_BATCH] // row[ks.JOB_COUNT]
            if now < due:
                kernel.life[entity, STAGE] = ks.SPREADING
                after(kernel.calendar, due - now, entity)
                return False
        row[ks.JOB_BATCH] += kernel.facts[ks.WRITER_BATCH]
        row[ks.JOB_AT] = row[ks.JOB_BATCH]
        row[ks.JOB_PHASE] = _BATCH
    return True


@compiled_inside
def _write_batch(state: State, kernel: Kernel, job: int, entity: int) -> bool:
    """The pages of a batch that are still dirty; False if the page cache has no room for one of them now."""
    row, tiers, now = kernel.jobs[job], state.tiers, kernel.calendar.clock[NOW]
    direct, batch = state.tables[COSTS, DIRECT_IO] != 0, kernel.facts[ks.WRITER_BATCH]
    while row[ks.JOB_AT] < min(row[ks.JOB_BATCH] + batch, row[ks.JOB_COUNT]):
        if not direct and cache_is_full_of_dirt(state):
            flush_dirt(state, kernel, now, batch)
            kernel.life[entity, STAGE] = ks.THROTTLED
            wait_for_written(kernel, entity)
            return False
        page = kernel.job_pages[job, row[ks.JOB_AT]]
        row[ks.JOB_AT] += 1
        slot = tiers.where[POOL, page]
        if slot < 0 or not tiers.slots[slot, FLAGS] & DIRTY:
            continue
        clear_dirty(tiers, POOL, slot)
        row[ks.JOB_WRITTEN] += 1
        if direct:
            row[ks.JOB_OUTSTANDING] += 1
            first, pages = _with_neighbours(state, kernel, page)
            size = pages * kernel.facts[ks.PAGE_BYTES]
            submit(kernel, device_of(kernel, page), byte_of(kernel, first), size, 1, ks.WRITER_WRITE, entity)
        else:
            cache_write(state, page, now)
            if state.outbox[0]:
                write_evicted(state, kernel)
    return True


@compiled_apart
def _with_neighbours(state: State, kernel: Kernel, page: int) -> tuple[int, int]:
    """The first page of a request and their number: dirty neighbours behind the page, then before it, go along."""
    extent, most = kernel.extents[extent_of(kernel, page)], kernel.facts[ks.COALESCED]
    step, start, end = extent[ks.STRIPED_OVER], extent[ks.FIRST_PAGE_OF], extent[ks.END_PAGE]
    end = min(end, state.tiers.where.shape[1])
    first, pages = page, 1
    while pages < most and first + pages * step < end and _goes_along(state, first + pages * step):
        pages += 1
    while pages < most and first - step >= start and _goes_along(state, first - step):
        first -= step
        pages += 1
    return first, pages


@compiled_inside
def _goes_along(state: State, page: int) -> bool:
    """Whether a page is a dirty one of the pool; if so it is clean from now on."""
    tiers = state.tiers
    slot = tiers.where[POOL, page]
    if slot < 0 or not tiers.slots[slot, FLAGS] & DIRTY:
        return False
    clear_dirty(tiers, POOL, slot)
    return True


@compiled_inside
def wait_for_written(kernel: Kernel, entity: int) -> None:
    """An entity waits for the next completion of a write-back."""
    facts = kernel.facts
    facts[ks.WRITTEN_FIRST] = join_those_who_wait(kernel.life, facts[ks.WRITTEN_FIRST], entity)
