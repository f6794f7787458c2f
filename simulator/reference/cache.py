"""A cache of pages: which page is in, which frame is used next, which pages are dirty and since when.

LRU replaces the page that was used longest ago. CLOCK is PostgreSQL's: each use counts up to 5, and a hand that goes
round the frames takes one off until it meets a zero. A list with a midpoint is InnoDB's. Frames that are busy (being
read or written) are passed over.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator
from enum import IntEnum
from itertools import chain, islice, takewhile

from oltpsim.simulator.form import MOST_USAGE, NS_PER_MS, OLD_PERCENT

NO_PAGE = -1


class MemoryState(IntEnum):
    """What the operating system knows of the memory behind a frame of the buffer pool."""

    NEVER_USED = -1
    SWAPPED_OUT = 0
    IDLE = 1
    ACCESSED = 2


class Frame:
    """A place for a page. Frames are numbered in the order in which they were first used.

    Of a list with a midpoint: `read_ms`, when an old page was read, None for long ago; `moved_at`, evictions before a
    young one's last move.
    """

    __slots__ = ("busy", "memory", "moved_at", "number", "page", "read_ms", "usage")

    def __init__(self, number: int) -> None:
        self.number, self.page, self.busy = number, NO_PAGE, False
        self.usage = self.moved_at = 0
        self.read_ms: int | None = None
        self.memory = MemoryState.NEVER_USED


class Cache(ABC):
    """A cache of `capacity_pages`; policies derive from it. What it counts is in pages, since time 0."""

    def __init__(self, capacity_pages: int) -> None:
        self.capacity_pages = capacity_pages
        self.frames: list[Frame] = []
        self.where: OrderedDict[int, Frame] = OrderedDict()
        """frames by page; for LRU in order of use, the least recent first"""
        self.dirty_since_ms: dict[Frame, int] = {}
        """frames with dirty pages, in the order in which these became dirty"""
        self.references = self.hits = self.evictions = self.dirty_evictions = 0
        self.clean_search_pages = 1
        self.now_ns: Callable[[], int] = lambda: 0
        """simulated time, which a list with a midpoint asks for"""
        self.old_ms = 1000

    @abstractmethod
    def touch(self, frame: Frame) -> None:
        """Order a use of a frame's page."""

    @abstractmethod
    def in_order_of_replacement(self) -> Iterator[Frame]:
        """Frames with pages, those first that replacement reaches first."""

    @abstractmethod
    def victim(self) -> Frame | None:
        """The frame that replacement chooses, its page still in it; None if all are busy."""

    def count_hit(self, frame: Frame) -> None:
        """Count and order a reference that found its page."""
        self.references += 1
        self.hits += 1
        self.touch(frame)

    def next_frame(self) -> Frame | None:
        """The frame to use next: one that was never used, or else a victim."""
        if len(self.frames) == self.capacity_pages:
            return self.victim()
        self.frames.append(Frame(len(self.frames)))
        return self.frames[-1]

    def insert(self, frame: Frame, page: int) -> None:
        """Put a page into an empty frame, clean, as the most recent one, which has been used once or just been read."""
        self.where[page] = frame
        frame.page, frame.busy, frame.usage = page, False, 1

    def insert_new(self, frame: Frame, page: int) -> None:
        """The same for a page that is new: it hasn't been read."""
        self.insert(frame, page)

    def insert_in_order(self, frame: Frame, page: int) -> None:
        """The same at the start of a run, for pages that come in the order in which they will be replaced."""
        self.insert(frame, page)

    def evict(self, frame: Frame) -> None:
        """Empty a frame, and count it; what was dirty is the caller's to write."""
        self.evictions += 1
        self.dirty_evictions += self.is_dirty(frame)
        self.clear_dirty(frame)
        del self.where[frame.page]
        frame.page = NO_PAGE

    def is_dirty(self, frame: Frame) -> bool:
        """Whether a frame's page has changed since it was written."""
        return frame in self.dirty_since_ms

    def set_dirty(self, frame: Frame, now: int) -> None:
        """A frame's page changes; one that is dirty already keeps its age."""
        self.dirty_since_ms.setdefault(frame, now // NS_PER_MS)

    def clear_dirty(self, frame: Frame) -> None:
        """A frame's page has been written."""
        self.dirty_since_ms.pop(frame, None)

    def least_recent_dirty(self, most: int) -> list[int]:
        """Up to `most` dirty pages that replacement would reach first, sorted by number."""
        dirty = (frame.page for frame in self.in_order_of_replacement() if self.is_dirty(frame))
        return sorted(islice(dirty, most))

    def dirty_in_tail(self, depth: int) -> list[int]:
        """Dirty pages among the `depth` that replacement would reach first, sorted by number."""
        tail = islice(self.in_order_of_replacement(), depth)
        return sorted(frame.page for frame in tail if self.is_dirty(frame))

    def dirty_without_use(self, place: int, places: int, most: int) -> tuple[list[int], int]:
        """Dirty pages whose use has been counted down, of so many places from one on, sorted; and the next place.

        No more places than hold `most` of them.
        """
        found: list[int] = []
        for _ in range(places):
            if len(found) >= most:
                break
            frame = self.frames[place] if place < len(self.frames) else None
            place = (place + 1) % self.capacity_pages
            if frame and frame.usage == 0 and self.is_dirty(frame) and not frame.busy:
                found.append(frame.page)
        return sorted(found), place

    def dirty_before(self, latest_ns: int, most: int) -> list[int]:
        """Up to `most` pages, longest dirty first, that became dirty before or within the same ms, sorted by number."""
        since = self.dirty_since_ms
        due = takewhile(lambda frame: since[frame] <= latest_ns // NS_PER_MS, since)
        return sorted(frame.page for frame in islice(due, most))


class ListCache(Cache):
    """What is at the end of a list goes first."""

    def victim(self) -> Frame | None:
        """The first frame that is not busy; a clean one if there is one among the first few of them."""
        idle = (frame for frame in self.in_order_of_replacement() if not frame.busy)
        first = list(islice(idle, self.clean_search_pages))
        return next((frame for frame in first if not self.is_dirty(frame)), first[0] if first else None)


class LruCache(ListCache):
    """Least recently used first out."""

    def touch(self, frame: Frame) -> None:
        """The page is the most recently used one."""
        self.where.move_to_end(frame.page)

    def make_oldest(self, frame: Frame) -> None:
        """The page is the next to be replaced."""
        self.where.move_to_end(frame.page, last=False)

    def in_order_of_replacement(self) -> Iterator[Frame]:
        """From the least recently used one on."""
        return iter(self.where.values())


class MidpointCache(ListCache):
    """InnoDB's list in two parts, of which the old one is replaced.

    What was read enters at the head of the old part; a hit there makes it young, if it was read `old_ms` ago or more. A
    young page moves to the head only if a quarter of the young part has been replaced since it was there. The young
    part hands its last page to the old one as that grows too short: OLD_PERCENT of the list. Nothing moves while
    nothing has been replaced.
    """

    def __init__(self, capacity_pages: int) -> None:
        super().__init__(capacity_pages)
        self.old: OrderedDict[int, Frame] = OrderedDict()
        self.young: OrderedDict[int, Frame] = OrderedDict()
        """both by page, the one that is replaced first at the front"""
        self.replaced = 0
        """evictions since the caches were empty"""
        self.far_enough = capacity_pages * (100 - OLD_PERCENT) // 400

    def insert(self, frame: Frame, page: int) -> None:
        """A page that was read is the newest of the old ones."""
        super().insert(frame, page)
        self.old[page], frame.read_ms = frame, self.now_ns() // NS_PER_MS
        self._balance()

    def insert_new(self, frame: Frame, page: int) -> None:
        """A new page is young."""
        super().insert(frame, page)
        self._make_youngest(frame)

    def insert_in_order(self, frame: Frame, page: int) -> None:
        """Pages of the start have come one by one, each for another."""
        self.insert_new(frame, page)
        self.replaced += 1

    def touch(self, frame: Frame) -> None:
        """The page becomes the youngest if it is due."""
        if not self.replaced:
            return
        if frame.page in self.old:
            if frame.read_ms is not None and self.now_ns() // NS_PER_MS - frame.read_ms < self.old_ms:
                return
            del self.old[frame.page]
        elif self.replaced - frame.moved_at < self.far_enough:
            return
        else:
            del self.young[frame.page]
        self._make_youngest(frame)

    def evict(self, frame: Frame) -> None:
        """Empty a frame; another page comes in at once, so that the midpoint stays."""
        (self.old if frame.page in self.old else self.young).pop(frame.page)
        self.replaced += 1
        super().evict(frame)

    def in_order_of_replacement(self) -> Iterator[Frame]:
        """The old part and then the young one."""
        return chain(self.old.values(), self.young.values())

    def _make_youngest(self, frame: Frame) -> None:
        self.young[frame.page], frame.moved_at = frame, self.replaced
        self._balance()

    def _balance(self) -> None:
        """Move the midpoint until the old part has its share."""
        wanted = len(self.where) * OLD_PERCENT // 100
        while len(self.old) < wanted:
            page, frame = self.young.popitem(last=False)
            self.old[page], frame.read_ms = frame, None
        while len(self.old) > wanted:
            page, frame = self.old.popitem()
            self.young[page], frame.moved_at = frame, self.replaced
            self.young.move_to_end(page, last=False)


class ClockCache(Cache):
    """Second chance with usage counts. `hand`: the frame that the hand looks at next."""

    def __init__(self, capacity_pages: int) -> None:
        super().__init__(capacity_pages)
        self.hand = 0

    def touch(self, frame: Frame) -> None:
        """One use more."""
        frame.usage = min(frame.usage + 1, MOST_USAGE)

    def in_order_of_replacement(self) -> Iterator[Frame]:
        """From the hand on, whatever the counts."""
        return iter(self.frames[self.hand :] + self.frames[: self.hand])

    def victim(self) -> Frame | None:
        """The first frame that has no use left when the hand meets it."""
        for _ in range((MOST_USAGE + 1) * self.capacity_pages):
            frame = self.frames[self.hand]
            self.hand = (self.hand + 1) % self.capacity_pages
            if frame.busy:
                continue
            if frame.usage == 0:
                return frame
            frame.usage -= 1
        return None


POLICIES: dict[str, type[Cache]] = {"lru": LruCache, "clock": ClockCache, "midpoint": MidpointCache}
