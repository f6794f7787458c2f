"""The five transactions as they run: which tables they refer to, how many rows, and what a path length stands for.

Counts per transaction follow from the specification (5.11, clauses 2.4 to 2.8), with the simplifications that
models/workloads/tpcc/program.py names.
"""

import dataclasses
import functools
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build, sample_of
from oltpsim.models.workloads import PathTimes
from oltpsim.models.workloads.tpcc.clients import client_registers
from oltpsim.models.workloads.tpcc.program import CLASSES, RECENT_LINES, row_counts, tpcc_program
from oltpsim.models.workloads.tpcc.rows import DISTRICTS, LINES_PER_ORDER, ORDERS_DELIVERED, ORDERS_LOADED
from oltpsim.simulator.form import Costs, System
from oltpsim.simulator.reference import ReferenceEngine, waits

TINY = Path(__file__).parents[3] / "scenarios" / "tiny.yaml"
SCANNED = 1_000_000
"""ns for a scanned row, so that a CPU burst tells rows (1 ns each) from scanned rows"""
TRANSACTIONS = 1500
MOST_DELIVERIES = 900
"""then no order waits any more"""
COUNTING = PathTimes(0, 1, SCANNED, 0, 0, 0.0, 0.0)
KEYS = dict(zip(CLASSES, ("new_order", "payment", "order_status", "delivery", "stock_level"), strict=True))


@functools.cache
def counting_model(only: tuple[str, ...], warehouses: int = 2, **choice: float) -> System:
    """All tables in memory, these classes of transactions, every row operation 1 ns of CPU."""
    mix = ", ".join(f"{key}: {(name in only) / len(only)}" for name, key in KEYS.items())
    choices = ", ".join(f"{key}: {value}" for key, value in choice.items())
    scenario = load_scenario(
        TINY,
        [f"workload.mix={{{mix}}}", f"workload.warehouses={warehouses}", "database.pool.buffers=60000",
         "machine.memory_gib=4", *([f"workload.tpcc={{{choices}}}"] if choices else [])],
    )  # fmt: skip
    model = build(scenario)
    program = tpcc_program(scenario.workload, COUNTING, sample_of(scenario))
    registers = client_registers(program, scenario.workload, sample_of(scenario), 1)
    loaded = dataclasses.replace(model.interval, start="after_load")
    return dataclasses.replace(
        model, program=program, client_registers=registers, costs=Costs(0, 0, 0, 0), sections=(), interval=loaded
    )


class Played:
    """One client's transactions, one after the other, every wait being over at once."""

    def __init__(self, only: str | tuple[str, ...], transactions: int = TRANSACTIONS, **choice: Any) -> None:
        self.model = counting_model((only,) if isinstance(only, str) else only, **choice)
        self.interpreter = ReferenceEngine(self.model, 1).interpreter
        self.client = self.interpreter.clients[0]
        self.waits = self.interpreter.waits_of(self.client)
        self.bursts_ns: list[int] = []
        self.rolled_back = self.log_bytes = 0
        self.classes: Counter[int] = Counter()
        for _ in range(transactions):
            self.bursts_ns.append(self._one())
        self.transactions = transactions

    def _one(self) -> int:
        burst_ns = 0
        for wait in self.waits:
            match wait:
                case waits.CpuBurst(user_ns):
                    burst_ns += user_ns
                case waits.PageRead(frame):
                    self.interpreter.pool.finish_read(frame)
                case waits.Commit(size_bytes):
                    self.log_bytes += size_bytes
                    self.interpreter.locks.release_all(self.client)
                case waits.Rollback():
                    self.interpreter.locks.release_all(self.client)
                case waits.TransactionEnd(transaction_class, rolled_back):
                    self.rolled_back += rolled_back
                    self.classes[transaction_class] += 1
                    break
        return burst_ns

    def per_transaction(self, table: str) -> float:
        """References to a table."""
        number = self.model.program.region_names.index(table)
        return self.interpreter.references.regions[number].references / self.transactions

    def counter(self, name: str) -> int:
        """Sum of a table of counters over its groups."""
        program = self.model.program
        start, length = program.counter_tables[program.counter_names.index(name)]
        return sum(self.interpreter.counters[start : start + length])


@functools.cache
def played(only: str, **choice: float) -> Played:
    return Played(only, MOST_DELIVERIES if only == "delivery" else TRANSACTIONS, **choice)


def rows_of(run: Played) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean and standard error of rows and of scanned rows per transaction."""
    bursts = np.array(run.bursts_ns)
    each = [bursts % SCANNED, bursts // SCANNED]
    rows, scanned = ((float(n.mean()), float(n.std()) / math.sqrt(len(n))) for n in each)
    return rows, scanned


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("choice", [{}, {"by_last_name_fraction": 0.0}, {"by_last_name_fraction": 1.0}], ids=str)
def test_rows_of_a_path_are_those_that_run(name: str, choice: dict[str, float]) -> None:
    workload = load_scenario(TINY, [f"workload.tpcc.{key}={value}" for key, value in choice.items()]).workload
    (rows, error), (scanned, scanned_error) = rows_of(played(name, **choice))
    assert abs(rows - row_counts(workload)[name].operations) <= 4 * error
    assert abs(scanned - row_counts(workload)[name].scanned) <= 4 * scanned_error


def test_rows_by_hand() -> None:
    """Row operations: 6 + 3 a line; 4 or 7 by name; 3 or 5 by name; 3 a district; 1. Other figures are refused."""
    by_hand = {"new order": 6 + 3 * 10, "payment": 4 + 0.6 * 3, "order status": 2 + 0.4 + 0.6 * 3,
               "delivery": 30.0, "stock level": 1.0}  # fmt: skip
    for name, expected in by_hand.items():
        (rows, error), _ = rows_of(played(name))
        assert abs(rows - expected) <= 4 * error, name
        assert abs(rows - 1.1 * expected) > 4 * error, name


REFERENCED: dict[str, dict[str, float]] = {
    "new order": {
        "warehouse": 1, "district": 1, "customer": 1, "orders": 1, "orders by customer": 1, "new order": 1,
        "item": 10, "stock": 10, "order line": 10,
    },
    "payment": {"warehouse": 1, "district": 1, "customer": 1 + 0.6 * 2, "customer by name": 0.6, "history": 1},
    "order status": {
        "customer": 0.4 + 0.6 * 2, "customer by name": 0.6, "orders by customer": 1, "orders": 1, "order line": 1,
    },
    "delivery": {"new order": 10, "orders": 10, "order line": 20, "customer": 10},
    "stock level": {"district": 1, "order line": 2, "stock": 200},
}  # fmt: skip
"""Page references of a transaction; 200 order lines lie on two pages of 120; their stock is that of loaded orders."""


@pytest.mark.parametrize("name", CLASSES)
def test_each_transaction_refers_to_its_tables(name: str) -> None:
    run = played(name)
    expected = REFERENCED[name]
    for table in run.model.program.region_names:
        if not table.endswith("index pages"):
            assert run.per_transaction(table) == pytest.approx(expected.get(table, 0), rel=0.06), table
    interior = run.per_transaction("stock index pages")
    assert interior == pytest.approx(run.per_transaction("stock")), "an index page above each reference"


def test_inserts_move_the_frontiers() -> None:
    """Every new order takes a number; a delivery takes one from each of ten districts; a payment writes history."""
    districts = 2 * DISTRICTS
    assert played("new order").counter("orders") == districts * ORDERS_LOADED + TRANSACTIONS
    assert played("payment").counter("history rows") == 2 * DISTRICTS * 3000 + TRANSACTIONS
    run = Played("delivery", transactions=50)
    assert run.counter("delivered orders") == districts * ORDERS_DELIVERED + 50 * DISTRICTS


def test_delivery_stops_where_no_order_waits() -> None:
    """900 orders wait in each district: of 1,000 deliveries the last hundred find none, and touch no order."""
    run = Played("delivery", transactions=1000)
    assert run.counter("delivered orders") == DISTRICTS * (ORDERS_LOADED + ORDERS_DELIVERED)
    assert run.per_transaction("orders") == pytest.approx(0.9 * DISTRICTS)
    assert run.bursts_ns[-1] == 0 < run.bursts_ns[0]


def test_orders_have_five_to_fifteen_lines() -> None:
    run = played("new order")
    lines = [(burst - 6) / 3 for burst in run.bursts_ns]
    assert set(lines) == set(range(5, 16))
    assert np.mean(lines) == pytest.approx(LINES_PER_ORDER, abs=0.3)


def test_one_order_in_a_hundred_is_rolled_back() -> None:
    assert 5 <= played("new order").rolled_back <= 28
    assert played("payment").rolled_back == 0
    never = Played("new order", transactions=200, rollback_fraction=0.0)
    always = Played("new order", transactions=200, rollback_fraction=1.0)
    assert (never.rolled_back, always.rolled_back) == (0, 200)
    assert (never.log_bytes, always.log_bytes) == (200 * 3000, 0)


def stock_pages_touched(**choice: Any) -> Counter[int]:
    """How often a remembered stock page is of each warehouse."""
    run = Played("new order", transactions=300, **choice)
    program = run.model.program
    region = program.regions[program.region_names.index("stock")]
    rings = run.interpreter.references.windows[0]
    pages = np.array([page for ring in rings for page in ring.pages[: ring.seen - RECENT_LINES]])
    return Counter(((pages - region[0]) // region[2]).tolist())


def test_a_share_of_the_lines_comes_from_other_warehouses() -> None:
    """The only client is at home in warehouse 0 of 2."""
    assert set(stock_pages_touched(remote_stock_fraction=0.0)) == {0}
    assert set(stock_pages_touched(remote_stock_fraction=1.0)) == {1}
    half = stock_pages_touched(remote_stock_fraction=0.5)
    assert half[1] / half.total() == pytest.approx(0.5, abs=0.05)
    assert set(stock_pages_touched(warehouses=1, remote_stock_fraction=1.0)) == {0}, "there is no other"


def test_stock_level_reads_what_recent_orders_have_touched() -> None:
    """Half new orders, half stock levels: 200 lookups each of pages that lines of orders are on, loaded ones first."""
    run = Played(("new order", "stock level"), transactions=400, warehouses=1)
    orders, levels = run.classes[0], run.classes[4]
    lines = run.per_transaction("item") * 400
    assert orders + levels == 400
    looked_up = run.per_transaction("stock") * 400 - lines
    assert looked_up == pytest.approx(RECENT_LINES * levels, rel=1e-9)
    pages = {page for window in run.interpreter.references.windows[0] for page in window.pages}
    assert len(pages) < lines
    assert len(pages) > 0.3 * lines
