"""Pages of a workload's tables, as regions of a program have them."""

from typing import NamedTuple

from oltpsim.simulator.form import Assembler, IntArray


class LoadedTable(NamedTuple):
    """A region after a load: so many pages in each of its groups."""

    region: int
    groups: int
    pages: int
    rows_per_page: int


def pages_in(regions: IntArray) -> int:
    """Pages of all regions, which lie one behind the other."""
    return int((regions[:, 0] + regions[:, 1] * regions[:, 2]).max())


def pages_of(rows: int, rows_per_page: int) -> int:
    """Pages that hold so many rows."""
    return -(-rows // rows_per_page)


def loaded_tables(assembler: Assembler) -> list[LoadedTable]:
    """What a load writes, in its order."""
    groups: dict[tuple[int, int], int] = {}
    for region, _, _, pages in assembler.load_order:
        groups[region, pages] = groups.get((region, pages), 0) + 1
    return [
        LoadedTable(region, count, pages, assembler.regions[region][1].rows_per_page)
        for (region, pages), count in groups.items()
    ]
