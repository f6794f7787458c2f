"""Where a database puts its tables: on which devices, in which files."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from oltpsim.models.workloads import pages_in, pages_of
from oltpsim.simulator.form import Extent, RegionRow


def by_table(regions: npt.NDArray[np.int64], devices: int, page_bytes: int) -> tuple[Extent, ...]:
    """Extents of tables (`database.file_layout: by_table`), each with its index over its part of the devices.

    It has as many of them as its size is of all, at least one.

    A table begins where those before it end, by size: so a device may have the end of one table and the next ones.
    `regions`: a row for each `RegionRow`, as in a program.
    """
    total, used = pages_in(regions), [0] * devices
    extents, rows = [], [RegionRow(*row) for row in regions.tolist()]
    index_pages = {row.interior for row in rows}
    for number, row in enumerate(rows):
        if number in index_pages:
            continue
        first_page, end_page = rows[row.interior].base if row.interior >= 0 else row.base, row.end_page
        first = min(first_page * devices // total, devices - 1)
        count = min(max(round((end_page - first_page) * devices / total), 1), devices - first)
        start = max(used[first : first + count])
        extents.append(Extent(first_page, end_page, first, count, start))
        end = start + pages_of(end_page - first_page, count) * page_bytes
        used[first : first + count] = [end] * count
    return tuple(extents)


def files_of(names: Sequence[str], regions: npt.NDArray[np.int64], units: int = 1) -> tuple[tuple[int, int], ...]:
    """(first page, file) of each part of a file: a table and its indexes are one.

    Regions of a table are called as it is, with "index pages" or "by ..." behind. With several `units` a region that
    has a group for each holds as many tables.
    """
    tables: dict[str, int] = {}
    numbers = [tables.setdefault(name.split(" index pages")[0].split(" by ")[0], len(tables)) for name in names]
    parts = sorted(
        (row.base + group * row.group_pages, number * units + group)
        for row, number in zip((RegionRow(*row) for row in regions.tolist()), numbers, strict=True)
        for group in range(units if row.groups == units else 1)
    )
    return tuple(part for before, part in zip([(0, -1), *parts], parts, strict=False) if part[1] != before[1])


def most_pages(extents: tuple[Extent, ...], page_bytes: int) -> int:
    """Size of what the fullest device has, pages."""
    return max(
        extent.start_bytes // page_bytes + pages_of(extent.end_page - extent.first_page, extent.devices)
        for extent in extents
    )
