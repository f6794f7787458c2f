"""Page cache: the memory under buffered I/O, and its write-back."""

from pydantic import Field

from models.input import Fraction, Kib, Seconds, Spec, WholeNumber
from simulator.form import Daemon, DaemonStep, PageCache, from_s


class PageCacheSpec(Spec):
    """The cache under buffered I/O. It gets the memory that nobody else holds, never less than its floor."""

    floor_fraction: Fraction = Field(ge=0, lt=1)
    """share of RAM the OS defends for file pages by swapping out others"""
    dirty_expire_s: Seconds = Field(ge=0, description="age at which a dirty page is written back")
    flush_interval_s: Seconds = Field(ge=0.01, description="how often the flusher wakes")
    dirty_limit_fraction: Fraction = Field(gt=0, le=1)
    """share of the page cache that may be dirty before writers wait"""
    free_behind: bool = False
    """whether a page that has been written back is the next to be reclaimed"""
    merged_write_kib: Kib = Field(default=128.0, gt=0)
    """largest request that write-back makes of neighbouring dirty pages"""
    in_flight_pages: WholeNumber = Field(ge=1, le=10_000_000)
    """pages that write-back may have queued at the disks at once"""


def page_cache_of(cache: PageCacheSpec, pages: int) -> PageCache:
    """The page cache with its memory, in the database's pages."""
    return PageCache(
        pages=pages,
        dirty_limit_pages=max(1, int(cache.dirty_limit_fraction * pages)),
        in_flight_pages=cache.in_flight_pages,
        free_behind=cache.free_behind,
    )


def write_back_of(cache: PageCacheSpec) -> Daemon:
    """The daemon that writes what has been dirty for too long, and the log if commits leave it to the system."""
    return Daemon(
        "write-back",
        (
            DaemonStep("sleep", (from_s(cache.flush_interval_s),)),
            DaemonStep("write_log"),
            DaemonStep("write_expired", (from_s(cache.dirty_expire_s),)),
        ),
    )
