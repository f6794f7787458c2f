"""Pieces of a line that name a benchmark of rows, and the table of all forms: what each says, and what is none."""

from typing import Any

import pytest

from oltpsim.models.reading.one_line.pieces import read_line
from oltpsim.simulator.errors import InputError

PGBENCH, SYSBENCH, YCSB = {"driver": "pgbench"}, {"driver": "sysbench"}, {"driver": "YCSB"}


@pytest.mark.parametrize(
    ("piece", "found"),
    [
        ("pgbench", PGBENCH),
        ("by pgbench", PGBENCH),
        ("pgbench select only", PGBENCH | {"variant": "select only"}),
        ("pgbench-select-only", PGBENCH | {"variant": "select only"}),
        ("select-only", PGBENCH | {"variant": "select only"}),
        ("pgbench -S", PGBENCH | {"variant": "select only"}),
        ("-S", PGBENCH | {"variant": "select only"}),
        ("pgbench -N", PGBENCH | {"variant": "simple update"}),
        ("Simple Update", PGBENCH | {"variant": "simple update"}),
        ("pgbench TPC-B", PGBENCH | {"variant": "TPC-B-like"}),
        ("pgbench scale 1,000", PGBENCH | {"scale": 1000}),
        ("scale factor 50", {"scale": 50}),
        (
            "pgbench -c 64 -j 8 -T 300 -S -s 500",
            PGBENCH | {"clients": 64, "seconds": 300.0, "variant": "select only", "scale": 500},
        ),
        ("sysbench", SYSBENCH),
        ("sysbench 1.0.20 OLTP", SYSBENCH | {"release": "1.0"}),
        ("sysbench 1.1 OLTP", SYSBENCH),
        ("sysbench OLTP read write", SYSBENCH | {"variant": "read-write"}),
        ("oltp_read_write", SYSBENCH | {"variant": "read-write"}),
        ("sysbench oltp_read_only", SYSBENCH | {"variant": "read-only"}),
        ("write-only", SYSBENCH | {"variant": "write-only"}),
        ("sysbench point selects", SYSBENCH | {"variant": "point select"}),
        ("update index", SYSBENCH | {"variant": "update index"}),
        ("8 tables", {"tables": 8}),
        ("8 tables of 10,000,000 rows", {"tables": 8, "table_rows": 10_000_000}),
        ("8 tables of 10M rows each", {"tables": 8, "table_rows": 10_000_000}),
        ("2.5 million rows per table", {"table_rows": 2_500_000}),
        (
            "sysbench oltp_read_write --tables=8 --table-size=10000000 --threads=64 --time=300 run",
            SYSBENCH
            | {"variant": "read-write", "tables": 8, "table_rows": 10_000_000, "clients": 64, "seconds": 300.0},
        ),
        ("sysbench read-only 16 tables 64 threads", SYSBENCH | {"variant": "read-only", "tables": 16, "clients": 64}),
        ("YCSB A", YCSB | {"variant": "A"}),
        ("ycsb-f", YCSB | {"variant": "F"}),
        ("YCSB workload b", YCSB | {"variant": "B"}),
        ("workload C", YCSB | {"variant": "C"}),
        ("20 million records", {"records": 20}),
        ("YCSB A 20M records", YCSB | {"variant": "A", "records": 20}),
        ("3,000,000 records", {"records": 3}),
    ],
)
def test_a_piece_says(piece: str, found: dict[str, Any]) -> None:
    assert {thing: phrase.value for thing, phrase in read_line(piece).items()} == found


@pytest.mark.parametrize(
    "piece",
    ["pgbanch", "YCSB G", "workload", "A", "-s", "-n", "64 threads", "pgbench HammerDB",
     "pgbench update index", "sysbench oltp_delete", "pgbench 8 blue tables", "-T 300", "-s 500"],
)  # fmt: skip
def test_another_piece_is_refused(piece: str) -> None:
    with pytest.raises(InputError):
        read_line(piece)


@pytest.mark.parametrize(
    "piece", ["sysbench-tpcc", "8 cores", "32 GB", "100 warehouses", "PostgreSQL 15", "serial read", "name oltp"]
)
def test_another_piece_says_nothing_of_rows(piece: str) -> None:
    found = read_line(piece)
    assert not {"variant", "scale", "tables", "records"} & found.keys()
    assert found.value("driver") not in {"pgbench", "sysbench", "YCSB"}


@pytest.mark.parametrize(
    ("piece", "words"),
    [
        ("pgbench -S -N", "'-S' and '-N' both say which transactions are run"),
        ("pgbench scale 0", "got 0; must be greater than 0"),
        ("2.5 tables", "got 2.5; must be a whole number"),
        ("2,600,000 records", "counted by the million here; nearest: 3 million"),
        ("10 records", "nearest: 1 million"),
    ],
)
def test_a_wrong_number_is_refused(piece: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_line(piece)
