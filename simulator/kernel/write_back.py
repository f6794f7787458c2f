"""The kernel's write-back: from dirty pages of the page cache to requests, and who waits for their completion."""

# pyright: reportReturnType=false

from simulator.form import IntArray
from simulator.kernel import columns as ks
from simulator.kernel.caches import CACHE, dirty_before
from simulator.kernel.calendar import at_once
from simulator.kernel.columns import Kernel
from simulator.kernel.compiled import compiled_apart, compiled_inside
from simulator.kernel.devices import byte_of, device_of, extent_of, submit
from simulator.kernel.memory import finish_write_back, start_write_back
from simulator.kernel.state import State


@compiled_inside
def write_back(kernel: Kernel, first_page: int, pages: int) -> None:
    """Queue one write of neighbouring pages that the page cache has handed to the disks."""
    size = pages * kernel.facts[ks.PAGE_BYTES]
    device, byte = device_of(kernel, first_page), byte_of(kernel, first_page)
    number = submit(kernel, device, byte, size, 1, ks.WRITE_BACK, ks.WRITTEN_BACK)
    kernel.requests[number, ks.FIRST_PAGE] = first_page
    kernel.requests[number, ks.PAGES] = pages


@compiled_apart
def write_evicted(state: State, kernel: Kernel) -> None:
    """The page cache had to give up dirty pages: their writes start now."""
    for i in range(state.outbox[0]):
        write_back(kernel, state.outbox[1 + i], 1)
    state.outbox[0] = 0


@compiled_apart
def flush_dirt(state: State, kernel: Kernel, latest_ns: int, most: int) -> int:
    """Hand to the disks, in disk order, up to `most` page cache pages dirty since `latest_ns` or longer."""
    pages, extents = kernel.scratch, kernel.extents
    count = dirty_before(state.tiers, CACHE, latest_ns, most, pages)
    for device in range(kernel.facts[ks.DATA_DEVICES]):
        start, length, extent = -1, 0, 0
        for place in range(count):
            page = pages[place]
            if device_of(kernel, page) != device:
                continue
            follows = start + length * extents[extent, ks.STRIPED_OVER]
            if page == follows < extents[extent, ks.END_PAGE] and 0 < length < kernel.facts[ks.MERGED_PAGES]:
                length += 1
                continue
            _start_run(state, kernel, start, length)
            start, length, extent = page, 1, extent_of(kernel, page)
        _start_run(state, kernel, start, length)
    return count


@compiled_inside
def _start_run(state: State, kernel: Kernel, start: int, length: int) -> None:
    if length == 0:
        return
    step = kernel.extents[extent_of(kernel, start), ks.STRIPED_OVER]
    for i in range(length):
        start_write_back(state, start + i * step)
    write_back(kernel, start, length)


@compiled_inside
def written_back(state: State, kernel: Kernel, request: IntArray) -> None:
    """A write-back is complete: its pages are clean, and whoever waits for room goes on."""
    facts = kernel.facts
    step = kernel.extents[extent_of(kernel, request[ks.FIRST_PAGE]), ks.STRIPED_OVER]
    for i in range(request[ks.PAGES]):
        finish_write_back(state, request[ks.FIRST_PAGE] + i * step)
    facts[ks.PAGES_WRITTEN] += request[ks.PAGES]
    if facts[ks.WRITTEN_FIRST] != ks.NONE:
        at_once(kernel.calendar, ks.LIST << ks.KIND_BITS | facts[ks.WRITTEN_FIRST])
        facts[ks.WRITTEN_FIRST] = ks.NONE
