"""Indexes that aren't unique, of order lines by item and of history by customer: how many of their leaves are changed.

Per transaction follows from the mix: ten lines of each new order, one row of history of each payment.
"""

import dataclasses
from functools import cache
from pathlib import Path

import pytest

from oltpsim.models.reading import load_scenario
from oltpsim.models.wiring import build
from oltpsim.models.workloads.tpcc.program import row_counts
from oltpsim.models.workloads.tpcc.tables import loaded_pages
from oltpsim.simulator import kernel, reference
from oltpsim.simulator.analytic import read_workload
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result, result_json

TINY = Path(__file__).parents[3] / "scenarios" / "tiny.yaml"
WITH = ("workload.layout.line_item_entries_per_page=270", "workload.layout.history_customer_entries_per_page=300")
ASIDE = "workload.layout.index_changes_put_aside_fraction={}"
FIRST_TEN = "workload.tpcc.order_status_lines=of_the_first_ten"


@cache
def simulated(*settings: str) -> Result:
    return kernel.simulate(build(load_scenario(TINY, list(settings))), 1)


def references(result: Result, table: str) -> float:
    """To a table, per transaction."""
    found = next((each.references for each in result.tables if each.name == table), 0)
    return found / (result.transactions_per_s * result.duration_s)


def share(result: Result, name: str) -> float:
    """Of all transactions."""
    return next(each.completed for each in result.classes if each.name == name) / sum(
        each.completed for each in result.classes
    )


def test_each_line_and_each_payment_changes_a_leaf() -> None:
    result = simulated(*WITH)
    assert references(result, "order line by item") == pytest.approx(10 * share(result, "new order"), rel=0.05)
    assert references(result, "history by customer") == pytest.approx(share(result, "payment"), rel=0.05)


@pytest.mark.parametrize("aside", [0.0, 0.25, 0.5, 1.0])
def test_what_is_put_aside_refers_to_a_leaf_only_if_it_is_in_the_pool(aside: float) -> None:
    """And brings none in: where all is put aside no leaf is there that nobody reads."""
    result = simulated(*WITH, ASIDE.format(aside))
    of_orders, by_item = share(result, "new order"), references(result, "order line by item")
    assert 10 * (1 - aside) * of_orders * 0.9 <= by_item < 10 * of_orders * 1.1
    assert (by_item == 0) == (aside == 1)
    by_customer = references(result, "orders by customer")  # order status reads it whatever is put aside
    read = share(result, "order status")
    assert ((1 - aside) * of_orders + read) * 0.9 < by_customer < (of_orders + read) * 1.1


@pytest.mark.parametrize("aside", [0.0, 1.0])
def test_what_is_put_aside_refers_to_the_index_page_above(aside: float) -> None:
    result = simulated(*WITH, ASIDE.format(aside))
    found = references(result, "order line by item index pages")
    assert found == pytest.approx(10 * share(result, "new order"), rel=0.05)


def put_aside(*settings: str) -> dict[str, float]:
    """Changes that may have to wait, of a transaction of the mix, by index; those that there are."""
    program = build(load_scenario(TINY, list(settings))).program
    workload = read_workload(build(load_scenario(TINY, list(settings))))
    changes = workload.put_aside[:, 0].tolist()
    return {name: number for name, number in zip(program.region_names, changes, strict=True) if number}


@pytest.mark.parametrize("aside", [0.25, 1.0])
def test_the_formulas_know_what_may_be_put_aside(aside: float) -> None:
    """Ten lines and an order of each new order, one row of history of each payment."""
    found, result = put_aside(*WITH, ASIDE.format(aside)), simulated(*WITH)
    orders, payments = share(result, "new order"), share(result, "payment")
    assert found == pytest.approx(
        {
            "orders by customer": aside * orders,
            "order line by item": aside * 10 * orders,
            "history by customer": aside * payments,
        },
        rel=0.05,
    )
    assert put_aside(*WITH) == {}


def test_without_the_keys_there_are_no_such_indexes_and_nothing_changes() -> None:
    plain = simulated()
    assert references(plain, "order line by item") == 0.0
    assert result_json(plain) == result_json(simulated(ASIDE.format(0)))
    assert result_json(plain) != result_json(simulated(ASIDE.format(1)))  # the index of orders by customer is one


def test_an_order_status_reads_lines_of_the_first_orders() -> None:
    """These lie on one page of a district; the last orders of customers lie on all of them."""
    only = "workload.mix={new_order: 0, payment: 0, order_status: 1, delivery: 0, stock_level: 0}"
    few = "database.pool.buffers=2000", "interval={start: cold, duration_s: 20}"
    last, first = (simulated(only, *few, *more) for more in ((), (FIRST_TEN,)))
    lines = [next(each.disk_reads for each in result.tables if each.name == "order line") for result in (last, first)]
    assert lines[1] < 0.5 * lines[0]


def test_a_loaded_database_has_their_pages() -> None:
    plain, indexed = (load_scenario(TINY, list(settings)).workload for settings in ((), WITH))
    more = loaded_pages(indexed.layout, 4) - loaded_pages(plain.layout, 4)
    assert more == 4 * -(-300_000 // 270) + 40 * -(-3_000 // 300)


def test_rows_of_the_indexes_are_paid_for_wherever_they_go() -> None:
    plain, indexed, aside = (
        row_counts(load_scenario(TINY, list(settings)).workload) for settings in ((), WITH, (*WITH, ASIDE.format(1)))
    )
    assert indexed["new order"].operations - plain["new order"].operations == 10
    assert indexed["payment"].operations - plain["payment"].operations == 1
    assert aside == indexed


@pytest.mark.parametrize("settings", [WITH, (*WITH, ASIDE.format(0.5), FIRST_TEN)])
def test_the_compiled_engine_is_the_reference(settings: tuple[str, ...]) -> None:
    model = build(load_scenario(TINY, [*settings, "interval={start: warm, warm_up_s: 1, duration_s: 2}"]))
    compiled, plain = kernel.simulate(model, 3), reference.simulate(model, 3)
    assert result_json(dataclasses.replace(compiled, engine="reference")) == result_json(plain)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (ASIDE.format(1.5), "index_changes_put_aside_fraction"),
        ("workload.layout.line_item_entries_per_page=1", "line_item_entries_per_page"),
        ("workload.tpcc.order_status_lines=of_the_first", "order_status_lines"),
    ],
)
def test_what_it_can_not_be_is_refused(setting: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_scenario(TINY, [setting])
