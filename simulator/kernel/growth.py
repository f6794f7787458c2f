"""Room for more in the kernel's arrays, when an event might find none."""

import numpy as np

from simulator.errors import InputError, InternalError
from simulator.form import IntArray
from simulator.kernel.calendar import INSTANT_FIRST, MOST_ENTITIES, URGENT_FIRST, new_calendar
from simulator.kernel.columns import ARRIVED_FIRST, FIRST_REQUEST, FREE_REQUESTS, Kernel, link_free_requests


def grown(kernel: Kernel) -> Kernel:
    """The same kernel with room for twice as many requests and waiting arrivals.

    Raises InputError if that is more than an event can name, and InternalError if some requests found no room already.
    """
    if kernel.facts[FREE_REQUESTS] < 0:
        raise InternalError("one event has submitted more device requests than there was room for")
    calendar, old = kernel.calendar, len(kernel.requests)
    entities = int(kernel.facts[FIRST_REQUEST]) + 2 * old
    if entities > MOST_ENTITIES:
        raise InputError(f"more than {old:,} device requests are pending; the disks cannot follow at all")
    larger = new_calendar(entities)
    larger.clock[:] = calendar.clock
    larger.times[: len(calendar.times)] = calendar.times
    larger.keys[: len(calendar.keys)] = calendar.keys
    _copy_ring(calendar.instant, larger.instant, int(calendar.clock[INSTANT_FIRST]))
    _copy_ring(calendar.urgent, larger.urgent, int(calendar.clock[URGENT_FIRST]))
    arrived = np.zeros((2 * len(kernel.arrived), 2), dtype=np.int64)
    _copy_ring(kernel.arrived, arrived, int(kernel.facts[ARRIVED_FIRST]))
    result = kernel._replace(
        calendar=larger,
        requests=np.concatenate([kernel.requests, np.zeros_like(kernel.requests)]),
        waiting_requests=np.concatenate([kernel.waiting_requests, np.zeros_like(kernel.waiting_requests)], axis=2),
        arrived=arrived,
    )
    link_free_requests(result, old)
    return result


def _copy_ring(old: IntArray, new: IntArray, first: int) -> None:
    """Entries keep their running numbers, which the new ring finds at another place."""
    numbers = first + np.arange(len(old))
    new[numbers % len(new)] = old[numbers % len(old)]
