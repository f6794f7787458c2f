"""A machine and its run from one line: a scenario, and for each of its keys where the value is from."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from models.catalogue import catalogue_entry, override
from models.input import last_word, parse
from models.reading.assumptions import assumption, key_of, stands_in
from models.reading.loading import scenario_from_mapping
from models.reading.one_line import hardware
from models.reading.one_line.pieces import WHERE, Origin, Phrase, read_line
from models.reading.one_line.systems import System
from models.scenario import ScenarioSpec
from simulator.errors import InputError
from simulator.form import GIB, KIB

POOL_SHARE = 120_000 * 10 * KIB / (2 * GIB)
"""of the memory: 120,000 buffers of 10 KiB in 2 GiB, as the published SunFire V20z was set up"""
BUFFERS_FACTOR = 1.2
LOST_FACTOR = 1.3
SMALL_GIB = 1.0
"""machines with less memory have a server process without much beside its pool"""
SMALL_PROCESS_GIB = 0.03
PROCESS_FACTOR = 1.3
WAREHOUSES = 40
CLIENTS_PER_WAREHOUSE = 2
HOUR_S = 3600
LAST_OLD_YEAR = 2010
"""of a processor's first models: until then Linux 2.6"""
VIRTUOSO_SINCE = {"virtuoso-4": 0, "virtuoso-5": 2006, "virtuoso-6": 2009}
"""years of processors that were new with a version"""
LAYOUTS = {"postgresql-15": "tpcc-postgresql", "mysql-5-1": "tpcc-16k"}
NAMESAKES = {"sunfire": "solaris-10", "sun ": "solaris-10", "mac ": "mac-os-x-10-4", "imac": "mac-os-x-10-4"}


@dataclass(frozen=True)
class Description:
    """A described machine. `data`: the keys of its scenario file; `rows`: where they are from."""

    line: str
    scenario: ScenarioSpec
    data: dict[str, Any]
    rows: tuple[Origin, ...]

    def changed(self, setting: str) -> ScenarioSpec:
        """The scenario with one key=value changed. Raises InputError if it contradicts itself then."""
        return scenario_from_mapping(self.data, WHERE, [setting])


def described(line: str, overrides: Sequence[str] = ()) -> Description:
    """The scenario that a line of pieces between commas describes, with `overrides` (key=value) over it.

    Raises InputError for pieces that aren't understood or contradict each other, and for machines that can't be.
    """
    said = read_line(line)
    data, rows = _mapping(said)
    scenario_from_mapping(data, WHERE)  # what the line itself contradicts, before others' changes
    for setting in overrides:
        data = override(data, setting)
        key = key_of(setting)
        rows = [row for row in rows if not stands_in(row.key, key)]
        rows.append(Origin(last_word(key), key, setting.partition("=")[2].strip(), f"--set {setting}", ""))
    notes = [assumption(f"{row.what}: {row.value}", row.source) for row in rows if row.piece is None]
    data |= {"notes": [f"described by: {line}", *notes]}
    return Description(line, scenario_from_mapping(data, WHERE), data, tuple(rows))


def _mapping(said: dict[str, Phrase]) -> tuple[dict[str, Any], list[Origin]]:
    known = hardware.known_machine(said)
    cpu, rows, year = hardware.cpu_of(said, known)
    memory, row = hardware.memory_of(said, known)
    rows.append(row)
    system, entry, row = _system(said, year)
    disks, more = hardware.disks_of(said, known, system, entry != "linux")
    log_disk, of_log = hardware.log_disk_of(said)
    rows += [*more, *of_log, row]
    title = str(said["name"].value if "name" in said else "described machine")
    machine: dict[str, Any] = {"name": title, "cpu": cpu, "memory_gib": memory, "disks": disks}
    if log_disk is not None:
        machine["log_disk"] = log_disk
    if "virtualised" in said:
        machine["hardware_share_lost"] = hardware.XEN_SHARE
        key, piece = "machine.hardware_share_lost", said["virtualised"].piece
        source = "Xen takes a little under a tenth (Virtuoso article on hardware threads)"
        rows.append(Origin("virtualisation", key, str(hardware.XEN_SHARE), piece, source, LOST_FACTOR))
    machine["source"] = "one line of description; see notes"
    database, more = _database(said, parse(memory, "memory", "GiB"), year)
    rows += more
    run, of_run = _run(said, database["base"])
    size = run["workload"]["warehouses"]
    data = {
        "name": f"{title}, {size:,} warehouses",
        "machine": machine,
        "operating_system": entry,
        "database": database,
    }
    return data | run, [*rows, *of_run]


def _system(said: dict[str, Phrase], year: int) -> tuple[System, str, Origin]:
    key, what = "operating_system", "operating system"
    linux = "linux-2-6" if year <= LAST_OLD_YEAR else "linux"
    if "system" not in said:
        name = said["name"].value.lower() if "name" in said else ""
        own = next((entry for word, entry in NAMESAKES.items() if word in f"{name} "), linux)
        source = "the maker's own" if own != linux else "no system is said: Linux of the processor's time"
        others = ("operating_system=windows-2000",) if own == "linux-2-6" else ()
        return System(own, None), own, Origin(what, key, own, None, source, others=others)
    piece, system = said["system"].piece, said["system"].value
    if system.entry is None:
        return system, linux, Origin(what, key, linux, piece, "of the processor's time, no version is said")
    source = "the nearest in the catalogue" if system.nearest else ""
    return system, system.entry, Origin(what, key, system.entry, piece, source)


def _database(said: dict[str, Phrase], memory_gib: float, year: int) -> tuple[dict[str, Any], list[Origin]]:
    """The engine with its pool."""
    entry, nearest = said["engine"].value if "engine" in said else ("", False)
    piece = said["engine"].piece if "engine" in said else None
    source, times = "the nearest in the catalogue" if nearest else "", list[str]()
    if not entry:
        source, times = "no version is said: Virtuoso of the processor's time", list(VIRTUOSO_SINCE)
        at = sum(since <= year for since in VIRTUOSO_SINCE.values()) - 1
        entry, times = times[at], times[max(at - 1, 0) : at + 2]
    buffers, row = _buffers(said, entry, memory_gib)
    changes: dict[str, Any] = {"pool": {"buffers": buffers}}
    rows = [row]
    if memory_gib < SMALL_GIB and entry in VIRTUOSO_SINCE:
        key, why = "database.process_memory_gib", "a server set up for little memory, as the published one with 512 MB"
        changes["process_memory_gib"] = SMALL_PROCESS_GIB
        rows.append(Origin("server process", key, f"{SMALL_PROCESS_GIB:g} GiB", None, why, PROCESS_FACTOR))
    others = tuple(f"database={json.dumps({'base': each, **changes})}" for each in times if each != entry)
    return {"base": entry, **changes}, [Origin("database", "database", entry, piece, source, others=others), *rows]


def _buffers(said: dict[str, Phrase], entry: str, memory_gib: float) -> tuple[int, Origin]:
    per_buffer_kib = float(catalogue_entry("databases", entry)["pool"]["memory_per_buffer_kib"])
    piece, factor = _piece(said, "buffers", "pool_gib"), None
    if "buffers" in said and "pool_gib" in said:
        one, other = said["buffers"].piece, said["pool_gib"].piece
        raise InputError(f"{WHERE}: '{one}' and '{other}' both say how large the pool is; keep one of them")
    if "buffers" in said:
        buffers, source = said["buffers"].value, ""
    elif "pool_gib" in said:
        buffers = int(said["pool_gib"].value * GIB / KIB / per_buffer_kib)
        source = f"of {per_buffer_kib:g} KiB each"
    else:
        buffers, factor = int(POOL_SHARE * memory_gib * GIB / KIB / per_buffer_kib), BUFFERS_FACTOR
        source = f"the published V20z's share of the memory, {100 * POOL_SHARE:.0f} %"
    return buffers, Origin("buffers", "database.pool.buffers", f"{buffers:,}", piece, source, factor)


def _run(said: dict[str, Phrase], engine: str) -> tuple[dict[str, Any], list[Origin]]:
    """Workload, interval and job."""
    job, fixed = said["job"].value if "job" in said else None, "new_orders" in said
    if job is not None:
        for other in ("new_orders", "seconds", "clients", "in_memory"):
            if other in said and not (job == "load" and other == "in_memory"):
                raise InputError(
                    f"{WHERE}: '{said['job'].piece}' and '{said[other].piece}': a {job} ends when it is done and has "
                    "one client; leave one of them out"
                )
    if fixed and "seconds" in said:
        raise InputError(
            f"{WHERE}: '{said['new_orders'].piece}' and '{said['seconds'].piece}' both say how long the run is"
        )
    warehouses, clients, rows = _size(said, fixed, job is not None)
    workload: dict[str, Any] = {"base": "virtuoso-tpcc", "warehouses": warehouses, "arrivals": {"clients": clients}}
    if engine in LAYOUTS:
        workload["layout"] = LAYOUTS[engine]
    start = "warm" if "in_memory" in said or fixed else "after_load"
    length = said["new_orders"].value if fixed else said["seconds"].value if "seconds" in said else HOUR_S
    key = "new_orders_per_client" if fixed else "duration_s"
    run = {"workload": workload, "interval": {"start": start, key: length}}
    piece, shown = _piece(said, "new_orders", "seconds"), f"{length:,}" if fixed else f"{length:,g} s"
    of_run = Origin("run", f"interval.{key}", shown, piece, "" if piece else "no time is said: an hour, as published")
    if job is not None:
        more = [of_run] if fixed else []
        return run | {"job": {"kind": job}}, [*rows, *more, Origin("job", "job.kind", job, said["job"].piece, "")]
    begun = _piece(said, "in_memory", "new_orders")
    source = "" if begun else "from the state after a load, as published"
    return run, [*rows, of_run, Origin("start", "interval.start", start, begun, source)]


def _size(said: dict[str, Phrase], fixed: bool, is_job: bool) -> tuple[int, int, list[Origin]]:
    """Warehouses, clients, and rows for those that the run uses."""
    if "warehouses" in said:
        warehouses, source = said["warehouses"].value, ""
    elif fixed and "clients" in said:
        warehouses, source = said["clients"].value, "a warehouse for each client, as published"
    else:
        warehouses, source = WAREHOUSES, "no size is said: that of the published table of boxes"
    key, of = "workload.warehouses", "workload.arrivals.clients"
    rows = [Origin("warehouses", key, f"{warehouses:,}", _piece(said, "warehouses"), source)]
    if is_job:
        return warehouses, 1, rows
    clients, source = warehouses * (1 if fixed else CLIENTS_PER_WAREHOUSE), f"{'one' if fixed else 'two'} for each"
    clients, source = (
        (said["clients"].value, "") if "clients" in said else (clients, f"{source} warehouse, as published")
    )
    return warehouses, clients, [*rows, Origin("clients", of, f"{clients:,}", _piece(said, "clients"), source)]


def _piece(said: dict[str, Phrase], *things: str) -> str | None:
    """The words of the line that say the first of some things; None if it says none of them."""
    return next((said[thing].piece for thing in things if thing in said), None)
