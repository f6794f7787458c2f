"""Benchmarks of rows by engine: whose rows they have, how large a unit is, and who has none."""

import pytest

from oltpsim.models.catalogue import catalogue_names, expand_names
from oltpsim.models.input import validated
from oltpsim.models.reading.drivers import DRIVERS
from oltpsim.models.reading.row_workloads import BENCHMARKS, CLUSTERED_16, HEAP_8, ROW_PATHS, row_store_of, row_workload
from oltpsim.models.workloads import RowWorkloadSpec
from oltpsim.simulator.errors import InputError

EVERY = [(benchmark, variant) for benchmark, named in BENCHMARKS.items() for variant in named.workloads]


def test_every_row_workload_of_the_catalogue_has_a_name_in_a_line() -> None:
    named = {entry for each in BENCHMARKS.values() for entry in (*each.workloads.values(), *each.tables.values())}
    kinds = {name: expand_names(name, "test", "workload").get("kind") for name in catalogue_names("workloads")}
    assert {name for name, kind in kinds.items() if kind == "rows"} == named


@pytest.mark.parametrize(
    ("engine", "store"),
    [("postgresql-15", HEAP_8), ("mysql-8-4", CLUSTERED_16), ("mariadb-12", CLUSTERED_16),
     ("virtuoso-6", ("clustered", 8.0)), ("oracle-10g", ("heap", 4.0))],
)  # fmt: skip
def test_an_engine_keeps_rows_as_its_tpcc_layout_says(engine: str, store: tuple[str, float]) -> None:
    assert row_store_of(engine) == store


@pytest.mark.parametrize("engine", DRIVERS)
@pytest.mark.parametrize(("named", "variant"), EVERY)
def test_rows_are_the_engines_own_or_refused(engine: str, named: str, variant: str) -> None:
    store = row_store_of(engine)
    has = store in BENCHMARKS[named].tables and BENCHMARKS[named].alone.get(variant, store) == store
    if not has:
        with pytest.raises(InputError, match=rf"doesn't have the rows of {named}.* as {engine} keeps them"):
            row_workload(engine, named, variant)
        return
    found = row_workload(engine, named, variant)
    spec = validated(RowWorkloadSpec, expand_names(found.keys, "test", "workload"), "test")
    own = validated(RowWorkloadSpec, expand_names(found.keys["base"], "test", "workload"), "test")
    assert (spec.storage, spec.page_kib) == store
    assert spec.transactions == own.transactions
    assert [table.name for table in spec.tables] == [table.name for table in own.tables]
    assert (found.tables_of is None) == ((own.storage, own.page_kib) == store)


@pytest.mark.parametrize(
    ("engine", "named", "mb"),
    [
        ("postgresql-15", "pgbench", 15.7),  # -s 100: 1,281 MiB of accounts, 214 of their key
        ("mysql-8-4", "sysbench", 252),  # published: 10,000,000 rows take 2.4 to 2.5 GB
        ("postgresql-15", "sysbench", 275),  # 216 and 20 bytes a row, the index of k two thirds full
        ("postgresql-15", "YCSB", 1170),
        ("mysql-8-4", "YCSB", 1490),
    ],
)
def test_a_unit_is_as_large_as_its_rows(engine: str, named: str, mb: float) -> None:
    found = row_workload(engine, named)
    assert found.gib_per_unit * 2**30 / 1e6 == pytest.approx(mb, rel=0.05)


def test_rows_of_a_table_are_a_units_size() -> None:
    found = row_workload("postgresql-15", "sysbench", "point select")
    larger = found.with_table_rows(10_000_000)
    assert larger.gib_per_unit == pytest.approx(10 * found.gib_per_unit, rel=1e-3)
    assert larger.keys["tables"][0]["rows_per_page"] == found.keys["tables"][0]["rows_per_page"] == 37
    of_its_own = row_workload("mysql-8-4", "sysbench").with_table_rows(10_000_000)
    assert of_its_own.keys["tables"][0]["rows_per_page"] == 73


def test_locked_rows_are_the_most_that_a_scale_may_be() -> None:
    assert row_workload("postgresql-15", "pgbench").most_units == 100_000
    assert row_workload("postgresql-15", "pgbench", "select only").most_units == 1_000_000


def test_every_path_length_has_a_source_and_each_way_of_keeping_rows_a_statements() -> None:
    for paths in ROW_PATHS.values():
        assert all(each.source for each in paths)
        assert any(each.key == "database.path.statement_us" and each.factor for each in paths)
    assert set(ROW_PATHS) == {store for each in BENCHMARKS.values() for store in each.tables}
