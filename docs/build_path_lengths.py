"""Fit the path lengths of described lines to public runs whose data lie in memory (decision 59).

Rows are those of docs/described; each is answered by the formulas. The constants stand in models/reading.

python docs/build_path_lengths.py    some minutes; prints a row for each number
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from statistics import fmean

from docs.build_described import rows_of
from oltpsim.calibration.fit import PATH_NUMBERS, PathRow, fitted_paths
from oltpsim.models.input import value_at
from oltpsim.models.reading import read_description

STATEMENT, ROW, SIMPLE, PROCEDURES = PATH_NUMBERS
ENTRY_ROW_US = 150.0
"""row of TPC-C in PostgreSQL's entry"""


def rows() -> Iterator[PathRow]:
    """Rows in memory, of no more clients than twice the hardware threads."""
    for words, scale, clients in ((w, s, c) for w in ("-S", "TPC-B-like") for s in (30, 300) for c in (1, 4, 16)):
        rates = [
            float(row["tps"])
            for row in rows_of("pgbench_three_sizes_i5.csv")
            if (row["scale"], row["clients"]) == (str(scale), str(clients)) and row["workload"].endswith(words)
        ]
        if words == "-S" or (scale, clients) in {(30, 4), (30, 16)}:
            line = "4 cores, core speed 4.2, 8 GB, SSD, PostgreSQL 13, shared_buffers 1 GB, max_wal_size 16 GB"
            kind = "pgbench select only" if words == "-S" else "pgbench"
            yield PathRow(f"{line}, {kind}, scale {scale}, {clients} clients", fmean(rates), SIMPLE)
    rates_of: dict[tuple[str, int], list[float]] = {}
    for row in rows_of("sysbench_read_only_by_ec2_instance.csv"):
        shape, threads = row["instance"], int(row["threads"])
        if threads <= 2 * int(row["vcpus"]) and not shape.startswith(("c5", "t3")):
            rates_of.setdefault((shape, threads), []).append(float(row["tps"]))
    for (shape, threads), rates in rates_of.items():
        line = f"{shape} + gp2 200 GiB, MySQL 8.0, sysbench read-only, 1 table of 100000 rows, {threads} clients"
        yield PathRow(line, fmean(rates), STATEMENT)
    for row in rows_of("hammerdb_postgresql18_users_azure.csv"):
        if row["storage"] == "tmpfs" and int(row["virtual_users"]) <= 16:
            line = (
                f"epyc-9554, {int(row['vcpus']) // 2} cores, {row['ram_gib']} GB, NVMe, PostgreSQL 18, shared_buffers "
                f"{row['shared_buffers_gb']} GB, synchronous_commit off, HammerDB, {row['warehouses']} warehouses, "
                f"{row['virtual_users']} clients"
            )
            yield PathRow(line, float(row["nopm"]) / 60.0, PROCEDURES)


def constants() -> dict[str, float]:
    """The numbers as lines have them now."""
    of = {row.number: read_description(row.line).scenario for row in rows()}
    statement_us, row_us = "database.path.statement_us", "database.path.row_operation_us"
    return {
        STATEMENT: value_at(of[STATEMENT], statement_us),
        ROW: value_at(of[STATEMENT], row_us),
        SIMPLE: value_at(of[SIMPLE], statement_us),
        PROCEDURES: value_at(of[PROCEDURES], row_us) / ENTRY_ROW_US,
    }


def main() -> None:
    """Print each number as it is fitted, and as lines have it."""
    written = constants()
    for name, (value, factor) in fitted_paths(list(rows())).items():
        sys.stdout.write(f"{name}: {value:.4g}, x or / {factor:.3g}; lines have {written[name]:.4g}\n")


if __name__ == "__main__":
    main()
