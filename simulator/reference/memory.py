"""Memory: which frames of the buffer pool have some behind them, and who loses some when it is full.

Without rules of `Reclaim` the pool has a share of its own, taken by second chance (the clock over page frames, Corbato
1968): a frame that was used since it was last looked at is let off once. By them frames and pages of the page cache
share it all, in two lists each (Linux, mm/vmscan.c, mm/workingset.c, since 6.2):

    comes back soon ──> active ──> inactive ──> reclaimed: a frame goes to swap, a page of a file is forgotten
                           ^  used    │  ^
                           └──────────┘  └── comes

Not modelled: generations (MGLRU), watermarks, and processes that reclaim beside each other.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from math import isqrt

from oltpsim.simulator.form import GIB, System
from oltpsim.simulator.reference.cache import Frame, MemoryState
from oltpsim.simulator.reference.stations import Environment

SCATTER = 2654435761
"""a prime: multiples of it, modulo the number of frames, are all frames in a scattered order"""
ALL_WEIGHTS = 200
IO_COST = 32
"""cost of a page that is read again or swapped out, in pages that were looked at and kept (mm/swap.c, lru_note_cost)"""


class Lists:
    """The lists of one kind of memory, by number of a frame or page, oldest first. `cost`: what its reclaim cost."""

    def __init__(self) -> None:
        self.active: OrderedDict[int, None] = OrderedDict()
        self.inactive: OrderedDict[int, None] = OrderedDict()
        self.working_set: set[int] = set()
        """members that have been active"""
        self.reclaimed: dict[int, tuple[int, bool]] = {}
        """reclaimed members by number: reclaims and activations before, and whether one was of the working set"""
        self.cost = self.returned = 0
        """`returned`: how many became active as they came back"""
        self.seen_returned = self.returned_before = 0
        self.seen_low = self.deactivates = False
        self.due = 0.0

    def __len__(self) -> int:
        return len(self.active) + len(self.inactive)

    def activate(self, number: int) -> None:
        """An inactive one becomes the newest active one."""
        del self.inactive[number]
        self.active[number] = None

    def is_low(self, page_bytes: int) -> bool:
        """Whether there are too few inactive ones: fewer than active / sqrt(10 x GiB), below 1 GiB than active."""
        return len(self.inactive) * max(isqrt(10 * (len(self) * page_bytes // GIB)), 1) < len(self.active)

    def look(self, page_bytes: int) -> None:
        """Take note of what reclaim will see of them."""
        self.seen_returned, self.seen_low = self.returned, self.is_low(page_bytes)

    def decide(self) -> None:
        """Active ones are looked at, too, while some come back or inactive ones are few."""
        self.deactivates = self.seen_low or self.seen_returned != self.returned_before
        self.returned_before = self.seen_returned

    def deactivate(self) -> int:
        """Make the oldest active one inactive; returns its number."""
        number, _ = self.active.popitem(last=False)
        self.inactive[number] = None
        self.working_set.add(number)
        return number

    def deactivated(self) -> Iterator[int]:
        """Look at as many active ones, in proportion, as inactive ones are: before each of these."""
        if self.deactivates and self.active:
            self.due += float(len(self.active)) / float(len(self.inactive))
            while self.due >= 1.0:
                self.due -= 1.0
                yield self.deactivate()
                if not self.active:
                    return


class Memory:
    """Memory of the pool's `frames`, and with rules of `Reclaim` of the page cache too.

    `swap_out`: what becomes of a frame that lost its memory; `forget`: of a page of a file; `is_kept`: whether the page
    is dirty or being written.
    """

    def __init__(self, env: Environment, system: System, frames: list[Frame]) -> None:
        self.env = env
        self.frames, self.rules, self.page_bytes = frames, system.reclaim, system.storage.page_bytes
        self.capacity_pages = min(system.pool.pages, system.pool.resident_pages)
        self.resident_pages = self.hand = self.swap_outs = 0
        self.swap_out: Callable[[], None] = lambda: None
        self.anonymous, self.files = Lists(), Lists()
        self.forget: Callable[[int], None] = lambda _: None
        self.is_kept: Callable[[int], bool] = lambda _: False
        self.referenced: set[int] = set()
        """pages of files that were read once since they came or became active"""
        self.rotated: set[int] = set()
        """pages of files that go first once they are written"""
        self.age = self.left_in_batch = 0
        self.figures_until_ns: int | None = None
        self.enough = self.only_files = False
        self.weights = (0.0, 0.0)
        self.turn = 0.0

    @property
    def shared_pages(self) -> int:
        """Pages of memory that is shared."""
        assert self.rules is not None
        return self.rules.pages

    def give(self, frame: Frame) -> None:
        """Give a frame memory, so that it can be used; if none is left another one loses its own, to be swapped out.

        Frames that are being read or written keep their memory: with all of them busy one more has some for a while.
        """
        if self.rules:
            self.make_room()
            self._admit(self.anonymous, frame.number, reads=True)
        else:
            self._take_by_second_chance()
        frame.memory, frame.busy = MemoryState.ACCESSED, False
        self.resident_pages += 1

    def _take_by_second_chance(self) -> None:
        """Take a frame's memory if none is left.

        The operating system comes by in an order of its own, which has nothing to do with that of the pool's hand.
        """
        for _ in range(2 * len(self.frames)):
            if self.resident_pages < self.capacity_pages:
                break
            self.hand = (self.hand + 1) % len(self.frames)
            other = self.frames[self.hand * SCATTER % len(self.frames)]
            if not other.busy and not self._was_used(other):
                self._take(other)

    def _was_used(self, frame: Frame) -> bool:
        """Whether a frame was used since this was last asked, or has no memory to lose."""
        if frame.memory == MemoryState.ACCESSED:
            frame.memory = MemoryState.IDLE
            return True
        return frame.memory != MemoryState.IDLE

    def _take(self, frame: Frame) -> None:
        frame.memory = MemoryState.SWAPPED_OUT
        self.swap_outs += 1
        self.resident_pages -= 1
        self.swap_out()

    def add_file(self, page: int, reads: bool) -> None:
        """A page of a file comes into the page cache, whose room has been made, by a read or by a write."""
        self._admit(self.files, page, reads)
        if reads:
            self.referenced.add(page)

    def read_file(self, page: int) -> None:
        """A page of a file is read in the page cache: the second time it becomes active. Writes don't count."""
        if page in self.files.inactive and page in self.referenced:
            self.referenced.discard(page)
            self.files.activate(page)
            self.age += 1
        else:
            self.referenced.add(page)

    def file_is_written(self, page: int, dirty: bool) -> None:
        """The disks have a page of a file; if reclaim has passed over it, it is the next to go."""
        if page not in self.rotated:
            return
        self.rotated.discard(page)
        if not dirty:
            self.files.active.pop(page, None)
            self.files.inactive[page] = None
            self.files.inactive.move_to_end(page, last=False)

    def _admit(self, lists: Lists, number: int, reads: bool) -> None:
        """A frame or a page has memory; active if, with as many more pages, it would not have been reclaimed."""
        active = False
        age, of_working_set = lists.reclaimed.pop(number, (-1, False))
        if age >= 0 and reads:
            inactive = self.files.inactive if lists is self.anonymous else self.anonymous.inactive
            active = self.age - age <= len(self.files.active) + len(self.anonymous.active) + len(inactive)
        if active:
            self.age += 1
            lists.returned += 1
            if of_working_set:
                lists.working_set.add(number)
                self._count_cost(lists, IO_COST)
        (lists.active if active else lists.inactive)[number] = None

    def _count_cost(self, lists: Lists, cost: int) -> None:
        lists.cost += cost
        if self.anonymous.cost + self.files.cost > (len(self.anonymous) + len(self.files)) // 4:
            self.anonymous.cost //= 2
            self.files.cost //= 2

    def make_room(self) -> None:
        """Reclaim until there is memory for one page more, or nothing more can be."""
        assert self.rules is not None
        while len(self.anonymous) + len(self.files) >= self.rules.pages and self._reclaim():
            pass

    def _reclaim(self) -> bool:
        """Reclaim a page; whether there was one. If all are dirty or in use the oldest page of a file goes anyway."""
        if self.left_in_batch == 0:
            self._begin_batch()
        self.left_in_batch -= 1
        patience = len(self.files.inactive)
        for looks in range(2 * (len(self.anonymous) + len(self.files))):
            if looks > patience:
                self.only_files = False
            if self._look_at_frame() if self._frame_is_next() else self._look_at_file():
                return True
        page = next(iter(self.files.inactive or self.files.active), None)
        if page is not None:
            self._reclaim_file(page)
        return page is not None

    def _begin_batch(self) -> None:
        """Decide what is looked at, by figures that may be old, and weigh both kinds anew by what they have cost.

        prepare_scan_control, get_scan_count. Files alone are while none of them comes back and enough are inactive.
        """
        rules, files = self.rules, self.files
        assert rules is not None
        self.left_in_batch = rules.batch_pages
        if self.figures_until_ns is None or self.env.now >= self.figures_until_ns:
            self.figures_until_ns = self.env.now + rules.figures_ns
            self.anonymous.look(self.page_bytes)
            files.look(self.page_bytes)
            self.enough = len(files.inactive) >= rules.batch_pages
        self.anonymous.decide()
        files.decide()
        self.only_files = not files.deactivates and self.enough
        total = self.anonymous.cost + files.cost
        of_frames, of_files = total + self.anonymous.cost, total + files.cost
        both = of_frames + of_files + 1
        self.weights = (
            float(rules.swappiness * both) / float(of_frames + 1),
            float((ALL_WEIGHTS - rules.swappiness) * both) / float(of_files + 1),
        )

    def _frame_is_next(self) -> bool:
        """Whether a frame is looked at next, or else a page of a file: in turn, by weight and length of both lists."""
        if not self.anonymous.inactive and self.anonymous.active:
            self._was_used(self.frames[self.anonymous.deactivate()])
        if not self.files.inactive and self.files.active:
            self.files.deactivate()
        frames, files = len(self.anonymous.inactive), len(self.files.inactive)
        if frames == 0 or files == 0 or self.only_files:
            return files == 0
        of_frames, of_files = float(frames) * self.weights[0], float(files) * self.weights[1]
        self.turn += of_frames / (of_frames + of_files)
        if self.turn < 1.0:
            return False
        self.turn -= 1.0
        return True

    def _look_at_frame(self) -> bool:
        """Whether the oldest inactive frame loses its memory; one that is used or busy becomes active."""
        for active in self.anonymous.deactivated():
            self._was_used(self.frames[active])
        number = next(iter(self.anonymous.inactive))
        frame = self.frames[number]
        if frame.busy or self._was_used(frame):
            self.anonymous.activate(number)
            self._count_cost(self.anonymous, 1)
            return False
        self._leave(self.anonymous, number)
        self._count_cost(self.anonymous, IO_COST)
        self._take(frame)
        return True

    def _look_at_file(self) -> bool:
        """Whether the oldest inactive page of a file goes; one that is dirty or being written is passed over."""
        for _ in self.files.deactivated():
            pass
        page = next(iter(self.files.inactive))
        if self.is_kept(page):
            self.rotated.add(page)
            self.files.activate(page)
            self._count_cost(self.files, 1)
            return False
        self._reclaim_file(page)
        return True

    def _reclaim_file(self, page: int) -> None:
        self._leave(self.files, page)
        self.referenced.discard(page)
        self.rotated.discard(page)
        self.forget(page)

    def _leave(self, lists: Lists, number: int) -> None:
        lists.active.pop(number, None)
        lists.inactive.pop(number, None)
        lists.reclaimed[number] = self.age, number in lists.working_set
        lists.working_set.discard(number)
        self.age += 1
