"""The state at time 0: cold, as a bulk load leaves it, or warm. No simulated time passes here."""

from simulator.errors import InternalError
from simulator.form import System, kept_dirty_pages
from simulator.reference import waits
from simulator.reference.client import Client
from simulator.reference.interpreter import Interpreter
from simulator.reference.terminals import TerminalUsers
from simulator.reference.waits import Wait

WARM_TURNOVERS = 3
WARM_REFERENCES_PER_PAGE = 30
"""`warm` runs until the buffer pool has taken in so many times its own size, or every page was due so many times."""


class Start:
    """Brings caches and clients to the state that the system's interval starts from."""

    def __init__(self, system: System, seed: int, interpreter: Interpreter) -> None:
        self.system, self.seed = system, seed
        self.interpreter, self.pool, self.page_cache = interpreter, interpreter.pool, interpreter.pool.page_cache

    def prepare(self) -> None:
        """Do so. Raises InternalError for an unknown start."""
        start = self.system.interval.start
        if start not in {"cold", "after_load", "warm"}:
            raise InternalError(f"unknown start {start!r}")
        if start == "cold":
            return
        self._load_everything()
        if start == "warm":
            self._warm_up()
        self._write_pool(kept_dirty_pages(self.system.daemons, self.system.pool.pages) if start == "warm" else 0)
        self._write_page_cache()
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

    def _warm_up(self) -> None:
        """Run a transaction of each client in turn, every wait being over at once, until one of the bounds is met."""
        system, cache = self.system, self.pool.cache
        users = TerminalUsers(system, system.terminals, self.seed) if system.terminals else None
        most_misses = WARM_TURNOVERS * system.pool.pages
        most_references = WARM_REFERENCES_PER_PAGE * system.program.pages
        for _ in range(most_references):  # a bound of rounds too, for programs that refer to no page
            if cache.references - cache.hits >= most_misses or cache.references >= most_references:
                return
            for client in self.interpreter.clients:
                for wait in self.interpreter.waits_of(client):
                    if isinstance(wait, waits.TransactionEnd):
                        break
                    if users is not None and isinstance(wait, waits.NextArrival):
                        users.seat_anybody(client)
                    self._pass(client, wait)
                    self.page_cache.writes_in_flight = 0

    def _pass(self, client: Client, wait: Wait) -> None:
        """A client's wait is over at once."""
        match wait:
            case waits.PageRead(frame):
                self.pool.finish_read(frame)
            case waits.SwapIn(frame):
                self.pool.memory.give(frame)
            case waits.VictimWrite(frame):
                self.pool.cache.clear_dirty(frame)
                frame.busy = False
            case waits.Throttled():
                self._write_page_cache()
            case waits.Commit() | waits.Rollback():
                self.interpreter.locks.release_all(client)
            case waits.RowLock(lock):
                self.interpreter.locks.grant(lock, client)

    def _write_pool(self, left_dirty_pages: int) -> None:
        """Write dirty buffers, those first that are replaced first, until so many are left."""
        dirty = len(self.pool.cache.dirty_since_ms)
        for page in self.pool.cache.least_recent_dirty(max(dirty - left_dirty_pages, 0)):
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
        self.page_cache.writes_in_flight = self.pool.memory.swap_outs = self.interpreter.locks.acquired = 0
        for region in self.interpreter.references.regions:
            region.forget_counts()
