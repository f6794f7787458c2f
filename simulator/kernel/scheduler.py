"""The kernel's fair queueing before a device (CFQ): owners take turns. As in reference/scheduler.py.

A client has one request at a time, which is its turn. Owners of several have a queue in three columns of their device:
first and last of the requests that wait, and whether there is one in line for the owner's next turn. That one is in the
device's line of turns itself, ahead of those in the owner's queue.

Requests come here by an event of their own, so that not everything which submits one has this code in it.
"""

# pyright: reportReturnType=false

from simulator.form import IntArray
from simulator.kernel import columns as ks
from simulator.kernel.calendar import NOW
from simulator.kernel.columns import Kernel
from simulator.kernel.compiled import compiled_apart, compiled_inside
from simulator.kernel.flash import start
from simulator.kernel.requests import line_up

_LAST, _IN_LINE, _WIDTH = 1, 2, 3


@compiled_apart
def schedule(kernel: Kernel, number: int) -> None:
    """A request comes to a device's scheduler."""
    row = kernel.devices[kernel.requests[number, ks.DEVICE]]
    queue = _queue_of(kernel, number)
    if queue != ks.A_CLIENT and (row[ks.ON_TURN] == queue or row[queue + _IN_LINE]):
        line_up(kernel, row, number, queue)
        if row[ks.ON_TURN] == queue:
            _hand_over(kernel, row)
        return
    _line_up_for_turn(kernel, row, number, queue)
    if row[ks.ON_TURN] == ks.NONE:
        _next_turn(kernel, row)


@compiled_apart
def served(kernel: Kernel, row: IntArray) -> None:
    """A device is through with a request; its owner goes on, or is the next one's turn."""
    row[ks.HANDED_OVER] -= 1
    _hand_over(kernel, row)
    if row[ks.HANDED_OVER]:
        return
    queue = row[ks.ON_TURN]
    if queue != ks.A_CLIENT and row[queue] != ks.NONE:
        _line_up_for_turn(kernel, row, _take(kernel, row, queue), queue)
    _next_turn(kernel, row)


@compiled_apart
def _start(kernel: Kernel, number: int) -> None:
    """As `start`, but compiled once for all places from which it is called here."""
    start(kernel, number)


@compiled_inside
def _queue_of(kernel: Kernel, number: int) -> int:
    """The column where the queue of a request's owner begins, or A_CLIENT."""
    purpose = kernel.requests[number, ks.PURPOSE]
    return ks.A_CLIENT if purpose < ks.SWAP_OUT else ks.OWNERS + _WIDTH * (purpose - ks.SWAP_OUT)


@compiled_inside
def _line_up_for_turn(kernel: Kernel, row: IntArray, number: int, queue: int) -> None:
    line_up(kernel, row, number, ks.TURN_FIRST)
    if queue != ks.A_CLIENT:
        row[queue + _IN_LINE] = 1


@compiled_inside
def _take(kernel: Kernel, row: IntArray, queue: int) -> int:
    """Take the first request of a queue that is not empty."""
    number = row[queue]
    row[queue] = kernel.requests[number, ks.FOLLOWER]
    kernel.requests[number, ks.FOLLOWER] = ks.NONE
    return number


@compiled_inside
def _next_turn(kernel: Kernel, row: IntArray) -> None:
    """The device is the next owner's, if there is one."""
    row[ks.ON_TURN] = ks.NONE
    if row[ks.TURN_FIRST] == ks.NONE:
        return
    number = _take(kernel, row, ks.TURN_FIRST)
    queue = _queue_of(kernel, number)
    row[ks.ON_TURN], row[ks.HANDED_OVER] = queue, 1
    in_background = queue != ks.A_CLIENT and kernel.requests[number, ks.PURPOSE] != ks.LOG_WRITE
    row[ks.SLICE_END] = kernel.calendar.clock[NOW] + row[ks.BACKGROUND_SLICE if in_background else ks.SLICE]
    if queue != ks.A_CLIENT:
        row[queue + _IN_LINE] = 0
    _start(kernel, number)
    _hand_over(kernel, row)


@compiled_inside
def _hand_over(kernel: Kernel, row: IntArray) -> None:
    """To the device as many requests of the owner as it may have there, while its slice lasts."""
    queue = row[ks.ON_TURN]
    if queue == ks.A_CLIENT:
        return
    while (
        row[queue] != ks.NONE
        and row[ks.HANDED_OVER] < row[ks.QUANTUM]
        and kernel.calendar.clock[NOW] < row[ks.SLICE_END]
    ):
        row[ks.HANDED_OVER] += 1
        _start(kernel, _take(kernel, row, queue))
