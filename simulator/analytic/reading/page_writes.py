"""Page writes as the equations take them: writer, checkpoints, page cleaners and write-back."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oltpsim.simulator.analytic.reading.record_columns import SHARE_POINTS, ByShare, MachineColumn, column, column_s
from oltpsim.simulator.form import (
    ENDLESS_PAGES,
    NEVER_BYTES,
    NEVER_NS,
    NS_PER_S,
    TIMED,
    FloatArray,
    System,
    kept_dirty_pages,
)

SHARES = np.linspace(0.0, 1.0, SHARE_POINTS)
"""shares of `ByShare`"""


@dataclass(frozen=True)
class WritingNumbers:
    """Numbers of the way from the pool to the disks."""

    direct: MachineColumn
    """1: by direct I/O, or `synced`: whoever writes pages of the pool waits until the disks have them"""
    synced: MachineColumn
    """1: the pages go through the page cache first, and stay there"""
    pushed: MachineColumn
    """1: by buffered I/O the pages go from the page cache to the disks at once"""
    doubled: MachineColumn
    """1: a batch of direct writes is written twice, first its copies in one request"""
    batch_pages: MachineColumn
    """pages that writer and checkpoint hand to the disks at once"""
    free_wait_s: MachineColumn
    """wait of each read for a buffer of a full pool"""
    merged_per_s: MachineColumn
    """pages that a daemon reads and changes for changes put aside, at most"""


@dataclass(frozen=True)
class CheckpointNumbers:
    """Numbers of checkpoints."""

    interval_s: MachineColumn
    """time from one checkpoint's begin to the next"""
    spread_s: MachineColumn
    """time over which a checkpoint is spread"""
    log_bytes: MachineColumn
    """bytes of log after which one begins, if that is sooner; infinite if nobody looks"""
    image_bytes: MachineColumn
    """bytes that a page's first change since a checkpoint logs on top of its own"""


@dataclass(frozen=True)
class CleanerNumbers:
    """Numbers of page cleaners, which are all alike."""

    number: MachineColumn
    """page cleaners; 0: a background writer and checkpoints"""
    tail_pages: MachineColumn
    """pages at the end of the list that they keep clean"""
    round_s: MachineColumn
    """time from one look at the ages to the next"""
    tail_round_s: MachineColumn
    """time from one look at the list's end to the next"""
    tail_evictions: MachineColumn
    """pages that have left the pool, after which they look there sooner; infinite if never"""
    redo_bytes: MachineColumn
    """bytes of log since a page's first change that `aged_per_s` ends with"""
    redo_sync_bytes: MachineColumn
    """bytes of log from which on pages are written whatever that says"""
    redo_full_bytes: MachineColumn
    """bytes of log at which commits wait"""
    aged_per_s: ByShare
    """pages that the age of the log asks for, by its share of `redo_bytes`"""
    dirty_per_s: ByShare
    """pages that dirty ones ask for, by their share of the pool"""


@dataclass(frozen=True)
class WriteBackNumbers:
    """Numbers of write-back out of the page cache."""

    expire_s: MachineColumn
    """age at which a dirty page is written back"""
    interval_s: MachineColumn
    """time from one wake-up of the flusher to the next"""
    in_flight_pages: MachineColumn
    """pages that it may have at the disks at once"""
    free_behind: MachineColumn
    """1: a written page is reclaimed first"""


class DaemonMarks(NamedTuple):
    """Of a background writer, write-back and a checkpointer; what a daemon that isn't there would do never comes."""

    dirty_high_pages: int
    dirty_low_pages: int
    expire_ns: int
    flush_interval_ns: int
    checkpoint_interval_ns: int
    spread_ns: int
    checkpoint_bytes: int = NEVER_BYTES
    """of log after which a checkpoint begins, if that is sooner"""
    background_pages: int = ENDLESS_PAGES
    """dirty pages of the page cache from which on write-back doesn't wait for their age"""
    chunk_pages: int = 0
    """of them that it then takes along at once"""


def marks_of(system: System) -> DaemonMarks:
    """The marks; of daemons of one kind those of the last one, but the lowest that writers leave dirty."""
    low = kept_dirty_pages(system.daemons, system.pool.pages)
    marks = DaemonMarks(low, low, NEVER_NS, NEVER_NS, NEVER_NS, 0)
    for daemon in system.daemons:
        operands = {step.operation: step.operands for step in daemon.steps}
        if "await_dirty" in operands:
            marks = marks._replace(dirty_high_pages=operands["await_dirty"][0])
        if "write_cache_dirty" in operands:
            (keep,), (high,) = operands["write_cache_dirty"], operands.get("await_cache_dirty", (0,))
            marks = marks._replace(background_pages=keep, chunk_pages=max(high - keep, 0))
        if "write_expired" in operands and "sleep" in operands:
            marks = marks._replace(expire_ns=operands["write_expired"][0], flush_interval_ns=operands["sleep"][0])
        begins = operands.get("every_or_logged") or operands.get("every")
        if "note_checkpoint" in operands and begins and "write_dirty" in operands:
            interval_ns, log_bytes = (*begins, NEVER_BYTES)[:2]
            spread_ns = operands["write_dirty"][1]
            marks = marks._replace(checkpoint_interval_ns=interval_ns, spread_ns=spread_ns, checkpoint_bytes=log_bytes)
    return marks


class CleanerMarks(NamedTuple):
    """Of page cleaners, which are all alike."""

    tail_pages: int
    """at the end of the list that they keep clean"""
    sync_bytes: int
    """of log since a page's first change, from which on it is written at once"""
    round_ns: int
    """from one look at the ages to the next"""
    tail_round_ns: int
    """and at the list's end"""
    tail_evictions: int
    """pages that have left the pool, after which they look there sooner"""


def cleaner_marks_of(system: System) -> CleanerMarks:
    """The marks of a system that flushes by age."""
    marks = CleanerMarks(0, 0, NEVER_NS, NEVER_NS, ENDLESS_PAGES)
    for daemon in system.daemons:
        operands = {step.operation: step.operands for step in daemon.steps}
        interval_ns = next((operands[name][0] for name in TIMED if name in operands), NEVER_NS)
        if "write_tail" in operands:
            marks = marks._replace(tail_pages=operands["write_tail"][0], tail_round_ns=interval_ns)
            marks = marks._replace(tail_evictions=operands.get("every_or_evicted", (0, ENDLESS_PAGES))[1])
        if "write_aged" in operands:
            marks = marks._replace(sync_bytes=operands["write_aged"][0], round_ns=interval_ns)
    return marks


def merged_per_s(system: System) -> float:
    """Pages that daemons read and change for changes put aside, at most."""
    rates = (
        milli_pages / 1000.0 * NS_PER_S / max(interval_ns, 1)
        for daemon in system.daemons
        for (milli_pages,) in daemon.operands("merge")
        for interval_ns in [next((each for name in TIMED for each, *_ in daemon.operands(name)), NEVER_NS)]
    )
    return sum(rates)


def writing_numbers(system: System) -> WritingNumbers:
    """Numbers of a system's way from the pool to the disks."""
    return WritingNumbers(
        direct=column(system.writes_victims),
        synced=column(system.writes_victims and not system.direct_io),
        pushed=column(system.writing.pushed and not system.direct_io),
        doubled=column(system.writing.doubled and system.writes_victims),
        batch_pages=column(system.writing.batch_pages),
        free_wait_s=column(system.pool.free_wait_ns / NS_PER_S),
        merged_per_s=column(merged_per_s(system)),
    )


def checkpoint_numbers(system: System, marks: DaemonMarks) -> CheckpointNumbers:
    """Numbers of a system's checkpoints."""
    return CheckpointNumbers(
        interval_s=column_s(marks.checkpoint_interval_ns),
        spread_s=column_s(marks.spread_ns),
        log_bytes=column(marks.checkpoint_bytes if marks.checkpoint_bytes < NEVER_BYTES else np.inf),
        image_bytes=column(system.log.full_page_bytes),
    )


def cleaner_numbers(system: System) -> CleanerNumbers:
    """Numbers of a system's page cleaners: adaptive flushing asks by a share, in whole per cent as it counts."""
    rules = system.flushing
    if rules is None:
        return CleanerNumbers(*[np.zeros(1)] * 8, *[np.zeros((1, SHARE_POINTS))] * 2)
    marks = cleaner_marks_of(system)
    a_page_each_round_per_s = rules.cleaners * NS_PER_S / marks.round_ns
    per_s, most_per_s = (
        a_page_each_round_per_s * milli / 1000 for milli in (rules.milli_pages, rules.most_milli_pages)
    )

    def by_share(percents: tuple[int, ...]) -> FloatArray:
        return np.minimum(np.interp(100.0 * SHARES, np.arange(101), percents) / 100.0 * per_s, most_per_s)[None]

    return CleanerNumbers(
        number=column(rules.cleaners),
        tail_pages=column(marks.tail_pages),
        round_s=column_s(marks.round_ns),
        tail_round_s=column_s(marks.tail_round_ns),
        tail_evictions=column(marks.tail_evictions),
        redo_bytes=column(rules.whole_age_bytes),
        redo_sync_bytes=column(marks.sync_bytes),
        redo_full_bytes=column(rules.full_bytes),
        aged_per_s=by_share(rules.percent_by_age),
        dirty_per_s=by_share(rules.percent_by_dirty),
    )


def write_back_numbers(system: System, marks: DaemonMarks) -> WriteBackNumbers:
    """Numbers of a system's write-back."""
    return WriteBackNumbers(
        expire_s=column_s(marks.expire_ns),
        interval_s=column_s(marks.flush_interval_ns),
        in_flight_pages=column(system.page_cache.in_flight_pages),
        free_behind=column(system.page_cache.free_behind),
    )
