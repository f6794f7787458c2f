"""Page cleaners, as InnoDB has them: dirty pages go by their age in the log, and there is no other checkpoint."""

from typing import Literal

from pydantic import Field

from oltpsim.models.input import Fraction, Gib, Microseconds, Number, PerSecond, Seconds, Spec, WholeNumber
from oltpsim.simulator.form import GIB, Daemon, DaemonStep, Flushing, from_s

AVERAGED_S = 30
"""innodb_flushing_avg_loops"""
MERGE_INTERVAL_S = 1.0
"""between two looks of InnoDB's master thread at the change buffer (srv_master_do_active_tasks)"""
FREE_FRACTION = 0.75
"""free pages, which hold nothing, by `lru_scan_depth_pages`, mean: MariaDB fills up its list of 1,536 when half of them
are left, and had 773 to 1,457 in seven looks; assumption for others. As deep again the list's end is kept clean"""


class PageCleanerSpec(Spec):
    """What writes dirty pages in the place of `writer` and `checkpoint`: adaptive flushing within a redo capacity."""

    cleaners: WholeNumber = Field(ge=1, le=64, description="threads, each with a batch of its own in flight")
    lru_scan_depth_pages: WholeNumber = Field(ge=0, le=100_000)
    """of each cleaner: so many pages at the LRU list's end are kept clean, and three quarters as many free"""
    round_s: Seconds = Field(default=0.1, ge=0.001, le=AVERAGED_S)
    """between two looks at the ages; InnoDB's, of a second, end when someone finds the log too old"""
    tail_round_s: Seconds = Field(default=0.01, ge=0.001, le=60)
    """between two looks at the list's end, at most"""
    tail_woken_fraction: Fraction | None = Field(default=None, gt=0, le=1)
    """of `lru_scan_depth_pages`: sooner, once so many pages have left the pool; if absent never"""
    victim_search_pages: WholeNumber = Field(default=100, ge=1, le=10_000)
    """that whoever needs a buffer looks for a clean one among, before it writes a dirty one itself"""
    free_page_wait_us: Microseconds = Field(default=0.0, ge=0, le=100_000)
    """that whoever misses waits for a free page, mean: for the list's mutex, and asleep (10 ms) after others took it"""
    io_capacity_per_s: PerSecond = Field(ge=1, le=10_000_000)
    io_capacity_max_per_s: PerSecond = Field(ge=1, le=10_000_000)
    background_merge_fraction: Fraction = Field(
        default=0.05,
        ge=0,
        le=1,
        description="of io_capacity_per_s: pages that have changes put aside (workload.layout."
        "index_changes_put_aside_fraction) which are read and changed in the background, drawn evenly from all "
        "that have some. 0: none is. InnoDB, ibuf_merge_in_background (storage/innobase/ibuf/ibuf0ibuf.cc): PCT_IO(5) "
        "once a second. By direct I/O only",
    )
    dirty_low_fraction: Fraction = Field(ge=0, le=1, description="of the pool, from which on dirt counts; 0: never")
    dirty_high_fraction: Fraction = Field(ge=0.01, le=1, description="of the pool, that asks for io_capacity")
    redo_capacity_gib: Gib = Field(ge=0.001, le=10_000)
    adaptive_low_fraction: Fraction = Field(default=0.10, ge=0, le=1)
    """of the age at which users wait, from which on age counts"""
    async_fraction: Fraction = Field(gt=0, le=1, description="of the redo capacity, the age that is 100 %")
    sync_fraction: Fraction = Field(gt=0, le=1, description="age from which on pages go whatever io_capacity says")
    wait_fraction: Fraction = Field(gt=0, le=1, description="age at which users wait")
    age_exponent: Number = Field(default=1.5, gt=0, le=5)
    age_divisor: Number = Field(default=7.5, gt=0, le=100_000)
    """age x in per cent asks for x^exponent / divisor per cent of io_capacity_max"""
    doublewrite: bool
    """every page is written twice: its batch in one request first, past the page cache by buffered I/O too"""
    batch_pages: WholeNumber = Field(ge=1, le=4096, description="pages of a batch")
    neighbour_pages: WholeNumber = Field(default=1, ge=1, le=64)
    """dirty neighbours that go along at most, a page's own counted in; 1: none"""
    neighbours_on: Literal["all", "rotating"] = "all"
    """disks on which they go along"""


def page_cleaners_of(spec: PageCleanerSpec) -> tuple[Daemon, ...]:
    """Two daemons for each: one keeps the end of the list clean, one writes what is due by age."""
    kept = spec.cleaners * spec.lru_scan_depth_pages
    interval_ns, woken = from_s(spec.tail_round_s), spec.tail_woken_fraction
    looks = (
        DaemonStep("every_or_evicted", (interval_ns, max(round(woken * kept), 1)))
        if woken and kept
        else DaemonStep("every", (interval_ns,))
    )
    tail = looks, DaemonStep("write_tail", (kept,))
    aged = (
        DaemonStep("every", (from_s(spec.round_s),)),
        DaemonStep("write_aged", (_redo_bytes(spec, spec.sync_fraction),)),
    )
    return tuple(
        Daemon(f"{name} cleaner {number}", steps)
        for number in range(1, spec.cleaners + 1)
        for name, steps in (("list", tail), ("page", aged))
    )


def merger_of(spec: PageCleanerSpec) -> Daemon:
    """The daemon that merges what is put aside: it reads so many pages at once, each second."""
    milli_pages = round(1000 * spec.background_merge_fraction * spec.io_capacity_per_s * MERGE_INTERVAL_S)
    steps = DaemonStep("every", (from_s(MERGE_INTERVAL_S),)), DaemonStep("merge", (milli_pages,))
    return Daemon("change buffer", steps)


def free_pages_of(spec: PageCleanerSpec) -> int:
    """Mean length of the list of free pages, by which the pool holds less."""
    return round(FREE_FRACTION * spec.cleaners * spec.lru_scan_depth_pages)


def flushing_of(spec: PageCleanerSpec) -> Flushing:
    """The rules of adaptive flushing (MySQL 8.0, storage/innobase/buf/buf0flu.cc, Adaptive_flush)."""
    of_each = 1000 * spec.round_s / spec.cleaners
    most = max(spec.io_capacity_max_per_s, spec.io_capacity_per_s)
    low = 100 * spec.adaptive_low_fraction * spec.wait_fraction / spec.async_fraction
    by_age = (
        int(most / spec.io_capacity_per_s * x**spec.age_exponent / spec.age_divisor) if x >= low else 0
        for x in range(101)
    )
    high, dirty_low = 100 * spec.dirty_high_fraction, 100 * spec.dirty_low_fraction
    by_dirty = (
        (int(100 * d / (high + 1)) if d >= dirty_low else 0) if dirty_low > 0 else 100 * (d >= high) for d in range(101)
    )
    return Flushing(
        whole_age_bytes=_redo_bytes(spec, spec.async_fraction),
        full_bytes=_redo_bytes(spec, spec.wait_fraction),
        cleaners=spec.cleaners,
        milli_pages=round(of_each * spec.io_capacity_per_s),
        most_milli_pages=round(of_each * most),
        rounds=round(AVERAGED_S / spec.round_s),
        percent_by_age=tuple(by_age),
        percent_by_dirty=tuple(by_dirty),
    )


def _redo_bytes(spec: PageCleanerSpec, fraction: float) -> int:
    """A share of the redo capacity."""
    return round(spec.redo_capacity_gib * fraction * GIB)
