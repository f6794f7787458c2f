"""The operating system's write-back: dirty pages of the page cache on their way to the disks."""

import simpy

from simulator.form import Extent, System, extent_of
from simulator.reference.device import WRITE
from simulator.reference.page_cache import OsPageCache
from simulator.reference.stations import Environment, Story
from simulator.reference.storage import DataFiles


class WriteBack:
    """Writes of the page cache. `pages_written`: pages that the disks have, so far."""

    def __init__(self, env: Environment, system: System, page_cache: OsPageCache, files: DataFiles) -> None:
        self.env, self.system, self.page_cache, self.files = env, system, page_cache, files
        self.pages_written = 0
        self.next_written: simpy.Event | None = None
        page_cache.write_out = lambda page: self.write(range(page, page + 1))

    def write(self, run: range) -> None:
        """Queue one write of neighbouring pages that the page cache has handed over."""
        self.files.submit(run, WRITE, "write-back").callbacks.append(lambda _: self._finish(run))

    def _finish(self, run: range) -> None:
        for page in run:
            self.page_cache.finish_write_back(page)
        self.pages_written += len(run)
        if self.next_written is not None:
            self.next_written.succeed()
            self.next_written = None

    def written(self) -> simpy.Event:
        """The next completion of a write."""
        if self.next_written is None:
            self.next_written = self.env.event()
        return self.next_written

    def flush(self, latest_ns: int, most: int) -> int:
        """Hand to the disks, in disk order, up to `most` pages dirty since `latest_ns` or longer; returns how many."""
        pages = self.page_cache.cache.dirty_before(latest_ns, most)
        for run in neighbours(pages, self.system.placement, self.system.storage.merged_pages):
            for page in run:
                self.page_cache.start_write_back(page)
            self.write(run)
        return len(pages)

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
        enough = self.pages_written + self.page_cache.writes_in_flight
        while self.pages_written < enough:
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
