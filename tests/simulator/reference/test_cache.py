"""Caches against caches written as plain lists: same hits, same victims in the same order, same dirt."""

from collections import OrderedDict
from typing import Any, Protocol

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oltpsim.simulator.form import MOST_USAGE, NS_PER_MS, OLD_PERCENT
from oltpsim.simulator.reference.cache import POLICIES, LruCache

PAGES = 12
APART_MS, OLD_MS = 400, 1000
"""between two references; how long after it was read a page can first become young"""


class Referred(Protocol):
    """What the plain caches and the cache under test have in common."""

    def refer(self, page: int) -> tuple[bool, int | None]:
        """Whether it hit, and the page that was evicted."""
        ...


class PlainLru:
    """A list, least recently used first."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.order: list[int] = []

    def refer(self, page: int) -> tuple[bool, int | None]:
        hit = page in self.order
        victim = None
        if hit:
            self.order.remove(page)
        elif len(self.order) == self.capacity:
            victim = self.order.pop(0)
        self.order.append(page)
        return hit, victim

    def in_order_of_replacement(self) -> list[int]:
        return self.order


class PlainFifo(PlainLru):
    """A list, first come first; a hit changes nothing."""

    def refer(self, page: int) -> tuple[bool, int | None]:
        return (True, None) if page in self.order else super().refer(page)


class PlainClock:
    """Frames in a circle with usage counts: the hand takes one off until it meets a zero."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.frames: list[list[int]] = []
        self.hand = 0

    def refer(self, page: int) -> tuple[bool, int | None]:
        for frame in self.frames:
            if frame[0] == page:
                frame[1] = min(frame[1] + 1, MOST_USAGE)
                return True, None
        if len(self.frames) < self.capacity:
            self.frames.append([page, 1])
            return False, None
        while self.frames[self.hand][1] > 0:
            self.frames[self.hand][1] -= 1
            self.hand = (self.hand + 1) % self.capacity
        victim = self.frames[self.hand][0]
        self.frames[self.hand] = [page, 1]
        self.hand = (self.hand + 1) % self.capacity
        return False, victim

    def in_order_of_replacement(self) -> list[int]:
        pages = [page for page, _ in self.frames]
        return pages[self.hand :] + pages[: self.hand]


class PlainMidpoint(PlainLru):
    """A list of pages with what is known of each, the next to go first; the first `old` of them are the old part.

    A reference comes `apart_ms` after the one before.
    """

    def __init__(self, capacity: int, apart_ms: int = APART_MS) -> None:
        super().__init__(capacity)
        self.apart_ms, self.now_ms = apart_ms, 0
        self.old = self.evictions = 0
        self.read_ms: dict[int, float] = {}
        self.moved_at: dict[int, int] = {}

    def refer(self, page: int) -> tuple[bool, int | None]:
        self.now_ms += self.apart_ms
        if page in self.order:
            place = self.order.index(page)
            is_due = (
                self.now_ms - self.read_ms[page] >= OLD_MS
                if place < self.old
                else self.evictions - self.moved_at[page] >= self.capacity * (100 - OLD_PERCENT) // 400
            )
            if self.evictions and is_due:
                self.old -= place < self.old
                self.order.append(self.order.pop(place))
                self.moved_at[page] = self.evictions
                self.balance()
            return True, None
        victim = None
        if len(self.order) == self.capacity:
            victim = self.order.pop(0)
            self.old -= self.old > 0
            self.evictions += 1
        self.order.insert(self.old, page)
        self.old += 1
        self.read_ms[page] = self.now_ms
        self.balance()
        return False, victim

    def balance(self) -> None:
        wanted = len(self.order) * OLD_PERCENT // 100
        while self.old < wanted:
            self.read_ms[self.order[self.old]] = float("-inf")
            self.old += 1
        while self.old > wanted:
            self.old -= 1
            self.moved_at[self.order[self.old]] = self.evictions


PLAIN: dict[str, type[PlainLru] | type[PlainClock]] = {
    "lru": PlainLru,
    "clock": PlainClock,
    "midpoint": PlainMidpoint,
}


class Tier:
    """The cache under test, driven as the buffer pool drives it."""

    def __init__(self, capacity: int, policy: str, apart_ms: int = APART_MS) -> None:
        self.cache = POLICIES[policy](capacity)
        self.apart_ns, self.now_ns = apart_ms * NS_PER_MS, 0
        self.cache.now_ns = lambda: self.now_ns

    def refer(self, page: int) -> tuple[bool, int | None]:
        self.now_ns += self.apart_ns
        frame = self.cache.where.get(page)
        if frame is not None:
            self.cache.touch(frame)
            return True, None
        frame = self.cache.next_frame()
        assert frame is not None
        held = frame.page
        if held >= 0:
            self.cache.evict(frame)
        self.cache.insert(frame, page)
        return False, held if held >= 0 else None


def outcomes(cache: Referred, pages: list[int]) -> list[tuple[bool, int | None]]:
    return [cache.refer(page) for page in pages]


capacities = st.integers(min_value=2, max_value=6)
references = st.lists(st.integers(min_value=0, max_value=PAGES - 1), max_size=120)


@pytest.mark.parametrize("policy", list(PLAIN))
@given(capacity=capacities, pages=references)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_same_hits_and_victims_as_by_brute_force(policy: str, capacity: int, pages: list[int]) -> None:
    tier = Tier(capacity, policy)
    assert outcomes(tier, pages) == outcomes(PLAIN[policy](capacity), pages)
    assert len(tier.cache.where) == min(capacity, len(set(pages)))
    assert all(frame.page == page for page, frame in tier.cache.where.items())


def test_policies_are_told_apart() -> None:
    """A trace of 300 references has other victims by LRU, by CLOCK, by a midpoint and first in first out."""
    pages = np.random.default_rng(1).zipf(1.5, 300) % PAGES
    trace = [int(page) for page in pages]
    by_policy = {name: outcomes(Tier(4, name), trace) for name in PLAIN}
    first_in = outcomes(PlainFifo(4), trace)
    assert by_policy["lru"] != by_policy["clock"]
    assert by_policy["midpoint"] not in (by_policy["lru"], by_policy["clock"])
    assert outcomes(Tier(4, "midpoint", OLD_MS), trace) != by_policy["midpoint"]
    assert first_in not in by_policy.values()
    assert outcomes(Tier(5, "lru"), trace) != by_policy["lru"]


def scanned(policy: str) -> int:
    """How many of ten pages that are in use stay while fifty others are read once and never again."""
    tier = Tier(32, policy, OLD_MS)
    outcomes(tier, [*range(10), *range(100, 130), *range(10), *range(10)])
    outcomes(tier, [*range(200, 250)])
    return sum(page in tier.cache.where for page in range(10))


def test_a_scan_leaves_the_young_part_alone() -> None:
    assert scanned("midpoint") == 10
    assert scanned("lru") == 0


actions = st.lists(
    st.tuples(
        st.sampled_from(["read", "write", "write", "stain", "clean", "clean", "oldest", "list", "list"]),
        st.integers(0, PAGES - 1),
    ),
    max_size=100,
)


def known_to_be_clean(*steps: tuple[str, int]) -> Any:
    """What one listing has learnt about clean pages must not mislead the next."""
    return example(capacity=3, steps=[*steps, ("list", 0)], most=4, age=0)


@pytest.mark.parametrize("policy", list(PLAIN))
@given(capacity=capacities, steps=actions, most=st.integers(0, 4), age=st.integers(0, 50))
@known_to_be_clean(("read", 0), ("read", 1), ("write", 2), ("list", 0), ("stain", 0))
@known_to_be_clean(("read", 0), ("write", 1), ("list", 0), ("drop", 1), ("stain", 0))
@known_to_be_clean(("read", 0), ("write", 1), ("list", 0), ("oldest", 1))
@known_to_be_clean(("read", 0), ("read", 1), ("write", 2), ("list", 0), ("read", 1))
@known_to_be_clean(("write", 0), ("read", 1), ("write", 2), ("list", 0))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_dirty_pages_are_listed_by_age_and_by_replacement(
    policy: str, capacity: int, steps: list[tuple[str, int]], most: int, age: int
) -> None:
    tier, plain = Tier(capacity, policy), PLAIN[policy](capacity)
    dirty: OrderedDict[int, int] = OrderedDict()
    for now, (action, page) in enumerate(steps):
        if action in {"read", "write"}:
            outcome = plain.refer(page)
            assert tier.refer(page) == outcome
            if outcome[1] is not None:
                dirty.pop(outcome[1], None)
        frame = tier.cache.where.get(page)
        if frame is None:
            continue
        if action in {"write", "stain"}:  # stained: dirty where it stands
            tier.cache.set_dirty(frame, now * NS_PER_MS + page)
            dirty.setdefault(page, now)
        elif action == "clean":
            tier.cache.clear_dirty(frame)
            dirty.pop(page, None)
        elif action == "oldest" and isinstance(tier.cache, LruCache):
            assert isinstance(plain, PlainLru)
            tier.cache.make_oldest(frame)
            plain.order.remove(page)
            plain.order.insert(0, page)
        elif action == "drop" and isinstance(tier.cache, LruCache):
            assert isinstance(plain, PlainLru)
            tier.cache.evict(frame)
            plain.order.remove(page)
            dirty.pop(page, None)
        elif action == "list":
            due = [page for page in plain.in_order_of_replacement() if page in dirty]
            assert tier.cache.least_recent_dirty(most) == sorted(due[:most])
        assert [frame.page for frame in tier.cache.dirty_since_ms] == list(dirty)
    assert len(tier.cache.dirty_since_ms) == len(dirty)
    flagged = {frame.page for frame in tier.cache.frames if tier.cache.is_dirty(frame)}
    assert flagged == set(dirty)
    aged = [page for page, since in dirty.items() if since <= age]
    assert tier.cache.dirty_before(age * NS_PER_MS, most) == sorted(aged[:most])
    due = [page for page in plain.in_order_of_replacement() if page in dirty]
    assert tier.cache.least_recent_dirty(most) == sorted(due[:most])
    assert tier.cache.least_recent_dirty(PAGES) == sorted(due)


def test_make_oldest_changes_the_next_victim() -> None:
    """Pages 0, 1, 2 in order: 0 goes next; with 2 put last in line, 2 does, and 0 after it."""
    tier = Tier(3, "lru")
    outcomes(tier, [0, 1, 2])
    assert tier.refer(3) == (False, 0)
    tier = Tier(3, "lru")
    outcomes(tier, [0, 1, 2])
    assert isinstance(tier.cache, LruCache)
    tier.cache.make_oldest(tier.cache.where[2])
    assert outcomes(tier, [3, 4]) == [(False, 2), (False, 0)]


@pytest.mark.parametrize("policy", list(PLAIN))
def test_busy_slots_are_passed_over(policy: str) -> None:
    """The page that is in transit stays; where all are, there is no victim."""
    tier = Tier(3, policy)
    outcomes(tier, [0, 1, 2])
    first, second, last = (frame.page for frame in tier.cache.in_order_of_replacement())
    tier.cache.where[first].busy = True
    assert tier.refer(3) == (False, second)
    for page in (last, 3):
        tier.cache.where[page].busy = True
    assert tier.cache.next_frame() is None
    assert tier.cache.capacity_pages == len(tier.cache.frames) == 3
