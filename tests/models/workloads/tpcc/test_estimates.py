"""Leaves that an optimiser reads to estimate how many rows a range has (InnoDB's records_in_range).

Which statements make it estimate follows from the indexes that begin with warehouse and district: a customer is looked
for by name, updated by number in payments and deliveries, and an order is updated in deliveries.
"""

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.models.workloads.tpcc.tables import loaded_pages
from oltpsim.simulator import analytic, kernel, reference
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.expectation import ProgramReader
from oltpsim.simulator.form.samplers import alias_pmf
from oltpsim.simulator.results import Result, result_json

TINY = Path(__file__).parents[3] / "scenarios" / "tiny.yaml"
ESTIMATED = 4
ESTIMATES = f"workload.layout.range_estimate_pages={ESTIMATED}"
BY_NAME = 0.6
"""share of the payments and order statuses that look for a customer by name"""


@cache
def simulated(*settings: str) -> Result:
    return kernel.simulate(build(load_scenario(TINY, list(settings))), 1)


def references(table: str, *settings: str) -> float:
    """To a table, per transaction."""
    result = simulated(*settings)
    known = {each.name: each.references for each in result.tables}
    return known[table] / (result.transactions_per_s * result.duration_s)


def share(name: str) -> float:
    """Of all transactions."""
    classes = simulated().classes
    return next(each.completed for each in classes if each.name == name) / sum(each.completed for each in classes)


def added(table: str) -> float:
    """References to a table for estimates, per transaction."""
    return references(table, ESTIMATES) - references(table)


def leaves(table: str) -> int:
    """Of a district, and so read by an estimate: four, and the last one if there are more."""
    layout = load_scenario(TINY).workload.layout
    per_page = {
        "customer": layout.customer_rows_per_page,
        "customer by name": layout.index_entries_per_page,
        "orders": layout.order_rows_per_page,
        "orders by customer": layout.index_entries_per_page,
    }[table]
    pages = -(-3000 // per_page)
    return pages if pages <= ESTIMATED else ESTIMATED + 1


def test_updates_by_number_read_leaves_of_the_index_by_name() -> None:
    changed = share("payment") + 10 * share("delivery")
    assert added("customer by name") == pytest.approx(changed * leaves("customer by name"), rel=0.07)


def test_searches_by_name_read_leaves_of_the_customers() -> None:
    searched = BY_NAME * (share("payment") + share("order status"))
    assert added("customer") == pytest.approx(searched * leaves("customer"), rel=0.07)


def test_deliveries_estimate_a_districts_orders_by_customer() -> None:
    estimated = 10 * share("delivery") * leaves("orders by customer")
    assert added("orders by customer") == pytest.approx(estimated, rel=0.15)


def test_order_statuses_estimate_a_districts_orders() -> None:
    """Each reads five leaves more than its order's."""
    only = "workload.mix={new_order: 0, payment: 0, order_status: 1, delivery: 0, stock_level: 0}"
    assert references("orders", ESTIMATES, only) == pytest.approx(1 + leaves("orders"), rel=0.01)
    assert references("orders", only) == pytest.approx(1, rel=0.01)


def test_the_leaves_are_different_ones() -> None:
    """Payments to customers by number find all of a district's four first leaves and the last one, once each."""
    only = "workload.mix={new_order: 0, payment: 1, order_status: 0, delivery: 0, stock_level: 0}"
    by_number = (
        only,
        "workload.tpcc.by_last_name_fraction=0",
        "interval={start: cold, warm_up_s: 0, duration_s: 60}",
        ESTIMATES,
    )
    result = simulated(*by_number, "database.pool.buffers=20000")
    reads = {each.name: each.disk_reads for each in result.tables}
    assert reads["customer by name"] == 10 * leaves("customer by name") == 50


def test_no_other_table_is_read_more() -> None:
    for table in ("stock", "item", "order line", "new order", "history", "district", "warehouse"):
        assert references(table, ESTIMATES) == pytest.approx(references(table), rel=0.06)


def test_an_index_of_orders_has_entries_of_its_own() -> None:
    plain, dense = (
        load_scenario(TINY, settings).workload
        for settings in ([], ["workload.layout.order_customer_entries_per_page=3000"])
    )
    pages = -(-3000 // plain.layout.index_entries_per_page)
    assert loaded_pages(plain.layout, 4) - loaded_pages(dense.layout, 4) == 40 * (pages - 1)


STOCK_BY_ITEM = "workload.layout.stock_item_entries_per_page=700"


def test_updates_of_stock_read_a_leaf_of_its_index_by_item() -> None:
    """For each line, and only where somebody estimates."""
    lines = 10 * share("new order")
    assert references("stock by item", ESTIMATES, STOCK_BY_ITEM) == pytest.approx(lines, rel=0.03)
    assert references("stock by item", STOCK_BY_ITEM) == 0
    assert "stock by item" not in {each.name for each in simulated(ESTIMATES).tables}


def test_leaves_of_stock_by_item_are_referred_to_evenly_if_items_are() -> None:
    settings = ESTIMATES, STOCK_BY_ITEM, "workload.tpcc.item_choice=uniform"
    even, by_nurand = leaf_shares(*settings), leaf_shares(ESTIMATES, STOCK_BY_ITEM)
    assert even.max() == pytest.approx(np.median(even))
    assert by_nurand.max() > 2 * np.median(by_nurand)


def leaf_shares(*settings: str) -> npt.NDArray[np.float64]:
    """Popularity of the leaves of stock by item."""
    program = build(load_scenario(TINY, list(settings))).program
    start, length = program.tables[program.table_names.index("stock by item pages")]
    return alias_pmf(program.alias[start : start + length])


def test_the_index_of_stock_by_item_takes_its_room() -> None:
    plain, indexed = (load_scenario(TINY, settings).workload.layout for settings in ([], [STOCK_BY_ITEM]))
    assert loaded_pages(indexed, 4) - loaded_pages(plain, 4) == 4 * 143


@pytest.mark.parametrize(("lines", "draws"), [(1, 1), (1, 3), (50, 1), (200, 1)])
def test_a_stock_level_looks_up_so_many_lines_stock(lines: int, draws: int) -> None:
    """In expectation, as the program says it."""
    settings = f"workload.tpcc.stock_level_lines={lines}", f"workload.tpcc.stock_level_draws_per_line={draws}"
    program = (model := build(load_scenario(TINY, list(settings)))).program
    [work] = [
        each
        for name, each in zip(program.classes, ProgramReader(program, model.client_registers).works, strict=True)
        if name == "stock level"
    ]
    recent = program.reference_names.index("stock of recent orders")
    found = sum(each.visits for each in work.touches.values() if each.reference == recent)
    assert found == pytest.approx(lines * draws)


def bound_shares(warehouses: int, clients: int) -> npt.NDArray[np.float64]:
    """Of the leaves of stock by item, with clients that stay with a warehouse each and items that are drawn evenly."""
    return leaf_shares(
        *(ESTIMATES, STOCK_BY_ITEM, "workload.tpcc.item_choice=uniform", "workload.tpcc.home_warehouse=bound"),
        *("workload.tpcc.remote_stock_fraction=0", f"workload.warehouses={warehouses}"),
        *(f"workload.arrivals={{kind: closed, clients: {clients}, think_time_s: 0}}", "machine.memory_gib=64"),
        "machine.disks.count=60",
    )


def test_leaves_of_stock_by_item_are_those_of_the_warehouses_that_have_clients() -> None:
    """700 entries a leaf: with 1,000 warehouses one client's entries of an item lie on one leaf of one or two."""
    every, lone = bound_shares(1000, 1000), bound_shares(1000, 1)
    assert every.max() == pytest.approx(np.median(every), rel=1e-6)
    assert np.count_nonzero(lone) < 0.8 * np.count_nonzero(every)
    assert np.count_nonzero(bound_shares(4, 1)) == np.count_nonzero(bound_shares(4, 4))


def test_a_pool_that_holds_little_misses_more_by_them_in_each_engine() -> None:
    """The formulas find what the kernel does."""
    plain = "database.pool.buffers=3000", "interval.duration_s=60"
    estimated = *plain, "workload.layout.range_estimate_pages=30"
    misses = {}
    for settings in (plain, estimated):
        model = build(load_scenario(TINY, list(settings)))
        for engine in (kernel, analytic):
            result = engine.simulate(model, 1)
            [pool, *_] = result.caches
            missed = pool.references - pool.hits
            misses[settings, engine] = missed / (result.transactions_per_s * result.duration_s)
    for engine in (kernel, analytic):
        assert misses[estimated, engine] > 1.1 * misses[plain, engine]
    for settings in (plain, estimated):
        assert misses[settings, analytic] == pytest.approx(misses[settings, kernel], rel=0.1)


def test_the_compiled_engine_is_the_reference() -> None:
    settings = [ESTIMATES, "interval={start: warm, warm_up_s: 1, duration_s: 2}"]
    model = build(load_scenario(TINY, settings))
    compiled, plain = kernel.simulate(model, 3), reference.simulate(model, 3)
    assert result_json(dataclasses.replace(compiled, engine="reference")) == result_json(plain)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("workload.layout.range_estimate_pages=-1", "range_estimate_pages"),
        ("workload.layout.stock_item_entries_per_page=1", "stock_item_entries_per_page"),
        ("workload.tpcc.stock_level_lines=201", "stock_level_lines"),
        ("workload.layout={base: tpcc-postgresql, stock_item_entries_per_page: 700}", "per_page: got 700 with heap"),
        ("workload.layout={base: tpcc-postgresql, range_estimate_pages: 4}", "range_estimate_pages: got 4 with heap"),
    ],
)
def test_what_they_can_not_be_is_refused(setting: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_scenario(TINY, [setting])
