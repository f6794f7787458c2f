"""Page cache: the memory under buffered I/O, and its write-back."""

from pydantic import Field

from models.input import Fraction, Kib, Mib, Seconds, Spec, WholeNumber
from simulator.form import MIB, UNPACED, Daemon, DaemonStep, PageCache, from_s


class PageCacheSpec(Spec):
    """The cache under buffered I/O. It gets the memory that nobody else holds, never less than its floor."""

    floor_fraction: Fraction = Field(ge=0, lt=1)
    """share of RAM the OS defends for file pages by swapping out others"""
    other_files_fraction: Fraction = Field(default=0.0, ge=0, lt=1)
    """share of the cache that files hold which aren't the database's data, such as its log"""
    dirty_expire_s: Seconds = Field(ge=0, description="age at which a dirty page is written back")
    flush_interval_s: Seconds = Field(ge=0.01, description="how often the flusher wakes")
    dirty_background_fraction: Fraction = Field(default=1.0, gt=0, le=1)
    """share of the page cache that may be dirty before write-back begins; 1: it goes by age alone"""
    dirty_background_mib: Mib | None = Field(default=None, gt=0, description="the same in MiB, in place of the share")
    dirty_limit_fraction: Fraction = Field(gt=0, le=1)
    """share of the page cache that may be dirty before writers wait"""
    dirty_limit_mib: Mib | None = Field(default=None, gt=0, description="the same in MiB, in place of the share")
    paces_writers: bool = False
    """whether writers are paused little by little between the mean of both and the limit, as Linux does since 3.2"""
    free_behind: bool = False
    """whether a page that has been written back is the next to be reclaimed"""
    merged_write_kib: Kib = Field(default=128.0, gt=0)
    """largest request that write-back makes of neighbouring dirty pages"""
    in_flight_pages: WholeNumber = Field(ge=1, le=10_000_000)
    """pages that write-back may have queued at the disks at once"""


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


def page_cache_of(cache: PageCacheSpec, pages: int, page_bytes: int) -> PageCache:
    """The page cache with its memory, in the database's pages."""
    background, most = dirty_limits(cache, pages, page_bytes)
    paced = (background + most) // 2
    return PageCache(
        pages=pages,
        dirty_limit_pages=min(most, pages),
        in_flight_pages=cache.in_flight_pages,
        free_behind=cache.free_behind,
        paced_pages=paced if cache.paces_writers and paced < min(most, pages) else UNPACED,
    )


def flusher_of(cache: PageCacheSpec, pages: int, page_bytes: int) -> tuple[Daemon, ...]:
    """The daemon that writes what has been dirty longest above the background limit; none where that isn't reached."""
    background, _ = dirty_limits(cache, pages, page_bytes)
    if background >= pages:
        return ()
    steps = DaemonStep("await_cache_dirty", (background,)), DaemonStep("write_cache_dirty", (background,))
    return (Daemon("background write-back", steps),)


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
