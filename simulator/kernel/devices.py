"""The kernel's devices as the database sees them: where pages lie, requests, and the limit of pending calls."""

# pyright: reportReturnType=false

from simulator.kernel import columns as ks
from simulator.kernel.calendar import at_once, urgently
from simulator.kernel.columns import Kernel
from simulator.kernel.compiled import compiled_apart, compiled_inside
from simulator.kernel.flash import start
from simulator.kernel.requests import new_request
from simulator.kernel.stations import append, take_first


@compiled_inside
def extent_of(kernel: Kernel, page: int) -> int:
    """The number of the extent that has a page."""
    number = 0
    while page >= kernel.extents[number, ks.END_PAGE]:
        number += 1
    return number


@compiled_inside
def device_of(kernel: Kernel, page: int) -> int:
    """The device where a page lies."""
    extent = kernel.extents[extent_of(kernel, page)]
    return extent[ks.FIRST_OF_DEVICES] + (page - extent[ks.FIRST_PAGE_OF]) % extent[ks.STRIPED_OVER]


@compiled_inside
def byte_of(kernel: Kernel, page: int) -> int:
    """The byte of its device where a page begins."""
    extent, facts = kernel.extents[extent_of(kernel, page)], kernel.facts
    before = (page - extent[ks.FIRST_PAGE_OF]) // extent[ks.STRIPED_OVER] * facts[ks.PAGE_BYTES]
    return facts[ks.DATA_START] + extent[ks.START_BYTES] + before


@compiled_apart
def submit(kernel: Kernel, device: int, byte: int, size: int, write: int, purpose: int, who: int) -> int:
    """Queue a request at a device; `who` is told at its completion. Returns the request's number."""
    number = new_request(kernel, device, byte, size, write, purpose, who)
    if kernel.devices[device, ks.QUANTUM]:
        urgently(kernel.calendar, ks.SCHEDULE << ks.KIND_BITS | number)
    else:
        start(kernel, number)
    return number


@compiled_inside
def call(kernel: Kernel, client: int, page: int, stage: int) -> None:
    """A request through one of the file's descriptors: the client waits for a free one, then for the device."""
    life, device = kernel.life, device_of(kernel, page)
    row = kernel.devices[device]
    life[client, ks.STAGE] = stage
    if row[ks.CALLS_FREE] > 0:
        row[ks.CALLS_FREE] -= 1
        submit_call(kernel, client, page, stage)
        return
    life[client, ks.STAGE] = ks.CALL_TURN
    life[client, ks.B] = stage
    append(life, row, ks.CALL_FIRST, ks.CALL_LAST, client)


@compiled_inside
def submit_call(kernel: Kernel, client: int, page: int, stage: int) -> None:
    """The client has a descriptor: its request goes to the device."""
    device, byte, size = device_of(kernel, page), byte_of(kernel, page), kernel.facts[ks.PAGE_BYTES]
    if stage == ks.READING:
        submit(kernel, device, byte, size, 0, ks.DATA_READ, client)
    else:
        submit(kernel, device, byte, size, 1, ks.EVICTION_WRITE, client)


@compiled_inside
def return_call(kernel: Kernel, device: int) -> None:
    """A file descriptor is free again, or goes to the next in line."""
    row = kernel.devices[device]
    if row[ks.CALL_FIRST] != ks.NONE:
        at_once(kernel.calendar, take_first(kernel.life, row, ks.CALL_FIRST))
    else:
        row[ks.CALLS_FREE] += 1
