"""The kernel's device requests, from their number to their completion, and the operating system's queues of them."""

# pyright: reportReturnType=false

from simulator.form import IntArray
from simulator.kernel import columns as ks
from simulator.kernel import elevator
from simulator.kernel.calendar import NOW, at_once
from simulator.kernel.columns import Kernel
from simulator.kernel.compiled import compiled_inside
from simulator.kernel.stations import change, come, go


@compiled_inside
def new_request(kernel: Kernel, device: int, byte: int, size: int, write: int, purpose: int, who: int) -> int:
    """Take a free request for a device; returns its number."""
    facts, row, now = kernel.facts, kernel.devices[device], kernel.calendar.clock[NOW]
    number = facts[ks.FREE_REQUEST]
    request = kernel.requests[number]
    facts[ks.FREE_REQUEST] = request[ks.FOLLOWER]
    facts[ks.FREE_REQUESTS] -= 1
    request[ks.BYTE], request[ks.SIZE], request[ks.WRITE], request[ks.PURPOSE] = byte, size, write, purpose
    request[ks.SUBMITTED], request[ks.WHO], request[ks.DEVICE], request[ks.FOLLOWER] = now, who, device, ks.NONE
    request[ks.FIRST_PAGE] = request[ks.PAGES] = 0
    row[ks.ARRIVED] += 1
    if row[ks.QUEUE_LENGTH] == 0:
        change(row, ks.OCCUPIED, now, 1)
    come(row, ks.QUEUE_LENGTH, now)
    return number


@compiled_inside
def line_up(kernel: Kernel, row: IntArray, number: int, queue: int) -> None:
    """Put a request at the end of the queue whose first and last are in columns `queue` and the next one."""
    if row[queue] == ks.NONE:
        row[queue] = number
    else:
        kernel.requests[row[queue + 1], ks.FOLLOWER] = number
    row[queue + 1] = number


@compiled_inside
def next_fed(kernel: Kernel, row: IntArray) -> int:
    """The operating system's choice of what the drive gets next."""
    row[ks.WAITING] -= 1
    if row[ks.SCHEDULER] == ks.FCFS:
        number = row[ks.QUEUE_FIRST]
        row[ks.QUEUE_FIRST] = kernel.requests[number, ks.FOLLOWER]
        return number
    return elevator.take(kernel.waiting_requests[row[ks.ROTATING]], row)


@compiled_inside
def complete(kernel: Kernel, number: int, service_ns: int) -> None:
    """Count a request that has been served and tell whoever waits for it."""
    request, now = kernel.requests[number], kernel.calendar.clock[NOW]
    row = kernel.devices[request[ks.DEVICE]]
    if request[ks.WRITE]:
        row[ks.WRITES] += 1
    else:
        row[ks.READS] += 1
    row[ks.BY_PURPOSE + request[ks.PURPOSE]] += 1
    row[ks.SERVICE_NS] += service_ns
    row[ks.RESPONSE_NS] += now - request[ks.SUBMITTED]
    go(row, ks.QUEUE_LENGTH, now, request[ks.SUBMITTED])
    if row[ks.QUEUE_LENGTH] == 0:
        change(row, ks.OCCUPIED, now, -1)
    at_once(kernel.calendar, ks.DONE << ks.KIND_BITS | number)


@compiled_inside
def release_request(kernel: Kernel, number: int) -> None:
    """Nobody needs a completed request any more."""
    kernel.requests[number, ks.FOLLOWER] = kernel.facts[ks.FREE_REQUEST]
    kernel.facts[ks.FREE_REQUEST] = number
    kernel.facts[ks.FREE_REQUESTS] += 1
