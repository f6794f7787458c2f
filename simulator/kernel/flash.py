"""The kernel's disks behind the operating system: RAID sets hand requests to theirs, flash serves several at a time."""

# pyright: reportReturnType=false

from simulator.form import IntArray
from simulator.kernel import columns as ks
from simulator.kernel import raid
from simulator.kernel.arms import arrive
from simulator.kernel.calendar import NOW, after, urgently
from simulator.kernel.columns import Kernel
from simulator.kernel.compiled import compiled_apart, compiled_inside
from simulator.kernel.rate_limits import admit
from simulator.kernel.requests import complete, line_up, new_request
from simulator.kernel.stations import change


@compiled_inside
def start(kernel: Kernel, number: int) -> None:
    """The operating system hands a request to its device."""
    if kernel.devices[kernel.requests[number, ks.DEVICE], ks.KIND] == ks.RAID_KIND:
        _spread(kernel, number)
    else:
        _enqueue(kernel, number)


@compiled_apart
def _spread(kernel: Kernel, number: int) -> None:
    """A RAID set's controller hands a request to the disks where its bytes lie."""
    request = kernel.requests[number]
    row = kernel.devices[request[ks.DEVICE]]
    places, copies, parities, unit = row[ks.PLACES_OF_STRIPE], row[ks.COPIES], row[ks.PARITIES], row[ks.UNIT]
    byte, size, write = request[ks.BYTE], max(request[ks.SIZE], 1), request[ks.WRITE]
    asked = raid.asked_of_disks(places, parities, unit, byte, size, write)
    request[ks.LEFT] = 0
    for place in range(places):
        low, high = raid.part_at(place, places, parities, unit, byte, size, write)
        if high == 0:
            continue
        disk = row[ks.FIRST_DISK] + place * copies
        if write:
            for copy in range(copies):
                _part(kernel, number, disk + copy, low, high - low, asked)
        else:
            disk = _shorter_queue(kernel, disk, copies, raid.first_copy(copies, unit, low))
            _part(kernel, number, disk, low, high - low, asked)


@compiled_inside
def _shorter_queue(kernel: Kernel, disk: int, copies: int, first: int) -> int:
    """The disk of a pair with the shorter queue, or `first` of equal ones."""
    best = disk + first
    for copy in range(copies):
        if kernel.devices[disk + copy, ks.QUEUE_LENGTH] < kernel.devices[best, ks.QUEUE_LENGTH]:
            best = disk + copy
    return best


@compiled_inside
def _part(kernel: Kernel, whole: int, disk: int, byte: int, size: int, asked: int) -> None:
    """One disk's part of a request."""
    number = new_request(kernel, disk, byte, size, asked, kernel.requests[whole, ks.PURPOSE], ks.PART_OF_WHOLE)
    kernel.requests[number, ks.WHOLE] = whole
    kernel.requests[whole, ks.LEFT] += 1
    _enqueue(kernel, number)


@compiled_inside
def finish_part(kernel: Kernel, number: int) -> None:
    """One disk's part is done: the whole request is with the last of them."""
    whole = kernel.requests[number, ks.WHOLE]
    kernel.requests[whole, ks.LEFT] -= 1
    if kernel.requests[whole, ks.LEFT] == 0:
        complete(kernel, whole, 0)


@compiled_inside
def _enqueue(kernel: Kernel, number: int) -> None:
    """A disk takes in a request."""
    row, now = kernel.devices[kernel.requests[number, ks.DEVICE]], kernel.calendar.clock[NOW]
    if row[ks.KIND] == ks.ROTATING_KIND:
        arrive(kernel, number)
    elif row[ks.PARALLEL_FREE] > 0:
        row[ks.PARALLEL_FREE] -= 1
        change(row, ks.DEVICE_BUSY, now, 1)
        urgently(kernel.calendar, ks.BEGIN << ks.KIND_BITS | number)
    else:
        writes = kernel.requests[number, ks.WRITE] and row[ks.READS_PER_WRITE]
        line_up(kernel, row, number, ks.WRITE_FIRST if writes else ks.QUEUE_FIRST)


@compiled_inside
def _next_flash(kernel: Kernel, row: IntArray) -> int:
    """The next request of a flash device, or NONE: a read, unless enough of them went ahead of a waiting write."""
    queue = ks.QUEUE_FIRST
    if row[ks.WRITE_FIRST] != ks.NONE:
        if row[ks.QUEUE_FIRST] != ks.NONE and row[ks.READS_AHEAD] < row[ks.READS_PER_WRITE]:
            row[ks.READS_AHEAD] += 1
        else:
            row[ks.READS_AHEAD] = 0
            queue = ks.WRITE_FIRST
    number = row[queue]
    if number != ks.NONE:
        row[queue] = kernel.requests[number, ks.FOLLOWER]
    return number


@compiled_inside
def begin_flash(kernel: Kernel, number: int) -> None:
    """A flash device starts on a request, or takes it in to pass its limiters first."""
    request = kernel.requests[number]
    row = kernel.devices[request[ks.DEVICE]]
    if row[ks.KIND] == ks.LIMITED_KIND:
        request[ks.PASSED] = 0
        _pass_limiters(kernel, number)
    else:
        after(kernel.calendar, _flash_ns(row, request[ks.WRITE]), kernel.facts[ks.FIRST_REQUEST] + number)


@compiled_apart
def _pass_limiters(kernel: Kernel, number: int) -> None:
    """A request goes on to the next limiters that make it wait, or is served. No device is busy with one that waits."""
    request, now = kernel.requests[number], kernel.calendar.clock[NOW]
    row = kernel.devices[request[ks.DEVICE]]
    while request[ks.PASSED] < 2:
        stage = ks.STAGES + 2 * int(request[ks.PASSED])
        request[ks.PASSED] += 1
        wait_ns = admit(kernel.limits, row[stage], row[stage + 1], request[ks.SIZE], now)
        if wait_ns:
            change(row, ks.DEVICE_BUSY, now, -1)
            after(kernel.calendar, wait_ns, kernel.facts[ks.FIRST_REQUEST] + number)
            return
    request[ks.PASSED] = ks.BEING_SERVED
    after(kernel.calendar, _flash_ns(row, request[ks.WRITE]), kernel.facts[ks.FIRST_REQUEST] + number)


@compiled_apart
def wake_limited(kernel: Kernel, number: int) -> None:
    """A request to a limited device has waited for its limiters, or has been served."""
    request = kernel.requests[number]
    if request[ks.PASSED] == ks.BEING_SERVED:
        finish_flash(kernel, number)
    else:
        change(kernel.devices[request[ks.DEVICE]], ks.DEVICE_BUSY, kernel.calendar.clock[NOW], 1)
        _pass_limiters(kernel, number)


@compiled_inside
def _flash_ns(row: IntArray, asked: int) -> int:
    """What a request takes on flash."""
    if asked == raid.REWRITE:
        return row[ks.READ_TIME] + row[ks.WRITE_TIME]
    return row[ks.WRITE_TIME] if asked else row[ks.READ_TIME]


@compiled_inside
def finish_flash(kernel: Kernel, number: int) -> None:
    """A flash device has served a request and takes the next one."""
    request = kernel.requests[number]
    row = kernel.devices[request[ks.DEVICE]]
    complete(kernel, number, _flash_ns(row, request[ks.WRITE]))
    following = _next_flash(kernel, row)
    if following != ks.NONE:
        begin_flash(kernel, following)
    else:
        row[ks.PARALLEL_FREE] += 1
        change(row, ks.DEVICE_BUSY, kernel.calendar.clock[NOW], -1)
