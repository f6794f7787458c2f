"""What a solved machine shows: processors, disks, caches, tables, locks and stations, as the simulating engines do."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from oltpsim.simulator.analytic.answer.fixed_work import run_s
from oltpsim.simulator.analytic.equations import Course, Solution, interval_mean_per_s
from oltpsim.simulator.analytic.reading import NO_LIMITS, Parameters, Rates, Workload, marks_of
from oltpsim.simulator.form import JOURNAL_BYTES, FloatArray, System, to_s, weighted_sum
from oltpsim.simulator.results import (
    CPU_ACTIVITIES,
    ROW_LOCKS,
    CacheResult,
    CpuResult,
    LockResult,
    LogResult,
    StationResult,
    TableResult,
)

CPU_USES = (*CPU_ACTIVITIES, "hand-over")
"""CPU time by activity, and the hand-over of critical sections"""
KEEPS_UP = 0.95
"""how busy disks are at most that write back what comes"""


class Bucket(NamedTuple):
    """Credits of a limit: where it is and which one there, as in `volumes.Places`; what is left, and how it went."""

    where: int
    number: int
    left: float
    lasted_s: float | None
    """None: to the end"""


@dataclass(frozen=True)
class Case:
    """One machine and its solution, which has one configuration. Rates are per second, times in s."""

    system: System
    workload: Workload
    parameters: Parameters
    solution: Solution
    warming: Course | None = None
    """how the machine gets warm; None if it is"""
    rates: Rates = NO_LIMITS
    """what the limits of volumes let through in the counted interval"""
    buckets: tuple[Bucket, ...] = ()
    """of the limits that have credits"""

    @property
    def rate(self) -> float:
        """Transactions of the whole mix."""
        return float(self.solution.rate[0])

    @property
    def per_min(self) -> float:
        """Transactions of the main class per minute for one of the mix per second."""
        return 60.0 * float(self.workload.mix[self.workload.main_class])

    @property
    def warming_mean_per_s(self) -> float:
        """What the counted interval counts, of a machine that gets warm."""
        assert self.warming is not None
        return interval_mean_per_s(self.system, self.workload, self.warming)

    @cached_property
    def duration_s(self) -> float:
        """Of the counted interval."""
        work, clients = self.system.work, len(self.system.client_registers)
        if work is None:
            return to_s(self.system.interval.duration_ns)
        return run_s(work, self.workload, clients, self.solution, self.warming)

    @property
    def end_s(self) -> float:
        """Of the run."""
        return to_s(self.system.interval.warm_up_ns) + self.duration_s

    @cached_property
    def transactions(self) -> float:
        """Of the whole mix, in the counted interval."""
        work, share = self.system.work, float(self.workload.mix[self.workload.main_class])
        if work is None:
            return self.rate * self.duration_s
        return work.main_per_client * len(self.system.client_registers) / share

    def mean(self, by_class: FloatArray) -> float:
        """Mean over the mix of what has shape (1, classes)."""
        return float(weighted_sum(by_class[0], self.workload.mix))

    def counted(self, per_transaction: float) -> int:
        """What comes so often per transaction of the mix, in the counted interval."""
        return round(per_transaction * self.transactions)

    @cached_property
    def brought(self) -> FloatArray:
        """Pages that come into the pool per transaction of the mix, new ones too, by group."""
        return self.solution.groups.missing[0] * self.workload.groups.references

    @property
    def response_s(self) -> float:
        """Mean over the mix, waiting for a connection left out."""
        return float(self.solution.response_s[0])

    @property
    def backlog(self) -> float:
        """Share of open arrivals that the machine can't take: what has arrived before is waiting; 0 for closed."""
        arrivals = self.system.arrivals_per_s
        return max(1.0 - self.rate / arrivals, 0.0) if arrivals > 0 else 0.0

    @property
    def tier_s(self) -> float:
        """Network and middle tier in each response."""
        return to_s(self.system.terminals.middle_tier_ns) if self.system.terminals else 0.0

    @property
    def connection_s(self) -> float:
        """What terminals' transactions wait for a connection: what is left of the time that a terminal takes."""
        terminals, w = self.system.terminals, self.workload
        if terminals is None:
            return 0.0
        awaited = float(weighted_sum(self.solution.classes.total_s[0], w.awaited))
        left = terminals.count / self.rate - w.away_s - awaited
        return max(left, 0.0) / max(float(w.awaited.sum()), 1e-300)

    @property
    def reads_pending(self) -> float:
        """Clients that wait for a page from disk, on average (Little's law); a wait for a free buffer comes before."""
        p, classes = self.parameters, self.solution.classes
        free_s = 0.0 if p.pool.growing[0] > 0 else float(p.writing.free_wait_s[0])
        return self.rate * self.mean(classes.read_s - free_s * classes.disk_reads)


def cpu(case: Case) -> CpuResult:
    """The processors. iowait as in reference/io_wait.py, whoever doesn't run being asleep in I/O by chance."""
    w, t = case.workload, case.solution
    p, costs, mix = case.parameters, case.system.costs, case.workload.mix
    speed = float(p.cpu.speed[0])
    per_processor = case.rate / float(p.cpu.processors[0]) * float(t.cpu.slowdown[0])
    client = float(weighted_sum(w.client_s, mix)) / speed
    own = float(weighted_sum(w.user_s + w.inside_s.sum(axis=1), mix)) / speed
    own += float(case.brought.sum()) * to_s(costs.miss_ns) / speed
    merging_s = float(t.pool.merged[0]) * to_s(costs.read_ns + costs.request_ns + costs.miss_ns)
    writer = (float(t.writes.background[0]) * to_s(costs.write_ns) + merging_s) / speed
    needed = float(t.cpu.path_s[0] + t.cpu.section_s[0])
    seconds = (own, client, max(needed - own - client, 0.0), writer, max(float(t.cpu.background_s[0]) - writer, 0.0))
    at_work = tuple(each * per_processor for each in seconds)
    handing = float(t.cpu.handing_over[0] / p.cpu.processors[0])
    spent = (*at_work, min(handing, max(1.0 - sum(at_work), 0.0)))
    total = sum(spent)
    scale = min(1.0, 1.0 / total) if total > 0 else 0.0
    shares = {name: each * scale for name, each in zip(CPU_USES, spent, strict=True)}
    user, busy = shares["transaction"] + shares["client program"], min(total, 1.0)
    waiting = (1.0 - busy) * _waiting_share(case, busy)
    return CpuResult(
        cores=case.system.cpu.cores,
        user=user,
        system=busy - user,
        iowait=waiting,
        idle=1.0 - busy - waiting,
        by_activity=shares,
    )


def _waiting_share(case: Case, busy: float) -> float:
    """Share of an idle processor's time in which a task that ran on it sleeps for I/O: a client or the log's writer.

    Each client that does not run on it is asleep with the same chance, independently of the others (binomial).
    """
    r, p, processors = case.solution, case.parameters, float(case.parameters.cpu.processors[0])
    clients = len(case.system.client_registers)
    asleep = min(case.rate * case.mean(r.classes.read_s + r.classes.victim_s + r.classes.fault_s), clients)
    here = asleep / max(processors * (clients - busy), asleep)
    flushing = float(
        r.log.flushes_per_s[0] * np.maximum(p.log.first_s - p.log.flush_overhead_s, 0.0)[0] * (p.log.is_durable[0] > 0)
    )
    return 1.0 - (1.0 - here) ** clients * (1.0 - min(flushing, 1.0) / processors)


def dirty_cached_pages(case: Case) -> float:
    """Dirty pages in the page cache, mean: at most its limit, none by direct I/O or where they are synced."""
    system, marks = case.system, marks_of(case.system)
    if system.writes_victims:
        return 0.0
    stay_s = to_s(marks.expire_ns + marks.flush_interval_ns / 2)
    rewritten, limit = case.rate * float(case.solution.writes.pages[0]) * stay_s, system.page_cache.dirty_limit_pages
    # heaps behind a drive's queue are in the equations: the disks keep up, and dirty pages stay where heaps begin
    keeps = (
        marks.chunk_pages > 0 and case.parameters.ssd.closed_s[0] > 0 and case.solution.disks.first_busy[0] < KEEPS_UP
    )
    most = min(marks.background_pages + marks.chunk_pages, limit) if keeps else limit
    return min(rewritten, most, system.program.pages)


def caches(case: Case) -> list[CacheResult]:
    """Buffer pool and page cache in a steady state, in which whatever comes in displaces something.

    Dirty pages that the page cache had to give up are not known, and counted as 0.
    """
    system, t, groups = case.system, case.solution, case.workload.groups
    pool, cache = system.pool, system.page_cache
    brought, misses, reads = float(case.brought.sum()), float(t.pool.misses[0]), float(t.pool.reads[0])
    references = float(groups.references.sum() + groups.repeated.sum())
    table = case.workload.table(pool.replacement)
    needed = float(table.filled[-1]) if len(groups.references) else 0.0
    return [
        CacheResult(
            name="buffer pool",
            capacity_pages=pool.pages,
            references=case.counted(references),
            hits=case.counted(references - brought),
            hit_ratio=(references - brought) / references if references > 0 else 0.0,
            evictions=case.counted(brought + float(t.pool.merged[0])) if needed > pool.pages else 0,
            dirty_evictions=case.counted(float(t.pool.dirty_victims[0])),
            dirty_fraction=min(float(t.pool.dirty[0]) / max(pool.pages, 1), 1.0),
            resident_fraction=min(pool.resident_pages / max(min(needed, pool.pages), 1.0), 1.0),
        ),
        CacheResult(
            name="page cache",
            capacity_pages=cache.pages,
            references=case.counted(misses),
            hits=case.counted(misses - reads),
            hit_ratio=(misses - reads) / misses if misses > 0 else 0.0,
            evictions=0 if system.direct_io else case.counted(reads),
            dirty_evictions=0,
            dirty_fraction=min(dirty_cached_pages(case) / max(cache.pages, 1), 1.0),
            resident_fraction=1.0,
        ),
    ]


def tables(case: Case) -> list[TableResult]:
    """References of each region and where they were answered; a row's parts sum to its references."""
    groups, names = case.workload.groups, case.system.program.region_names
    misses, reads = case.solution.groups.misses[0], case.solution.groups.reads[0]
    answered = (groups.references - case.brought, misses - reads, reads, case.brought - misses)
    found = []
    for number, name in enumerate(names):
        here = groups.region == number
        parts = [case.counted(float(values[here].sum())) for values in answered]
        parts[0] += case.counted(float(groups.repeated[number]))
        found.append(TableResult(name, sum(parts), *parts))
    return found


def locks(case: Case) -> list[LockResult]:
    """Row locks of all kinds together, then critical sections, which share what the engine knows of them by entries.

    A section is waited for as often as it is found occupied.
    """
    w, r = case.workload, case.solution
    taken = np.array([w.mix[lock.transaction_class] * lock.acquisitions for lock in w.locks])
    waits = float(weighted_sum(taken, r.locks.waiting[0])) if len(taken) else 0.0
    found = [
        LockResult(
            name=ROW_LOCKS,
            acquisitions=case.counted(float(taken.sum())),
            waits=case.counted(waits),
            mean_wait_s=case.mean(r.classes.lock_s) / waits if waits > 0 else 0.0,
            utilisation=0.0,
        )
    ]
    entries, inside = weighted_sum(w.entries.T, w.mix), weighted_sum(w.inside_s.T, w.mix)
    occupied = min(float(r.cpu.section_busy[0]), 1.0)
    queue = case.mean(r.classes.section_queue_s) / max(float(entries.sum()) * occupied, 1e-300)
    for section, entered, spent in zip(case.system.sections, entries.tolist(), inside.tolist(), strict=True):
        found.append(
            LockResult(
                name=section.name,
                acquisitions=case.counted(entered),
                waits=case.counted(entered * occupied),
                mean_wait_s=queue if entered * occupied > 0 else 0.0,
                utilisation=occupied * spent / max(float(inside.sum()), 1e-300),
            )
        )
    return found


def log(case: Case) -> LogResult:
    """The transaction log. Without anything to log nothing is flushed."""
    w = case.workload
    images = case.system.log.full_page_bytes * float(case.solution.log.images[0])
    rules = case.system.log
    bytes_per_s = (
        case.rate
        * (float(weighted_sum(w.log_bytes, w.mix)) + images)
        * (rules.writes_per_group if rules.durable else 1)
    )
    if bytes_per_s > 0:
        bytes_per_s += float(case.solution.log.groups_per_s[0]) * rules.journal_writes * JOURNAL_BYTES
    return LogResult(
        bytes_per_s=bytes_per_s,
        commits_per_s=case.rate * float(weighted_sum(w.commits, w.mix)),
        flushes_per_s=float(case.solution.log.flushes_per_s[0]) if bytes_per_s > 0 else 0.0,
    )


def stations(case: Case) -> list[StationResult]:
    """Plain stations; the time there, as far as it is not known by station, is shared by service."""
    w = case.workload
    visits, served = weighted_sum(w.visits.T, w.mix), weighted_sum(w.served_s.T, w.mix)
    number = case.rate * case.mean(case.solution.classes.station_s)
    return [
        StationResult(
            name=station.name,
            servers=station.servers,
            visits_per_s=case.rate * float(visits[k]),
            utilisation=case.rate * float(served[k]) / station.servers,
            mean_number=number * float(served[k]) / max(float(served.sum()), 1e-300),
        )
        for k, station in enumerate(case.system.stations)
    ]
