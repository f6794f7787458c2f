"""Pages of tables and indexes, against what PostgreSQL and InnoDB take for them."""

import pytest

from oltpsim.models.catalogue import expand_names
from oltpsim.models.input import validated
from oltpsim.models.workloads import RowWorkloadSpec
from oltpsim.models.workloads.rows.tables import place_tables
from oltpsim.simulator.form import Assembler


def workload(name: str, **changes: object) -> RowWorkloadSpec:
    return validated(RowWorkloadSpec, {**expand_names(name, "test", "workload"), **changes}, name)


def pages(name: str, table: str, **changes: object) -> int:
    """Of a table as loaded, or of an index."""
    assembler = Assembler()
    place_tables(assembler, workload(name, **changes))
    names = [each for each, _ in assembler.regions]
    return sum(count for region, _, _, count in assembler.load_order if names[region] == table)


def test_pgbench_is_as_large_as_published() -> None:
    """1,281 MB of accounts and 214 MB of their key at scale 100 (PostgreSQL's documentation of pgbench)."""
    assert pages("pgbench", "accounts", scale=100) * 8 / 1024 == pytest.approx(1281, rel=0.01)
    assert pages("pgbench", "accounts index pages", scale=100) * 8 / 1024 == pytest.approx(214, rel=0.02)
    assert pages("pgbench", "history") == 0


def test_a_scale_of_large_units_keeps_them_apart_and_of_small_ones_together() -> None:
    regions = {row[1] for row in workload("pgbench", scale=30).regions.tolist()}
    assert regions == {1, 30}
    few = workload("pgbench", scale=30, tables=[{**table, "rows": 50} for table in tables_of("pgbench")])
    assert {row[1] for row in few.regions.tolist()} == {1}


def tables_of(name: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = list(expand_names(name, "test", "workload")["tables"])
    return found


def test_indexes_are_laid_out_and_loaded() -> None:
    """20 tables of 5,000,000 rows are about 22 GB in InnoDB, a tenth of them k (24 GB: source of the measured runs)."""
    tables = [{**tables_of("sysbench-read-write")[0], "rows": 5_000_000}]
    rows, entries = (
        pages("sysbench-read-write", name, scale=20, tables=tables) * 16 / 1024**2 for name in ("sbtest", "sbtest by k")
    )
    assert rows + entries == pytest.approx(23, rel=0.05)
    assert entries == pytest.approx(0.1 * rows, rel=0.2)


def test_loaded_pages_are_those_of_tables_keys_and_indexes_without_room_to_grow() -> None:
    """15 MiB for each unit of pgbench's scale; room for 5,000,000 rows of history isn't loaded."""
    loaded = workload("pgbench", scale=100).loaded_pages
    assert loaded * 8 / 1024 == pytest.approx(1281 + 214, rel=0.01)
    regions = workload("pgbench", scale=100).regions
    assert loaded < int((regions[:, 1] * regions[:, 2]).sum()) - 30_000
    assert workload("ycsb-c", scale=1).loaded_pages == pages("ycsb-c", "usertable", scale=1) + pages(
        "ycsb-c", "usertable index pages", scale=1
    )
