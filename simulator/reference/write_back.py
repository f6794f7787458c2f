"""The operating system's write-back: dirty pages of the page cache on their way to the disks."""

import simpy

from oltpsim.simulator.form import MIB, NS_PER_MS, Extent, System, extent_of
from oltpsim.simulator.reference.device import WRITE
from oltpsim.simulator.reference.page_cache import OsPageCache
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.storage import DataFiles

# Linux, mm/page-writeback.c: INIT_BW, MAX_PAUSE, BANDWIDTH_INTERVAL, and the period of wb_update_write_bandwidth.
INITIAL_BYTES_PER_S = 100.0 * MIB
LONGEST_PAUSE_NS = MEASUREMENT_NS = 200 * NS_PER_MS
AVERAGING_NS = 3e9


class WriteBack:
    """Writes of the page cache. `pages_written`: pages that the disks have, so far.

    `pages_per_s`: rate at which they write, measured over periods in which they always have something to write.
    """

    def __init__(self, env: Environment, system: System, page_cache: OsPageCache, files: DataFiles) -> None:
        self.env, self.system, self.page_cache, self.files = env, system, page_cache, files
        self.pages_written = 0
        self.pages_per_s = INITIAL_BYTES_PER_S / float(system.storage.page_bytes)
        self.measured_from_ns = self.measured_from_pages = self.next_turn_ns = self.next_in_files = 0
        self.is_idle = True
        self.next_written: simpy.Event | None = None
        page_cache.write_out = lambda page: self.write(range(page, page + 1))

    def write(self, run: range) -> None:
        """Queue one write of neighbouring pages that the page cache has handed over."""
        if self.is_idle:
            self.measured_from_ns, self.measured_from_pages, self.is_idle = self.env.now, self.pages_written, False
        self.files.submit(run, WRITE, "write-back").callbacks.append(lambda _: self._finish(run))

    def _finish(self, run: range) -> None:
        for page in run:
            self.page_cache.finish_write_back(page)
        self.pages_written += len(run)
        self._measure()
        self.is_idle = self.page_cache.writes_in_flight == 0
        if self.next_written is not None:
            self.next_written.succeed()
            self.next_written = None

    def _measure(self) -> None:
        lasts_ns = self.env.now - self.measured_from_ns
        if lasts_ns < MEASUREMENT_NS:
            return
        measured_per_s = float(self.pages_written - self.measured_from_pages) * 1e9 / float(lasts_ns)
        self.pages_per_s += (measured_per_s - self.pages_per_s) * min(float(lasts_ns) / AVERAGING_NS, 1.0)
        self.measured_from_ns, self.measured_from_pages = self.env.now, self.pages_written

    def pause(self, pages: int) -> simpy.Event:
        """The end of the pause of whoever has written so many pages into a page cache with many dirty ones."""
        return self.env.timeout(self._pause_ns(pages))

    def _pause_ns(self, pages: int) -> int:
        """How long that pause is.

        Its turn comes when the disks, at the pace that the page cache allows, have written what others were paused for
        before.
        """
        each = max(self.page_cache.rules.pages_a_pause, 1)
        longest_ns, now = -(-pages // each) * LONGEST_PAUSE_NS, self.env.now
        turn_ns = min(float(pages) * 1e9 / max(self.page_cache.pace * self.pages_per_s, 1.0), float(longest_ns))
        self.next_turn_ns = min(max(self.next_turn_ns, now) + int(turn_ns), now + longest_ns)
        return self.next_turn_ns - now

    def pause_locking(self, pages: int, file: int) -> simpy.Event:
        """The end of a client's pause, the longest one if it has written no page.

        Where files are locked it begins when the file is free, which is locked until its end.
        """
        pause_ns, now, locked = self._pause_ns(pages) if pages else LONGEST_PAUSE_NS, self.env.now, self.page_cache
        if locked.rules.pages_a_pause:
            locked.locked_until_ns[file] = max(locked.locked_until_ns.get(file, now), now) + pause_ns
            pause_ns = locked.locked_until_ns[file] - now
        return self.env.timeout(pause_ns)

    def written(self) -> simpy.Event:
        """The next completion of a write."""
        if self.next_written is None:
            self.next_written = self.env.event()
        return self.next_written

    def flush(self, latest_ns: int, most: int) -> int:
        """Hand to the disks up to `most` pages dirty since `latest_ns` or longer, in disk order; returns how many.

        In file order, while there are such: about as many from where it was left on, whatever their age.
        """
        if self.page_cache.rules.in_file_order:
            is_due = self.page_cache.cache.dirty_before(latest_ns, 1)
            return self._go_on_in_files(most) if is_due else 0
        pages = self.page_cache.cache.dirty_before(latest_ns, most)
        self._hand_over(pages)
        return len(pages)

    def push(self, pages: list[int]) -> Story:
        """Hand to the disks, in disk order, those of these pages that are still dirty, as soon as there is room."""
        left = list(pages)
        while True:
            now: list[int] = []
            while left and len(now) < self.free_pages:
                page = left.pop(0)
                if self.page_cache.is_dirty(page):
                    now.append(page)
            self._hand_over(sorted(now))
            if not left:
                return
            yield self.written()

    def _hand_over(self, pages: list[int]) -> None:
        for run in neighbours(pages, self.system.placement, self.system.storage.merged_pages):
            self._start(run)

    def _start(self, run: range) -> None:
        for page in run:
            self.page_cache.start_write_back(page)
        self.write(run)

    def _go_on_in_files(self, most: int) -> int:
        """Hand over dirty pages from where it was left on, file by file from front to back and round again."""
        cache, merged, handed = self.page_cache.cache, self.system.storage.merged_pages, 0
        while handed < most and cache.dirty_since_ms:
            dirty = sorted(frame.page for frame in cache.dirty_since_ms)
            page = next((each for each in dirty if each >= self.next_in_files), dirty[0])
            self.next_in_files = page + 1
            extent = extent_of(self.system.placement, page)
            run, last = range(page, page + extent.devices, extent.devices), extent.end_page
            while len(run) < merged and run.stop < last and self.page_cache.is_dirty(run.stop):
                run = range(run.start, run.stop + extent.devices, extent.devices)
            self._start(run)
            handed += len(run)
        return handed

    @property
    def free_pages(self) -> int:
        """How many more pages may be on their way to the disks."""
        return self.system.page_cache.in_flight_pages - self.page_cache.writes_in_flight

    def sync(self) -> Story:
        """Flush what is dirty now, and wait until the disks have all that was on its way by then."""
        latest_ns = self.env.now
        while self.page_cache.cache.dirty_before(latest_ns, 1):
            if self.free_pages > 0:
                self.flush(latest_ns, self.free_pages)
            yield self.written()
        yield from self.await_written(self.pages_on_their_way)

    @property
    def pages_on_their_way(self) -> int:
        """How many pages will have been written when the disks have all that is on its way now."""
        return self.pages_written + self.page_cache.writes_in_flight

    def await_written(self, pages: int) -> Story:
        """Wait until so many pages have been written."""
        while self.pages_written < pages:
            yield self.written()


def neighbours(pages: list[int], placement: tuple[Extent, ...], most: int) -> list[range]:
    """Sorted pages as runs of up to `most` that lie side by side on one device: each becomes one request."""
    runs: dict[int, list[range]] = {}
    for page in pages:
        extent = extent_of(placement, page)
        on_device = runs.setdefault(extent.device_of(page), [])
        last = on_device[-1] if on_device else range(0)
        if last and last.stop == page and last.start >= extent.first_page and len(last) < most:
            on_device[-1] = range(last.start, page + extent.devices, extent.devices)
        else:
            on_device.append(range(page, page + extent.devices, extent.devices))
    return [run for device in sorted(runs) for run in runs[device]]
