"""Where the analytic engine's assumptions don't hold, in words.

The thresholds were set on random systems; docs/analytic.md lists those off by more than 30 % without a doubt.
"""

from collections.abc import Iterator

import numpy as np

from oltpsim.simulator.analytic.answer.device_figures import demand_on_limits
from oltpsim.simulator.analytic.answer.figures import Case, dirty_cached_pages
from oltpsim.simulator.analytic.equations import counted_s
from oltpsim.simulator.analytic.reading import NO_LIMITS, disk_of, places_of, sustained
from oltpsim.simulator.form import CODES, NS_PER_MS, NS_PER_S, CachingDevice, RotatingDevice, SsdDevice, weighted_sum

CHECK = "check with the kernel engine"
LONG_HEAPS, WRITING_ARM = 0.6, 0.7
"""shares of time: with heaps of writes at the disks; for writes at a busy arm"""
BUSY_ARM, WRITING_CLIENTS, WRITING_VOLUME = 0.6, 0.3, 0.45
BUSY_QUOTA = 0.5
"""share of what a quota lets processors run, from which on they often stand still"""
LONG_COMMIT, LONG_FAULTS = 0.8, 0.4
"""shares of the response time from which on waits decide"""
WRITING_UNPROTECTED = 0.05
"""share of the time for background writes, beside flushes of one buffer"""
LOADED_WINDOWS = 0.1
"""share of the counted interval in which some of what is remembered is a load's"""
DIRTY_CACHE, BUSY_DISK = 0.6, 0.6
"""dirty pages of the page cache by its limit, which matter at disks as busy as this"""
DIRTY_BEYOND = 1.1
"""dirty buffers by the writer's mark, from which on it is behind"""
READS_TO_MERGE = 0.01
"""per transaction, below which the pool has all leaves"""
SHORT_OLD = 5.0
"""stay in the old part of a list with a midpoint, by the time in which no page there becomes young (assumption)"""
LONG_ROUND_S = 0.5
"""of page cleaners, from which on they write many pages at once"""
FULL_LOG = 0.4
"""of the room in the log, from which on commits wait in rounds of the page cleaners"""
BUSY_WRITES, BUSY_BOTH = 0.6, 0.4
"""shares of their caps: writes that begin to pile up behind one of their own; requests at one for both beside it"""
BUSY_CONTROLLER, BUSY_PARITY = 0.3, 0.6
"""shares of their time: that disks would wait for a controller if each had its part of it; of a RAID set's disks"""


def doubts(case: Case) -> list[str]:
    """Sentences for the user, none if nothing is in doubt."""
    return [f"{reason}: {CHECK}" for reason in _reasons(case)]


def _reasons(case: Case) -> Iterator[str]:
    """What doesn't hold, a clause each."""
    residence, storage, p = case.solution, case.system.storage, case.parameters
    response = max(case.response_s, 1.0 / NS_PER_S)
    arm = isinstance(storage.data_disk, RotatingDevice)
    busy = float(residence.disks.first_busy[0])
    heaps, writing = float(residence.disks.heaps[0]), float(residence.disks.writes_busy[0])
    if arm and heaps > LONG_HEAPS:
        yield (
            f"heaps of writes are at the disks for {100 * heaps:.0f} % of the time and hold up who reads; how they "
            "come together is known only roughly"
        )
    elif arm and busy > BUSY_ARM and writing > WRITING_ARM:
        yield (
            f"disks are {100 * busy:.0f} % busy, {100 * writing:.0f} % of the time with writes, whose order mean "
            "values don't know"
        )
    if p.log.is_volatile[0] and not p.log.has_own_device[0] and writing > WRITING_UNPROTECTED:
        yield (
            "each commit flushes an SSD without power-loss protection, and waits for what write-back has put into its "
            "buffer; how that comes together is known only roughly"
        )
    if isinstance(storage.data_disk, RotatingDevice) and storage.data_disk.scheduler == "deadline" and busy > BUSY_ARM:
        yield "reads go before writes to busy arms, which the equations take in one order"
    if p.volume.is_limited[0] and not p.writing.direct[0] and busy > BUSY_ARM and writing > WRITING_VOLUME:
        yield (
            f"write-back keeps volumes {100 * writing:.0f} % busy that let through no more; how it queues for them is "
            "known only roughly"
        )
    yield from _list_doubts(case)
    yield from _change_buffer_doubts(case)
    yield from _writer_doubts(case)
    yield from _window_doubts(case)
    yield from _cap_doubts(case)
    yield from _array_doubts(case)
    if case.system.interrupts and case.system.interrupts.station >= 0:
        yield "processors are set aside for interrupts, at which reads queue; that queue is left out"
    cpu = case.system.cpu
    if cpu.allowed_servers < case.system.processors and residence.cpu.busy[0] > BUSY_QUOTA:
        run_ms, period_ms = (each / NS_PER_MS for each in (cpu.quota_ns, cpu.quota_period_ns))
        yield f"processors may run for {run_ms:g} ms of each {period_ms:g}; when they stand still is in no mean value"
    victims = case.mean(residence.classes.victim_s) / response
    if arm and victims > WRITING_CLIENTS:
        yield f"clients write evicted pages for {100 * victims:.0f} % of the time, in turns with reads of the same arms"
    commit = case.mean(residence.classes.log_s) / response
    if arm and p.log.is_durable[0] and not p.log.has_own_device[0] and commit > LONG_COMMIT:
        yield f"commits wait {100 * commit:.0f} % of the time for a log on a data disk, whose arm they take turns for"
    faults = case.mean(residence.classes.fault_s) / response
    if faults > LONG_FAULTS:
        yield f"{100 * faults:.0f} % of the time goes into page faults; how the system swaps decides"
    if arm and p.writing.direct[0] and p.storage.parities[0] and busy > BUSY_PARITY:
        yield "a RAID set reads before it writes; how its disks take turns between these is known only roughly"


def _change_buffer_doubts(case: Case) -> Iterator[str]:
    """Doubts about changes that wait for their leaves."""
    if (case.system.program.operations[:, 0] == CODES["put_aside"]).any() and case.solution.pool.reads[
        0
    ] >= READS_TO_MERGE:
        yield (
            "changes of indexes wait in a change buffer; what is merged, and how long that stays, is known only "
            "roughly: on published machines from half of the kernel's rate to a third above it"
        )


def _list_doubts(case: Case) -> Iterator[str]:
    """Doubts about a list with a midpoint: how long what was read stays, if nobody asks for it."""
    pool = case.system.pool
    if pool.replacement != "midpoint" or case.parameters.pool.growing[0] > 0 or case.solution.pool.misses[0] <= 0.0:
        return
    if case.parameters.cleaners.number[0] <= 0:
        yield (
            "pool.replacement: midpoint without page cleaners: the equations write dirty pages by ages as of plain LRU"
        )
    table = case.workload.table("midpoint")
    time = float(case.solution.pool.time[0])
    stay = time * float(np.interp(np.log(time), np.log(table.times), table.old_share)) / case.rate
    if stay * 1000.0 < SHORT_OLD * pool.old_ms and table.filled[-1] > pool.pages:
        yield (
            f"what was read is replaced after {stay:.2g} s if nobody asks for it, and for {pool.old_ms / 1000.0:.3g} s "
            "of these nobody can make it young (database.pool.old_blocks_time_ms), which isn't in the equations"
        )


def _writer_doubts(case: Case) -> Iterator[str]:
    """Doubts about a pool's writers, and a page cache that has about as many dirty pages as it may."""
    if any(True for daemon in case.system.daemons for _ in daemon.operands("write_unused")):
        yield "database.writer.sweep writes dirty buffers before they are replaced, which isn't in the equations"
    if case.system.writing.pushed and not case.system.direct_io:
        yield "database.writer.flush_after: how its pushes wait for the disks isn't in the equations"
    if case.system.page_cache.in_file_order and not case.system.writes_victims:
        yield "operating_system.page_cache.in_file_order: by the equations write-back goes by age, not by place"
    if case.system.page_cache.pages_a_pause and not case.system.writes_victims:
        yield "operating_system.page_cache.locks_files: in the equations nobody waits for a locked file"
    if case.system.flushing:
        yield from _page_cleaner_doubts(case)
        return
    behind = float(case.solution.pool.dirty[0]) / max(float(case.parameters.pool.dirty_high[0]), 1.0)
    if case.system.direct_io and behind > DIRTY_BEYOND:
        yield (
            f"the writer lets {100 * (behind - 1.0):.0f} % more pages be dirty than its mark, as the disks are busy; "
            "what it gets of their time beside the reads is known only roughly"
        )
    whole = (
        case.system.log.full_page_bytes > 0 and not case.system.direct_io and not case.parameters.log.has_own_device[0]
    )
    if whole and _are_checkpoints_by_volume(case) and case.solution.disks.first_busy[0] > BUSY_DISK:
        yield (
            "checkpoints begin by the log's volume, but not before the last one is on the disks, which are busy: how "
            "often that is, and so how many whole pages the log has, is known only roughly"
        )
    p = case.parameters
    if (
        p.storage.parities[0]
        and p.ssd.closed_s[0]
        and p.page_cache.chunk_pages[0]
        and case.solution.disks.first_busy[0] > BUSY_DISK
    ):
        yield (
            "write-back comes in chunks to disks with parity that flush alone; how long commits wait for what is read "
            "and written again there is known only roughly"
        )
    full = dirty_cached_pages(case) / max(case.system.page_cache.dirty_limit_pages, 1)
    if full > DIRTY_CACHE and case.solution.disks.first_busy[0] > BUSY_DISK:
        yield (
            f"dirty pages are at {100 * full:.0f} % of the page cache's limit; how long it holds up those who write is "
            "known only roughly"
        )


def _are_checkpoints_by_volume(case: Case) -> bool:
    """Whether so much is logged within the checkpoints' interval that the volume of the log begins them."""
    p = case.parameters
    images_bytes = float(case.solution.log.images[0] * p.checkpoints.image_bytes[0])
    logged_bytes = float(weighted_sum(case.workload.log_bytes, case.workload.mix)) + images_bytes
    return bool(case.rate * logged_bytes * p.checkpoints.interval_s[0] > p.checkpoints.log_bytes[0])


def _page_cleaner_doubts(case: Case) -> Iterator[str]:
    """Doubts about page cleaners."""
    data = disk_of(case.system.storage.devices[0])
    if case.parameters.writing.doubled[0] and isinstance(data, SsdDevice) and data.is_volatile:
        yield (
            "pages are written twice to an SSD without power-loss protection, and how many wait for its flushes is "
            "known only roughly"
        )
    if isinstance(data, SsdDevice) and data.flushes_alone and case.parameters.writing.synced[0]:
        yield (
            "by buffered I/O page cleaners' pages wait outside a drive that flushes alone, a few in it at a time; how "
            "long they and others wait for that is known only roughly"
        )
    room = case.parameters.cleaners.number[0] * case.solution.writes.batch[0]
    if (
        case.parameters.writing.synced[0]
        and case.parameters.write_back.in_flight_pages[0] < room
        and case.solution.disks.first_busy[0] > BUSY_DISK
    ):
        yield (
            f"write-back has room for {case.parameters.write_back.in_flight_pages[0]:,.0f} pages at the disks "
            "(operating_system.page_cache.in_flight_pages), fewer than a batch of page cleaners; what those get of the "
            "disks' time beside the reads, and what clients write then, is known only roughly"
        )
    if case.system.writing.coalesced_pages > 1:
        yield "page cleaners write dirty neighbours along (neighbour_pages), which isn't in the equations"
    round_s = case.parameters.cleaners.round_s[0]
    if round_s > LONG_ROUND_S:
        yield (
            f"page cleaners look once in {round_s:.3g} s; how long reads wait behind what they then "
            "write is known only roughly"
        )
    if case.solution.log.full[0] > FULL_LOG:
        yield "commits wait for room in the log (redo_capacity_gib), in the rounds in which page cleaners make some"


def _window_doubts(case: Case) -> Iterator[str]:
    """Doubts about windows that a load has filled, in an interval that begins before the run has filled them anew."""
    system = case.system
    is_drawn_from = case.workload.groups.offspring > 0
    if case.warming is None or not len(system.program.loaded_windows) or not is_drawn_from:
        return
    begin, end = (case.warming.done_by(time_s) for time_s in counted_s(system))
    loaded = (case.workload.groups.window - begin) / max(end - begin, 1.0)
    if loaded > LOADED_WINDOWS:
        yield (
            f"for {100 * min(loaded, 1.0):.0f} % of the counted interval the last rows that were entered are those of "
            "the load, which no cache holds; the equations take them for rows that the run has entered"
        )


def _cap_doubts(case: Case) -> Iterator[str]:
    """Doubts about caps for reads or writes alone, which one server for all requests of a volume can't show."""
    limits = sum(places_of(case.system), ())
    if all(limit.direction == "both" for limit in limits):
        return
    rates = sustained(case.system) if case.rates == NO_LIMITS else case.rates
    caps = zip(limits, sum(rates, ()), sum(demand_on_limits(case), ()), strict=True)
    shares = {limit.direction: asked / rate for limit, rate, asked in sorted(caps, key=lambda cap: cap[2] / cap[1])}
    busy = shares.get("write", 0.0)
    if shares.get("both", 0.0) > BUSY_BOTH and len(shares) > 1:
        yield "a cap for reads and writes together stands beside one for either, and each is taken to be felt in turn"
    if busy > BUSY_WRITES:
        yield (
            f"writes ask for {100 * busy:.0f} % of what their own cap lets through; how they wait for it beside the "
            "reads isn't in the equations"
        )


def _array_doubts(case: Case) -> Iterator[str]:
    """Doubts about storage arrays, which mean values of equal disks can't show."""
    data = disk_of(case.system.storage.devices[0])
    if isinstance(data, CachingDevice) and data.by_controller:
        yield "a controller's cache sorts and joins writes; how many more its disks take thereby is known only roughly"
    if case.system.extents:
        yield "each table is on disks of its own, which are taken for equally busy"
    if case.system.fair_queueing and case.system.scheduled_devices:
        yield "the disks' scheduler serves one process at a time, which isn't in the equations"
    if case.system.controllers and case.solution.disks.first_busy[0] > BUSY_CONTROLLER:
        yield "disks share controllers, and each is taken to have its part of them for itself"
