"""Page cache: the memory under buffered I/O, and its write-back."""

from math import isqrt
from typing import Self

from pydantic import Field, model_validator

from oltpsim.models.input import Fraction, Kib, Mib, Seconds, Spec, WholeNumber
from oltpsim.simulator.form import GIB, KIB, MIB, MOST_PAGES_A_PAUSE, UNPACED, Daemon, DaemonStep, PageCache, from_s

PAUSE_KIB = 128
"""Linux, mm/page-writeback.c, DIRTY_POLL_THRESH"""


class PageCacheSpec(Spec):
    """The cache under buffered I/O. It gets the memory that nobody else holds, never less than its floor."""

    floor_fraction: Fraction = Field(ge=0, lt=1)
    """share of RAM the OS defends for file pages by swapping out others"""
    other_files_fraction: Fraction = Field(default=0.0, ge=0, lt=1)
    """share of the cache that serves none of the database's data, nor its log where `database.log.in_page_cache`: other
    files, and what two lists and read-ahead cost"""
    dirty_expire_s: Seconds = Field(ge=0, description="age at which a dirty page is written back")
    flush_interval_s: Seconds = Field(ge=0.01, description="how often the flusher wakes")
    dirty_background_fraction: Fraction = Field(default=1.0, gt=0, le=1)
    """share of the page cache that may be dirty before write-back begins; 1: it goes by age alone"""
    dirty_background_mib: Mib | None = Field(default=None, gt=0, description="the same in MiB, in place of the share")
    background_chunk_mib: Mib | None = Field(
        default=None,
        gt=0,
        description="what write-back takes along at once when that many are dirty, so that disks have heaps of writes "
        "with pauses in between; a page at a time if absent. Linux: what the disks write in half a second, at most an "
        "eighth of the limit (fs/fs-writeback.c, writeback_chunk_size)",
    )
    dirty_limit_fraction: Fraction = Field(gt=0, le=1)
    """share of the page cache that may be dirty before writers wait"""
    dirty_limit_mib: Mib | None = Field(default=None, gt=0, description="the same in MiB, in place of the share")
    paces_writers: bool = False
    """whether writers are paused little by little between the mean of both and the limit, as Linux does since 3.2"""
    free_behind: bool = False
    """whether a page that has been written back is the next to be reclaimed"""
    merged_write_kib: Kib = Field(default=128.0, gt=0)
    """largest request that write-back makes of neighbouring dirty pages"""
    in_file_order: bool = Field(
        default=False,
        description="whether write-back, once something is to be written, goes through all dirty pages whatever their "
        "age, file by file from front to back and round again, as Linux does; else the oldest go first",
    )
    locks_files: bool = Field(
        default=False,
        description="with paces_writers: whether a client is paused each 128 KiB, for whole pauses of 0.2 s at the "
        "limit, and keeps the file locked meanwhile that it has written to, so that all who write to it wait, as in "
        "Linux with ext4; a file is a table or an index of the program, or all tables that are alike. Else each page "
        "is paid by its own pause, and nothing is locked",
    )
    in_flight_pages: WholeNumber = Field(ge=1, le=10_000_000)
    """pages that write-back may have queued at the disks at once; looked at before a request, which neighbours join"""

    @model_validator(mode="after")
    def _locks_come_with_pauses(self) -> Self:
        if self.locks_files and not self.paces_writers:
            raise ValueError("locks_files: got true without paces_writers, whose pauses lock; set that, or not this")
        return self


def dirty_limits(cache: PageCacheSpec, pages: int, page_bytes: int) -> tuple[int, int]:
    """Pages that may be dirty before write-back begins, and before writers wait, whether the page cache has so many.

    A background limit that isn't below the other one is half of it (Linux, mm/page-writeback.c, domain_dirty_limits).
    """

    def limit(fraction: float, mib: float | None) -> int:
        return max(1, int(fraction * pages if mib is None else mib * MIB / page_bytes))

    most = limit(cache.dirty_limit_fraction, cache.dirty_limit_mib)
    background = limit(cache.dirty_background_fraction, cache.dirty_background_mib)
    by_age = cache.dirty_background_mib is None and cache.dirty_background_fraction == 1.0
    return (background if background < most or by_age else max(1, most // 2)), most


def inactive_pages(pages: int, page_bytes: int) -> int:
    """Pages on Linux's inactive list, where those wait to be replaced that were used once, as a log's are.

    Of g whole GiB it is one part to sqrt(10 g) parts of the active list, below 1 GiB half of all (mm/vmscan.c,
    inactive_is_low).
    """
    return pages // (1 + max(isqrt(10 * (pages * page_bytes // GIB)), 1))


def pages_a_pause(page_bytes: int) -> int:
    """Pages of which a writer's pause is, at least one."""
    return min(max(PAUSE_KIB * KIB // page_bytes, 1), MOST_PAGES_A_PAUSE)


def page_cache_of(cache: PageCacheSpec, pages: int, page_bytes: int, log_bytes: int = 0) -> PageCache:
    """The page cache with its memory, in the database's pages. `log_bytes`: of the log's files that go through it."""
    background, most = dirty_limits(cache, pages, page_bytes)
    paced = (background + most) // 2
    is_paced = cache.paces_writers and paced < min(most, pages)
    return PageCache(
        pages=pages,
        dirty_limit_pages=min(most, pages),
        in_flight_pages=cache.in_flight_pages,
        free_behind=cache.free_behind,
        in_file_order=cache.in_file_order,
        pages_a_pause=pages_a_pause(page_bytes) if cache.locks_files and is_paced else 0,
        paced_pages=paced if is_paced else UNPACED,
        log_pages=min(log_bytes // page_bytes, inactive_pages(pages, page_bytes)),
        log_page_bytes=page_bytes if log_bytes else 1,
    )


def flusher_of(cache: PageCacheSpec, pages: int, page_bytes: int) -> tuple[Daemon, ...]:
    """The daemon that writes what has been dirty longest above the background limit; none where that isn't reached."""
    background, _ = dirty_limits(cache, pages, page_bytes)
    if background >= pages:
        return ()
    chunk = int((cache.background_chunk_mib or 0) * MIB / page_bytes)
    steps = (
        DaemonStep("await_cache_dirty", (background,)),
        DaemonStep("write_cache_dirty", (max(background - chunk, 0),)),
    )
    return (Daemon("background write-back", steps),)


def write_back_of(cache: PageCacheSpec, leaves_log: bool) -> tuple[Daemon, ...]:
    """The daemons that write what has been dirty for too long: pages, and the log if commits leave it to the system.

    Linux's flusher goes on until no file is dirty for so long (fs/fs-writeback.c, wb_writeback). It goes from file to
    file, the log's too, which therefore has a daemon of its own here. Other systems do alike by assumption.
    """
    sleep = DaemonStep("sleep", (from_s(cache.flush_interval_s),))
    pages = Daemon("write-back", (sleep, DaemonStep("write_expired", (from_s(cache.dirty_expire_s),))))
    return (pages, Daemon("write-back of the log", (sleep, DaemonStep("write_log")))) if leaves_log else (pages,)
