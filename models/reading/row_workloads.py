"""Row workloads of the catalogue by the benchmarks' names, with rows as each engine keeps them, and path lengths."""

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from oltpsim.models.catalogue import catalogue_entry, expand_names
from oltpsim.models.input import validated
from oltpsim.models.reading.drivers import DRIVERS, database_keys, driver_of
from oltpsim.models.workloads import RowWorkloadSpec
from oltpsim.models.workloads.rows import MOST_LOCKED_ROWS
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB

RowStore = tuple[str, float]
"""how an engine keeps rows: heap or clustered, and KiB of a page"""
HEAP_8: RowStore = ("heap", 8)
CLUSTERED_16: RowStore = ("clustered", 16)
MOST_UNITS = 1_000_000
UNITS_COUNTED = 100
"""units whose pages are counted for the size of one, since small tables of several share pages"""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark of rows. Its workloads of the catalogue by their names in a line: the first is meant if none is said.

    `tables`: entries with the tables as they lie by the way an engine keeps rows. `alone`: workloads whose statements
    are right for one way only. `thing`, `unit`: what its size is called in a line, and what one is.
    """

    workloads: dict[str, str]
    tables: dict[RowStore, str]
    thing: str
    unit: str
    example: str
    alone: dict[str, RowStore] = field(default_factory=dict)


BENCHMARKS = {
    "pgbench": Benchmark(
        workloads={
            "TPC-B-like": "pgbench",
            "simple update": "pgbench-simple-update",
            "select only": "pgbench-select-only",
        },
        tables={HEAP_8: "pgbench"},
        thing="scale",
        unit="scale",
        example="scale 1000",
    ),
    "sysbench": Benchmark(
        workloads={
            "read-write": "sysbench-read-write",
            "read-only": "sysbench-read-only",
            "write-only": "sysbench-write-only",
            "point select": "sysbench-point-select",
            "update index": "sysbench-update-index",
        },
        tables={CLUSTERED_16: "sysbench-read-write", HEAP_8: "sysbench-postgresql"},
        thing="tables",
        unit="tables",
        example="8 tables",
    ),
    "YCSB": Benchmark(
        workloads={letter.upper(): f"ycsb-{letter}" for letter in "abcdef"},
        tables={HEAP_8: "ycsb", CLUSTERED_16: "ycsb-innodb"},
        thing="records",
        unit="million records",
        example="20 million records",
        alone={"D": HEAP_8},
    ),
}
"""YCSB's D reads the rows that were added last, which lie together at a heap's end, and anywhere among hashed keys."""


@dataclass(frozen=True)
class PathLength:
    """A path length on the reference core, us. `key`: of the scenario. `factor`: one standard deviation, x or /."""

    what: str
    key: str
    us: float
    source: str
    factor: float


JOINTLY = (
    "one joint fit of public runs in memory with no more clients than hardware threads: docs/evidence/described.md"
)
OF_TEXTS = f"{JOINTLY}: pgbench's simple protocol on an i5-2500K; prepared statements take a third to a half less"
OF_SHAPES = f"{JOINTLY}: sysbench read-only on nine EC2 shapes"
OF_LOOKUPS = "as in pgbench/select-only-250, an assumption there"
BESIDE = "beside the joint fit, docs/decisions/0059-path-lengths-of-a-line.md"
OF_COPIES = f"{BESIDE}: pages of an i5-2500K's page cache; with the copy 8 us of that core"
OF_ONE_CLIENT = f"{BESIDE}: pgbench's TPC-B by one client on an i5-2500K"
OF_SYSBENCH = "as in sysbench/read-write-2-gib"
OF_MISSES = f"{OF_SYSBENCH}: 54 and 71 us of that core by the pool's size; an assumption for TPC-C is 100"
PATH = "database.path."
ROW_PATHS: dict[RowStore, tuple[PathLength, ...]] = {
    HEAP_8: (
        PathLength("statement's CPU", f"{PATH}statement_us", 197, OF_TEXTS, 1.5),
        PathLength("row's CPU", f"{PATH}row_operation_us", 25, OF_LOOKUPS, 2.0),
        PathLength("page miss's CPU", f"{PATH}page_miss_us", 10, OF_COPIES, 1.5),
    ),
    CLUSTERED_16: (
        PathLength("statement's CPU", f"{PATH}statement_us", 122, OF_SHAPES, 1.4),
        PathLength("row's CPU", f"{PATH}row_operation_us", 25, OF_SHAPES, 1.5),
        PathLength("scanned row's CPU", f"{PATH}scanned_row_us", 5, f"{OF_SYSBENCH}, an assumption there", 1.5),
        PathLength("page miss's CPU", f"{PATH}page_miss_us", 345, OF_MISSES, 1.5),
    ),
}
"""path lengths by the way an engine keeps rows; of engines of one way the same"""
FLUSHES = {
    "postgresql": (PathLength("log flush's overhead", "database.log.flush_overhead_us", 100, OF_ONE_CLIENT, 2.0),),
}
"""overhead of a flush beside the drive's own time, by the kind of engine; the entry's 300 us are an assumption"""
OF_PROCEDURES = f"{JOINTLY}: HammerDB's stored procedures on PostgreSQL 18 take half of what go-tpc's statements do"
OF_MYSQL_PROCEDURES = f"{BESIDE}: HammerDB on MySQL 8.4, in memory on two Xeon Gold 6230: 1.4 of the entry's"
DRIVER_PATHS = {
    ("innodb", "HammerDB"): (
        PathLength("transaction's CPU", f"{PATH}transaction_us", 4200, OF_MYSQL_PROCEDURES, 1.3),
        PathLength("row's CPU", f"{PATH}row_operation_us", 420, OF_MYSQL_PROCEDURES, 1.3),
    ),
    ("postgresql", "HammerDB"): (
        PathLength("transaction's CPU", f"{PATH}transaction_us", 720, OF_PROCEDURES, 1.3),
        PathLength("row's CPU", f"{PATH}row_operation_us", 72, OF_PROCEDURES, 1.3),
    ),
}
"""path lengths of TPC-C by the kind of engine and the driver, where they differ from the catalogue's"""


@dataclass(frozen=True)
class RowWorkload:
    """A benchmark's workload on an engine. `keys`: of the scenario's workload, without size and clients.

    `tables_of`: the entry that the tables are from; None if the workload's own.
    """

    benchmark: str
    variant: str
    keys: dict[str, Any]
    tables_of: str | None
    store: RowStore

    @property
    def name(self) -> str:
        """As people call it."""
        return f"{self.benchmark} {self.variant}"

    def with_table_rows(self, rows: int) -> "RowWorkload":
        """With so many rows in each table of a unit."""
        tables = self.keys.get("tables") or expand_names(self.keys["base"], "line", "workload")["tables"]
        return replace(self, keys=self.keys | {"tables": [table | {"rows": rows} for table in tables]})

    @property
    def round_trips(self) -> int:
        """Messages of a transaction on average."""
        return self._sized(1).round_trips

    @property
    def gib_per_unit(self) -> float:
        """Tables and indexes of a unit of scale as loaded, GiB."""
        counted = self._sized(UNITS_COUNTED)
        return counted.loaded_pages / UNITS_COUNTED * counted.page_kib * KIB / GIB

    @property
    def most_units(self) -> int:
        """The largest scale, as far as locked rows may be counted one by one."""
        locked = [table.rows for table in self._sized(1).tables if table.locked and table.rows]
        return min([MOST_UNITS, *(MOST_LOCKED_ROWS // rows for rows in locked)])

    def _sized(self, scale: int) -> RowWorkloadSpec:
        keys = expand_names(self.keys | {"scale": scale}, "line", "workload")
        return validated(RowWorkloadSpec, keys, "line")


@cache
def row_store_of(engine: str) -> RowStore:
    """How an engine of the catalogue keeps rows, by its page size and the layout of its TPC-C rows."""
    driver = driver_of(engine)
    layout = driver.get("layout") or expand_names(driver["base"], "driver", "workload")["layout"]
    keys = expand_names(layout, "driver", "workload.layout")
    return "heap" if keys.get("heap") else "clustered", float(database_keys(engine)["page_kib"])


def row_workload(engine: str, benchmark: str, variant: str | None = None) -> RowWorkload:
    """A benchmark's workload with rows as an engine keeps them. Raises InputError if the catalogue has no such rows."""
    found, store = BENCHMARKS[benchmark], row_store_of(engine)
    variant = variant or next(iter(found.workloads))
    allowed = {kind: entry for kind, entry in found.tables.items() if found.alone.get(variant, kind) == kind}
    if store not in allowed:
        name = f"{benchmark} {variant}" if variant in found.alone else benchmark
        engines = [each for each in DRIVERS if row_store_of(each) in allowed]
        raise InputError(
            f"the catalogue doesn't have the rows of {name} as {engine} keeps them; it has them of {', '.join(engines)}"
        )
    base, entry = found.workloads[variant], allowed[store]
    own = expand_names(base, "line", "workload")
    if (own["storage"], float(own["page_kib"])) == store:
        return RowWorkload(benchmark, variant, {"base": base}, None, store)
    other = catalogue_entry("workloads", entry)
    named = {table["name"]: table for table in other["tables"]}
    tables = [named[table["name"]] for table in own["tables"]]
    keys = {"base": base, "page_kib": other["page_kib"], "storage": other["storage"], "tables": tables}
    return RowWorkload(benchmark, variant, keys, entry, store)
