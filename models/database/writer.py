"""Background writer of dirty pages."""

from pydantic import Field

from oltpsim.models.database.page_cleaner import PageCleanerSpec
from oltpsim.models.input import Fraction, Seconds, Spec, WholeNumber
from oltpsim.simulator.form import Daemon, DaemonStep, Writing, from_s


class SweepSpec(Spec):
    """Regular tour of all buffers that writes dirty ones whose usage count is 0 (PostgreSQL, BgBufferSync; CLOCK)."""

    whole_pool_s: Seconds = Field(ge=0.1, description="time of a round of the pool, if `round_pages` never stops it")
    round_s: Seconds = Field(ge=0.001, description="how often it goes on (bgwriter_delay)")
    round_pages: WholeNumber = Field(ge=1, le=1_000_000, description="most that it writes then (bgwriter_lru_maxpages)")


class WriterSpec(Spec):
    """Background writer: starts at the high mark, writes the oldest dirty pages in disk order down to the low."""

    dirty_high_fraction: Fraction = Field(gt=0, le=1)
    dirty_low_fraction: Fraction = Field(ge=0, le=1)
    batch_pages: WholeNumber = Field(default=32, ge=1, le=65536)
    """pages that it hands over at once, then waiting until they are written"""
    coalesced_pages: WholeNumber = Field(default=1, ge=1, le=256)
    """with direct I/O: dirty neighbours on one device that go along in one request at most"""
    flush_after: bool = Field(
        default=False,
        description="with buffered I/O: what writer and checkpoints write goes on to the disks batch by batch "
        "(PostgreSQL's checkpoint_flush_after of 32 pages, and bgwriter_flush_after); else when it is old enough or "
        "the page cache has too many dirty pages",
    )
    sweep: SweepSpec | None = Field(default=None, description="beside the marks; none if absent")


def writer_of(writer: WriterSpec, buffers: int) -> Daemon:
    """The daemon, for a pool of so many buffers."""
    high, low = (int(fraction * buffers) for fraction in (writer.dirty_high_fraction, writer.dirty_low_fraction))
    return Daemon("background writer", (DaemonStep("await_dirty", (high,)), DaemonStep("write_dirty", (low, 0))))


def sweeper_of(sweep: SweepSpec, buffers: int) -> Daemon:
    """The daemon of a sweep, for a pool of so many buffers."""
    places = max(1, round(buffers * sweep.round_s / sweep.whole_pool_s))
    steps = DaemonStep("sleep", (from_s(sweep.round_s),)), DaemonStep("write_unused", (places, sweep.round_pages))
    return Daemon("sweep of buffers", steps)


def writing_of(writer: WriterSpec | PageCleanerSpec, rotating: bool, buffered: bool = False) -> Writing:
    """Sizes of batches and requests, and whether pages are written twice; `rotating`: whether the disks do.

    Page cleaners by `buffered` I/O call fsync behind each batch.
    """
    if isinstance(writer, PageCleanerSpec):
        along = writer.neighbours_on == "all" or rotating
        return Writing(writer.batch_pages, writer.neighbour_pages if along else 1, writer.doublewrite, synced=buffered)
    return Writing(writer.batch_pages, writer.coalesced_pages, pushed=writer.flush_after)
