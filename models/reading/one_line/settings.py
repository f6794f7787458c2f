"""Settings of a line that are keys of the scenario: put into its mapping, with a row for each."""

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from oltpsim.models.catalogue import catalogue_names, expand_names
from oltpsim.models.input import set_value
from oltpsim.models.reading.assumptions import stands_in
from oltpsim.models.reading.drivers import database_keys, is_postgresql
from oltpsim.models.reading.one_line.database import not_of
from oltpsim.models.reading.one_line.pieces import WHERE, Origin, Phrase, Phrases
from oltpsim.models.reading.one_line.words import Form, LineSetting, matches, table
from oltpsim.models.reading.row_workloads import BENCHMARKS
from oltpsim.simulator.errors import InputError

MOST_GIB_PER_CORE, LARGE_GIB = 128, 256
"""limits of servers that are sold (24 TiB with 448 vCPU are 110 GiB a core); smaller memories go unasked"""
MOST_GHZ, MOST_FLASH = 6.5, 64
"""clock and drives of one server at most"""
CURRENT_SPEED_PER_GHZ, CLOCK_FACTOR = 5.0 / 3.0, 1.4
"""speed of a processor of which only the clock is said, and one standard deviation"""
LOCAL, ROUND_TRIP = "machine.network.clients_on_server", "machine.network.round_trip_us"
REDO = "database.page_cleaner.redo_capacity_gib"
CONTROLLER_CACHE = "machine.disks.controller_cache.mib"
HEADER_KIB = 1462 / 1024
"""memory of a buffer of InnoDB beside its page, as measured: the catalogue's mysql-8-4"""
UNIFORM = {"distribution": "uniform"}
OF_OLD_SYSBENCH = {"distribution": "special", "hot_fraction": 0.01, "hot_share": 0.75}
"""sysbench 1.0's default, --rand-type=special"""


def apply_settings(
    phrases: Phrases, data: dict[str, Any], rows: Sequence[Origin]
) -> tuple[dict[str, Any], list[Origin]]:
    """The scenario's keys with the line's settings, and rows. Raises InputError for what doesn't fit the machine."""
    _refuse_impossible(phrases, data["machine"].get("cpu"))
    data, said, engine = copy.deepcopy(data), Phrases(phrases), str(data["database"]["base"])
    _add_clients(said)
    _add_log(said, engine)
    _add_pages(said, engine, data)
    _add_keys(said, data)
    if "clock" in said:
        speed = CURRENT_SPEED_PER_GHZ * said["clock"].value
        form = Form(form="", source="5.0 / 3 for each GHz, as server-2020s of the catalogue", factor=CLOCK_FACTOR)
        said["machine.cpu.relative_speed"] = Phrase(LineSetting(round(speed, 3), form), said["clock"].piece)
    of_host = "virtual" in said or "cpu" not in data["machine"]
    if said.value("count", 1) > 1 and {"words", "ghz"} & said.keys() and not of_host:
        _add(said, "machine.cpu.sockets", said["count"].value, said["count"].piece)
    kept = list(rows)
    for key, phrase in said.items():
        if isinstance(phrase.value, LineSetting):
            kept = [row for row in kept if not stands_in(row.key, key)]
            kept.append(_applied(key, phrase.value, phrase.piece, data, engine))
    return data, [replace(row, others=tuple(_with_settings(other, said) for other in row.others)) for row in kept]


def _with_settings(alternative: str, said: Phrases) -> str:
    """Another release of the engine as an alternative, with the line's settings of it."""
    key, _, text = alternative.partition("=")
    if key != "database" or not text.startswith("{"):
        return alternative
    changed = {"database": json.loads(text)}
    for name, phrase in said.items():
        if name.startswith("database."):
            set_value(changed, name, phrase.value.value)
    return f"database={json.dumps(changed['database'])}"


def _add(said: Phrases, key: str, value: Any, piece: str, source: str = "") -> None:
    """A setting that follows from other pieces, unless the line has it."""
    said.setdefault(key, Phrase(LineSetting(value, Form(form="", source=source)), piece))


def _applied(key: str, setting: LineSetting, piece: str, data: dict[str, Any], engine: str) -> Origin:
    """The row of a setting that is put into the mapping. Raises InputError for one that engine or disk don't have."""
    form, value = setting.form, setting.value
    if form.of and not _has(engine, form.of):
        owner = {"postgresql": "PostgreSQL", "innodb": "InnoDB"}[form.of]
        raise InputError(not_of(piece, owner, engine))
    if key.startswith("machine.disks") and "disks" not in data["machine"]:
        data["machine"] = expand_names(data["machine"], WHERE, "machine")
    *above, last = key.split(".")
    holder = data
    for word in above:
        below = holder.get(word, {})
        holder[word] = {"base": below} if isinstance(below, str) else below
        holder = holder[word]
    if form.disk and expand_names(holder, WHERE, ".".join(above)).get("kind") != form.disk:
        raise InputError(f"{WHERE}: '{piece}': only SSDs have it, and the data lie on none; leave it out")
    holder[last] = value
    if key == CONTROLLER_CACHE:
        holder["source"] = f"the line: {piece}"
    exact = isinstance(value, bool | str | list)
    others = () if exact else tuple(f"{key}={other:g}" for other in form.others)
    text = (
        ("on" if value else "off")
        if isinstance(value, bool)
        else f"{value:,g}"
        if isinstance(value, float)
        else str(value)
    )
    if isinstance(value, list | int) and not isinstance(value, bool):
        text = piece if isinstance(value, list) else f"{value:,}"
    return Origin(table()["keys"].get(key, last), key, text, piece, form.source, None if exact else form.factor, others)


def _has(engine: str, family: str) -> bool:
    return is_postgresql(engine) if family == "postgresql" else bool(database_keys(engine).get("page_cleaner"))


def _refuse_impossible(said: Phrases, cpu: Any) -> None:
    """Raises InputError for a machine that nobody sells, with what may have been meant."""
    if "instance" in said:
        return
    cores = expand_names(cpu, WHERE, "machine.cpu")["cores"]
    memory_gib, disks = said.value("memory_gib", 0), said.value("disks", 1)
    wrong = {
        "memory_gib": memory_gib > LARGE_GIB
        and memory_gib > MOST_GIB_PER_CORE * cores
        and f"{memory_gib:,.0f} GiB of memory with {cores:g} cores; a server has at most {MOST_GIB_PER_CORE} for each: "
        f"write '{memory_gib / 1024:g} TB SSD' for a drive, or how many cores there are",
        "clock": said.value("clock", 0) > MOST_GHZ and f"no processor has more than {MOST_GHZ:g} GHz; write '3.2 GHz'",
        "disks": disks > MOST_FLASH
        and said.value("disk") in {"ssd", "nvme", "sata-ssd"}
        and f"a server takes at most {MOST_FLASH} of them; write how many one machine has, as '8 NVMe'",
    }
    for thing, why in wrong.items():
        if why and thing in said:
            raise InputError(f"{WHERE}: '{said[thing].piece}': {why}")


def _add_clients(said: Phrases) -> None:
    """Clients of a database service are on other machines. Raises InputError where pieces contradict each other."""
    piece, remote = said.piece("managed"), said.piece(ROUND_TRIP)
    local = said[LOCAL].piece if LOCAL in said and said[LOCAL].value.value else None
    if local is not None and (remote or piece):
        why = "no message of theirs is on a network" if remote else "a database service's machine runs nothing else"
        raise InputError(f"{WHERE}: '{local}' and '{remote or piece}': {why}; leave one of them out")
    if piece is not None and remote is None:
        pattern, match = next(iter(matches("clients in the same zone", "")))
        said.add(pattern.says(match), piece)


def _add_log(said: Phrases, engine: str) -> None:
    """What a commit of InnoDB waits for, by its two logs, and the redo log's size by its files."""
    things = [
        thing for thing in ("redo_synced", "binlog_syncs", "binlog", "redo_file_gib", "redo_files") if thing in said
    ]
    if not things:
        return
    piece = said[things[0]].piece
    if not _has(engine, "innodb"):
        raise InputError(not_of(piece, "InnoDB", engine))
    if "redo_file_gib" in said:
        files = said.value("redo_files", 1 if engine.startswith("mariadb") else 2)
        _add(said, REDO, files * said["redo_file_gib"].value, said["redo_file_gib"].piece, f"{files} files")
    elif "redo_files" in said:
        raise InputError(f"{WHERE}: '{said['redo_files'].piece}': add how large one is, as 'innodb_log_file_size 1 GB'")
    if not {"redo_synced", "binlog_syncs", "binlog"} & said.keys():
        return
    if "binlog_syncs" in said and not said.value("binlog", True):
        one, other = said["binlog_syncs"].piece, said["binlog"].piece
        raise InputError(f"{WHERE}: '{one}' and '{other}': without a binary log it isn't synced; leave one of them out")
    usual = database_keys(engine)["log"].get("syncs_per_group", 1) > 1
    usual = said.value("binlog", usual) and (usual or not engine.startswith("mariadb"))
    syncs = int(said.value("redo_synced", True)) + int(said.value("binlog_syncs", usual))
    _add(said, "database.log.commit", "durable" if syncs else "buffered", piece, f"{syncs} syncs for a group")
    _add(said, "database.log.syncs_per_group", max(syncs, 1), piece)
    if not said.value("redo_synced", True):
        _add(said, "database.log.flushed_at_once", False, piece)
    if not syncs:
        _add(said, "database.log.journal_writes_per_group", 0, piece)


def _add_pages(said: Phrases, engine: str, data: dict[str, Any]) -> None:
    """Pages of another size, where the catalogue has the rows that lie in them. Raises InputError where it hasn't."""
    usual = database_keys(engine)
    if "page_kib" not in said or said["page_kib"].value == usual["page_kib"]:
        return
    piece, kib = said["page_kib"].piece, said["page_kib"].value
    name, layout = f"tpcc-innodb-{kib:g}k", expand_names(data["workload"], WHERE, "workload").get("layout")
    if layout != expand_names("tpcc-innodb-16k", WHERE, "workload.layout") or name not in catalogue_names("layouts"):
        raise InputError(
            f"{WHERE}: '{piece}': the catalogue has no rows of this workload in such pages of {engine}; leave it out, "
            "or write 'MySQL 8.0, go-tpc, 4k pages' (of 4 and 8 KiB, by go-tpc or tpcc-mysql)"
        )
    per_buffer_kib = kib + HEADER_KIB
    _add(said, "database.page_kib", kib, piece)
    _add(said, "workload.layout", name, piece)
    _add(said, "database.pool.memory_per_buffer_kib", round(per_buffer_kib, 2), piece)
    if "buffers" not in said:
        buffers = data["database"]["pool"]["buffers"] * usual["pool"]["memory_per_buffer_kib"] / per_buffer_kib
        _add(said, "database.pool.buffers", int(buffers), piece, "as much memory, in smaller pages")


def _add_keys(said: Phrases, data: dict[str, Any]) -> None:
    """Which rows statements are about: sysbench's --rand-type, or its release's. Raises InputError without sysbench."""
    if "tpcc" in said and said.value("driver") in BENCHMARKS:
        one, other = said["tpcc"].piece, said["driver"].piece
        raise InputError(f"{WHERE}: '{one}' and '{other}': are two workloads; leave one of them out")
    piece = said.piece("keys", "release")
    if piece is None:
        return
    keys = said.value("keys", OF_OLD_SYSBENCH)
    if said.value("driver") != "sysbench":
        raise InputError(f"{WHERE}: '{piece}': is sysbench's; write 'sysbench read-write' with it, or leave it out")
    transactions = expand_names(data["workload"], WHERE, "workload")["transactions"]
    for transaction in transactions:
        for statement in transaction["statements"]:
            if statement.get("key") == UNIFORM:
                statement["key"] = dict(keys)
    source = f"--rand-type={keys['distribution']}" + ("" if "keys" in said else ", the default of sysbench 1.0")
    _add(said, "workload.transactions", transactions, piece, source)
