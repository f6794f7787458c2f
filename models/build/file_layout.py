"""Where a database puts its tables: each on partitions of its own, in order (`database.file_layout: by_table`)."""

import numpy as np
import numpy.typing as npt

from models.workloads.tpcc import pages_in, pages_of
from simulator.form import Extent


def by_table(regions: npt.NDArray[np.int64], devices: int, page_bytes: int) -> tuple[Extent, ...]:
    """Every table with its index over its part of the devices: as many as its size is of all, one at least.

    It begins where the tables before it end, by size: so a device may have the end of one table and the next ones.
    """
    total, used = pages_in(regions), [0] * devices
    extents = []
    interiors = {int(interior) for interior in regions[:, 4] if interior >= 0}
    for number, (base, groups, group_pages, _, interior, _) in enumerate(regions.tolist()):
        if number in interiors:
            continue
        first_page, end_page = int(regions[interior, 0]) if interior >= 0 else base, base + groups * group_pages
        first = min(first_page * devices // total, devices - 1)
        count = min(max(round((end_page - first_page) * devices / total), 1), devices - first)
        start = max(used[first : first + count])
        extents.append(Extent(first_page, end_page, first, count, start))
        end = start + pages_of(end_page - first_page, count) * page_bytes
        used[first : first + count] = [end] * count
    return tuple(extents)


def most_pages(extents: tuple[Extent, ...], page_bytes: int) -> int:
    """Pages' worth of room that the fullest device must have."""
    return max(
        extent.start_bytes // page_bytes + pages_of(extent.end_page - extent.first_page, extent.devices)
        for extent in extents
    )
