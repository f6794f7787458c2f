"""The kernel's disks with arms: what the drive takes in, what it serves next, and its write cache.

A cache keeps the writes it has acknowledged in order of arrival: the oldest of them are those the drive chooses among
(`destaging`), the others follow (`cached`, a ring). As in reference/arms.py.
"""

# pyright: reportReturnType=false

import numpy as np

from simulator.form import IntArray
from simulator.kernel import columns as ks
from simulator.kernel import elevator, raid
from simulator.kernel.calendar import NOW, after, at_once
from simulator.kernel.columns import Kernel
from simulator.kernel.compiled import compiled_apart, compiled_inside
from simulator.kernel.disk import OVERHEAD_NS, again_ns, pick, room_taken
from simulator.kernel.requests import complete, line_up, next_fed
from simulator.kernel.stations import change


@compiled_inside
def arrive(kernel: Kernel, number: int) -> None:
    """A request gets to the operating system's scheduler of a disk with an arm."""
    request = kernel.requests[number]
    device, byte = request[ks.DEVICE], request[ks.BYTE]
    row = kernel.devices[device]
    if row[ks.SCHEDULER] == ks.FCFS:
        line_up(kernel, row, number, ks.QUEUE_FIRST)
    else:
        elevator.add(kernel.waiting_requests[row[ks.ROTATING]], row, byte, number)
    row[ks.WAITING] += 1
    if row[ks.CACHE_ROOM]:
        _feed(kernel, device)
    elif row[ks.IDLE]:
        _wake(kernel, device)


@compiled_inside
def _wake(kernel: Kernel, device: int) -> None:
    kernel.devices[device, ks.IDLE] = 0
    at_once(kernel.calendar, kernel.facts[ks.FIRST_DEVICE] + device)


@compiled_inside
def move_arm(kernel: Kernel, device: int) -> None:
    """A rotating device's event: what it was doing is done, the drive takes requests in and starts on the next."""
    row, now = kernel.devices[device], kernel.calendar.clock[NOW]
    if row[ks.CACHE_ROOM]:
        _move_caching_arm(kernel, device)
        return
    window, held = kernel.window[row[ks.ROTATING]], kernel.held[row[ks.ROTATING]]
    if row[ks.CHOSEN] != ks.NONE:
        number = int(held[row[ks.CHOSEN]])
        _let_go(kernel, row, number)
        row[ks.CHOSEN] = ks.NONE
        complete(kernel, number, row[ks.SERVICE])
    elif row[ks.HELD] == 0 and row[ks.WAITING] > 0:
        change(row, ks.DEVICE_BUSY, now, 1)
    while row[ks.HELD] < row[ks.DEPTH] and row[ks.WAITING] > 0:
        _hold(kernel, row, next_fed(kernel, row))
    if row[ks.HELD] == 0:
        change(row, ks.DEVICE_BUSY, now, -row[ks.DEVICE_BUSY])
        row[ks.IDLE] = 1
        return
    disk = kernel.geometry[row[ks.ROTATING]]
    row[ks.CHOSEN], row[ks.SERVICE] = pick(disk, window, row[ks.HELD], row[ks.ARM], now)
    chosen = int(held[row[ks.CHOSEN]])
    if kernel.requests[chosen, ks.WRITE] == raid.REWRITE:
        row[ks.SERVICE] += again_ns(disk, kernel.requests[chosen, ks.SIZE])
    after(kernel.calendar, row[ks.SERVICE], kernel.facts[ks.FIRST_DEVICE] + device)


@compiled_inside
def _hold(kernel: Kernel, row: IntArray, number: int) -> None:
    """The drive holds a request until the arm has served it."""
    window, request, place = kernel.window[row[ks.ROTATING]], kernel.requests[number], row[ks.HELD]
    window[0, place], window[1, place] = request[ks.BYTE], request[ks.SIZE]
    window[2, place] = kernel.calendar.clock[NOW]
    kernel.held[row[ks.ROTATING], place] = number
    row[ks.HELD] += 1


@compiled_inside
def _let_go(kernel: Kernel, row: IntArray, number: int) -> None:
    """The arm has served the chosen one of the requests that are held: the last takes its place."""
    window, held = kernel.window[row[ks.ROTATING]], kernel.held[row[ks.ROTATING]]
    row[ks.HELD] -= 1
    chosen, last = row[ks.CHOSEN], row[ks.HELD]
    held[chosen] = held[last]
    for i in range(3):
        window[i, chosen] = window[i, last]
    row[ks.ARM] = kernel.requests[number, ks.BYTE] + kernel.requests[number, ks.SIZE]


# The write cache


@compiled_apart
def _feed(kernel: Kernel, device: int) -> None:
    """The drive takes in requests as long as it has commands free: writes into its cache, the others for the arm."""
    row = kernel.devices[device]
    while row[ks.HELD] + row[ks.WRITES_HELD] < row[ks.DEPTH] and row[ks.WAITING] > 0:
        number = next_fed(kernel, row)
        if kernel.requests[number, ks.WRITE] == raid.WRITE:
            _take_write(kernel, row, number)
        else:
            _hold(kernel, row, number)
    if row[ks.IDLE] and (row[ks.HELD] or row[ks.CHOOSING]):
        _wake(kernel, device)


@compiled_inside
def _take_write(kernel: Kernel, row: IntArray, number: int) -> None:
    """A write goes into the cache, or waits for room; until it is done it keeps one of the drive's commands."""
    row[ks.WRITES_HELD] += 1
    kernel.requests[number, ks.FOLLOWER] = ks.NONE
    line_up(kernel, row, number, ks.WRITE_FIRST)
    _fill_cache(kernel, row)


@compiled_inside
def _fill_cache(kernel: Kernel, row: IntArray) -> None:
    """Writes that wait for room get it in order of arrival; one larger than the cache waits until that is empty."""
    while row[ks.WRITE_FIRST] != ks.NONE:
        number = row[ks.WRITE_FIRST]
        room = room_taken(kernel.requests[number, ks.SIZE])
        if row[ks.CACHE_USED] and row[ks.CACHE_USED] + room > row[ks.CACHE_ROOM]:
            break
        row[ks.CACHE_USED] += room
        row[ks.WRITE_FIRST] = kernel.requests[number, ks.FOLLOWER]
        overhead = int(kernel.geometry[row[ks.ROTATING], OVERHEAD_NS])
        after(kernel.calendar, overhead, kernel.facts[ks.FIRST_REQUEST] + number)


@compiled_apart
def finish_transfer(kernel: Kernel, number: int) -> None:
    """A write is in the drive's cache: that is all that whoever made it waits for."""
    request = kernel.requests[number]
    row = kernel.devices[request[ks.DEVICE]]
    row[ks.WRITES_HELD] -= 1
    ring = kernel.cached[row[ks.ROTATING]]
    place = (row[ks.RING_FIRST] + row[ks.RING_COUNT]) % ring.shape[1]
    ring[0, place], ring[1, place] = request[ks.BYTE], request[ks.SIZE]
    row[ks.RING_COUNT] += 1
    _choose_among(kernel, row)
    complete(kernel, number, 0)
    _feed(kernel, request[ks.DEVICE])


@compiled_inside
def _choose_among(kernel: Kernel, row: IntArray) -> None:
    """The oldest cached writes are those that the drive chooses among. Nobody waits for them: none is ever overdue."""
    ring, window = kernel.cached[row[ks.ROTATING]], kernel.destaging[row[ks.ROTATING]]
    while row[ks.CHOOSING] < row[ks.MOST_CHOOSING] and row[ks.RING_COUNT] > 0:
        place = row[ks.RING_FIRST]
        window[0, row[ks.CHOOSING]], window[1, row[ks.CHOOSING]] = ring[0, place], ring[1, place]
        window[2, row[ks.CHOOSING]] = np.inf
        row[ks.CHOOSING] += 1
        row[ks.RING_FIRST] = (place + 1) % ring.shape[1]
        row[ks.RING_COUNT] -= 1


@compiled_apart
def _move_caching_arm(kernel: Kernel, device: int) -> None:
    """As `move_arm`: the drive has a read or a destaged write behind it, and starts on the next."""
    row, now = kernel.devices[device], kernel.calendar.clock[NOW]
    if row[ks.CHOSEN] != ks.NONE:
        if row[ks.DESTAGES]:
            _end_destaging(kernel, row)
        else:
            _end_read(kernel, row)
        row[ks.CHOSEN] = ks.NONE
        _feed(kernel, device)
    if row[ks.HELD] == 0 and row[ks.CHOOSING] == 0:
        change(row, ks.DEVICE_BUSY, now, -row[ks.DEVICE_BUSY])
        row[ks.IDLE] = 1
        return
    change(row, ks.DEVICE_BUSY, now, 1 - row[ks.DEVICE_BUSY])
    # reads go first; while a write waits for room, every other turn is a cached write's
    turn = row[ks.HELD] == 0 or (row[ks.WRITE_FIRST] != ks.NONE and not row[ks.DESTAGES])
    row[ks.DESTAGES] = row[ks.CHOOSING] > 0 and turn
    disk = kernel.geometry[row[ks.ROTATING]]
    if row[ks.DESTAGES]:
        window, count = kernel.destaging[row[ks.ROTATING]], row[ks.CHOOSING]
    else:
        window, count = kernel.window[row[ks.ROTATING]], row[ks.HELD]
    row[ks.CHOSEN], row[ks.SERVICE] = pick(disk, window, count, row[ks.ARM], now)
    after(kernel.calendar, row[ks.SERVICE], kernel.facts[ks.FIRST_DEVICE] + device)


@compiled_inside
def _end_read(kernel: Kernel, row: IntArray) -> None:
    """The arm has read. What had to be read before it is written goes on as a write."""
    number = int(kernel.held[row[ks.ROTATING], row[ks.CHOSEN]])
    _let_go(kernel, row, number)
    if kernel.requests[number, ks.WRITE] == raid.REWRITE:
        row[ks.SERVICE_NS] += row[ks.SERVICE]
        kernel.requests[number, ks.WRITE] = raid.WRITE
        _take_write(kernel, row, number)
    else:
        complete(kernel, number, row[ks.SERVICE])


@compiled_inside
def _end_destaging(kernel: Kernel, row: IntArray) -> None:
    """The arm has written a cached write: there is room for another."""
    window, chosen = kernel.destaging[row[ks.ROTATING]], row[ks.CHOSEN]
    size = int(window[1, chosen])
    row[ks.ARM] = int(window[0, chosen]) + size
    row[ks.CHOOSING] -= 1
    for i in range(3):
        window[i, chosen] = window[i, row[ks.CHOOSING]]
    _choose_among(kernel, row)
    row[ks.CACHE_USED] -= room_taken(size)
    row[ks.SERVICE_NS] += row[ks.SERVICE]
    _fill_cache(kernel, row)
