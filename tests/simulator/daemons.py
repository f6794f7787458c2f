"""Daemons as databases and operating systems have them, by their numbers."""

from oltpsim.simulator.form import Daemon, DaemonStep


def write_back(interval_ns: int, age_ns: int) -> Daemon:
    """The operating system's: what has been dirty for longer, and the log."""
    return Daemon(
        "write-back",
        (DaemonStep("sleep", (interval_ns,)), DaemonStep("write_log"), DaemonStep("write_expired", (age_ns,))),
    )


def flusher(pages: int) -> Daemon:
    """The operating system's: what has been dirty longest, where more pages of the page cache are than so many."""
    return Daemon("flusher", (DaemonStep("await_cache_dirty", (pages,)), DaemonStep("write_cache_dirty", (pages,))))


def writer(high_pages: int, low_pages: int, name: str = "writer") -> Daemon:
    """Above the high mark of dirty buffers it writes down to the low one."""
    return Daemon(name, (DaemonStep("await_dirty", (high_pages,)), DaemonStep("write_dirty", (low_pages, 0))))


def sleeping_writer(interval_ns: int, keep_pages: int, over_ns: int = 0) -> Daemon:
    """Looks at the pool when it has slept, as PostgreSQL's does."""
    return Daemon(
        "sleeping writer", (DaemonStep("sleep", (interval_ns,)), DaemonStep("write_dirty", (keep_pages, over_ns)))
    )


def page_cleaner(interval_ns: int, depth_pages: int, age_bytes: int, evictions: int | None = None) -> Daemon:
    """Writes the dirty pages that replacement reaches first, and those that have been dirty for longest.

    Sooner than after the interval, when so many pages have left the pool.
    """
    by_time = DaemonStep("every", (interval_ns,))
    return Daemon(
        "page cleaner",
        (
            by_time if evictions is None else DaemonStep("every_or_evicted", (interval_ns, evictions)),
            DaemonStep("write_tail", (depth_pages,)),
            DaemonStep("write_aged", (age_bytes,)),
        ),
    )


def merging(interval_ns: int, milli_pages: int) -> Daemon:
    """Reads and changes pages that have changes put aside."""
    return Daemon("merger", (DaemonStep("every", (interval_ns,)), DaemonStep("merge", (milli_pages,))))


def checkpointer(interval_ns: int, spread_ns: int = 0, direct_io: bool = False, log_bytes: int | None = None) -> Daemon:
    """Writes all that is dirty, every interval; or sooner if so much is logged, and then pages are logged whole."""
    by_time = (DaemonStep("every", (interval_ns,)),)
    by_log = DaemonStep("every_or_logged", (interval_ns, log_bytes or 0)), DaemonStep("begin_checkpoint")
    return Daemon(
        "checkpointer",
        (
            *(by_time if log_bytes is None else by_log),
            DaemonStep("write_dirty", (0, spread_ns)),
            *(() if direct_io else (DaemonStep("sync"),)),
            DaemonStep("note_checkpoint"),
        ),
    )
