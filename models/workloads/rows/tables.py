"""Tables of a row workload and their indexes as regions of pages, and what a load leaves of them."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from oltpsim.models.workloads.folding import UnitSample
from oltpsim.models.workloads.rows.workload import RowFields, TableSpec
from oltpsim.simulator.form import Assembler, IntArray

UNIT_PAGES = 100
"""from which size on a unit of scale has pages of its own; smaller ones share them"""
LEAST_FOLDED = 0.999
"""share of the loaded pages that lie in units, from which on a few units stand for all"""


@dataclass(frozen=True)
class PlacedTable:
    """A table in a program: region numbers, and its groups with the rows of each as loaded."""

    spec: TableSpec
    region: int
    indexes: dict[str, int]
    groups: int
    group_rows: int


def place_tables(assembler: Assembler, workload: RowFields, sample: UnitSample | None = None) -> dict[str, PlacedTable]:
    """Lay out the tables, and say what a load writes; of a sample the units that are held, and shared tables whole."""
    return {table.name: _placed(assembler, workload, table, sample) for table in workload.tables}


@lru_cache(maxsize=64)
def row_regions(workload: RowFields) -> IntArray:
    """The regions of the whole database, as in a program. They can't be written to."""
    assembler = Assembler()
    place_tables(assembler, workload)
    regions = np.array([columns for _, columns in assembler.regions], dtype=np.int64)
    regions.setflags(write=False)
    return regions


@lru_cache(maxsize=64)
def loaded_row_pages(workload: RowFields) -> int:
    """Pages that a bulk load fills, with those of keys and indexes; room to grow left out."""
    assembler = Assembler()
    place_tables(assembler, workload)
    return sum(pages for _, _, _, pages in assembler.load_order)


@lru_cache(maxsize=64)
def is_folded_by_units(workload: RowFields) -> bool:
    """Whether all but a few pages lie in units that nobody locks rows of, so that a few units may stand for all."""
    shared = tuple(table for table in workload.tables if table.locked or not _lies_in_units(table))
    pages = sum(-(-table.rows * workload.scale // table.rows_per_page) for table in shared)
    return pages <= (1.0 - LEAST_FOLDED) * loaded_row_pages(workload)


def _lies_in_units(table: TableSpec) -> bool:
    return table.rows >= UNIT_PAGES * table.rows_per_page and not table.room_rows


def _placed(assembler: Assembler, workload: RowFields, table: TableSpec, sample: UnitSample | None) -> PlacedTable:
    held = sample.units if sample and sample.units < sample.whole and not table.locked else workload.scale
    groups, rows = (held, table.rows) if _lies_in_units(table) else (1, table.rows * workload.scale)

    def pages(rows: int, per_page: int) -> int:
        return max(1, -(-rows // per_page))

    fanout = table.key_entries_per_page or 0
    if workload.storage == "heap":
        fanout = max(2, round(fanout / table.rows_per_page)) if fanout else 0
    room = rows + table.room_rows
    region = assembler.region(table.name, groups, pages(room, table.rows_per_page), table.rows_per_page, fanout)
    indexes = {
        index.name: assembler.region(
            f"{table.name} by {index.name}", groups, pages(room, index.entries_per_page), index.entries_per_page
        )
        for index in table.indexes
    }
    if rows:
        for group in range(groups):
            assembler.loaded(region, group, pages(rows, table.rows_per_page))
            for index in table.indexes:
                assembler.loaded(indexes[index.name], group, pages(rows, index.entries_per_page))
        if (interior := assembler.regions[region][1].interior) >= 0:
            assembler.loaded(interior, 0, pages(groups * pages(rows, table.rows_per_page), fanout))
    return PlacedTable(table, region, indexes, groups, rows)
