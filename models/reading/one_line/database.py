"""The database of a described machine: its engine, its pool, and the settings that its owner chooses."""

import json
import re
from dataclasses import dataclass
from typing import Any

from oltpsim.models.input import set_value
from oltpsim.models.reading.drivers import DEFAULT_DATABASE, database_keys, is_postgresql
from oltpsim.models.reading.one_line.pieces import WHERE, Origin, Phrases
from oltpsim.models.reading.one_line.systems import NamedEngine
from oltpsim.simulator.errors import InputError
from oltpsim.simulator.form import GIB, KIB

POOL_SHARE = 120_000 * 10 * KIB / (2 * GIB)
"""Virtuoso's pool by memory: 120,000 buffers of 10 KiB in 2 GiB, as the published SunFire V20z was set up"""
BUFFERS_FACTOR = 1.2
SMALL_GIB = 1.0
"""memory below which a server process has little beside its pool"""
SMALL_PROCESS_GIB = 0.03
PROCESS_FACTOR = 1.3
LAST_OLD_YEAR = 2010
"""year of a processor's first models until which its system is Linux 2.6"""
VIRTUOSO_SINCE = {"virtuoso-4": 0, "virtuoso-5": 2006, "virtuoso-6": 2009}
"""years of processors that were new with a version"""
OLD_MYSQL = "mysql-5-1"
"""release that "MySQL" means on a machine of the articles' time"""
BUFFERED_POOL_SHARES = (0.25, 0.5)
"""pool by memory of engines that read through the page cache: PostgreSQL's manual begins at a quarter; up to this"""
DIRECT_POOL_SHARES = (0.75, 0.5)
"""the same with direct I/O: what innodb_dedicated_server takes of more than 4 GiB; MySQL's manual begins at half"""
DIRECT_SMALL_GIB = 4.0
"""memory up to which innodb_dedicated_server takes half for the pool"""
NEAREST = "the nearest in the catalogue"
RELEASE_FACTOR = 1.1
"""assumption: path lengths of one engine's releases differ by a tenth"""
RELEASE_KEY = "database.path.row_operation_us"


@dataclass(frozen=True)
class Host:
    """A described machine as its database's owner sees it."""

    memory_gib: float
    threads: int
    has_flash: bool


@dataclass(frozen=True)
class OwnersSetting:
    """A setting of the database. `key`: below the scenario's `database`. `usual`: what a sensible owner chooses.

    `others`: values that are as good a guess. `shipped`: the server's default. `thing`: its name among a line's
    phrases, where it has one. `twice`: another key that is usually twice as much.
    """

    what: str
    key: str
    unit: str
    usual: Any
    shipped: Any
    source: str
    others: tuple[float | str, ...] = ()
    thing: str = ""
    twice: str = ""

    @property
    def format(self) -> str:
        """How its value is written."""
        return "" if isinstance(self.usual, str) else "g"

    def origin(self, phrases: Phrases) -> tuple[Any, Origin]:
        """Its value in a line, and the row for it."""
        key = f"database.{self.key}"
        is_shipped = self.thing not in phrases and "as_shipped" in phrases
        value = phrases.value(self.thing, self.shipped if is_shipped else self.usual)
        text = ("off", "on")[value] if isinstance(value, bool) else f"{value:{self.format}} {self.unit}".strip()
        piece = phrases.piece(self.thing, "as_shipped")
        if piece is not None:
            return value, Origin(self.what, key, text, piece, "the server's default" if is_shipped else "")
        others = tuple(self._other(key, other) for other in self.others if other != value)
        return value, Origin(self.what, key, text, None, self.source, others=others)

    def _other(self, key: str, other: float | str) -> str:
        above, _, last = key.rpartition(".")
        both = f"{above}={{{last}: {other}, {self.twice}: {2 * other}}}" if self.twice else ""
        return both or f"{key}={other:{self.format}}"


OF_POSTGRESQL = (
    OwnersSetting(
        "full-page writes", "checkpoint.full_page_writes", "", True, True,
        "PostgreSQL's default; the runs that its entry is fitted to had them off: their cost is the model's word",
        thing="whole_pages",
    ),
    OwnersSetting(
        "log at most", "checkpoint.most_log_gib", "GiB", 8, 1,
        "max_wal_size as pgtune gives it to OLTP; PostgreSQL's default is 1 GB, and 32 is hardly ever reached between "
        "two checkpoints",
        (1, 32), "wal_gib",
    ),
    OwnersSetting(
        "checkpoint interval", "checkpoint.interval_s", "s", 900, 300,
        "checkpoint_timeout of a server that changes much: 15 min (EDB's guide of its parameters), 10 to 30 "
        "(paquier.xyz/manuals/postgresql/settings/checkpoints); PostgreSQL's default is 5",
        (300, 1800),
    ),
)  # fmt: skip
REDO_OF_THREADS_GIB = 0.5
MOST_REDO_GIB = 16.0
REDO_OF_MEMORY = 0.5625
MOST_REDO_OF_MEMORY_GIB = 128.0
REDO_SOURCE = (
    "innodb_dedicated_server of MySQL 8.4 sets half a GiB for each hardware thread, at most 16; or a quarter; or by "
    "memory, as that of 8.0 (dev.mysql.com/doc/refman, innodb-dedicated-server); 'as shipped' is about 0.1 GiB"
)
IO_CAPACITY_KEY = "page_cleaner.io_capacity_per_s"
MOST_IO_CAPACITY = "io_capacity_max_per_s"
IO_CAPACITY_PER_S = 2000
IO_CAPACITY_SOURCE = (
    "MySQL's manual: about what the disks do, at most 20,000, and twice that at most; its default was 200 for hard "
    "disks until 8.4, and guides for flash set 1,000 to 8,000"
)
FSYNC_BY_DEFAULT = ("mysql-5-7", "mysql-8-0", "percona-5-7")
FLUSH_METHOD_SOURCE = "innodb_flush_method O_DIRECT, as usual on Linux and the default since MySQL 8.4; theirs is fsync"


def _innodb_settings(entry: str, host: Host) -> tuple[OwnersSetting, ...]:
    shipped = database_keys(entry).get("page_cleaner")
    if shipped is None:
        return ()
    redo_gib = min(max(REDO_OF_THREADS_GIB * host.threads, 1.0), MOST_REDO_GIB)
    by_memory_gib = min(max(round(REDO_OF_MEMORY * host.memory_gib), 1), MOST_REDO_OF_MEMORY_GIB)
    capacity = shipped["io_capacity_per_s"]
    return (
        OwnersSetting(
            "redo log", "page_cleaner.redo_capacity_gib", "GiB", redo_gib, shipped["redo_capacity_gib"],
            REDO_SOURCE, (redo_gib / 4, by_memory_gib),
        ),
        OwnersSetting(
            "io_capacity", IO_CAPACITY_KEY, "pages/s",
            max(capacity, IO_CAPACITY_PER_S) if host.has_flash else capacity, capacity, IO_CAPACITY_SOURCE,
            (1000, 8000) if host.has_flash else (), "io_capacity", MOST_IO_CAPACITY,
        ),
        *(
            [OwnersSetting("flush method", "io", "", "direct", "buffered", FLUSH_METHOD_SOURCE, ("buffered",))]
            if entry in FSYNC_BY_DEFAULT
            else []
        ),
    )  # fmt: skip


def not_of(piece: str, owner: str, engine: str) -> str:
    """What is wrong with a setting that is another engine's."""
    return f"{WHERE}: '{piece}': only {owner} has it here, and {engine} hasn't; leave it out, or name the engine"


def _settings(phrases: Phrases, entry: str, host: Host) -> tuple[dict[str, Any], list[Origin]]:
    """Keys of the settings that differ from the catalogue's, and rows. Raises InputError for another engine's."""
    mine = OF_POSTGRESQL if is_postgresql(entry) else _innodb_settings(entry, host)
    for thing in {each.thing for each in OF_POSTGRESQL} & phrases.keys():
        if not is_postgresql(entry):
            raise InputError(not_of(phrases[thing].piece, "PostgreSQL", entry))
    for thing in {"io_capacity", "io_capacity_most"} & phrases.keys():
        if not database_keys(entry).get("page_cleaner"):
            raise InputError(not_of(phrases[thing].piece, "InnoDB", entry))
    keys: dict[str, Any] = {}
    rows = []
    for setting in mine:
        value, row = setting.origin(phrases)
        if setting.key == IO_CAPACITY_KEY and "io_capacity_most" in phrases:
            rows += _most_io_capacity(phrases, value, keys)
        rows.append(row)
        if setting.key != IO_CAPACITY_KEY or value != setting.shipped:
            set_value(keys, setting.key, value)
            if setting.twice:
                keys["page_cleaner"].setdefault(setting.twice, 2 * value)
    return keys, rows


def _most_io_capacity(phrases: Phrases, usual: float, keys: dict[str, Any]) -> list[Origin]:
    """Put innodb_io_capacity_max into the keys. Raises InputError for less than innodb_io_capacity."""
    most, piece = phrases["io_capacity_most"].value, phrases["io_capacity_most"].piece
    if usual > most:
        hint = phrases.piece("io_capacity") or f"innodb_io_capacity {usual:g} (assumed; say it too)"
        raise InputError(f"{WHERE}: '{piece}': is less than '{hint}'")
    key = f"{IO_CAPACITY_KEY.rpartition('.')[0]}.{MOST_IO_CAPACITY}"
    set_value(keys, key, most)
    return [Origin("io_capacity at most", f"database.{key}", f"{most:,} pages/s", piece, "")]


@dataclass(frozen=True)
class LineEngine:
    """The engine that a line names or leaves open. `entry`: its release in the catalogue; `others`: as good a guess."""

    entry: str
    others: tuple[str, ...]
    source: str
    is_nearest: bool


def engine_of_line(phrases: Phrases, year: int) -> LineEngine:
    """The engine, by the year of the processors if the line leaves it open."""
    named = phrases.value("engine", NamedEngine(""))
    entry, others = named.entry, tuple(named.others)
    source = NEAREST if named.nearest else "" if not others else "or an earlier release"
    if "engine" not in phrases and year > LAST_OLD_YEAR:
        entry, source = DEFAULT_DATABASE, "no engine is said"
    if others and year <= LAST_OLD_YEAR and not re.search(r"\d", phrases["engine"].piece):
        entry, others, source = OLD_MYSQL, (), NEAREST
    if not entry:
        source, versions = "no version is said: Virtuoso of the processor's time", tuple(VIRTUOSO_SINCE)
        at = sum(since <= year for since in VIRTUOSO_SINCE.values()) - 1
        entry, others = versions[at], versions[max(at - 1, 0) : at + 2]
    return LineEngine(entry, tuple(each for each in others if each != entry), source, named.nearest)


def database_of(phrases: Phrases, engine: LineEngine, host: Host) -> tuple[dict[str, Any], list[Origin]]:
    """The engine with its pool and settings, and rows."""
    entry = engine.entry
    buffers, row = _buffers(phrases, entry, host.memory_gib)
    changes, of_settings = _settings(phrases, entry, host)
    changes = {"pool": {"buffers": buffers}} | changes
    rows = [row, *of_settings]
    if host.memory_gib < SMALL_GIB and entry in VIRTUOSO_SINCE:
        key, why = "database.process_memory_gib", "a server set up for little memory, as the published one with 512 MB"
        changes["process_memory_gib"] = SMALL_PROCESS_GIB
        rows.append(Origin("server process", key, f"{SMALL_PROCESS_GIB:g} GiB", None, why, PROCESS_FACTOR))
    alternatives = tuple(f"database={json.dumps({'base': version, **changes})}" for version in engine.others)
    known = f"{entry}, nearest known" if engine.is_nearest else entry
    row = Origin("database", "database", known, phrases.piece("engine"), engine.source, others=alternatives)
    if is_postgresql(entry) and entry != DEFAULT_DATABASE:
        length = database_keys(entry)["path"][RELEASE_KEY.rpartition(".")[2]]
        why = f"of {DEFAULT_DATABASE}, which was measured: releases differ by a tenth (assumption)"
        rows.append(Origin("path lengths", RELEASE_KEY, f"{length:g} us", None, why, RELEASE_FACTOR))
    return {"base": entry, **changes}, [row, *rows]


def _buffers(phrases: Phrases, entry: str, memory_gib: float) -> tuple[int, Origin]:
    named = database_keys(entry)
    per_buffer_kib = float(named["pool"]["memory_per_buffer_kib"])
    piece, factor, others = phrases.piece("buffers", "pool_gib", "as_shipped"), None, tuple[str, ...]()
    if "buffers" in phrases and "pool_gib" in phrases:
        one, other = phrases["buffers"].piece, phrases["pool_gib"].piece
        raise InputError(f"{WHERE}: '{one}' and '{other}' both say how large the pool is; keep one of them")

    def fitting(gib: float) -> int:
        return int(gib * GIB / KIB / per_buffer_kib)

    if "buffers" in phrases:
        buffers, source = phrases["buffers"].value, ""
    elif "pool_gib" in phrases:
        buffers, source = fitting(phrases["pool_gib"].value), f"of {per_buffer_kib:g} KiB each"
    elif "as_shipped" in phrases:
        buffers, source = int(named["pool"]["buffers"]), "the server's default"
    elif entry not in VIRTUOSO_SINCE:
        direct = named["io"] == "direct"
        share, most = DIRECT_POOL_SHARES if direct else BUFFERED_POOL_SHARES
        if direct and memory_gib <= DIRECT_SMALL_GIB:
            share, most = most, share
        manual = "MySQL" if direct else "PostgreSQL"
        buffers, others = fitting(share * memory_gib), (f"database.pool.buffers={fitting(most * memory_gib)}",)
        source = f"{100 * share:.0f} % of the memory, as {manual}'s manual advises"
    else:
        buffers, factor = fitting(POOL_SHARE * memory_gib), BUFFERS_FACTOR
        source = f"the published V20z's share of the memory, {100 * POOL_SHARE:.0f} %"
    return buffers, Origin("buffers", "database.pool.buffers", f"{buffers:,}", piece, source, factor, others)
