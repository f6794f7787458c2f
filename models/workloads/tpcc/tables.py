"""The nine TPC-C tables and their indexes as regions of pages, and what a bulk load leaves of them."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from oltpsim.models.workloads.folding import UnitSample
from oltpsim.models.workloads.pages import LoadedTable, loaded_tables, pages_of
from oltpsim.models.workloads.tpcc.layout import LayoutSpec
from oltpsim.models.workloads.tpcc.rows import (
    CUSTOMERS_PER_DISTRICT,
    DISTRICTS,
    ITEMS,
    LINES_PER_ORDER,
    ORDERS_DELIVERED,
    ORDERS_LOADED,
)
from oltpsim.models.workloads.tpcc.workload import TpccFields
from oltpsim.simulator.form import Assembler

RING_FACTOR = 2
"""An append-only group has room for this many times its loaded rows; then its oldest pages are used again."""
SMALL_ROWS_PER_PAGE = 60
"""assumption: warehouse and district rows of about 130 bytes with their free space"""
STOCK = 100_000


@dataclass(frozen=True)
class Tables:
    """Region numbers in the program."""

    warehouse: int
    district: int
    item: int
    stock: int
    customer: int
    customer_name: int
    orders: int
    orders_by_customer: int
    new_order: int
    order_line: int
    history: int
    line_items: int
    """order lines by supplier and item; -1 if there is no such index"""
    history_by_customer: int
    """-1 if there is no such index"""
    stock_by_item: int
    """-1 if there is no such index"""


def add_tables(assembler: Assembler, workload: TpccFields, item_pages: int) -> Tables:
    """Lay out the tables for the loaded warehouses; items on `item_pages` pages."""
    item_first = workload.tpcc.stock_key == "item_first"
    tables = _regions(assembler, workload.layout, workload.warehouses, item_pages, item_first)
    loaded = _loaded(workload.layout, workload.warehouses)
    if item_first:
        loaded["stock"] = (1, loaded["stock"][0] * loaded["stock"][1])
    for table, (groups, pages) in loaded.items():  # index pages go with each
        region = getattr(tables, table)
        for group in range(groups):
            assembler.loaded(region, group, pages)
        if (interior := assembler.regions[region][1].interior) >= 0:
            assembler.loaded(interior, 0, assembler.regions[interior][1].group_pages)
    return tables


def add_loaded_tables(assembler: Assembler, workload: TpccFields, sample: UnitSample) -> list[LoadedTable]:
    """Lay out the tables of the sampled warehouses for a program that meets every loaded page; in load order."""
    held = workload.model_copy(update={"warehouses": sample.units})
    add_tables(assembler, held, sample.scaled(pages_of(ITEMS, workload.layout.item_rows_per_page)))
    return loaded_tables(assembler)


def regions_of(layout: LayoutSpec, warehouses: int) -> npt.NDArray[np.int64]:
    """The regions of the whole database, as in a program. They can't be written to: every check of a fit sees them."""
    hashable: Any = layout  # frozen, which type checkers don't see of a spec
    return _regions_once(hashable, warehouses)


@lru_cache(maxsize=64)
def _regions_once(layout: Any, warehouses: int) -> npt.NDArray[np.int64]:
    assembler = Assembler()
    _regions(assembler, layout, warehouses, pages_of(ITEMS, layout.item_rows_per_page))
    regions = np.array([columns for _, columns in assembler.regions], dtype=np.int64)
    regions.setflags(write=False)
    return regions


def name_entries(layout: LayoutSpec) -> int:
    """Entries in a leaf of the index of customers by last name."""
    return layout.heap.customer_name_entries_per_page if layout.heap else layout.index_entries_per_page


def _stock_entries(layout: LayoutSpec, warehouses: int) -> int:
    """Entries in the index of stock by item, to whole pages for each warehouse; 0 without one."""
    per_page = layout.stock_item_entries_per_page
    return warehouses * pages_of(STOCK, per_page) * per_page if per_page else 0


def _regions(
    assembler: Assembler, layout: LayoutSpec, warehouses: int, item_pages: int, item_first: bool = False
) -> Tables:
    layout = layout.aged
    fanout, districts = layout.index_entries_per_page, warehouses * DISTRICTS
    keys: dict[str, Any] = layout.heap.model_dump() if layout.heap else {}

    def below(key: str, per_page: int) -> int:
        """Pages of a table below one index page: those that a leaf of its key has rows of, or an interior page has."""
        entries = keys.get(f"{key}_key_entries_per_page")
        return max(1, round(entries / per_page)) if entries else fanout

    def table(name: str, groups: int, rows: int, per_page: int, key: str = "", ring: int = 1) -> int:
        return assembler.region(name, groups, ring * pages_of(rows, per_page), per_page, below(key, per_page))

    def index(name: str, groups: int, rows: int, per_page: int | None) -> int:
        return table(name, groups, rows, per_page) if per_page else -1

    def small(name: str, rows: int) -> int:
        return assembler.region(name, 1, pages_of(rows, SMALL_ROWS_PER_PAGE), SMALL_ROWS_PER_PAGE)

    customers, orders, ring = CUSTOMERS_PER_DISTRICT, ORDERS_LOADED, RING_FACTOR
    lines, item_rows = orders * LINES_PER_ORDER, layout.item_rows_per_page
    stock = warehouses * pages_of(STOCK, layout.stock_rows_per_page)
    # one group with the pages of all warehouses, or one for each
    stocks = (1, stock) if item_first else (warehouses, stock // warehouses)
    return Tables(
        warehouse=small("warehouse", warehouses),
        district=small("district", districts),
        item=assembler.region("item", 1, item_pages, item_rows, below("item", item_rows)),
        stock=assembler.region(
            "stock", *stocks, layout.stock_rows_per_page, below("stock", layout.stock_rows_per_page)
        ),
        customer=table("customer", districts, customers, layout.customer_rows_per_page, "customer"),
        customer_name=table("customer by name", districts, customers, name_entries(layout)),
        orders=table("orders", districts, orders, layout.order_rows_per_page, "order", ring),
        orders_by_customer=table("orders by customer", districts, orders, layout.customer_orders_per_page),
        new_order=table("new order", districts, orders, layout.new_order_rows_per_page, "new_order", ring),
        order_line=table("order line", districts, lines, layout.order_line_rows_per_page, "order_line", ring),
        history=table("history", warehouses, DISTRICTS * customers, layout.history_rows_per_page, ring=ring),
        line_items=index("order line by item", warehouses, DISTRICTS * lines, layout.line_item_entries_per_page),
        history_by_customer=index(
            "history by customer", districts, customers, layout.history_customer_entries_per_page
        ),
        stock_by_item=index("stock by item", 1, _stock_entries(layout, warehouses), layout.stock_item_entries_per_page),
    )


def _loaded(layout: LayoutSpec, warehouses: int) -> dict[str, tuple[int, int]]:
    """Groups of each table and the pages that a group has after a load, by the names of `Tables`.

    In load order of the specification's sample loader: items, stock, customers, orders.
    """
    customers, orders, districts = CUSTOMERS_PER_DISTRICT, ORDERS_LOADED, warehouses * DISTRICTS
    layout = layout.aged
    indexes = {
        "line_items": (warehouses, DISTRICTS * orders * LINES_PER_ORDER, layout.line_item_entries_per_page),
        "history_by_customer": (districts, customers, layout.history_customer_entries_per_page),
        "stock_by_item": (1, _stock_entries(layout, warehouses), layout.stock_item_entries_per_page),
    }
    return {
        "warehouse": (1, pages_of(warehouses, SMALL_ROWS_PER_PAGE)),
        "district": (1, pages_of(districts, SMALL_ROWS_PER_PAGE)),
        "item": (1, pages_of(ITEMS, layout.item_rows_per_page)),
        "stock": (warehouses, pages_of(STOCK, layout.stock_rows_per_page)),
        "customer": (districts, pages_of(customers, layout.customer_rows_per_page)),
        "customer_name": (districts, pages_of(customers, name_entries(layout))),
        "history": (warehouses, pages_of(DISTRICTS * customers, layout.history_rows_per_page)),
        "orders": (districts, pages_of(orders, layout.order_rows_per_page)),
        "orders_by_customer": (districts, pages_of(orders, layout.customer_orders_per_page)),
        "new_order": (districts, pages_of(orders - ORDERS_DELIVERED, layout.new_order_rows_per_page)),
        "order_line": (districts, pages_of(orders * LINES_PER_ORDER, layout.order_line_rows_per_page)),
        **{name: (groups, pages_of(rows, per_page)) for name, (groups, rows, per_page) in indexes.items() if per_page},
    }


def loaded_rows(warehouses: int) -> int:
    """Rows that a bulk load inserts, those of indexes left out (specification 5.11, clause 4.3.3)."""
    of_district = 1 + 2 * CUSTOMERS_PER_DISTRICT + ORDERS_LOADED * (1 + LINES_PER_ORDER)
    of_district += ORDERS_LOADED - ORDERS_DELIVERED
    return ITEMS + warehouses * (1 + STOCK + DISTRICTS * of_district)


def loaded_pages(layout: LayoutSpec, warehouses: int) -> int:
    """Pages that a bulk load fills, index pages above the leaves and the two small tables left out."""
    tables = _loaded(layout, warehouses).items()
    return sum(groups * pages for table, (groups, pages) in tables if table not in ("warehouse", "district"))
