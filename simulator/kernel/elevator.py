"""The operating system's disk schedulers LOOK and C-LOOK as two heaps: what lies ahead of the arm, and what behind.

`heaps[side, place]` is (key, order of arrival, request). Ahead, the key is the byte. Behind, LOOK has both negated:
on the way back the highest byte comes first, and of equal ones the last that arrived. C-LOOK starts over at the lowest
byte: then the two sides change places. A request at the byte that was fed last lies ahead of an arm on its way up.
"""

# pyright: reportReturnType=false

from simulator.form import IntArray
from simulator.kernel import columns as ks
from simulator.kernel.compiled import compiled_inside


@compiled_inside
def add(heaps: IntArray, row: IntArray, byte: int, request: int) -> None:
    """A request arrives at the scheduler of device `row`."""
    if row[ks.SCHEDULER] == ks.C_LOOK:
        side = row[ks.UP_SIDE] if byte >= row[ks.LAST_FED] else 1 - row[ks.UP_SIDE]
        _push(heaps[side], row, side, byte, row[ks.ARRIVED], request)
    elif byte > row[ks.LAST_FED] or (row[ks.UPWARDS] and byte == row[ks.LAST_FED]):
        _push(heaps[0], row, 0, byte, row[ks.ARRIVED], request)
    else:
        _push(heaps[1], row, 1, -byte, -row[ks.ARRIVED], request)


@compiled_inside
def take(heaps: IntArray, row: IntArray) -> int:
    """The request that the drive gets next; there is at least one."""
    if row[ks.SCHEDULER] == ks.C_LOOK:
        if row[ks.WAITING_SIDES + row[ks.UP_SIDE]] == 0:
            row[ks.UP_SIDE] = 1 - row[ks.UP_SIDE]
        side = row[ks.UP_SIDE]
    else:
        if row[ks.WAITING_SIDES + (0 if row[ks.UPWARDS] else 1)] == 0:
            row[ks.UPWARDS] = 1 - row[ks.UPWARDS]
        side = 0 if row[ks.UPWARDS] else 1
    row[ks.LAST_FED] = abs(heaps[side, 0, 0])
    return _pop(heaps[side], row, side)


@compiled_inside
def _push(heap: IntArray, row: IntArray, side: int, key: int, order: int, request: int) -> None:
    place = row[ks.WAITING_SIDES + side]
    row[ks.WAITING_SIDES + side] += 1
    while place > 0:
        parent = (place - 1) >> 1
        if not _before(key, order, heap[parent, 0], heap[parent, 1]):
            break
        heap[place, 0], heap[place, 1], heap[place, 2] = heap[parent, 0], heap[parent, 1], heap[parent, 2]
        place = parent
    heap[place, 0], heap[place, 1], heap[place, 2] = key, order, request


@compiled_inside
def _pop(heap: IntArray, row: IntArray, side: int) -> int:
    first = heap[0, 2]
    row[ks.WAITING_SIDES + side] -= 1
    count = row[ks.WAITING_SIDES + side]
    key, order, request = heap[count, 0], heap[count, 1], heap[count, 2]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and _before(heap[child + 1, 0], heap[child + 1, 1], heap[child, 0], heap[child, 1]):
            child += 1
        if _before(key, order, heap[child, 0], heap[child, 1]):
            break
        heap[place, 0], heap[place, 1], heap[place, 2] = heap[child, 0], heap[child, 1], heap[child, 2]
        place = child
    heap[place, 0], heap[place, 1], heap[place, 2] = key, order, request
    return first


@compiled_inside
def _before(key: int, order: int, other_key: int, other_order: int) -> bool:
    return key < other_key or (key == other_key and order < other_order)
