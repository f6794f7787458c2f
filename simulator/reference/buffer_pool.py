"""The buffer pool: what a reference to a page meets, from a hit to a victim that has to be written first."""

from collections.abc import Generator
from itertools import islice, takewhile

from oltpsim.simulator.form import System
from oltpsim.simulator.reference import waits
from oltpsim.simulator.reference.cache import NO_PAGE, POLICIES, ClockCache, Frame, MemoryState
from oltpsim.simulator.reference.client import Client
from oltpsim.simulator.reference.memory import Memory
from oltpsim.simulator.reference.page_cache import OsPageCache
from oltpsim.simulator.reference.page_images import PageImages
from oltpsim.simulator.reference.regions import Region
from oltpsim.simulator.reference.stations import Environment
from oltpsim.simulator.reference.waiting_changes import WaitingChanges
from oltpsim.simulator.reference.waits import Wait, Waits


class BufferPool:
    """The buffer pool above the page cache. With direct I/O no page ever enters the latter."""

    def __init__(self, env: Environment, system: System, page_cache: OsPageCache) -> None:
        self.env, self.costs, self.direct_io = env, system.costs, system.direct_io
        self.writes_victims = system.writes_victims
        self.page_cache = page_cache
        self.cache = POLICIES[system.pool.replacement](system.pool.pages)
        self.cache.clean_search_pages = system.pool.clean_search_pages
        self.cache.now_ns = lambda: env.now
        self.cache.old_ms = system.pool.old_ms
        self.free_wait_ns = system.pool.free_wait_ns
        self.log_end_bytes = 0
        self.images = PageImages(system.log.full_page_bytes)
        self.changed_at: dict[Frame, int] = {}
        """the log's end, bytes, at the first change of a dirty page, by frame"""
        self.waiting = WaitingChanges()
        self.memory = Memory(env, system, self.cache.frames)
        if system.reclaim:
            page_cache.share(self.memory)

    def refer(
        self, client: Client, page: int, region: Region, write: bool, create: bool = False, put_aside: bool = False
    ) -> Waits:
        """A client refers to a page; `create`: the page is new, so that there is nothing to read.

        `put_aside`: if there is something to read, the change waits, and the page isn't referred to.
        After each wait all is looked at anew: meanwhile the page may have come, or may have been replaced.
        """
        while True:
            frame = self.cache.where.get(page)
            if frame is None and put_aside and not create:
                self.waiting.note(page)
                return
            if frame is None:
                frame = yield from self._make_room(client, page, create)
                if frame is not None:
                    yield from self._bring_in(client, page, region, frame, create)
                    break
            elif frame.busy or frame.memory == MemoryState.SWAPPED_OUT:
                if client.owes_cpu:
                    yield from client.pay()
                elif frame.busy:
                    yield waits.PageInTransit(page)
                else:
                    frame.busy = True
                    yield waits.SwapIn(frame)
            else:
                client.frame_chosen = None
                self.cache.count_hit(frame)
                frame.memory = MemoryState.ACCESSED
                region.pool_hits += 1
                break
        region.references += 1
        if write:
            self.change(frame, self.log_end_bytes)
            client.log_bytes += self.images.added_bytes(page, create)

    def change(self, frame: Frame, at_bytes: int) -> None:
        """A frame's page changes, with the log's end there."""
        if not self.cache.is_dirty(frame):
            self.changed_at[frame] = at_bytes
            self.cache.set_dirty(frame, self.env.now)

    @property
    def age_bytes(self) -> int:
        """Bytes of log since the first change that isn't on the disks; 0 if all are."""
        return max((self.log_end_bytes - self.changed_at[frame] for frame in self._oldest(1)), default=0)

    def _oldest(self, most: int) -> list[Frame]:
        """The frames that have been dirty for longest, in order."""
        return list(islice(self.cache.dirty_since_ms, most))

    def oldest_dirty(self, most: int) -> list[int]:
        """The pages that have been dirty for longest, in order."""
        return [frame.page for frame in self._oldest(most)]

    def count_older(self, than_bytes: int, most: int) -> int:
        """Dirty pages whose first change was before the log's end came to `than_bytes`, `most` at most."""
        return sum(1 for _ in takewhile(lambda frame: self.changed_at[frame] < than_bytes, self._oldest(most)))

    def _make_room(self, client: Client, page: int, create: bool) -> Generator[Wait, None, Frame | None]:
        """The frame to use for a page that isn't in the pool; None after a wait."""
        if (yield from self._is_held_up(client, page, create)):
            return None
        is_full = len(self.cache.frames) == self.cache.capacity_pages
        if is_full and self.free_wait_ns and not client.has_waited:
            if client.owes_cpu:
                yield from client.pay()
                return None
            client.has_waited = True
            yield waits.FreeBuffer(self.free_wait_ns)
            return None
        frame, client.frame_chosen = client.frame_chosen, None
        if frame is None or frame.busy:
            frame = self.cache.next_frame()
        wait = self._wait_for(frame)
        if wait is None:
            return frame
        keeps_it = frame is not None and not isinstance(wait, waits.LockedFile)
        if keeps_it and isinstance(self.cache, ClockCache):  # its hand has moved on; lists find it again
            client.frame_chosen = frame
        if client.owes_cpu:
            yield from client.pay()
            return None
        if frame is not None and keeps_it:
            frame.busy = True
        yield wait
        return None

    def _is_held_up(self, client: Client, page: int, create: bool) -> Generator[Wait, None, bool]:
        """Whether a client has had to wait for what it has written before, or to pay its CPU demand first."""
        is_full = not self.direct_io and self.page_cache.is_full_of_dirt
        throttled = is_full and self.page_cache.rules.pages_a_pause == 0
        if client.owes_cpu and (throttled or client.is_to_pause or not (create or self._is_cached_below(page))):
            yield from client.pay()
            return True
        if throttled:
            yield waits.Throttled()
            return True
        if client.is_to_pause:
            written, client.unpaid_pages, client.is_to_pause = client.unpaid_pages, 0, is_full
            if is_full or written:
                yield waits.Paused(0 if is_full else written, client.file)
                return True
        return False

    def _wait_for(self, frame: Frame | None) -> Wait | None:
        """What has to be waited for until a frame can be used, None: nothing. No frame: until one isn't busy."""
        if frame is None:
            return waits.AnyBuffer()
        if frame.memory == MemoryState.SWAPPED_OUT:
            return waits.SwapIn(frame)
        if self.writes_victims and self.cache.is_dirty(frame):
            return waits.VictimWrite(frame)
        locked_ns = self.locked_ns(frame.page)
        return waits.LockedFile(locked_ns) if locked_ns else None

    def locked_ns(self, page: int) -> int:
        """How long a page can't be written, since somebody keeps its file locked; 0 if it isn't to be written."""
        frame = self.cache.where.get(page)
        is_written = not self.direct_io and frame is not None and self.cache.is_dirty(frame)
        return self.page_cache.locked_ns(page, self.env.now) if is_written else 0

    def _note_written(self, client: Client, page: int) -> None:
        """A page was written into the page cache, which may have many dirty ones: then a pause is due, now or later."""
        files, enough = self.page_cache, self.page_cache.rules.pages_a_pause
        client.unpaid_pages, client.file = client.unpaid_pages + 1 if files.is_paced else 0, files.file_of(page)
        has_enough = files.is_paced and client.unpaid_pages >= enough
        client.is_to_pause = has_enough or (enough > 0 and files.is_full_of_dirt)

    def _bring_in(self, client: Client, page: int, region: Region, frame: Frame, create: bool) -> Waits:
        """Bring a page into a frame: from nowhere if it is new, from the page cache, or else from its device."""
        written = frame.page
        if self.empty(frame):
            client.system_ns += self.costs.write_ns
            self._note_written(client, written)
        client.user_ns += self.costs.miss_ns
        if create:
            self.cache.insert_new(frame, page)
        else:
            self.cache.insert(frame, page)
        client.has_waited = False
        frame.memory = MemoryState.ACCESSED
        if create:
            self.waiting.take(page)  # of what was there before
            region.created += 1
        else:
            client.system_ns += self.costs.read_ns
            if self._is_cached_below(page):  # it may just have been dropped to make room for the victim
                region.page_cache_hits += 1
                self.page_cache.count_hit(page)
                self._merge_waiting(frame)
            else:
                client.system_ns += self.costs.request_ns
                frame.busy = True
                region.disk_reads += 1
                yield waits.PageRead(frame)
        self.cache.references += 1

    def _is_cached_below(self, page: int) -> bool:
        return page in self.page_cache.cache.where

    def empty(self, frame: Frame) -> bool:
        """Empty a frame for another page; returns whether its page had to be written to the page cache."""
        if frame.memory == MemoryState.NEVER_USED:
            self.memory.give(frame)
        if frame.page == NO_PAGE:
            return False
        dirty = self.cache.is_dirty(frame)
        if dirty:
            frame.busy = True  # so that it keeps its memory
            self.page_cache.write(frame.page, self.env.now)
            frame.busy = False
        self.cache.evict(frame)
        return dirty

    def finish_read(self, frame: Frame) -> None:
        """A page has come from its device into its frame and, with buffered I/O, into the page cache."""
        self.finish_merge(frame)
        if not self.direct_io:
            self.page_cache.fill(frame.page)

    def keep_written(self, page: int) -> None:
        """A page has been written to its device: by buffered I/O it is in the page cache, recent."""
        if not self.direct_io:
            self.page_cache.keep(page)

    def finish_merge(self, frame: Frame) -> None:
        """A page has come into its frame: changes of it that were put aside are merged into it."""
        frame.busy = False
        self._merge_waiting(frame)

    def _merge_waiting(self, frame: Frame) -> None:
        if self.waiting.take(frame.page):
            self.change(frame, self.log_end_bytes)

    def mark_clean(self, page: int) -> bool:
        """Somebody is going to write a page: whether it is a dirty one of the pool, which is clean from now on."""
        frame = self.cache.where.get(page)
        if frame is None or not self.cache.is_dirty(frame):
            return False
        self.cache.clear_dirty(frame)
        if frame.memory == MemoryState.IDLE and self.memory.rules:
            frame.memory = MemoryState.ACCESSED  # it is read to be written
        return True
