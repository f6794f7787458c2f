"""What happens next: a heap of future events, and a queue of those that are due at this very instant.

The order is that of the reference engine: by time, and at the same nanosecond in the order of scheduling. An event
without delay can only be scheduled at its own instant, after everything that the heap has for that instant: so it
goes to a plain queue, which is emptied after the heap's events of the same time. Ahead of both come urgent ones:
processes that were just created (SimPy's priority of initialisation).

`heap[i]` is (time, order << 24 | entity), in a heap of four children a node; `instant` and `urgent` are rings.
"""

# pyright: reportReturnType=false

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.compiled import compiled

Int64Array = npt.NDArray[np.int64]

ENTITY_BITS = 24
MOST_ENTITIES = 1 << ENTITY_BITS
# Entries of `clock`
NOW, ORDER, HEAP_COUNT, INSTANT_FIRST, INSTANT_COUNT, URGENT_FIRST, URGENT_COUNT, EVENTS = range(8)


class Calendar(NamedTuple):
    """See the module's text. The rings' lengths are powers of two."""

    clock: Int64Array
    heap: Int64Array
    instant: Int64Array
    urgent: Int64Array


def new_calendar(entities: int) -> Calendar:
    """An empty calendar. Each entity has at most one future event and two at an instant."""
    ring = 1 << (2 * entities + 64).bit_length()
    return Calendar(
        clock=np.zeros(8, dtype=np.int64),
        heap=np.zeros((entities + 4, 2), dtype=np.int64),
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


@compiled
def after(calendar: Calendar, delay_ns: int, entity: int) -> None:
    """Schedule an entity's event `delay_ns` from now."""
    clock, heap = calendar.clock, calendar.heap
    if delay_ns == 0:
        at_once(calendar, entity)
        return
    time = clock[NOW] + delay_ns
    clock[ORDER] += 1
    key = clock[ORDER] << ENTITY_BITS | entity
    place = clock[HEAP_COUNT]
    clock[HEAP_COUNT] += 1
    while place > 0:
        parent = (place - 1) >> 2
        if heap[parent, 0] <= time:  # an equal time was scheduled earlier
            break
        heap[place, 0], heap[place, 1] = heap[parent, 0], heap[parent, 1]
        place = parent
    heap[place, 0], heap[place, 1] = time, key


@compiled
def pop_future(calendar: Calendar) -> int:
    """Take the heap's first entity; its time becomes now."""
    clock, heap = calendar.clock, calendar.heap
    clock[NOW] = heap[0, 0]
    entity = heap[0, 1] & (MOST_ENTITIES - 1)
    clock[HEAP_COUNT] -= 1
    count = clock[HEAP_COUNT]
    time, key = heap[count, 0], heap[count, 1]
    place = 0
    while True:
        least = place * 4 + 1
        if least >= count:
            break
        for other in range(least + 1, min(least + 4, count)):
            if _before(heap, other, heap[least, 0], heap[least, 1]):
                least = other
        if not _before(heap, least, time, key):
            break
        heap[place, 0], heap[place, 1] = heap[least, 0], heap[least, 1]
        place = least
    heap[place, 0], heap[place, 1] = time, key
    return entity


@compiled
def _before(heap: Int64Array, place: int, time: int, key: int) -> bool:
    return heap[place, 0] < time or (heap[place, 0] == time and heap[place, 1] < key)
