"""Writing of buffers, batch by batch: what daemons do with a list of pages."""

from bisect import bisect_right
from collections.abc import Callable
from functools import partial

from oltpsim.simulator.form import System, extent_of
from oltpsim.simulator.reference.buffer_pool import BufferPool
from oltpsim.simulator.reference.cpu import Processors
from oltpsim.simulator.reference.device import WRITE
from oltpsim.simulator.reference.stations import Environment, Story
from oltpsim.simulator.reference.storage import DataFiles
from oltpsim.simulator.reference.write_back import WriteBack


class PageWriter:
    """Writes pages of the pool batch by batch: into the page cache and maybe on, or by direct I/O to their devices."""

    def __init__(
        self,
        env: Environment,
        system: System,
        pool: BufferPool,
        cpu: Processors,
        files: DataFiles,
        write_back: WriteBack,
    ) -> None:
        self.env, self.system, self.pool, self.cpu = env, system, pool, cpu
        self.files, self.write_back = files, write_back
        self.rules = system.writing
        direct = self._write_doubled if self.rules.doubled else self._write_direct
        buffered = self._write_synced if self.rules.synced else self._write_buffered
        self.write_batch = direct if system.direct_io else buffered

    def write(self, pages: list[int], spread_ns: int) -> Story:
        """Write these pages if they are dirty when it is their turn; over `spread_ns` if that is not 0."""
        began = self.env.now
        for first in range(0, len(pages), self.rules.batch_pages):
            batch = pages[first : first + self.rules.batch_pages]
            yield from self.write_batch(batch)
            due = began + spread_ns * first // len(pages)
            if self.env.now < due:
                yield self.env.timeout(due - self.env.now)

    def _write_buffered(self, batch: list[int]) -> Story:
        written: list[int] = []
        for page in batch:
            yield from self._await_room(partial(self.pool.locked_ns, page))
            if self.pool.mark_clean(page):
                self.pool.page_cache.write(page, self.env.now)
                written.append(page)
        paused = self.pool.page_cache.is_paced and bool(written)
        yield from self._pay(len(written))
        if self.rules.pushed:
            yield from self.write_back.push(written)
        if paused:
            yield self.write_back.pause(len(written))

    def _write_synced(self, batch: list[int]) -> Story:
        """Copies if pages are doubled, then the pages into the page cache and from there to the disks, then flushes.

        It waits for all that is on its way when it has handed on its last page.
        """
        runs = [self._with_neighbours(page) for page in batch if self.pool.mark_clean(page)]
        pages = [page for run in runs for page in run]
        if not runs:
            return
        yield from self._pay(self.rules.doubled + len(pages))
        if self.rules.doubled:
            yield self.files.write_copies(runs[0].start, len(pages))
        cache = self.pool.page_cache
        for page in pages:
            yield from self._await_room(partial(self._locked_ns, page))
            cache.write(page, self.env.now)
        paused = cache.is_paced
        yield from self.write_back.push(pages)
        enough = self.write_back.pages_on_their_way
        if paused:
            yield self.write_back.pause(len(pages))
        yield from self.write_back.await_written(enough)
        for page in self._page_of_each_file(runs) if self.rules.files else ():
            yield self.files.flush(page, "writer")

    def _locked_ns(self, page: int) -> int:
        return self.pool.page_cache.locked_ns(page, self.env.now)

    def _await_room(self, locked_ns: Callable[[], int]) -> Story:
        """Wait while the page cache has as many dirty pages as it may, or the file of a page is locked."""
        while True:
            wait_ns = locked_ns()
            if self.pool.page_cache.is_full_of_dirt:
                self.write_back.flush(self.env.now, self.rules.batch_pages)
                yield self.write_back.written()
            elif wait_ns:
                yield self.env.timeout(wait_ns)
            else:
                return

    def _write_direct(self, batch: list[int]) -> Story:
        pending = [
            self.files.submit(self._with_neighbours(page), WRITE, "writer")
            for page in batch
            if self.pool.mark_clean(page)
        ]
        yield from self._pay(len(pending))
        for done in pending:
            if not done.processed:
                yield done

    def _write_doubled(self, batch: list[int]) -> Story:
        """Doublewrite: copies of a batch in one request and a flush, then each page to its place, and flushes.

        A disk is flushed with its last request.
        """
        runs = [self._with_neighbours(page) for page in batch if self.pool.mark_clean(page)]
        if not runs:
            return
        yield from self._pay(1 + len(runs))
        yield self.files.write_copies(runs[0].start, sum(map(len, runs)))
        known = bool(self.rules.files)
        last_on = {self.files.device_of(run.start): number for number, run in enumerate(runs)}
        pending = [
            self.files.submit(
                run, WRITE, "writer", synced=not known and last_on[self.files.device_of(run.start)] == number
            )
            for number, run in enumerate(runs)
        ]
        for done in pending:
            if not done.processed:
                yield done
        for page in self._page_of_each_file(runs) if known else ():
            yield self.files.flush(page, "writer")

    def _page_of_each_file(self, runs: list[range]) -> list[int]:
        """A page of each file on each device where it has some, in the order in which they come."""
        begins = [first for first, _ in self.rules.files]
        pages: dict[tuple[int, int], int] = {}
        for run in runs:
            file = self.rules.files[bisect_right(begins, run.start) - 1][1]
            pages.setdefault((file, self.files.device_of(run.start)), run.start)
        return list(pages.values())

    def _pay(self, calls: int) -> Story:
        """CPU time of the write calls, and of the requests if they are made at once."""
        if calls:
            costs, rules = self.system.costs, self.rules
            pushed = (rules.pushed or rules.synced) and not self.system.direct_io
            demand_ns = calls * (costs.write_ns + (costs.request_ns if pushed else 0))
            self.cpu.background_writer_ns += demand_ns
            yield from self.cpu.run(demand_ns)

    def _with_neighbours(self, page: int) -> range:
        """The pages of a request: dirty neighbours behind the page, then before it, go along and are clean then."""
        extent, most = extent_of(self.system.placement, page), self.rules.coalesced_pages
        step, last = extent.devices, min(extent.end_page, self.system.program.pages)
        run = range(page, page + step, step)
        while len(run) < most and run.stop < last and self.pool.mark_clean(run.stop):
            run = range(run.start, run.stop + step, step)
        while len(run) < most and run.start - step >= extent.first_page and self.pool.mark_clean(run.start - step):
            run = range(run.start - step, run.stop, step)
        return run
