"""What drivers choose differently: whose rows a transaction takes, in which order, and what a heap makes of changes."""

from collections import Counter, defaultdict

import pytest

from oltpsim.models.reading import scenario_from_mapping
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build
from oltpsim.models.workloads.tpcc.program import CLASSES, row_counts
from oltpsim.scenarios.library import library_files, load_scenario_file
from oltpsim.simulator.analytic import simulate as calculated
from oltpsim.simulator.expectation import ProgramReader
from oltpsim.simulator.form import CODES
from oltpsim.simulator.form.samplers import alias_pmf
from oltpsim.simulator.kernel import simulate as simulated

NAMES = ("new_order", "payment", "order_status", "delivery", "stock_level")
SMALL = ("workload.warehouses=4", "workload.arrivals.clients=2", "database.pool.buffers=2000",
         "database.checkpoint.interval_s=3600", "interval.duration_s=20", "interval.warm_up_s=0")  # fmt: skip


def go_tpc(only: str = "", *settings: str) -> ScenarioSpec:
    """A few of go-tpc's warehouses on PostgreSQL, of one class of transactions alone if asked."""
    mix = [f"workload.mix={{{', '.join(f'{name}: {int(name == only)}' for name in NAMES)}}}"] if only else []
    return load_scenario_file(library_files()["postgresql-15"], [*SMALL, *mix, *settings])


def referred(scenario: ScenarioSpec) -> dict[str, float]:
    """References per transaction by table, by the kernel."""
    result = simulated(build(scenario), 1)
    done = sum(each.completed for each in result.classes)
    assert done > 200
    return {each.name: each.references / done for each in result.tables}


def locked(scenario: ScenarioSpec) -> list[str]:
    """Operations of a payment that lock or refer to a page, in the program's order."""
    program = build(scenario).program
    first, last = program.entries[1], program.entries[2]
    told = []
    for code, a, *_ in program.operations[first:last].tolist():
        if code == CODES["lock"]:
            told.append(f"lock {program.lock_names[a]}")
        elif code == CODES["touch"]:
            told.append(program.reference_names[a])
    return told


def test_a_drawn_home_is_any_warehouse_and_a_bound_one_the_clients_own() -> None:
    """Two clients insert into the order lines of two warehouses, or of all four."""

    def warehouses(scenario: ScenarioSpec) -> int:
        model = build(scenario)
        draws = [row for row in model.program.operations.tolist()
                 if row[0] == CODES["uniform"] and row[1] == model.program.registers.index("home")]  # fmt: skip
        return len({*model.client_registers[:, model.program.registers.index("home")]}) if not draws else draws[0][2]

    assert warehouses(go_tpc("new_order")) == 4
    assert warehouses(go_tpc("new_order", "workload.tpcc.home_warehouse=bound")) == 2
    assert warehouses(go_tpc("new_order", "workload.active_warehouses=3")) == 3


def test_clients_of_drawn_homes_meet_at_row_locks() -> None:
    """Sixteen clients on one warehouse row wait; bound to warehouses of their own they don't."""
    on_disk = ("workload.arrivals.clients=16", "workload.warehouses=16", "machine.cpu.cores=16")
    drawn = simulated(build(go_tpc("payment", *on_disk)), 1).locks[0]
    bound = simulated(build(go_tpc("payment", *on_disk, "workload.tpcc.home_warehouse=bound")), 1).locks[0]
    assert bound.waits == 0
    assert drawn.waits > 0.05 * drawn.acquisitions


def test_a_payment_locks_before_or_after_it_looks_for_the_customer() -> None:
    first = locked(go_tpc("", "workload.tpcc.payment_order=warehouse_first"))
    then = locked(go_tpc("", "workload.tpcc.payment_order=customer_first"))
    assert first.index("lock warehouse row") < first.index("customer by name")
    assert then.index("lock warehouse row") > then.index("customer by name")
    assert Counter(first) == Counter(then)


def test_locks_held_while_the_customer_is_read_take_longer() -> None:
    """Payments on a disk of 400 IOPS under a pool of a few pages: rows are held for reads, or for none."""
    mix = ", ".join(f"{name}: {int(name == 'payment')}" for name in NAMES)
    waits = {}
    for order in ("warehouse_first", "customer_first"):
        slow = load_scenario_file(library_files()["postgresql-15-400-iops"], [
            "workload.warehouses=16", "database.pool.buffers=1000", "machine.memory_gib=0.3", "interval.warm_up_s=5",
            f"workload.tpcc.payment_order={order}", f"workload.mix={{{mix}}}",
        ])  # fmt: skip
        waits[order] = sum(each.time_by_s["row locks"] for each in simulated(build(slow), 1).classes)
        told = calculated(build(slow), 1)
        waits[f"{order}, calculated"] = sum(each.time_by_s["row locks"] for each in told.classes)
    assert waits["warehouse_first"] > 1.3 * waits["customer_first"]
    assert waits["warehouse_first, calculated"] > 1.3 * waits["customer_first, calculated"]


@pytest.mark.parametrize(("read", "rows"), [("to_the_middle", 2), ("all", 3)])
def test_namesakes_are_read_to_the_middle_or_all(read: str, rows: int) -> None:
    by_name = 0.6
    scenario = go_tpc("payment", f"workload.tpcc.namesakes_read={read}")
    assert referred(scenario)["customer"] == pytest.approx(1 + by_name * rows, rel=0.05)
    assert row_counts(scenario.workload)["payment"].operations == pytest.approx(4 + by_name * (1 + rows) + 0.75)


@pytest.mark.parametrize("moved", [0.0, 0.5, 1.0])
def test_a_row_that_moves_changes_its_tables_other_indexes(moved: float) -> None:
    """A payment changes one customer, a delivery ten and as many orders."""
    settings = [f"workload.layout.heap.{name}_moved_fraction={moved}" for name in ("customers", "orders")]
    assert referred(go_tpc("payment", *settings))["customer by name"] == pytest.approx(0.6 + moved, rel=0.06)
    delivered = referred(go_tpc("delivery", *settings, "workload.warehouses=16", "interval.duration_s=2"))
    assert delivered["customer by name"] == pytest.approx(10 * moved, rel=0.06)
    assert delivered["orders by customer"] == pytest.approx(10 * moved, rel=0.06)


def test_keys_apart_from_their_heaps_have_a_leaf_for_so_many_pages() -> None:
    def pages(name: str, scenario: ScenarioSpec) -> int:
        program = build(scenario).program
        row = program.regions[program.region_names.index(name)]
        return int(row[1] * row[2])

    apart = go_tpc()
    data = apart.model_dump(mode="json", exclude={"measured", "notes"})
    del data["workload"]["layout"]["heap"]
    together = scenario_from_mapping(data, "together")
    assert pages("stock index pages", apart) == pytest.approx(4 * 100_000 / 367, rel=0.02)
    assert pages("stock index pages", together) == pytest.approx(pages("stock", together) / 260, rel=0.02)
    assert len(CLASSES) == len(NAMES)


def virtuoso(*settings: str) -> ScenarioSpec:
    """A few warehouses on the V20z."""
    few = ("workload.warehouses=30", "workload.arrivals.clients=30", "database.pool.buffers=20000",
           "interval.duration_s=60", *settings)  # fmt: skip
    return load_scenario_file(library_files()["v20z"], few)


def stock_pages(scenario: ScenarioSpec) -> list[float]:
    """How popular the stock's pages are, the most popular first."""
    program = build(scenario).program
    start, length = program.tables[program.table_names.index("stock pages")]
    return sorted(alias_pmf(program.alias[start : start + length]).tolist(), reverse=True)


def test_stock_by_item_has_hotter_pages_of_the_same_number() -> None:
    """A page of 24 rows of one item is as popular as that item; one of 24 items as they are on average."""
    by_item, by_warehouse = (
        stock_pages(virtuoso(f"workload.tpcc.stock_key={key}_first")) for key in ("item", "warehouse")
    )
    assert len(by_item) == 30 * len(by_warehouse)
    hottest = [sum(pages[: len(pages) // 5]) / sum(pages) for pages in (by_item, by_warehouse)]
    assert hottest[0] == pytest.approx(0.84, abs=0.02)
    assert hottest[1] == pytest.approx(0.73, abs=0.02)
    warm = "interval.start=warm"  # just loaded, clients of warehouses that are still cached do most
    reads = [
        simulated(build(virtuoso(f"workload.tpcc.stock_key={key}_first", warm)), 1) for key in ("item", "warehouse")
    ]
    per_transaction = [each.devices[0].reads_per_s / each.transactions_per_s for each in reads]
    assert per_transaction[0] < 0.9 * per_transaction[1]


@pytest.mark.parametrize("few", ["workload.active_warehouses=10", "workload.arrivals.clients=10"])
def test_stock_by_item_of_warehouses_that_nobody_uses_is_colder(few: str) -> None:
    used, part = stock_pages(virtuoso()), stock_pages(virtuoso(few))
    assert sum(part[: len(part) // 10]) == pytest.approx(0.77, abs=0.02)
    assert sum(used[: len(used) // 10]) == pytest.approx(0.70, abs=0.02)


def test_a_sample_of_stock_by_item_is_as_uneven_as_the_whole() -> None:
    warm = ("interval.start=warm", "workload.warehouses=40", "workload.arrivals.clients=40")
    whole, sample = (stock_pages(virtuoso(*warm, f"sampling_fraction={share}")) for share in (1, 0.1))
    assert len(whole) == 10 * len(sample)
    for part in (0.05, 0.2, 0.5):
        assert sum(sample[: int(part * len(sample))]) == pytest.approx(sum(whole[: int(part * len(whole))]), rel=0.04)


def test_deliveries_change_any_customer_until_the_loaded_orders_are_through() -> None:
    """Each district's 900 loaded orders belong to any customer alike; then customers are those of new orders."""
    program = build(go_tpc("delivery")).program
    names = [name for name, code in CODES.items() for _ in [code]]
    first, last = program.entries[3], program.entries[4]
    told = [(names[code], *row) for code, *row in program.operations[first:last].tolist()]
    claims = [row for row in told if row[0] == "claim"]
    assert [program.counter_names[row[2]] for row in claims] == ["delivered orders", "loaded orders delivered"]
    assert [int(program.counters[program.counter_tables[claims[1][column]][0]]) for column in (2, 4)] == [2100, 3000]
    place = told.index(claims[1])
    assert [row[0] for row in told[place + 1 : place + 4]] == ["uniform", "jump", "sample"]


def changed(number: int, *settings: str) -> dict[str, tuple[float, float]]:
    """What a transaction of a class changes, by table: references to rows, and those whose key's leaf changes too."""
    model = build(go_tpc("", *settings))
    program = model.program
    found: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for touches in ProgramReader(program, model.client_registers).works[number].touches.values():
        name = program.region_names[int(program.references[touches.reference, 1])]
        rows, keys = found[name]
        found[name] = rows + touches.visits * touches.write, keys + touches.visits * touches.index_write
    return found


NEW_ORDER, PAYMENT, STOCK_LEVEL = (NAMES.index(name) for name in ("new_order", "payment", "stock_level"))
MOVED = [f"workload.layout.heap.{name}_moved_fraction=0.2" for name in ("customers", "stock")]


def test_keys_change_with_rows_that_move_or_are_new() -> None:
    """A new order inserts an order, a new order and ten lines, and changes ten rows of stock; else no key changes."""
    made = changed(NEW_ORDER, *MOVED)
    for table, keys in {"orders": 1, "new order": 1, "order line": 10, "stock": 2}.items():
        assert made[table][1] == pytest.approx(keys), table
    assert made["stock"][0] == pytest.approx(10)
    assert changed(PAYMENT, *MOVED)["customer"][1] == pytest.approx(0.2)
    alone = changed(NEW_ORDER, MOVED[0], "workload.layout.heap.stock_moved_fraction=null")
    assert sum(keys for _, keys in alone.values()) == 0, "keys are left alone unless it is said how often stock moves"
    assert alone["stock"][0] == pytest.approx(10)


@pytest.mark.parametrize("hinted", [0.0, 0.5, 1.0])
def test_reads_of_changed_rows_change_pages(hinted: float) -> None:
    """A new order reads one customer, a stock level 200 rows of stock; neither changes one itself."""
    setting = f"workload.layout.heap.hinted_fraction={hinted}"
    assert changed(NEW_ORDER, setting)["customer"][0] == pytest.approx(hinted)
    assert changed(STOCK_LEVEL, setting)["stock"][0] == pytest.approx(200 * hinted)
