"""What happens next: a heap of future events, and a queue of those that are due at this very instant.

The order is that of the reference engine: by time, and at the same nanosecond in the order of scheduling. An event
without delay can only be scheduled at its own instant, after everything that the heap has for that instant: so it
goes to a plain queue, which is emptied after the heap's events of the same time. Ahead of both come urgent ones:
processes that were just created (SimPy's priority of initialisation).

The heap has four children a node and two arrays, `times` and `keys` = order << 24 | entity, since equal times are rare
and keys are hardly looked at; `instant` and `urgent` are rings.
"""

# pyright: reportReturnType=false

from typing import NamedTuple

import numpy as np

from simulator.form import IntArray
from simulator.kernel.compiled import compiled, compiled_called, compiled_inside

ENTITY_BITS = 24
MOST_ENTITIES = 1 << ENTITY_BITS
NEVER = (1 << 63) - 1
U = np.uint64
"""An index that can't be negative: the compiler need not ask."""
# Entries of `clock`
NOW, ORDER, HEAP_COUNT, INSTANT_FIRST, INSTANT_COUNT, URGENT_FIRST, URGENT_COUNT, EVENTS = range(8)


class Calendar(NamedTuple):
    """See the module's text. The rings' lengths are powers of two."""

    clock: IntArray
    times: IntArray
    keys: IntArray
    instant: IntArray
    urgent: IntArray


def new_calendar(entities: int) -> Calendar:
    """An empty calendar. Each entity has at most one future event and two at an instant."""
    ring = 1 << (2 * entities + 64).bit_length()
    return Calendar(
        clock=np.zeros(8, dtype=np.int64),
        times=np.full(entities + 5, NEVER, dtype=np.int64),
        keys=np.zeros(entities + 5, dtype=np.int64),
        instant=np.zeros(ring, dtype=np.int64),
        urgent=np.zeros(ring, dtype=np.int64),
    )


@compiled
def at_once(calendar: Calendar, code: int) -> None:
    """Schedule for this instant, after what is scheduled already."""
    clock, ring = calendar.clock, calendar.instant
    ring[(clock[INSTANT_FIRST] + clock[INSTANT_COUNT]) & (len(ring) - 1)] = code
    clock[INSTANT_COUNT] += 1


@compiled
def pop_instant(calendar: Calendar) -> int:
    """Take the first event of this instant's queue."""
    clock, ring = calendar.clock, calendar.instant
    code = ring[clock[INSTANT_FIRST] & (len(ring) - 1)]
    clock[INSTANT_FIRST] += 1
    clock[INSTANT_COUNT] -= 1
    return code


@compiled
def urgently(calendar: Calendar, code: int) -> None:
    """Schedule for this instant, before everything but earlier urgent events."""
    clock, ring = calendar.clock, calendar.urgent
    ring[(clock[URGENT_FIRST] + clock[URGENT_COUNT]) & (len(ring) - 1)] = code
    clock[URGENT_COUNT] += 1


@compiled
def pop_urgent(calendar: Calendar) -> int:
    """Take the first urgent event."""
    clock, ring = calendar.clock, calendar.urgent
    code = ring[clock[URGENT_FIRST] & (len(ring) - 1)]
    clock[URGENT_FIRST] += 1
    clock[URGENT_COUNT] -= 1
    return code


@compiled_called
def after(calendar: Calendar, delay_ns: int, entity: int) -> None:
    """Schedule an entity's event `delay_ns` from now."""
    clock, times, keys = calendar.clock, calendar.times, calendar.keys
    if delay_ns == 0:
        at_once(calendar, entity)
        return
    time = clock[NOW] + delay_ns
    clock[ORDER] += 1
    place = clock[HEAP_COUNT]
    clock[HEAP_COUNT] += 1
    while place > 0:
        parent = (place - 1) >> 2
        if times[parent] <= time:  # an equal time was scheduled earlier
            break
        times[place], keys[place] = times[parent], keys[parent]
        place = parent
    times[place], keys[place] = time, clock[ORDER] << ENTITY_BITS | entity


@compiled
def pop_future(calendar: Calendar) -> int:
    """Take the heap's first entity; its time becomes now."""
    clock, times, keys = calendar.clock, calendar.times, calendar.keys
    clock[NOW] = times[0]
    entity = keys[0] & (MOST_ENTITIES - 1)
    clock[HEAP_COUNT] -= 1
    count = U(clock[HEAP_COUNT])
    time, key = times[count], keys[count]
    times[count] = NEVER
    place = U(0)
    while place * U(4) + U(1) < count:
        least, least_time = _least_child(times, keys, place * U(4) + U(1))
        if time < least_time or (time == least_time and key < keys[least]):
            break
        times[place], keys[place] = least_time, keys[least]
        place = least
    times[place], keys[place] = time, key
    return entity


@compiled_inside
def _least_child(times: IntArray, keys: IntArray, first: np.uint64) -> tuple[np.uint64, np.int64]:
    """The earliest of four children and its time; without branches, which would be guessed wrong half of the time.

    What is free of the heap is at NEVER, so there always are four.
    """
    time_0, time_1, time_2, time_3 = times[first], times[first + U(1)], times[first + U(2)], times[first + U(3)]
    left, right = min(time_0, time_1), min(time_2, time_3)
    least = first + U(2) + U(time_3 < time_2) if right < left else first + U(time_1 < time_0)
    least_time = min(left, right)
    if left == right or (time_0 == time_1 == least_time) or (time_2 == time_3 == least_time):
        for child in (first, first + U(1), first + U(2), first + U(3)):
            if times[child] == least_time and keys[child] < keys[least]:
                least = child
    return least, least_time
