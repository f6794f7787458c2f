"""A machine and its run from one line: a scenario, and for each of its keys where the value is from."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oltpsim.models.catalogue import with_setting
from oltpsim.models.input import last_word, parse_quantity
from oltpsim.models.reading.assumptions import assumption, key_of, stands_in
from oltpsim.models.reading.drivers import DEFAULT_DATABASE, database_keys, is_postgresql
from oltpsim.models.reading.loading import scenario_from_mapping
from oltpsim.models.reading.one_line import hardware
from oltpsim.models.reading.one_line.flags import add_flags
from oltpsim.models.reading.one_line.pieces import (
    EXAMPLE,
    WHERE,
    Origin,
    Phrases,
    machine_named,
    read_line,
    system_of_maker,
)
from oltpsim.models.reading.one_line.settings import apply_settings
from oltpsim.models.reading.one_line.systems import NamedEngine, NamedSystem
from oltpsim.models.reading.one_line.workload import Current, line_workload, run_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB

POOL_SHARE = 120_000 * 10 * KIB / (2 * GIB)
"""of the memory: 120,000 buffers of 10 KiB in 2 GiB, as the published SunFire V20z was set up"""
BUFFERS_FACTOR = 1.2
LOST_FACTOR = 1.3
SMALL_GIB = 1.0
"""machines with less memory have a server process without much beside its pool"""
SMALL_PROCESS_GIB = 0.03
PROCESS_FACTOR = 1.3
LAST_OLD_YEAR = 2010
"""of a processor's first models: until then Linux 2.6"""
VIRTUOSO_SINCE = {"virtuoso-4": 0, "virtuoso-5": 2006, "virtuoso-6": 2009}
"""years of processors that were new with a version"""
OLD_MYSQL = "mysql-5-1"
"""what "MySQL" means on a machine of the articles' time"""
CURRENT_POOL_SHARES = (0.25, 0.5)
"""of the memory, of engines that read through the page cache, as PostgreSQL's manual advises; up to this"""
DIRECT_POOL_SHARES = (0.75, 0.5)
"""the same with direct I/O: what innodb_dedicated_server takes of more than 4 GB; MySQL's manual begins at half"""
RELEASE_FACTOR = 1.1
"""assumption: path lengths of one engine's releases differ by a tenth"""
RELEASE_KEY = "database.path.row_operation_us"
WHOLE_PAGES_KEY = "database.checkpoint.full_page_writes"
WHOLE_PAGES_SOURCE = (
    "PostgreSQL's default; the runs that its entry is fitted to had them off: what they cost is the model's word"
)
MOST_LOG_KEY = "database.checkpoint.most_log_gib"
MOST_LOG_GIB = (8, 1, 32)
MOST_LOG_SOURCE = (
    "max_wal_size of a server that was set up for many changes (assumption); PostgreSQL's default is 1 GB, and 32 is "
    "hardly ever reached between two checkpoints"
)
IN_FLIGHT_KEY = "operating_system.page_cache.in_flight_pages"
IN_FLIGHT_PAGES = (32, 8, 128)
IN_FLIGHT_SOURCE = (
    "Linux's block/blk-wbt.c lets write-back have 16 requests at first, down to 1 where reads then wait, up to 3/4 of "
    "the device's queue where they don't (on by default with most distributions); the log's writes wait behind them"
)


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


def read_description(
    line: str = "", overrides: Sequence[str] = (), flags: Mapping[str, str] | None = None
) -> Description:
    """The scenario that a line of pieces describes, with what options say (`--ram`: its text) and `overrides` over it.

    Raises InputError for pieces that aren't understood or contradict each other, and for machines that can't be.
    """
    phrases = read_line(line)
    add_flags(phrases, flags or {})
    if not phrases.keys() - {"name"} and not machine_named(phrases.value("name", "")):
        raise InputError(
            f"{WHERE}: {f'{line!r}: ' if line else ''}nothing here says what the machine is: give pieces like "
            f"'8 cores', '32 GB', 'SSD', or 'r6i.2xlarge'; for example '{EXAMPLE}'"
        )
    data, rows = apply_settings(phrases, *_mapping(phrases))
    try:
        scenario_from_mapping(data, WHERE)  # what the line itself contradicts, before others' changes
    except InputError as error:
        raise type(error)("\n".join(_with_piece(text, rows) for text in str(error).splitlines())) from error
    said = ", ".join([line] * bool(line) + [f"{option} {text}" for option, text in (flags or {}).items()])
    described = {"notes": [f"described by: {said}"]}
    scenario = scenario_from_mapping(data | described, WHERE, overrides)
    for setting in overrides:
        data = with_setting(data, setting)
        key = key_of(setting)
        rows = [row for row in rows if not stands_in(row.key, key)]
        if key == "engine":  # which answers, and is nothing of the machine
            continue
        rows.append(Origin(last_word(key), key, setting.partition("=")[2].strip(), f"--set {setting}", ""))
    notes = [assumption(f"{row.what}: {row.value}", row.source) for row in rows if row.piece is None]
    data |= {"notes": [*described["notes"], *notes]}
    return Description(said, scenario.model_copy(update={"notes": tuple(data["notes"])}), data, tuple(rows))


def _with_piece(problem: str, rows: Sequence[Origin]) -> str:
    """A problem of a key, with the piece that said it."""
    where, _, words = problem.partition(": ")
    piece = next((row.piece for row in rows if row.piece and words.startswith(f"{row.key}: ")), None)
    return problem if piece is None else f"{where}: '{piece}': {words}"


def _mapping(phrases: Phrases) -> tuple[dict[str, Any], list[Origin]]:
    known = {} if "instance" in phrases else machine_named(phrases.value("name", ""))
    if "instance" in phrases:
        instance, rows = hardware.instance_of(phrases)
        cores, memory_gib, year = instance.cpu.cores, instance.memory_gib, hardware.YEAR_OF_CURRENT
        machine: dict[str, Any] = {"instance": phrases["instance"].value}
    else:
        instance = None
        cpu, rows, year = hardware.cpu_of(phrases, known)
        cores = hardware.cores_of(cpu)
        memory, row = hardware.memory_of(phrases, known, cores, year > LAST_OLD_YEAR)
        memory_gib = parse_quantity(memory, "memory", "GiB")
        rows.append(row)
        machine = {"cpu": cpu, "memory_gib": memory}
    system, entry, row_of_system = _system(phrases, year)
    of_system = [row_of_system]
    database, of_database = _database(phrases, memory_gib, year)
    workload = line_workload(phrases, database["base"])
    if workload.path:
        database["path"] = workload.path
        of_database = [*(row for row in of_database if row.key != RELEASE_KEY), *workload.path_rows]
    current = Current(cores, memory_gib) if year > LAST_OLD_YEAR or workload.rows else None
    data_gib = workload.data_gib(phrases, memory_gib)
    if instance is not None or "volume" in phrases:
        disks, further = hardware.volumes_of(phrases, instance, data_gib)
    else:
        disks, further = hardware.disks_of(phrases, known, system, entry != "linux")
    named_system: str | dict[str, Any] = entry
    if entry == "linux" and hardware.is_flash(disks) and database_keys(database["base"])["io"] == "buffered":
        usual, *counts = IN_FLIGHT_PAGES
        named_system = {"base": entry, "page_cache": {"in_flight_pages": usual}}
        others = tuple(f"{IN_FLIGHT_KEY}={count}" for count in counts)
        of_system = [
            *of_system,
            Origin("write-back at once", IN_FLIGHT_KEY, str(usual), None, IN_FLIGHT_SOURCE, others=others),
        ]
    room_gib = hardware.room_gib(disks, instance)
    log_disk, of_log = hardware.log_disk_of(phrases, entry != "linux")
    rows += [*further, *of_log, *of_system]
    if "name" in phrases and not known:
        rows.append(phrases.row("name", "name", "machine.name", phrases["name"].value))
    title = phrases.value("name", phrases.value("instance", "described machine"))
    machine = {"name": title, **machine} | ({} if disks is None else {"disks": disks})
    if log_disk is not None:
        machine["log_disk"] = log_disk
    if "virtualised" in phrases and instance is None:
        machine["hardware_share_lost"] = hardware.XEN_SHARE
        key, piece = "machine.hardware_share_lost", phrases["virtualised"].piece
        source = "Xen takes a little under a tenth (Virtuoso article on hardware threads)"
        rows.append(Origin("virtualisation", key, str(hardware.XEN_SHARE), piece, source, LOST_FACTOR))
    machine["source"] = "one line of description; see notes"
    if current is not None:
        room_gib = hardware.LARGEST_SHARE * max(
            room_gib - memory_gib, room_gib / 4
        )  # beside the log, and swap on disks
        current = replace(current, memory_gib=min(memory_gib, room_gib))
    run, of_run = run_of(phrases, database["base"], workload, current)
    name = f"{title}, {workload.size_words(run['workload'][workload.size.key])}"
    data = {"name": name, "machine": machine, "operating_system": named_system, "database": database, **run}
    return data, [*rows, *of_database, *of_run]


def _system(phrases: Phrases, year: int) -> tuple[NamedSystem, str, Origin]:
    key, what = "operating_system", "operating system"
    linux = "linux-2-6" if year <= LAST_OLD_YEAR else "linux"
    if "system" not in phrases:
        entry = system_of_maker(phrases.value("name", "")) or linux
        source = "the maker's own" if entry != linux else "no system is said: Linux of the processor's time"
        alternatives = ("operating_system=windows-2000",) if entry == "linux-2-6" else ()
        return NamedSystem(entry, None), entry, Origin(what, key, entry, None, source, others=alternatives)
    piece, system = phrases["system"].piece, phrases["system"].value
    if system.entry is None:
        return system, linux, Origin(what, key, linux, piece, "of the processor's time, no version is said")
    source = "the nearest in the catalogue" if system.nearest else ""
    return system, system.entry, Origin(what, key, system.entry, piece, source)


def _database(phrases: Phrases, memory_gib: float, year: int) -> tuple[dict[str, Any], list[Origin]]:
    """The engine with its pool."""
    named = phrases.value("engine", NamedEngine(""))
    entry, others = named.entry, list(named.others)
    source = "the nearest in the catalogue" if named.nearest else "" if not others else "or an earlier release"
    if "engine" not in phrases and year > LAST_OLD_YEAR:
        entry, source = DEFAULT_DATABASE, "no engine is said"
    if others and year <= LAST_OLD_YEAR and not re.search(r"\d", phrases["engine"].piece):
        entry, others, source = OLD_MYSQL, [], "the nearest in the catalogue"
    if not entry:
        source, others = "no version is said: Virtuoso of the processor's time", list(VIRTUOSO_SINCE)
        at = sum(since <= year for since in VIRTUOSO_SINCE.values()) - 1
        entry, others = others[at], others[max(at - 1, 0) : at + 2]
    buffers, row = _buffers(phrases, entry, memory_gib)
    changes: dict[str, Any] = {"pool": {"buffers": buffers}}
    rows = [row]
    if memory_gib < SMALL_GIB and entry in VIRTUOSO_SINCE:
        key, why = "database.process_memory_gib", "a server set up for little memory, as the published one with 512 MB"
        changes["process_memory_gib"] = SMALL_PROCESS_GIB
        rows.append(Origin("server process", key, f"{SMALL_PROCESS_GIB:g} GiB", None, why, PROCESS_FACTOR))
    alternatives = tuple(
        f"database={json.dumps({'base': version, **changes})}" for version in others if version != entry
    )
    known = f"{entry}, nearest known" if named.nearest else entry
    row = Origin("database", "database", known, phrases.piece("engine"), source, others=alternatives)
    if is_postgresql(entry):
        changes["checkpoint"], of_log = _checkpoint(phrases)
        rows += of_log
    else:
        for thing in ("whole_pages", "wal_gib"):
            if thing in phrases:
                raise InputError(f"{WHERE}: '{phrases[thing].piece}': is PostgreSQL's; {entry} has no such setting")
    if is_postgresql(entry) and entry != DEFAULT_DATABASE:
        length = database_keys(entry)["path"][RELEASE_KEY.rpartition(".")[2]]
        why = f"of {DEFAULT_DATABASE}, which was measured: releases differ by a tenth (assumption)"
        rows.append(Origin("path lengths", RELEASE_KEY, f"{length:g} us", None, why, RELEASE_FACTOR))
    return {"base": entry, **changes}, [row, *rows]


def _checkpoint(phrases: Phrases) -> tuple[dict[str, Any], list[Origin]]:
    """PostgreSQL's whole pages in the log, and how much of that there may be."""
    usual, *sizes = MOST_LOG_GIB
    is_on, most_gib = phrases.value("whole_pages", True), phrases.value("wal_gib", usual)
    others = tuple(f"{MOST_LOG_KEY}={size}" for size in sizes)
    rows = [
        phrases.row("whole_pages", "full-page writes", WHOLE_PAGES_KEY, "on" if is_on else "off")
        if "whole_pages" in phrases
        else Origin("full-page writes", WHOLE_PAGES_KEY, "on", None, WHOLE_PAGES_SOURCE),
        phrases.row("wal_gib", "log at most", MOST_LOG_KEY, f"{most_gib:g} GiB")
        if "wal_gib" in phrases
        else Origin("log at most", MOST_LOG_KEY, f"{usual} GiB", None, MOST_LOG_SOURCE, others=others),
    ]
    return {"full_page_writes": is_on, "most_log_gib": most_gib}, rows


def _buffers(phrases: Phrases, entry: str, memory_gib: float) -> tuple[int, Origin]:
    named = database_keys(entry)
    per_buffer_kib = float(named["pool"]["memory_per_buffer_kib"])
    shares, manual = CURRENT_POOL_SHARES, "PostgreSQL"
    if named["io"] == "direct":
        shares, manual = DIRECT_POOL_SHARES, "MySQL"
    piece, factor, others = phrases.piece("buffers", "pool_gib"), None, tuple[str, ...]()
    if "buffers" in phrases and "pool_gib" in phrases:
        one, other = phrases["buffers"].piece, phrases["pool_gib"].piece
        raise InputError(f"{WHERE}: '{one}' and '{other}' both say how large the pool is; keep one of them")
    if "buffers" in phrases:
        buffers, source = phrases["buffers"].value, ""
    elif "pool_gib" in phrases:
        buffers = int(phrases["pool_gib"].value * GIB / KIB / per_buffer_kib)
        source = f"of {per_buffer_kib:g} KiB each"
    elif entry not in VIRTUOSO_SINCE:
        usual, most = (int(share * memory_gib * GIB / KIB / per_buffer_kib) for share in shares)
        buffers, others = usual, (f"database.pool.buffers={most}",)
        source = f"{100 * shares[0]:.0f} % of the memory, as {manual}'s manual advises"
    else:
        buffers, factor = int(POOL_SHARE * memory_gib * GIB / KIB / per_buffer_kib), BUFFERS_FACTOR
        source = f"the published V20z's share of the memory, {100 * POOL_SHARE:.0f} %"
    return buffers, Origin("buffers", "database.pool.buffers", f"{buffers:,}", piece, source, factor, others)
