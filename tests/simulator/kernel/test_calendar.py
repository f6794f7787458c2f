"""The kernel's calendar against a sorted list: by time, at one nanosecond in the order of scheduling."""

from __future__ import annotations

from bisect import insort
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.kernel.calendar import (
    EVENTS,
    HEAP_COUNT,
    INSTANT_COUNT,
    MOST_ENTITIES,
    NOW,
    ORDER,
    URGENT_COUNT,
    Calendar,
    after,
    at_once,
    new_calendar,
    pop_future,
    pop_instant,
    pop_urgent,
    urgently,
)

ENTITIES = 40
# Few different delays, so that many events fall on one nanosecond; 0 goes to the queue of this instant
delays = st.one_of(st.integers(0, 4), st.sampled_from([0, 10**6, 10**6 + 1, 10**15]))
# What each event schedules: (urgent or not, delay) by an entity that has no event pending
programs = st.lists(st.lists(st.tuples(st.booleans(), delays), max_size=4), min_size=1, max_size=120)


def next_event(calendar: Calendar) -> int:
    """Take the next event as the kernel does: urgent ones, the heap's of this instant, the queue, the heap's next."""
    clock = calendar.clock
    if clock[URGENT_COUNT]:
        return int(pop_urgent(calendar))
    if clock[HEAP_COUNT] and calendar.times[0] == clock[NOW]:
        return int(pop_future(calendar))
    if clock[INSTANT_COUNT]:
        return int(pop_instant(calendar))
    return int(pop_future(calendar))


class SortedList:
    """The definition: (time, urgent ones first, order of scheduling)."""

    def __init__(self) -> None:
        self.now = self.order = 0
        self.events: list[tuple[int, int, int, int]] = []

    def schedule(self, urgent: bool, delay: int, entity: int) -> None:
        """An urgent event is due at once, whatever the delay."""
        self.order += 1
        time = self.now if urgent else self.now + delay
        insort(self.events, (time, 0 if urgent else 1, self.order, entity))

    def pop(self) -> int:
        """The first event's entity; its time becomes now."""
        self.now, _, _, entity = self.events.pop(0)
        return entity


def orders(program: list[list[tuple[bool, int]]], by_key: bool = True) -> tuple[list[tuple[int, int]], ...]:
    """(time, entity) of all events in the calendar's order and in the list's; each schedules what the program says."""
    calendar, expected = new_calendar(ENTITIES), SortedList()
    free = deque(range(ENTITIES))
    ours: list[tuple[int, int]] = []
    theirs: list[tuple[int, int]] = []
    for what in [*program, *([] for _ in range(ENTITIES))]:
        for urgent, delay in what:
            if free:
                entity = free.popleft()
                expected.schedule(urgent, delay, entity)
                if urgent:
                    urgently(calendar, entity)
                else:
                    after(calendar, delay, entity)
                if not by_key:  # entities of one time keep their place in the heap, but lose their order
                    calendar.keys[: calendar.clock[HEAP_COUNT]] &= MOST_ENTITIES - 1
        if expected.events:
            entity = expected.pop()
            theirs.append((expected.now, entity))
            event = next_event(calendar)
            ours.append((int(calendar.clock[NOW]), event))
            free.append(entity)
    return ours, theirs


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(program=programs)
def test_events_come_by_time_then_urgent_first_then_in_the_order_of_scheduling(
    program: list[list[tuple[bool, int]]],
) -> None:
    """Rings and heap together are one sorted list."""
    ours, theirs = orders(program)
    assert ours == theirs


def test_a_heap_without_the_order_of_scheduling_is_noticed() -> None:
    """Events of one time scheduled in the order of descending entities come out by entity."""
    program = [[(False, delay) for delay in (1, 1, 1, 1)]] * 9 + [[]] * 9
    same, expected = orders(program * 4)
    assert same == expected
    ours, theirs = orders(program * 4, by_key=False)
    assert sorted(ours) == sorted(theirs)
    assert ours != theirs


@pytest.mark.parametrize("count", [1, 3, 1000])
def test_rings_go_round(count: int) -> None:
    """More events than the rings are long, a few at a time, in both."""
    calendar = new_calendar(count)
    running = taken = 0
    while taken < 3 * len(calendar.instant):
        for _ in range(count):
            at_once(calendar, running)
            urgently(calendar, -running)
            running += 1
        for _ in range(count):
            assert (pop_instant(calendar), pop_urgent(calendar)) == (taken, -taken)
            taken += 1
    assert calendar.clock[[INSTANT_COUNT, URGENT_COUNT, HEAP_COUNT, ORDER, EVENTS]].tolist() == [0] * 5


def test_a_delay_of_nothing_comes_after_what_the_heap_has_for_this_instant() -> None:
    """The event at 5 ns that was scheduled at 0 is older than one scheduled at 5 ns without delay."""
    calendar = new_calendar(4)
    after(calendar, 5, 0)
    after(calendar, 5, 1)
    assert next_event(calendar) == 0
    after(calendar, 0, 2)
    urgently(calendar, 3)
    assert [next_event(calendar) for _ in range(3)] == [3, 1, 2]
    assert calendar.clock[NOW] == 5
