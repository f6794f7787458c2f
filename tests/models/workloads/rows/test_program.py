"""Row workloads as they run: pages referred to, what is changed, what three engines say of them."""

import dataclasses
import json
import math
import re
from functools import cache
from pathlib import Path

import pytest

from oltpsim.models.input import parse_yaml
from oltpsim.models.reading import load_scenario
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.models.wiring import build, scenario_remarks
from oltpsim.models.workloads import RowWorkloadSpec
from oltpsim.models.workloads.rows.program import row_counts
from oltpsim.simulator import analytic, kernel, reference
from oltpsim.simulator.analytic.reading.workload import read_workload
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.results import Result, result_json

ROOT = Path(__file__).parents[4]
TINY = ROOT / "tests" / "scenarios" / "tiny.yaml"
MACHINE = (
    (
        "machine={base: amd-5900-8gb, cpu: {base: server-2020s, cores: 4, threads_per_core: 1},"
        " disks: {count: 2, disk: nvme}, log_disk: null}"
    ),
    "operating_system=linux",
    "database={base: postgresql-15, path: {statement_us: 50, row_operation_us: 30}}",
    "interval={start: warm, warm_up_s: 0.3, duration_s: 1}",
    "measured=null",
    "notes=[]",
)
SLOW = ("machine.cpu.relative_speed=0.3", "workload.arrivals.clients=3")
"""so that the reference engine has less to do"""
ALL = (
    *("pgbench", "pgbench-simple-update", "pgbench-select-only"),
    *(f"sysbench-{name}" for name in ("read-write", "read-only", "write-only", "point-select", "update-index")),
    *(f"ycsb-{letter}" for letter in "abcdef"),
)


def scenario(workload: str, *settings: str) -> ScenarioSpec:
    """A workload of the catalogue on PostgreSQL with 20,000 buffers, of scale 2 or, for pgbench, 20."""
    scale = 20 if workload.startswith("pgbench") else 1
    keys = f"workload={{base: {workload}, page_kib: 8, scale: {scale}, arrivals: {{clients: 8}}}}"
    return load_scenario(TINY, [*MACHINE, keys, "database.pool.buffers=20000", *settings])


@cache
def simulated(workload: str, *settings: str) -> Result:
    return kernel.simulate(build(scenario(workload, *settings)), 1)


def per_transaction(result: Result, table: str) -> float:
    """References to a table's pages."""
    [found] = [each for each in result.tables if each.name == table]
    return found.references / (result.transactions_per_s * result.duration_s)


@pytest.mark.uncounted
@pytest.mark.parametrize("workload", ALL)
def test_the_compiled_engine_is_the_reference(workload: str) -> None:
    system = build(scenario(workload, "interval={start: warm, warm_up_s: 0, duration_s: 1}", *SLOW))
    one, other = reference.simulate(system, 3), kernel.simulate(system, 3)
    assert sum(each.completed for each in other.classes) > 30
    assert result_json(dataclasses.replace(one, engine="kernel")) == result_json(other)


@pytest.mark.slow
@pytest.mark.parametrize("workload", ALL)
def test_the_formulas_are_near_the_simulation(workload: str) -> None:
    found, calculated = simulated(workload), analytic.simulate(build(scenario(workload)), 1)
    assert calculated.transactions_per_s == pytest.approx(found.transactions_per_s, rel=0.2)
    assert calculated.caches[0].hit_ratio == pytest.approx(found.caches[0].hit_ratio, abs=0.03)


def test_what_statements_refer_to() -> None:
    """TPC-B: three updates, a read of the same row and a row at the end; each with its key's page, but the last."""
    result = simulated("pgbench")
    expected = {"accounts": 2, "accounts index pages": 2, "tellers": 1, "branches": 1, "history": 1}
    for table, references in expected.items():
        assert per_transaction(result, table) == pytest.approx(references, rel=0.02), table
    assert result.log.bytes_per_s / result.log.commits_per_s == pytest.approx(4 * 250, rel=1e-3)


def test_a_range_reads_its_pages() -> None:
    """100 rows of 73 a page are on 1 + 99 / 73 pages; two calls of the last page are one page."""
    result = simulated("sysbench-read-only")
    assert per_transaction(result, "sbtest") == pytest.approx(10 + 4 * 3, rel=0.01)


def test_an_index_is_changed_where_its_column_is() -> None:
    """An update of k, a row taken out and one put in: three entries; the update of another column none."""
    assert per_transaction(simulated("sysbench-write-only"), "sbtest by k") == pytest.approx(3, rel=0.01)
    point = "workload.transactions=[{name: c, statements: [{do: update, table: sbtest, key: {distribution: uniform}}]}]"
    assert per_transaction(simulated("sysbench-write-only", point), "sbtest by k") == 0


def test_rows_that_move_change_every_index() -> None:
    table = "{name: sbtest, rows: 1000000, rows_per_page: 73, key_entries_per_page: 1000, moved_fraction: 0.25"
    tables = f"workload.tables=[{table}, indexes: [{{name: k, entries_per_page: 800}}]}}]"
    point = "workload.transactions=[{name: c, statements: [{do: update, table: sbtest, key: {distribution: uniform}}]}]"
    result = simulated("sysbench-write-only", tables, point)
    assert per_transaction(result, "sbtest by k") == pytest.approx(0.25, rel=0.05)


def test_rows_alike_miss_as_often_as_they_must() -> None:
    """Of N pages drawn evenly a full pool of B misses 1 - B / N of the references, whatever it replaces."""
    one_page = "{name: t, rows: 1000000, rows_per_page: 20}"
    settings = (
        f"workload.tables=[{one_page}]",
        "workload.transactions=[{name: c, statements: [{do: read, table: t, key: {distribution: uniform}}]}]",
    )
    result = simulated("pgbench", "workload.scale=1", *settings)
    assert result.caches[0].hit_ratio == pytest.approx(20_000 / 50_000, abs=0.01)
    other = simulated("pgbench", "workload.scale=1", "database.pool.buffers=40000", *settings)
    assert other.caches[0].hit_ratio == pytest.approx(40_000 / 50_000, abs=0.01)


def test_clients_at_one_branch_wait_for_each_other() -> None:
    """A branch's row is locked until the commit: at scale 1 its clients come one by one, of 8 at scale 100 hardly."""
    crowd, apart = (simulated("pgbench", f"workload.scale={scale}") for scale in (1, 100))
    [waits, few] = [result.classes[0].time_by_s["row locks"] / result.classes[0].mean_s for result in (crowd, apart)]
    assert waits > 0.5
    assert few < 0.1
    assert crowd.transactions_per_s < 0.7 * apart.transactions_per_s


def test_hot_rows_hit_more() -> None:
    def hits(key: str) -> float:
        point = f"workload.transactions=[{{name: c, statements: [{{do: read, table: sbtest, key: {key}}}]}}]"
        return simulated("sysbench-point-select", "workload.scale=4", point).caches[0].hit_ratio

    even, special = (
        hits("{distribution: uniform}"),
        hits("{distribution: special, hot_fraction: 0.01, hot_share: 0.75}"),
    )
    assert special > even + 0.1


def test_a_statement_has_its_own_time() -> None:
    """With statement_us a transaction's time is that of its statements; without one, transaction_us once."""
    counts = row_counts(workload_of("pgbench"))
    assert counts["tpcb like"].statements == 7
    assert counts["tpcb like"].operations == 5
    slow, fast = (simulated("pgbench-select-only", f"database.path.statement_us={each}") for each in (400, 50))
    ratio = fast.transactions_per_s / slow.transactions_per_s
    assert 2.0 < ratio < 8.0
    whole = simulated("pgbench-select-only", "database.path.statement_us=0", "database.path.transaction_us=400")
    assert math.isclose(whole.transactions_per_s, slow.transactions_per_s, rel_tol=0.02)


def workload_of(name: str) -> RowWorkloadSpec:
    workload = scenario(name).workload
    assert isinstance(workload, RowWorkloadSpec)
    return workload


READ, UPDATE = (f"{{do: {what}, table: accounts, key: {{distribution: uniform}}}}" for what in ("read", "update"))


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("workload.transactions=[]", "workload.transactions"),
        (f"workload.transactions=[{{name: a, share: 0.5, statements: [{READ}]}}]", "the shares sum to 0.5"),
        ("workload.transactions=[{name: a, statements: [{do: read, table: x, key: same}]}]", "no such table"),
        (
            "workload.transactions=[{name: a, statements: [{do: read, table: accounts, key: same}]}]",
            "no statement before",
        ),
        ("workload.transactions=[{name: a, statements: [{do: read, table: accounts}]}]", "needs a key"),
        ("workload.transactions=[{name: a, statements: [{do: insert, table: none}]}]", "no such table"),
        (f"workload.transactions=[{{name: a, statements: [{READ[:-1]}, rows: 5}}]}}]", "others have one"),
        (f"workload.transactions=[{{name: a, statements: [{READ[:-1]}, changes: [k]}}]}}]", "changes is of an update"),
        (f"workload.transactions=[{{name: a, statements: [{READ[:-1]}, log_bytes: 9}}]}}]", "log_bytes is of a change"),
        ("workload.tables=[{name: accounts, rows: 0, rows_per_page: 61}]", "no rows as loaded"),
        (
            "workload.tables=[{name: accounts, rows: 100000, rows_per_page: 61, locked: true}]",
            "2,000,000 rows; at most",
        ),
        ("workload.transactions=[{name: a, statements: [{do: insert, table: accounts}]}]", "give it room_rows"),
        (f"workload.transactions=[{{name: new order, statements: [{READ}]}}]", "'new order' is TPC-C's"),
        (
            f"workload.transactions=[{{name: a, statements: [{UPDATE[:-1]}, changes: [k]}}]}}]",
            "no index 'k'; the table has none",
        ),
        ("workload.scale=0", "workload.scale"),
        ("workload.page_kib=16", "workload.page_kib: got 16"),
        ("measured={new_orders_per_minute: 5, role: predicted, source: x}", "measured.transactions_per_s: missing"),
        ("job={kind: scan}", "job: scan is about TPC-C's tables"),
        ("workload.scale=1000000", "scale 1,000,000 are"),
        ("interval={start: warm, warm_up_s: 0, duration_s: null, new_orders_per_client: 5}", "no new orders"),
    ],
)
def test_what_does_not_fit_is_refused(setting: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        scenario("pgbench-select-only", setting)


def test_rows_that_are_read_as_they_were_added_cannot_be_sampled() -> None:
    """Its twins are drawn from units of scale, of which some stand for all."""
    with pytest.raises(InputError, match="have nothing of their own that could stand for others"):
        scenario("ycsb-d", "sampling_fraction=0.5")
    assert scenario("pgbench-select-only", "sampling_fraction=0.5").sampling_fraction == 0.5


def test_questions_about_warehouses_are_refused() -> None:
    with pytest.raises(InputError, match=r"workload.kind: got rows \(pgbench, TPC-B-like\)"):
        _ = scenario("pgbench").unit_workload


def test_shares_of_a_pool_that_holds_everything_are_shares() -> None:
    """Pages referred to twice in a transaction, all of them in: rounding left -2e-18 of the references missing.

    The formulas divided by it, and gave a tenth of the rate without a word.
    """
    system = build(scenario("sysbench-write-only"))
    missing = read_workload(system).table("clock").missing
    assert missing.min() == 0.0
    assert missing.max() <= 1.0
    found = simulated("sysbench-write-only").transactions_per_s
    assert analytic.simulate(system, 1).transactions_per_s == pytest.approx(found, rel=0.2)


def test_the_page_about_ones_own_workload_shows_one() -> None:
    page = (ROOT / "docs" / "how-to" / "own-workload.md").read_text(encoding="utf-8")
    block = parse_yaml(page.split("```yaml\n")[1].split("```")[0], "page")["workload"]
    keys = json.dumps({key: value for key, value in block.items() if key != "scale"})
    asked = load_scenario(TINY, [*MACHINE, f"workload={keys[:-1]}, scale: 1}}", "machine.memory_gib=32"])
    assert isinstance(asked.workload, RowWorkloadSpec)
    result = kernel.simulate(build(asked), 1)
    rates = {each.name: each.rate_per_min for each in result.classes}
    assert rates["order"] == pytest.approx(4 * rates["look up"], rel=0.1)
    for name in ("pgbench", "sysbench-read-write", "ycsb-a"):
        assert f"`{name}`" in page


def test_a_database_whose_statements_nobody_has_timed_says_so() -> None:
    result = simulated("pgbench-select-only")
    known = scenario("pgbench-select-only")
    unknown = scenario("pgbench-select-only", "database.path.statement_us=0")
    [said] = [line for line in scenario_remarks(unknown, result) if "statement_us" in line]
    assert "several times too low" in said
    assert not [line for line in scenario_remarks(known, result) if "statement_us" in line]


def test_a_range_of_more_rows_than_there_are_is_refused() -> None:
    few = "workload.tables=[{name: accounts, rows: 10, rows_per_page: 61}]"
    wide = "{do: range, table: accounts, key: {distribution: uniform}, rows: 500}"
    with pytest.raises(InputError, match="rows: got 500 of a table of 200"):
        scenario("pgbench-select-only", few, f"workload.transactions=[{{name: a, statements: [{wide}]}}]")
    many = "{do: read, table: accounts, key: {distribution: nurand, bits: 13}}"
    with pytest.raises(InputError, match="nurand of 10,000,000 rows; at most 2,000,000"):
        scenario(
            "pgbench-select-only", "workload.scale=100", f"workload.transactions=[{{name: a, statements: [{many}]}}]"
        )


def test_indexes_of_a_table_that_begins_empty_are_refused() -> None:
    empty = "{name: accounts, rows: 0, rows_per_page: 61, room_rows: 1000, indexes: [{name: k, entries_per_page: 50}]}"
    put_in = "workload.transactions=[{name: a, statements: [{do: insert, table: accounts}]}]"
    with pytest.raises(InputError, match="a table that begins empty"):
        scenario("pgbench-select-only", f"workload.tables=[{empty}]", put_in)
    scenario("pgbench-select-only", f"workload.tables=[{empty.replace('rows: 0', 'rows: 500')}]", put_in)
