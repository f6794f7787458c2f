"""A machine and its run from one line: a scenario, and for each of its keys where the value is from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from oltpsim.models.catalogue import with_setting
from oltpsim.models.input import last_word, parse_quantity, set_value, value_at
from oltpsim.models.reading.assumptions import assumption, key_of, stands_in
from oltpsim.models.reading.drivers import database_keys, kind_of
from oltpsim.models.reading.loading import scenario_from_mapping
from oltpsim.models.reading.one_line import hardware
from oltpsim.models.reading.one_line.database import (
    LAST_OLD_YEAR,
    NEAREST,
    Host,
    database_of,
    engine_of_line,
)
from oltpsim.models.reading.one_line.fullness import KEY as FULLNESS
from oltpsim.models.reading.one_line.fullness import filled_by_data, fullness_row, with_fullness
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
from oltpsim.models.reading.one_line.systems import NO_SYSTEM, NamedSystem
from oltpsim.models.reading.one_line.turns import add_turns
from oltpsim.models.reading.one_line.workload import Current, line_workload, run_of
from oltpsim.models.scenario import ScenarioSpec
from oltpsim.simulator.errors import InputError

LOST_FACTOR = 1.3
CLIENTS_KEY = "machine.network.clients_on_server"
SAME_ZONE = "machine.network={clients_on_server: false, round_trip_us: 200}"
CLIENTS_SOURCE = "no other place is said; 'clients in the same zone' are 0.2 ms away (0.2 to 0.4: orensol.com, 2009)"
PARTS = ("machine.cpu", "machine.disks.disk", "machine.log_disk", "operating_system")
"""parts that a name of the catalogue may stand for: written so that a key below it can be set"""
IN_FLIGHT_KEY = "operating_system.page_cache.in_flight_pages"
IN_FLIGHT_PAGES = (32, 8, 128)
IN_FLIGHT_SOURCE = (
    "Linux's block/blk-wbt.c lets write-back have 16 requests at first, down to 1 where reads then wait, up to 3/4 of "
    "the device's queue where they don't (on by default with most distributions); the log's writes wait behind them"
)

RESERVED_KEY = "operating_system.reserved_memory_gib"
SMALL_MACHINE_GIB, LEAST_RESERVED_GIB, RESERVED_SHARE = 8.0, 0.1, 0.05
RESERVED_FACTOR = 1.5
RESERVED_SOURCE = (
    "idle servers hold 88 MB of 213 MB (Debian 13, tierhive.com), 160 to 300 MB (Ubuntu Server, Rocky: ilsoftware.it): "
    "0.1 GiB and a twentieth of the memory (assumption), until that is the catalogue's half a GiB"
)


OF_A_SHAPE = {"memory_gib", "virtual", "cores", "threads"}
"""things that a cloud machine's name says too"""
SO_ANYWAY = {
    "name", "driver", "virtualised", "file_system", "min_wal", "huge_pages", "wal_compression", "oltp", "tpcc",
    "binlog", "binlog_syncs", "redo_synced", "redo_files", "tls", "fsync", "thread_concurrency", "page_kib", "managed",
}  # fmt: skip
"""things that have no row of their own: as they say it is modelled, or others' rows stand for them"""


@dataclass(frozen=True)
class Description:
    """A described machine. `keys`: those of its scenario that depend on nothing else; `rows`: where they are from."""

    line: str
    scenario: ScenarioSpec
    keys: dict[str, Any]
    rows: tuple[Origin, ...]

    @property
    def data(self) -> dict[str, Any]:
        """The keys of its scenario file."""
        return with_fullness(self.keys, self.scenario)

    def changed(self, setting: str) -> ScenarioSpec:
        """The scenario with one key=value changed. Raises InputError if it contradicts itself then."""
        return filled_by_data(scenario_from_mapping(self.keys, WHERE, [setting]))


def read_description(line: str = "", overrides: Sequence[str] = ()) -> Description:
    """The scenario that a line of pieces describes, with `overrides` over it.

    Raises InputError for pieces that aren't understood or contradict each other, and for machines that can't be.
    """
    phrases = read_line(line)
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
    _refuse_without_effect(phrases, rows)
    described = {"notes": [f"described by: {line}"]}
    scenario = filled_by_data(scenario_from_mapping(data | described, WHERE, overrides))
    for setting in overrides:
        data = with_setting(data, setting)
        key = key_of(setting)
        rows = [row for row in rows if not stands_in(row.key, key)]
        if key == "engine":  # which answers, and is nothing of the machine
            continue
        rows.append(Origin(last_word(key), key, setting.partition("=")[2].strip(), f"--set {setting}", ""))
    if (row := fullness_row(scenario)) is not None and FULLNESS not in {each.key for each in rows}:
        rows.append(row)
    notes = [assumption(f"{row.what}: {row.value}", row.source) for row in rows if row.piece is None]
    data |= {"notes": [*described["notes"], *notes]}
    return Description(line, scenario.model_copy(update={"notes": tuple(data["notes"])}), data, tuple(rows))


def _refuse_without_effect(phrases: Phrases, rows: Sequence[Origin]) -> None:
    """Raises InputError for a piece that says nothing of the scenario, unless it says what is so anyway."""
    shown = {row.piece for row in rows}
    without_row = SO_ANYWAY | (OF_A_SHAPE if "instance" in phrases else set())
    without_row |= {"ghz"} if {"words", "virtual"} & phrases.keys() else set()
    for thing, phrase in phrases.items():
        if phrase.piece not in shown and thing not in without_row:
            raise InputError(f"{WHERE}: '{phrase.piece}': has no effect beside the other pieces; leave it out")


def _with_piece(problem: str, rows: Sequence[Origin]) -> str:
    """A problem of a key, with the piece that said it."""
    where, _, words = problem.partition(": ")
    piece = next((row.piece for row in rows if row.piece and words.startswith(f"{row.key}: ")), None)
    return problem if piece is None else f"{where}: '{piece}': {words}"


def _mapping(phrases: Phrases) -> tuple[dict[str, Any], list[Origin]]:
    known = {} if "instance" in phrases else machine_named(phrases.value("name", ""))
    if "instance" in phrases:
        instance, rows = hardware.instance_of(phrases)
        cores, threads, memory_gib = instance.cpu.cores, instance.vcpus, instance.memory_gib
        year = hardware.YEAR_OF_CURRENT
        machine: dict[str, Any] = {"instance": phrases["instance"].value}
    else:
        instance = None
        cpu, rows, year = hardware.cpu_of(phrases, known)
        cores, threads = hardware.cores_of(cpu)
        memory, row = hardware.memory_of(phrases, known, cores, year > LAST_OLD_YEAR)
        memory_gib = parse_quantity(memory, "memory", "GiB")
        rows.append(row)
        machine = {"cpu": cpu, "memory_gib": memory}
    system, entry, row_of_system = _system(phrases, year)
    engine = engine_of_line(phrases, year)
    workload = line_workload(phrases, engine.entry)
    current = Current(cores, memory_gib) if year > LAST_OLD_YEAR or workload.rows else None
    data_gib = workload.data_gib(phrases, memory_gib)
    in_memory = phrases.value("disk") == hardware.RAM_DISK
    if "volume" in phrases or (instance is not None and not in_memory):
        disks, further = hardware.volumes_of(phrases, instance, data_gib)
    else:
        disks, further = hardware.disks_of(phrases, known, system, entry != "linux")
    host = Host(memory_gib, threads, hardware.is_flash(disks))
    database, of_database = database_of(phrases, engine, host)
    of_paths = workload.path_rows
    of_database = [*(row for row in of_database if row.key not in {each.key for each in of_paths}), *of_paths]
    named_system, further_system = _system_keys(
        entry,
        memory_gib,
        host.has_flash and database_keys(engine.entry)["io"] == "buffered",
    )
    of_system = [row_of_system, *further_system]
    room_gib = hardware.room_gib(disks, instance)
    log_disk, of_log = hardware.log_disk_of(phrases, entry != "linux")
    rows += [*further, *of_log, *of_system]
    if "name" in phrases and not known:
        rows.append(phrases.row("name", "name", "machine.name", phrases["name"].value))
    title = phrases.value("name", phrases.value("instance", "described machine"))
    machine = {"name": title, **machine} | ({} if disks is None else {"disks": disks})
    machine |= {"volume_limits": []} if in_memory and instance is not None and log_disk is None else {}
    if log_disk is not None:
        machine["log_disk"] = log_disk
    if phrases.value("virtualised") == "Xen" and instance is None:
        machine["hardware_share_lost"] = hardware.XEN_SHARE
        key, piece = "machine.hardware_share_lost", phrases["virtualised"].piece
        source = "Xen takes a little under a tenth (Virtuoso article on hardware threads)"
        rows.append(Origin("virtualisation", key, str(hardware.XEN_SHARE), piece, source, LOST_FACTOR))
    if current is not None:
        rows.append(
            Origin("place of the clients", CLIENTS_KEY, "on the server", None, CLIENTS_SOURCE, others=(SAME_ZONE,))
        )
    machine["source"] = "one line of description; see notes"
    if current is not None:
        room_gib = hardware.LARGEST_SHARE * max(
            room_gib - memory_gib, room_gib / 4
        )  # beside the log, and swap on disks
        current = replace(current, memory_gib=min(memory_gib, room_gib))
    run, of_run = run_of(phrases, engine.entry, workload, current)
    name = f"{title}, {workload.size_words(run['workload'][workload.size.key])}"
    data = {"name": name, "machine": machine, "operating_system": named_system, "database": database, **run}
    for each in workload.paths:
        set_value(data, each.key, each.us)
    _spell_out(data)
    if entry == "linux":
        model = (instance.cpu.model if instance else "") if _wakes_by_host(phrases) else None
        rows += add_turns(data, kind_of(engine.entry), model, of_tpcc=workload.rows is None)
    return data, [*rows, *of_database, *of_run]


def _wakes_by_host(phrases: Phrases) -> bool:
    """Whether a message wakes a thread by way of a host: not on bare metal, nor where Xen's whole loss is known."""
    if phrases.value("virtualised") == "Xen":
        return False
    is_rented = "instance" in phrases and ".metal" not in phrases["instance"].value
    return is_rented or bool({"virtual", "virtualised"} & phrases.keys())


def _spell_out(data: dict[str, Any]) -> None:
    """Parts that are names of entries, as keys that others can be put beside."""
    for key in PARTS:
        if isinstance(part := value_at(data, key), str):
            set_value(data, key, {"base": part})


def _system_keys(entry: str, memory_gib: float, writes_back: bool) -> tuple[dict[str, Any], list[Origin]]:
    """The operating system's keys, and rows for what is assumed. `writes_back`: through the page cache to flash."""
    keys: dict[str, Any] = {"base": entry}
    rows = []
    if entry == "linux" and writes_back:
        usual, *counts = IN_FLIGHT_PAGES
        keys["page_cache"] = {"in_flight_pages": usual}
        others = tuple(f"{IN_FLIGHT_KEY}={count}" for count in counts)
        rows.append(Origin("write-back at once", IN_FLIGHT_KEY, str(usual), None, IN_FLIGHT_SOURCE, others=others))
    if entry == "linux" and memory_gib < SMALL_MACHINE_GIB:
        reserved_gib = round(LEAST_RESERVED_GIB + RESERVED_SHARE * memory_gib, 3)
        keys["reserved_memory_gib"] = reserved_gib
        rows.append(
            Origin("system's memory", RESERVED_KEY, f"{reserved_gib:g} GiB", None, RESERVED_SOURCE, RESERVED_FACTOR)
        )
    return keys, rows


def _system(phrases: Phrases, year: int) -> tuple[NamedSystem, str, Origin]:
    key, what = "operating_system", "operating system"
    linux = "linux-2-6" if year <= LAST_OLD_YEAR else "linux"
    if "system" not in phrases:
        of_maker = system_of_maker(phrases.value("name", "")) if year <= LAST_OLD_YEAR else None
        entry = of_maker or linux
        source = "the maker's own" if entry != linux else "no system is said: Linux of the processor's time"
        alternatives = ("operating_system=windows-2000",) if entry == "linux-2-6" else ()
        return NamedSystem(entry, None), entry, Origin(what, key, entry, None, source, others=alternatives)
    piece, system = phrases["system"].piece, phrases["system"].value
    if system.entry is None:
        return system, linux, Origin(what, key, linux, piece, "of the processor's time, no version is said")
    if system.nearest and year > LAST_OLD_YEAR and "linux" not in system.entry and "solaris" not in system.entry:
        raise InputError(f"{WHERE}: '{piece}': {NO_SYSTEM.format(system.entry)}")
    source = NEAREST if system.nearest else ""
    return system, system.entry, Origin(what, key, system.entry, piece, source)
