"""Workloads that a line names: benchmarks of rows on each engine, their size, and BenchBase beside TPC-C's drivers."""

from __future__ import annotations

import pytest

from oltpsim.models.reading import numeric_value, read_description
from oltpsim.models.reading.drivers import gib_per_warehouse
from oltpsim.models.reading.row_workloads import row_workload
from oltpsim.models.workloads import RowWorkloadSpec
from oltpsim.simulator.errors import InputError

HARDWARE = "8 cores, 32 GB, NVMe"
POSTGRESQL, MYSQL = f"{HARDWARE}, PostgreSQL 16", f"{HARDWARE}, MySQL 8.4"


def rows_of(line: str) -> RowWorkloadSpec:
    """The row workload of a line."""
    workload = read_description(line).scenario.workload
    assert isinstance(workload, RowWorkloadSpec)
    return workload


@pytest.mark.parametrize(
    ("line", "name", "per_page", "scale"),
    [
        (f"{POSTGRESQL}, pgbench, scale 1000", "pgbench, TPC-B-like", 61, 1000),
        (f"{POSTGRESQL}, pgbench -S -s 300", "pgbench, select only", 61, 300),
        (f"{POSTGRESQL}, pgbench, simple update, scale 50", "pgbench, simple update", 61, 50),
        (f"{HARDWARE}, pgbench", "pgbench, TPC-B-like", 61, 2192),
        (f"{MYSQL}, sysbench, 8 tables", "sysbench oltp_read_write", 73, 8),
        (f"{POSTGRESQL}, sysbench OLTP, 8 tables", "sysbench oltp_read_write", 37, 8),
        (f"{POSTGRESQL}, oltp_point_select, 10 tables of 5M rows", "sysbench oltp_point_select", 37, 10),
        (f"{MYSQL}, YCSB F with 20 million records", "YCSB, workload F", 11, 20),
        (f"{POSTGRESQL}, YCSB D, 20M records", "YCSB, workload D", 7, 20),
    ],
)
def test_a_benchmark_of_rows_is_run_on_the_engines_rows(line: str, name: str, per_page: int, scale: int) -> None:
    workload = rows_of(line)
    scenario = read_description(line).scenario
    assert (workload.name, workload.tables[0].rows_per_page, workload.scale) == (name, per_page, scale)
    assert workload.page_kib == scenario.database.page_kib
    assert scenario.database.path.statement_us in {197, 122}, "else it takes the time of TPC-C's transactions"
    assert scenario.interval.start == "warm"
    assert scenario.interval.sustained


def test_tpcc_keeps_the_catalogues_path_lengths() -> None:
    assert read_description(POSTGRESQL).scenario.database.path.statement_us == 0
    paths = [read_description(line).scenario.database.path for line in (POSTGRESQL, f"{POSTGRESQL}, pgbench")]
    assert [path.row_operation_us for path in paths] == [150, 25]


def test_rows_of_a_table_may_be_said() -> None:
    assert rows_of(f"{MYSQL}, sysbench, 8 tables of 10,000,000 rows").tables[0].rows == 10_000_000
    assert rows_of(f"{MYSQL}, sysbench, 8 tables").tables[0].rows == 1_000_000
    assert rows_of(f"{MYSQL}, sysbench, 10M rows").scale == pytest.approx(
        rows_of(f"{MYSQL}, sysbench").scale / 10, abs=1
    )


@pytest.mark.parametrize("named", ["pgbench", "sysbench", "YCSB"])
def test_data_of_a_size_are_as_many_units_as_the_engines_rows_take(named: str) -> None:
    said = rows_of(f"{POSTGRESQL}, {named}, 50 GB of data").scale
    assert said == round(50e9 / 2**30 / row_workload("postgresql-15", named).gib_per_unit)
    if named != "pgbench":
        assert said != rows_of(f"{MYSQL}, {named}, 50 GB of data").scale


def test_data_that_nobody_sizes_are_as_large_as_the_memory_or_a_quarter_or_four_times() -> None:
    description = read_description(f"{POSTGRESQL}, pgbench")
    (row,) = [row for row in description.rows if row.key == "workload.scale"]
    assert row.piece is None
    assert row.others == ("workload.scale=548", "workload.scale=8768")
    assert rows_of(f"{POSTGRESQL}, pgbench").scale == round(32 / row_workload("postgresql-15", "pgbench").gib_per_unit)
    assert all(description.changed(other) != description.scenario for other in row.others)
    of_terabytes = read_description("64 cores, 2048 GB, 8 NVMe, PostgreSQL 16, pgbench").scenario.workload
    assert of_terabytes.size == 100_000, "the most that its locked rows allow, since nobody asked for so much"


def test_every_uncertain_row_of_a_benchmark_has_a_number_or_settings_that_the_scenario_takes() -> None:
    for line in (
        f"{POSTGRESQL}, pgbench",
        f"{MYSQL}, sysbench read-only",
        f"{POSTGRESQL}, sysbench",
        f"{MYSQL}, YCSB A",
    ):
        description = read_description(line)
        for row in description.rows:
            assert row.piece is not None or row.source
            assert row.factor is None or numeric_value(description.scenario, row.key) is not None
        keys = [row.key for row in description.rows]
        assert len(keys) == len(set(keys)), "moves of the answer are by key"


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ("PostgreSQL, pgbench, 500 warehouses", "'500 warehouses' and 'pgbench': pgbench has no warehouses, which are"),
        ("PostgreSQL, HammerDB, scale 1000", "'scale 1000' and 'HammerDB': data of HammerDB are warehouses; say '500"),
        ("PostgreSQL, go-tpc, 8 tables", "'8 tables' and 'go-tpc': data of go-tpc are warehouses"),
        ("PostgreSQL, scale 1000", "'scale 1000': says how large data of pgbench are; add 'pgbench' to the line"),
        ("PostgreSQL, 20M records", "add 'YCSB' to the line"),
        (
            "PostgreSQL, sysbench, scale 1000",
            "'scale 1000' and 'sysbench': that is how large data of pgbench are; say '8 tables'",
        ),
        (
            "PostgreSQL, pgbench, 8 tables of 10M rows",
            "'8 tables of 10M rows' and 'pgbench': that is how large data of sysbench are",
        ),
        ("PostgreSQL, pgbench, HammerDB", "'pgbench' and 'HammerDB' both say which driver measures"),
        ("PostgreSQL, pgbench, sysbench", "'pgbench' and 'sysbench' both say which driver measures"),
        ("PostgreSQL, sysbench read-only, point select", "both say which transactions are run"),
        ("PostgreSQL, pgbench, scale 100, 5 GB of data", "both say how much data there is"),
        ("PostgreSQL, pgbench, 1000 new orders each", "pgbench makes no new orders; say how long the run is"),
        ("PostgreSQL, pgbench, load of 20 warehouses", "a load is of TPC-C's data, not of pgbench's"),
        ("PostgreSQL, YCSB A, serial read", "a scan is of TPC-C's data, not of YCSB's"),
        ("PostgreSQL, pgbench, all warehouses", "pgbench has no warehouses; leave it out"),
        ("PostgreSQL, pgbench scale 200000", "'scale 200000': got 200,000; at most 100,000"),
        (
            "MySQL 8.4, pgbench",
            "'pgbench': the catalogue doesn't have the rows of pgbench as mysql-8-4 keeps them; it has",
        ),
        ("MySQL 8.4, YCSB D", "the rows of YCSB D as mysql-8-4 keeps them; it has them of postgresql-"),
        ("Virtuoso 6, sysbench", "as virtuoso-6 keeps them; it has them of"),
        ("PostgreSQL, pgbanch", "'pgbanch': not understood (did you mean 'pgbench'"),
    ],
)
def test_what_does_not_fit_the_workload_is_refused(pieces: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_description(f"{HARDWARE}, {pieces}")
    assert words in str(caught.value)
    assert str(caught.value).startswith("machine: ")
    assert str(caught.value).count("\n") == 2 * ("not understood" in words)


@pytest.mark.parametrize("engine", ["PostgreSQL", "MySQL 8.4", "MariaDB 12", "Percona 5.7"])
def test_benchbase_is_a_driver_whose_terminals_stay_with_a_warehouse(engine: str) -> None:
    scenario = read_description(f"{HARDWARE}, {engine}, 100 warehouses, BenchBase").scenario
    workload = scenario.workload
    assert (workload.name, workload.tpcc.home_warehouse) == ("TPC-C-like, BenchBase", "bound")
    assert workload.layout.page_kib == scenario.database.page_kib
    assert (workload.layout.heap is not None) == (engine == "PostgreSQL")
    usual = read_description(f"{HARDWARE}, {engine}, 100 warehouses").scenario.workload
    assert workload.layout != usual.layout
    assert read_description(f"{HARDWARE}, {engine}, 100 warehouses, BenchBase TPC-C").scenario.workload == workload


@pytest.mark.parametrize(("engine", "mb"), [("postgresql-15", 106), ("mysql-8-4", 108)])
def test_a_warehouse_of_benchbase_is_as_large_as_its_rows(engine: str, mb: float) -> None:
    assert gib_per_warehouse(engine, "BenchBase") * 2**30 / 1e6 == pytest.approx(mb, rel=0.01)
