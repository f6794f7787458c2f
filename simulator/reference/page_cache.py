"""The operating system's page cache, and the count of dirty pages that makes writers wait.

It is LRU, or where it shares its memory with the pool has two lists (memory.py).
"""

from bisect import bisect
from collections.abc import Callable, Sequence

from oltpsim.simulator.form import PageCache
from oltpsim.simulator.reference.cache import NO_PAGE, Frame, LruCache
from oltpsim.simulator.reference.memory import Memory


class OsPageCache:
    """The page cache. `write_out`: what becomes of a dirty page that has to go; its write starts at once.

    `first_pages`: of the program's regions, each of which is a file.
    """

    def __init__(self, rules: PageCache, data_pages: int, first_pages: Sequence[int] = ()) -> None:
        self.rules, self.data_pages, self.first_pages = rules, data_pages, sorted(first_pages)
        self.locked_until_ns: dict[int, int] = {}
        self.log_position = 0
        self.cache = LruCache(rules.pages)
        self.writes_in_flight = 0
        self.write_out: Callable[[int], None] = lambda _: None
        self.memory: Memory | None = None
        self.free: list[Frame] = []
        """frames that were used and are free, of shared memory"""
        self.being_written: set[int] = set()

    def share(self, memory: Memory) -> None:
        """Share the memory of the pool's frames."""
        self.memory = memory
        self.cache.capacity_pages = memory.shared_pages
        memory.is_kept = lambda page: self.is_dirty(page) or page in self.being_written
        memory.forget = self._forget

    def _forget(self, page: int) -> None:
        frame = self.cache.where[page]
        self._evict(frame)
        self.being_written.discard(page)
        self.free.append(frame)

    @property
    def by_use(self) -> list[int]:
        """All pages, the one that is replaced first at the front, active ones behind inactive ones."""
        files = self.memory.files if self.memory else None
        return list(self.cache.where) if files is None else [*files.inactive, *files.active]

    @property
    def used_pages(self) -> int:
        """Pages that it has memory for so far, or with shared memory that it holds."""
        return len(self.cache.where) if self.memory else len(self.cache.frames)

    @property
    def is_full_of_dirt(self) -> bool:
        """Whether a writer must wait for the disks."""
        return len(self.cache.dirty_since_ms) + self.writes_in_flight >= self.rules.dirty_limit_pages

    @property
    def is_paced(self) -> bool:
        """Whether writers are paused."""
        return len(self.cache.dirty_since_ms) + self.writes_in_flight > self.rules.paced_pages

    @property
    def pace(self) -> float:
        """How fast writers may be, in what the disks write (Linux, mm/page-writeback.c, pos_ratio_polynom).

        Twice as fast where pauses begin, as fast half way from there to the limit, and not at all at the limit.
        """
        setpoint = float(self.rules.paced_pages + self.rules.dirty_limit_pages) / 2.0
        distance = setpoint - float(len(self.cache.dirty_since_ms) + self.writes_in_flight)
        share = distance / max(float(self.rules.dirty_limit_pages) - setpoint, 0.5)
        return min(max(1.0 + share * share * share, 0.0), 2.0)

    def file_of(self, page: int) -> int:
        """The number of a page's file."""
        return bisect(self.first_pages, page)

    def locked_ns(self, page: int, now_ns: int) -> int:
        """How long a page's file is locked yet by a writer that is paused."""
        return max(self.locked_until_ns.get(self.file_of(page), now_ns) - now_ns, 0)

    def is_dirty(self, page: int) -> bool:
        """Whether a page is here and has changed since it was handed to the disks."""
        frame = self.cache.where.get(page)
        return frame is not None and self.cache.is_dirty(frame)

    def fill(self, page: int, reads: bool = True) -> Frame:
        """A page that has been read from its device, or is written, enters the page cache if it isn't there."""
        frame = self.cache.where.get(page)
        if frame is None:
            frame = self._free_frame()
            self.cache.insert(frame, page)
            if self.memory:
                self.memory.add_file(page, reads)
        return frame

    def _free_frame(self) -> Frame:
        if self.memory:
            self.memory.make_room()
            if self.free:
                return self.free.pop()
        frame = self.cache.next_frame()
        assert frame is not None  # no frame of the page cache is ever busy
        if frame.page != NO_PAGE:
            self._evict(frame)
        return frame

    def touch(self, page: int) -> None:
        """A page that is here is read."""
        if self.memory:
            self.memory.read_file(page)
        else:
            self.cache.touch(self.cache.where[page])

    def count_hit(self, page: int) -> None:
        """Count and order a read of a page that is here."""
        self.cache.references += 1
        self.cache.hits += 1
        self.touch(page)

    def keep(self, page: int) -> Frame:
        """A page that is written is here, recent; of shared memory a write makes none recent that was here before."""
        frame = self.fill(page, reads=False)
        if not self.memory:
            self.cache.touch(frame)
        return frame

    def _evict(self, frame: Frame) -> None:
        page, dirty = frame.page, self.cache.is_dirty(frame)
        self.cache.evict(frame)
        if dirty:
            self.writes_in_flight += 1
            self.write_out(page)

    def write(self, page: int, now: int) -> None:
        """A buffered write: the page is in the page cache, recent and dirty."""
        self.cache.set_dirty(self.keep(page), now)

    def append_log(self, size_bytes: int) -> None:
        """The end of the log passes through; its files are used round and round, their pages come after the data's."""
        rules, first = self.rules, self.log_position
        if rules.log_pages == 0 or size_bytes == 0:
            return
        self.log_position += size_bytes
        last = (self.log_position - 1) // rules.log_page_bytes
        for place in range(max(first // rules.log_page_bytes, last + 1 - rules.log_pages), last + 1):
            self.keep(self.data_pages + place % rules.log_pages)

    def start_write_back(self, page: int) -> None:
        """A dirty page is handed to the disks."""
        self.cache.clear_dirty(self.cache.where[page])
        self.being_written.add(page)
        self.writes_in_flight += 1

    def finish_write_back(self, page: int) -> None:
        """The disks have the page. It keeps its place in the page cache, or is the next to go (free-behind)."""
        frame = self.cache.where.get(page)
        if frame is not None and self.rules.free_behind and not self.cache.is_dirty(frame):
            self.cache.make_oldest(frame)
        self.being_written.discard(page)
        if frame is not None and self.memory:
            self.memory.file_is_written(page, self.cache.is_dirty(frame))
        self.writes_in_flight -= 1
