"""The state at time 0: cold, as a bulk load leaves it, or warm. No simulated time passes here."""

from simulator.errors import InternalError
from simulator.form import System, warm_state
from simulator.reference.cache import MemoryState
from simulator.reference.interpreter import Interpreter


class Start:
    """Brings caches and clients to the state that the system's interval starts from."""

    def __init__(self, system: System, seed: int, interpreter: Interpreter) -> None:
        self.system, self.seed = system, seed
        self.interpreter, self.pool, self.page_cache = interpreter, interpreter.pool, interpreter.pool.page_cache

    def prepare(self) -> None:
        """Do so. Raises InternalError for an unknown start."""
        match self.system.interval.start:
            case "cold":
                return
            case "after_load":
                self._load_everything()
                self._write_pool()
                self._write_page_cache()
            case "warm":
                self._load_drawn()
            case start:
                raise InternalError(f"unknown start {start!r}")
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
                cache.insert(frame, page)
                if not self.system.direct_io:  # by direct I/O it is on disk, and nowhere else
                    cache.set_dirty(frame, 0)

    def _load_drawn(self) -> None:
        """Take in the state of caches and windows that has been drawn."""
        cache, warm = self.pool.cache, warm_state(self.system, self.seed)
        for page, usage, dirty, resident in warm.pool.tolist():
            frame = cache.next_frame()
            assert frame is not None
            if resident:
                self.pool.memory.give(frame)
            else:
                frame.memory = MemoryState.SWAPPED_OUT
            cache.insert(frame, page)
            frame.usage = usage
            if dirty:
                cache.set_dirty(frame, 0)
        for page in warm.page_cache.tolist():
            self.page_cache.fill(page)
        self.interpreter.counters[:] = warm.counters.tolist()
        self.interpreter.references.high[:] = warm.high.tolist()
        for (start, length, _, first), rings in zip(
            self.system.program.windows.tolist(), self.interpreter.references.windows, strict=True
        ):
            for owner, ring in enumerate(rings):
                ring.seen = int(warm.seen[first + owner])
                ring.pages = warm.windows[start + owner * length :][: min(ring.seen, length)].tolist()

    def _write_pool(self) -> None:
        """Write all dirty buffers."""
        for page in self.pool.cache.least_recent_dirty(self.system.pool.pages):
            self.pool.mark_clean(page)
            if not self.system.direct_io:
                self.page_cache.write(page, 0)

    def _write_page_cache(self) -> None:
        """Write back every dirty page of the page cache."""
        while self.page_cache.cache.dirty_since_ms:
            page = next(iter(self.page_cache.cache.dirty_since_ms)).page
            self.page_cache.start_write_back(page)
            self.page_cache.finish_write_back(page)

    def _forget_counts(self) -> None:
        """All counters at zero: what happened before the run is not the run's."""
        for cache in (self.pool.cache, self.page_cache.cache):
            cache.references = cache.hits = cache.evictions = cache.dirty_evictions = 0
        self.page_cache.writes_in_flight = self.pool.memory.swap_outs = 0
