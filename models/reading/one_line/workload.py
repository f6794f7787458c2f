"""What a line says of the workload: its driver or benchmark, the size of its data, its clients and its run."""

import re
from dataclasses import dataclass
from typing import Any

from oltpsim.models.reading.drivers import database_keys, driver_of, gib_per_warehouse, kind_of, usual_driver
from oltpsim.models.reading.one_line.pieces import WHERE, Origin, Phrases
from oltpsim.models.reading.row_workloads import (
    BENCHMARKS,
    DRIVER_PATHS,
    FLUSHES,
    ROW_PATHS,
    PathLength,
    RowWorkload,
    row_workload,
)
from oltpsim.simulator.errors import InputError

WAREHOUSES = 40
MOST_WAREHOUSES = 10_000_000
CLIENTS_PER_WAREHOUSE = 2
HOUR_S = 3600
CURRENT_CLIENTS_PER_CORE = (8, 2, 32)
"""assumed of a machine of today, and what would have been as good"""
DATA_OF_MEMORY = (1.0, 0.25, 4.0)
"""size of the data of a machine of today by that of its memory: assumed, and what would have been as good"""
IN_MEMORY_OF_MEMORY, IN_POOL = (0.25, 0.1), 0.8
"""the same of data that are said to be in memory; and of a pool that is said, as far as it is less"""
SAID_RUN_S = (60, 120)
"""warm-up, and what is counted, of a machine of today where only one of the two is said"""
BOUND_DRIVERS = ("HammerDB", "BenchBase")
"""drivers whose clients stay with a warehouse each unless they are told otherwise"""


@dataclass(frozen=True)
class Current:
    """A machine of today: its cores, and memory, or as much of it as data have room beside."""

    cores: int
    memory_gib: float


@dataclass(frozen=True)
class DataSize:
    """How the size of a workload's data is said. `thing`: among a line's phrases. `key`: of the scenario's workload.

    `what`: many of them, in words. `gib_each`: of one as loaded. `usual`: where nothing says it.
    """

    thing: str
    key: str
    what: str
    gib_each: float
    usual: int
    most: int

    def units_of(self, data_gib: float) -> int:
        """How many are about so large, at least one."""
        return min(max(1, round(data_gib / self.gib_each)), self.most)


@dataclass(frozen=True)
class LineWorkload:
    """The workload of a line. `keys`: of the scenario's, without size and clients. `rows`: None of TPC-C.

    `paths`: path lengths that are the workload's and not the engine's in the catalogue.
    """

    keys: dict[str, Any]
    size: DataSize
    rows: RowWorkload | None
    paths: tuple[PathLength, ...]

    def data_gib(self, phrases: Phrases, memory_gib: float) -> float:
        """Size of the data, said or to be assumed."""
        if self.size.thing in phrases:
            return float(phrases[self.size.thing].value * self.size.gib_each)
        return float(phrases.value("data_gib", _assumed_data_gib(phrases, memory_gib)[0]))

    def size_words(self, units: int) -> str:
        """The workload's size, as a name has it."""
        if self.rows is None:
            return f"{units:,} warehouses"
        many = f"scale {units:,}" if self.size.what == "scale" else f"{units:,} {self.size.what}"
        return f"{self.rows.name}, {many}"

    @property
    def path_rows(self) -> list[Origin]:
        """Rows for the path lengths."""
        return [Origin(each.what, each.key, f"{each.us:g} us", None, each.source, each.factor) for each in self.paths]


def line_workload(phrases: Phrases, engine: str) -> LineWorkload:
    """The workload that a line names, or the engine's usual driver. Raises InputError for what doesn't fit it."""
    driver = phrases.value("driver")
    _refuse_strange(phrases, driver)
    try:
        if driver in BENCHMARKS:
            return _rows(phrases, row_workload(engine, driver, phrases.value("variant")), engine)
        keys = driver_of(engine, driver)
    except InputError as error:
        raise InputError(f"{WHERE}: '{phrases.piece('driver')}': {error}") from error
    home = phrases.value("home", "bound" if (driver or usual_driver(engine)) in BOUND_DRIVERS else None)
    keys |= {"tpcc": {"home_warehouse": home}} if home else {}
    gib_each, kind = gib_per_warehouse(engine, driver), kind_of(engine)
    return LineWorkload(
        keys,
        DataSize("warehouses", "warehouses", "warehouses", gib_each, WAREHOUSES, MOST_WAREHOUSES),
        None,
        (*DRIVER_PATHS.get((kind, driver or usual_driver(engine)), ()), *FLUSHES.get(kind, ())),
    )


def _rows(phrases: Phrases, rows: RowWorkload, engine: str) -> LineWorkload:
    named = BENCHMARKS[rows.benchmark]
    if "table_rows" in phrases:
        rows = rows.with_table_rows(phrases["table_rows"].value)
    return LineWorkload(
        rows.keys,
        DataSize(named.thing, "scale", named.unit, rows.gib_per_unit, 1, rows.most_units),
        rows,
        (*ROW_PATHS[rows.store], *FLUSHES.get(kind_of(engine), ())),
    )


def _refuse_strange(phrases: Phrases, driver: str | None) -> None:
    """Raises InputError for pieces that are of another kind of workload than the line's."""
    units = phrases.piece("warehouses") or ""
    if re.fullmatch(r"[\d,]+ ?W", units) and driver is None and "tpcc" not in phrases:
        count = units[:-1].strip()
        raise InputError(f"{WHERE}: '{units}': watts, or warehouses? write '{count} warehouses', or leave it out")
    sizes = {"scale": "pgbench", "tables": "sysbench", "table_rows": "sysbench", "records": "YCSB"}
    named = BENCHMARKS.get(driver or "")
    if named is None:
        for thing, benchmark in sizes.items():
            if thing not in phrases:
                continue
            piece = phrases[thing].piece
            if driver is None:
                raise InputError(
                    f"{WHERE}: '{piece}': says how large data of {benchmark} are; add '{benchmark}' to the line"
                )
            raise InputError(
                f"{WHERE}: '{piece}' and '{phrases.piece('driver')}': data of {driver} are warehouses; "
                "say '500 warehouses', or '40 GB of data'"
            )
        return
    instead = f"say '{named.example}', or '40 GB of data'"
    strange = {
        **{
            thing: f"that is how large data of {owner} are; {instead}"
            for thing, owner in sizes.items()
            if owner != driver
        },
        "warehouses": f"{driver} has no warehouses, which are TPC-C's; {instead}",
        "home": f"{driver} has no warehouses; leave it out",
        "new_orders": f"{driver} makes no new orders; say how long the run is, as '2 min'",
        "job": f"a {phrases.value('job')} is of TPC-C's data, not of {driver}'s; leave one of them out",
    }
    said = next((thing for thing in ("job", *strange) if thing in phrases), None)
    if said is not None:
        raise InputError(f"{WHERE}: '{phrases[said].piece}' and '{phrases['driver'].piece}': {strange[said]}")


def run_of(
    phrases: Phrases, engine: str, workload: LineWorkload, current: Current | None
) -> tuple[dict[str, Any], list[Origin]]:
    """Workload, interval and job. `current`: None of a machine that isn't of today."""
    job, fixed = phrases.value("job"), "new_orders" in phrases
    if job is not None:
        for other in ("new_orders", "seconds", "clients", "in_memory"):
            if other in phrases and not (job == "load" and other == "in_memory"):
                raise InputError(
                    f"{WHERE}: '{phrases['job'].piece}' and '{phrases[other].piece}': a {job} ends when it is done "
                    "and has one client; leave one of them out"
                )
    if fixed and "seconds" in phrases:
        raise InputError(
            f"{WHERE}: '{phrases['new_orders'].piece}' and '{phrases['seconds'].piece}' both say how long the run is"
        )
    units, rows = _size(phrases, workload.size, current, fixed)
    clients = 1
    if job is None:
        clients, row = _clients(phrases, units, current, fixed)
        rows.append(row)
    keys: dict[str, Any] = workload.keys | {workload.size.key: units, "arrivals": {"clients": clients}}
    rows += _driver_rows(phrases, workload)
    warm = "in_memory" in phrases or fixed or current is not None
    start = "warm" if warm else "after_load"
    sustained = current is not None and not fixed and job is None and not {"seconds", "warm_up_s"} & set(phrases)
    cleaned = current is not None and not sustained and database_keys(engine).get("page_cleaner") is not None
    if cleaned and job is None:
        start = "after_prewarm"
    warm_up, length = SAID_RUN_S if current is not None else (0, HOUR_S)
    length = phrases["new_orders"].value if fixed else phrases.value("seconds", length)
    warm_up = 0 if fixed or job is not None else phrases.value("warm_up_s", warm_up)
    key = "new_orders_per_client" if fixed else "sustained" if sustained else "duration_s"
    interval: dict[str, Any] = {"start": start, key: sustained or length}
    if warm_up and not sustained:
        interval["warm_up_s"] = warm_up
    if "warm_up_s" in phrases and not fixed and job is None:
        rows.append(phrases.row("warm_up_s", "warm-up", "interval.warm_up_s", f"{warm_up:g} s"))
    if "think_s" in phrases:
        keys["arrivals"] |= {"kind": "closed", "think_time_s": phrases["think_s"].value}
        text = f"{phrases['think_s'].value:g} s"
        rows.append(phrases.row("think_s", "think time", "workload.arrivals.think_time_s", text))
    run = {"workload": keys, "interval": interval}
    piece, text = phrases.piece("new_orders", "seconds"), f"{length:,}" if fixed else f"{length:,g} s"
    text += f" after {warm_up:,g} s" if warm_up else ""
    why = "no time is said: " + ("whole checkpoint cycles, credits spent" if sustained else "as published")
    of_run = Origin("run", f"interval.{key}", "for hours" if sustained else text, piece, "" if piece else why)
    if job is not None:
        return run | {"job": {"kind": job}}, [*rows, Origin("job", "job.kind", job, phrases["job"].piece, "")]
    begun = phrases.piece("in_memory", "new_orders")
    source = "" if begun else "once it is warm" if current is not None else "from the state after a load, as published"
    if cleaned:
        source = "a fresh server that has read its files: page cleaners leave few pages dirty"
    return run, [*rows, of_run, Origin("start", "interval.start", start, begun, source)]


def _driver_rows(phrases: Phrases, workload: LineWorkload) -> list[Origin]:
    """Rows for the driver or benchmark."""
    piece, keys = phrases.piece("driver"), workload.keys
    if workload.rows is not None:
        return _rows_of_benchmark(phrases, workload.rows)
    source = "" if piece else "as this engine is usually measured"
    rows = [Origin("driver", "workload", str(keys["base"]), piece, source)]
    if "tpcc" in keys and "job" not in phrases:
        home = keys["tpcc"]["home_warehouse"]
        source = ""
        if home == "bound":
            source = "each virtual user stays with one, unless HammerDB uses all warehouses"
            source = "each terminal stays with one" if phrases.value("driver") == "BenchBase" else source
        key, said = "workload.tpcc.home_warehouse", phrases.piece("home", "driver")
        rows.append(Origin("home warehouses", key, home, said, source))
    return rows


def _rows_of_benchmark(phrases: Phrases, workload: RowWorkload) -> list[Origin]:
    rows = [Origin("workload", "workload", workload.keys["base"], phrases.piece("variant", "driver"), "")]
    if workload.tables_of is not None:
        source = "rows as the engine's pages hold them"
        rows.append(Origin("tables as in", "workload.tables", workload.tables_of, None, source))
    if workload.benchmark == "sysbench":
        source = (
            "--rand-type=uniform, the default since sysbench 1.1; that of 1.0 is special, whose rows are mostly few"
        )
        rows.append(Origin("keys drawn", "workload.transactions", "evenly", None, source))
    if "table_rows" in phrases:
        key, count = "workload.tables[0].rows", f"{phrases['table_rows'].value:,}"
        rows.append(phrases.row("table_rows", "rows of a table", key, count))
    return rows


def _size(phrases: Phrases, size: DataSize, current: Current | None, fixed: bool) -> tuple[int, list[Origin]]:
    """How many units of data there are, and a row for it."""
    if size.thing in phrases and "data_gib" in phrases:
        one, other = phrases[size.thing].piece, phrases["data_gib"].piece
        raise InputError(f"{WHERE}: '{one}' and '{other}' both say how much data there is; keep one of them")
    others, key = tuple[str, ...](), f"workload.{size.key}"
    if size.thing in phrases:
        units, source = phrases[size.thing].value, ""
        if units > size.most:
            raise InputError(f"{WHERE}: '{phrases[size.thing].piece}': got {units:,}; at most {size.most:,}")
    elif "data_gib" in phrases:
        units, source = size.units_of(phrases["data_gib"].value), f"of {1024 * size.gib_each:.0f} MiB each"
    elif fixed and "clients" in phrases:
        units, source = phrases["clients"].value, "a warehouse for each client, as published"
    elif current is not None:
        units, *sizes = map(size.units_of, _assumed_data_gib(phrases, current.memory_gib))
        others = tuple(f"{key}={many}" for many in dict.fromkeys(sizes) if many != units)
        source = (
            "no size is said: data as large as the memory, as far as the disks have room; or a quarter, or four times"
        )
        if "in_memory" in phrases:
            source = "no size is said: a quarter of the memory, which holds them; or a tenth"
    else:
        units, source = size.usual, "no size is said: that of the published table of boxes"
    piece = phrases.piece(size.thing, "data_gib")
    data_gib = units * size.gib_each
    if "in_memory" in phrases and current is not None and data_gib > current.memory_gib:
        one, other = phrases["in_memory"].piece, piece or f"{units:,} {size.what}"
        raise InputError(
            f"{WHERE}: '{one}' and '{other}': {data_gib:,.3g} GiB of data don't fit in {current.memory_gib:,.3g} GiB "
            "of memory; leave one of them out"
        )
    return units, [Origin(size.what, key, f"{units:,}", piece, source, others=others)]


def _assumed_data_gib(phrases: Phrases, memory_gib: float) -> list[float]:
    """Sizes of data that nobody says, the first with the others that would have been as good."""
    if "in_memory" not in phrases:
        return [share * memory_gib for share in DATA_OF_MEMORY]
    most_gib = min(memory_gib, IN_POOL * phrases.value("pool_gib", memory_gib) / IN_MEMORY_OF_MEMORY[0])
    return [share * most_gib for share in IN_MEMORY_OF_MEMORY]


def _clients(phrases: Phrases, units: int, current: Current | None, fixed: bool) -> tuple[int, Origin]:
    """Clients, and a row for them."""
    others = tuple[str, ...]()
    if "clients" in phrases:
        clients, source = phrases["clients"].value, ""
    elif current is not None and not fixed:
        clients, *counts = (times * current.cores for times in CURRENT_CLIENTS_PER_CORE)
        others = tuple(f"workload.arrivals.clients={count}" for count in counts)
        source = "{} for each core, or {}, or {}: as many as keep it busy".format(*CURRENT_CLIENTS_PER_CORE)
    else:
        clients = units * (1 if fixed else CLIENTS_PER_WAREHOUSE)
        source = f"{'one' if fixed else 'two'} for each warehouse, as published"
    key = "workload.arrivals.clients"
    return clients, Origin("clients", key, f"{clients:,}", phrases.piece("clients"), source, others=others)
