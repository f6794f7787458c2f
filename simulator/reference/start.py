"""The state at time 0: cold, as a load or a prewarm leaves it, or warm; and the lead-in from there, at full speed.

Nobody waits here. In a lead-in only the clock moves on, so that pages that it leaves dirty have an age.
"""

from oltpsim.simulator.errors import InternalError
from oltpsim.simulator.expectation import start_state
from oltpsim.simulator.form import NS_PER_MS, LeadInMarks, StartState, System, lead_in_marks
from oltpsim.simulator.reference import waits
from oltpsim.simulator.reference.cache import MemoryState
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.interpreter import Interpreter
from oltpsim.simulator.reference.waits import Wait


class Start:
    """Brings caches and clients to the state that the system's interval starts from."""

    def __init__(self, system: System, seed: int, interpreter: Interpreter) -> None:
        self.system, self.seed = system, seed
        self.interpreter, self.pool, self.page_cache = interpreter, interpreter.pool, interpreter.pool.page_cache

    def prepare(self) -> None:
        """Do so. Raises InternalError for an unknown start."""
        state = start_state(self.system, self.seed)
        self._remember(state)
        match self.system.interval.start:
            case "cold":
                pass
            case "after_load":
                self._load_everything()
                self._write_pool(self.system.pool.pages)
                self._write_page_cache()
            case "warm":
                self._load_drawn(state)
            case "after_prewarm":
                self._prewarm()
            case start:
                raise InternalError(f"unknown start {start!r}")
        self._lead_in()
        self._forget_counts()

    def _load_everything(self) -> None:
        """Write every loaded page once, in load order, through the pool and the page cache."""
        cache = self.pool.cache
        for number, group, first, count in self.system.program.load_order.tolist():
            region = self.interpreter.references.regions[number]
            base = region.base + group * region.group_pages + first
            for page in range(base, base + count):
                if page in cache.where:
                    continue
                frame = cache.next_frame()
                assert frame is not None
                self.pool.empty(frame)
                cache.insert_new(frame, page)
                if not self.system.direct_io:  # by direct I/O it is on disk, and nowhere else
                    cache.set_dirty(frame, 0)

    def _prewarm(self) -> None:
        """Read every page that a prewarm reads into the page cache, and from there into the pool."""
        cache, into_pool = self.pool.cache, self.system.interval.prewarms_pool
        cache.now_ns = lambda: -self.system.interval.lead_in_ns
        for number, group, first, count in self.system.prewarm_order.tolist():
            region = self.interpreter.references.regions[number]
            base = region.base + group * region.group_pages + first
            for page in range(base, base + count):
                if into_pool and page not in cache.where:
                    frame = cache.next_frame()
                    assert frame is not None
                    self.pool.empty(frame)
                    cache.insert(frame, page)
                if not self.system.direct_io:
                    self.page_cache.fill(page)
                    self.page_cache.touch(page)
        cache.now_ns = lambda: self.interpreter.env.now

    def _lead_in(self) -> None:
        """Run a transaction of each client in turn, every wait being over at once, until all are done."""
        interval, clients, env = self.system.interval, self.interpreter.clients, self.interpreter.env
        transactions = interval.lead_in_transactions
        marks = lead_in_marks(self.system.daemons, self.system.pool.pages)
        for number in range(transactions):
            env.set_clock(-interval.lead_in_ns * (transactions - number) // transactions)
            client = clients[number % len(clients)]
            for wait in self.interpreter.waits_of(client):
                if isinstance(wait, waits.TransactionEnd):
                    break
                self._end_wait(client, wait)
                self.page_cache.writes_in_flight = 0
            dirty = len(self.pool.cache.dirty_since_ms)
            if dirty > marks.pool_high_pages:
                self._write_pool(dirty - marks.pool_low_pages)
            while self.system.flushing and self.pool.age_bytes > self.system.flushing.whole_age_bytes:
                [oldest] = self.pool.oldest_dirty(1)
                self.pool.mark_clean(oldest)
                self.pool.keep_written(oldest)
                self.page_cache.writes_in_flight = 0
            while self._oldest_is_due(marks):
                self._write_oldest()
        env.set_clock(0)
        self.pool.images.begin_checkpoint()

    def _end_wait(self, client: Client, wait: Wait) -> None:
        """End a client's wait at once: what it waits for is done."""
        match wait:
            case waits.PageRead(frame):
                self.pool.finish_read(frame)
            case waits.SwapIn(frame):
                self.pool.memory.give(frame)
            case waits.VictimWrite(frame):
                self.pool.cache.clear_dirty(frame)
                self.pool.keep_written(frame.page)
                frame.busy = False
            case waits.Throttled():
                self._write_oldest()
            case waits.Paused():
                if self.page_cache.is_full_of_dirt:
                    self._write_oldest()
            case waits.Commit(size_bytes, keeps_locks):
                self.page_cache.append_log(size_bytes)
                self.pool.log_end_bytes += size_bytes
                if not keeps_locks:
                    self.interpreter.locks.release_all(client)
            case waits.Rollback():
                self.interpreter.locks.release_all(client)

    def _oldest_is_due(self, marks: LeadInMarks) -> bool:
        """Whether the page that has been dirty in the page cache for longest has to be written back now."""
        since_ms = self.page_cache.cache.dirty_since_ms
        if not since_ms:
            return False
        now = self.interpreter.env.now
        is_old = since_ms[next(iter(since_ms))] <= (now - marks.expire_ns) // NS_PER_MS
        return is_old or len(since_ms) > marks.cache_keep_pages

    def _load_drawn(self, warm: StartState) -> None:
        """Take in the state of caches and counters that has been drawn."""
        cache = self.pool.cache
        oldest_bytes = self.system.flushing.whole_age_bytes // 2 if self.system.flushing else 0
        changed = left = int(warm.pool[:, 2].sum())
        for page, usage, dirty, resident in warm.pool.tolist():
            frame = cache.next_frame()
            assert frame is not None
            if resident:
                self.pool.memory.give(frame)
            else:
                frame.memory = MemoryState.SWAPPED_OUT
            cache.insert_in_order(frame, page)
            frame.usage = usage
            if dirty:
                self.pool.change(frame, -(oldest_bytes * left // changed))
                left -= 1
        for page in warm.page_cache.tolist():
            self.page_cache.fill(page)
        self.interpreter.counters[:] = warm.counters.tolist()
        self.interpreter.references.high[:] = warm.high.tolist()

    def _remember(self, state: StartState) -> None:
        """Put into windows what they remember at the start."""
        for (start, length, _, first), rings in zip(
            self.system.program.windows.tolist(), self.interpreter.references.windows, strict=True
        ):
            for owner, ring in enumerate(rings):
                ring.seen = int(state.seen[first + owner])
                ring.pages = state.windows[start + owner * length :][: min(ring.seen, length)].tolist()

    def _write_pool(self, most: int) -> None:
        """Write so many dirty buffers, those first that are replaced first."""
        for page in self.pool.cache.least_recent_dirty(most):
            self.pool.mark_clean(page)
            if not self.system.direct_io:
                self.page_cache.write(page, self.interpreter.env.now)
        self.page_cache.writes_in_flight = 0

    def _write_page_cache(self) -> None:
        """Write back every dirty page of the page cache."""
        while self.page_cache.cache.dirty_since_ms:
            self._write_oldest()

    def _write_oldest(self) -> None:
        """Write back the page that has been dirty in the page cache for longest."""
        page = next(iter(self.page_cache.cache.dirty_since_ms)).page
        self.page_cache.start_write_back(page)
        self.page_cache.finish_write_back(page)

    def _forget_counts(self) -> None:
        """All counters at zero: what happened before the run is not the run's."""
        for cache in (self.pool.cache, self.page_cache.cache):
            cache.references = cache.hits = cache.evictions = cache.dirty_evictions = 0
        self.page_cache.writes_in_flight = self.pool.memory.swap_outs = self.interpreter.locks.acquired = 0
        for region in self.interpreter.references.regions:
            region.forget_counts()
