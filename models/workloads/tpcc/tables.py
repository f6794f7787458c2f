"""The nine TPC-C tables and their indexes as regions of pages, and what a bulk load leaves of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from models.workloads.layout import LayoutSpec
from models.workloads.tpcc.rows import (
    CUSTOMERS_PER_DISTRICT,
    DISTRICTS,
    ITEMS,
    LINES_PER_ORDER,
    ORDERS_DELIVERED,
    ORDERS_LOADED,
)
from models.workloads.workload import WorkloadSpec
from simulator.form import Assembler

RING_FACTOR = 2
"""An append-only group has room for this many times its loaded rows; then its oldest pages are used again."""
SMALL_ROWS_PER_PAGE = 60
"""assumption: warehouse and district rows of about 130 bytes with their free space"""
STOCK = 100_000


def pages_in(regions: npt.NDArray[np.int64]) -> int:
    """Pages of all regions, which lie one behind the other."""
    return int((regions[:, 0] + regions[:, 1] * regions[:, 2]).max())


def pages_of(rows: int, rows_per_page: int) -> int:
    """Pages that hold so many rows."""
    return -(-rows // rows_per_page)


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


def add_tables(assembler: Assembler, workload: WorkloadSpec, item_pages: int) -> Tables:
    """Lay out the tables for the loaded warehouses; items on `item_pages` pages."""
    tables = _regions(assembler, workload.layout, workload.warehouses, item_pages)
    _load(assembler, tables, workload.warehouses, workload.layout)
    return tables


def regions_of(layout: LayoutSpec, warehouses: int) -> npt.NDArray[np.int64]:
    """The regions of the whole database, as in a program."""
    assembler = Assembler()
    _regions(assembler, layout, warehouses, pages_of(ITEMS, layout.item_rows_per_page))
    return np.array([columns for _, columns in assembler.regions], dtype=np.int64)


def file_pages(layout: LayoutSpec, warehouses: int) -> int:
    """Pages that the database's files take: index pages and the room of the append-only tables counted in."""
    return pages_in(regions_of(layout, warehouses))


def name_entries(layout: LayoutSpec) -> int:
    """Entries in a leaf of the index of customers by last name."""
    return layout.heap.customer_name_entries_per_page if layout.heap else layout.index_entries_per_page


def _regions(assembler: Assembler, layout: LayoutSpec, warehouses: int, item_pages: int) -> Tables:
    fanout = layout.index_entries_per_page
    districts = warehouses * DISTRICTS
    keys: dict[str, Any] = layout.heap.model_dump() if layout.heap else {}

    def above(entries: int | None, per_page: int) -> int:
        """Pages of a table below one index page: those that a leaf of its key has rows of, or an interior page has."""
        return max(1, round(entries / per_page)) if entries else fanout

    def keyed(name: str, groups: int, rows: int, per_page: int, entries: int | None = None) -> int:
        return assembler.region(name, groups, pages_of(rows, per_page), per_page, above(entries, per_page))

    def appended(name: str, groups: int, rows: int, per_page: int, entries: int | None = None) -> int:
        pages = RING_FACTOR * pages_of(rows, per_page)
        return assembler.region(name, groups, pages, per_page, above(entries, per_page))

    return Tables(
        warehouse=assembler.region("warehouse", 1, pages_of(warehouses, SMALL_ROWS_PER_PAGE), SMALL_ROWS_PER_PAGE),
        district=assembler.region("district", 1, pages_of(districts, SMALL_ROWS_PER_PAGE), SMALL_ROWS_PER_PAGE),
        item=assembler.region(
            "item",
            1,
            item_pages,
            layout.item_rows_per_page,
            above(keys.get("item_key_entries_per_page"), layout.item_rows_per_page),
        ),
        stock=keyed("stock", warehouses, STOCK, layout.stock_rows_per_page, keys.get("stock_key_entries_per_page")),
        customer=keyed(
            "customer",
            districts,
            CUSTOMERS_PER_DISTRICT,
            layout.customer_rows_per_page,
            keys.get("customer_key_entries_per_page"),
        ),
        customer_name=keyed("customer by name", districts, CUSTOMERS_PER_DISTRICT, name_entries(layout)),
        orders=appended(
            "orders", districts, ORDERS_LOADED, layout.order_rows_per_page, keys.get("order_key_entries_per_page")
        ),
        orders_by_customer=keyed("orders by customer", districts, ORDERS_LOADED, fanout),
        new_order=appended(
            "new order",
            districts,
            ORDERS_LOADED,
            layout.new_order_rows_per_page,
            keys.get("new_order_key_entries_per_page"),
        ),
        order_line=appended(
            "order line",
            districts,
            ORDERS_LOADED * LINES_PER_ORDER,
            layout.order_line_rows_per_page,
            keys.get("order_line_key_entries_per_page"),
        ),
        history=appended("history", warehouses, DISTRICTS * CUSTOMERS_PER_DISTRICT, layout.history_rows_per_page),
    )


def _load(assembler: Assembler, tables: Tables, warehouses: int, layout: LayoutSpec) -> None:
    """Load order of the specification's sample loader: items, stock, customers, orders; index pages go with each."""

    def whole(region: int, groups: range, pages: int) -> None:
        for group in groups:
            assembler.loaded(region, group, pages)
        if (interior := assembler.regions[region][1][4]) >= 0:
            assembler.loaded(interior, 0, assembler.regions[interior][1][2])

    one, all_warehouses, districts = range(1), range(warehouses), range(warehouses * DISTRICTS)
    whole(tables.warehouse, one, pages_of(warehouses, SMALL_ROWS_PER_PAGE))
    whole(tables.district, one, pages_of(warehouses * DISTRICTS, SMALL_ROWS_PER_PAGE))
    whole(tables.item, one, pages_of(ITEMS, layout.item_rows_per_page))
    whole(tables.stock, all_warehouses, pages_of(STOCK, layout.stock_rows_per_page))
    whole(tables.customer, districts, pages_of(CUSTOMERS_PER_DISTRICT, layout.customer_rows_per_page))
    whole(tables.customer_name, districts, pages_of(CUSTOMERS_PER_DISTRICT, name_entries(layout)))
    whole(
        tables.history,
        all_warehouses,
        pages_of(DISTRICTS * CUSTOMERS_PER_DISTRICT, layout.history_rows_per_page),
    )
    whole(tables.orders, districts, pages_of(ORDERS_LOADED, layout.order_rows_per_page))
    whole(tables.orders_by_customer, districts, pages_of(ORDERS_LOADED, layout.index_entries_per_page))
    waiting = ORDERS_LOADED - ORDERS_DELIVERED
    whole(tables.new_order, districts, pages_of(waiting, layout.new_order_rows_per_page))
    whole(
        tables.order_line,
        districts,
        pages_of(ORDERS_LOADED * LINES_PER_ORDER, layout.order_line_rows_per_page),
    )


def loaded_rows(warehouses: int) -> int:
    """Rows that a bulk load inserts, those of indexes left out (specification 5.11, clause 4.3.3)."""
    of_district = 1 + 2 * CUSTOMERS_PER_DISTRICT + ORDERS_LOADED * (1 + LINES_PER_ORDER)
    of_district += ORDERS_LOADED - ORDERS_DELIVERED
    return ITEMS + warehouses * (1 + STOCK + DISTRICTS * of_district)


def loaded_pages(layout: LayoutSpec, warehouses: int) -> int:
    """Pages that a bulk load fills, index pages above the leaves left out."""
    per_warehouse = pages_of(STOCK, layout.stock_rows_per_page)
    per_warehouse += pages_of(DISTRICTS * CUSTOMERS_PER_DISTRICT, layout.history_rows_per_page)
    per_district = sum(
        pages_of(rows, per_page)
        for rows, per_page in (
            (CUSTOMERS_PER_DISTRICT, layout.customer_rows_per_page),
            (CUSTOMERS_PER_DISTRICT, name_entries(layout)),
            (ORDERS_LOADED, layout.order_rows_per_page),
            (ORDERS_LOADED, layout.index_entries_per_page),
            (ORDERS_LOADED - ORDERS_DELIVERED, layout.new_order_rows_per_page),
            (ORDERS_LOADED * LINES_PER_ORDER, layout.order_line_rows_per_page),
        )
    )
    return pages_of(ITEMS, layout.item_rows_per_page) + warehouses * (per_warehouse + DISTRICTS * per_district)
