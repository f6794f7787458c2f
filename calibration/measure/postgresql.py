"""PostgreSQL's counters, by what its catalogue has: views and columns differ from version 13 to 18.

The server is found as libpq does it (PGHOST, PGPASSFILE, PGSERVICE, ...); nothing of that is kept.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from oltpsim.calibration.measure.kernel_files import KernelFiles
from oltpsim.simulator.errors import InputError, InstallationError

CONNECT_S = 10
LONGEST_QUERY_MS = 10_000
APPLICATION = "oltpsim measure"
NAMES = ("postgres", "postmaster")
"""of the server's first process"""
DATABASES = "from pg_catalog.pg_stat_database where datname is not null"
LOG_END = (
    "case when not pg_catalog.pg_is_in_recovery() "
    "then pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), '0/0') end"
)
RELATIONS = "from pg_catalog.pg_stat_io where object = 'relation'"


@dataclass(frozen=True)
class Counter:
    """A counter of the series: an SQL expression, the view and the columns that it needs, and what it is good for."""

    name: str
    view: str
    columns: tuple[str, ...]
    expression: str
    purpose: str


COUNTERS = (
    Counter("commits", "pg_stat_database", ("xact_commit",), f"select sum(xact_commit) {DATABASES}", "commits"),
    Counter("buffer_hits", "pg_stat_database", ("blks_hit",), f"select sum(blks_hit) {DATABASES}", "the pool's hits"),
    Counter("buffer_reads", "pg_stat_database", ("blks_read",), f"select sum(blks_read) {DATABASES}", "pool misses"),
    Counter("log_bytes", "pg_stat_wal", ("wal_bytes",), "select wal_bytes from pg_catalog.pg_stat_wal", "log bytes"),
    Counter("log_bytes", "pg_stat_database", ("xact_commit",), f"select {LOG_END}", "log bytes"),
    Counter("log_flushes", "pg_stat_wal", ("wal_sync",), "select wal_sync from pg_catalog.pg_stat_wal", "log flushes"),
    Counter(
        "log_flushes",
        "pg_stat_io",
        ("fsyncs", "object", "write_bytes"),
        "select sum(fsyncs) from pg_catalog.pg_stat_io where object = 'wal'",
        "log flushes",
    ),
    Counter(
        "written_bytes",
        "pg_stat_io",
        ("write_bytes",),
        f"select sum(write_bytes) {RELATIONS}",
        "pages written",
    ),
    Counter(
        "written_bytes",
        "pg_stat_io",
        ("writes", "op_bytes"),
        f"select sum(writes * op_bytes) {RELATIONS}",
        "pages written",
    ),
    Counter(
        "written_pages",
        "pg_stat_bgwriter",
        ("buffers_checkpoint", "buffers_clean", "buffers_backend"),
        "select buffers_checkpoint + buffers_clean + buffers_backend from pg_catalog.pg_stat_bgwriter",
        "pages written",
    ),
    Counter(
        "checkpoints",
        "pg_stat_checkpointer",
        ("num_timed", "num_requested"),
        "select num_timed + num_requested from pg_catalog.pg_stat_checkpointer",
        "checkpoints",
    ),
    Counter(
        "checkpoints",
        "pg_stat_bgwriter",
        ("checkpoints_timed", "checkpoints_req"),
        "select checkpoints_timed + checkpoints_req from pg_catalog.pg_stat_bgwriter",
        "checkpoints",
    ),
)
"""In 14 came pg_stat_wal, in 16 pg_stat_io; 17 moved checkpoints, 18 log flushes. The first of a name that is there."""
SETTINGS = """select name, setting, unit, source, boot_val from pg_catalog.pg_settings
where vartype in ('bool', 'enum', 'integer', 'real')
   or name in ('server_version', 'huge_pages_status', 'shared_preload_libraries', 'default_table_access_method')
order by name"""
COLUMNS = """
select c.relname, a.attname from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid
where c.relnamespace = 'pg_catalog'::regnamespace and c.relname = any(%s) and a.attnum > 0
"""


@dataclass
class PostgreSql:
    """A connection that reads counters. `lacks`: what can't be recorded and why, a line each."""

    connection: Any
    lacks: list[str] = field(default_factory=list)
    counters: list[Counter] = field(default_factory=list)

    @property
    def process(self) -> int:
        """The server's process that serves this connection."""
        return int(self.connection.info.backend_pid)

    def server_process(self, files: KernelFiles) -> int | None:
        """The server's first process, if it runs on this machine and is seen here."""
        host = self.connection.execute("select host(pg_catalog.inet_server_addr())").fetchone()[0]
        local = host is None or host.startswith("127.") or host == "::1"
        parent = files.parent(self.process) if local else None
        return parent if parent is not None and files.name(parent) in NAMES else None

    def sample(self) -> dict[str, float]:
        """Counters now, by name. Raises InputError if the server can't be read any longer."""
        import psycopg

        query = ", ".join(f"({counter.expression})" for counter in self.counters)
        try:
            row = self.connection.execute(f"select {query}").fetchone()
        except psycopg.Error as error:
            raise InputError(f"PostgreSQL: {_reason(error)}") from error
        pairs = zip(self.counters, row, strict=True)
        return {counter.name: float(value) for counter, value in pairs if value is not None}

    def settings_csv(self) -> str:
        """pg_settings as `copy ... to stdout csv header` writes it, without the texts, which may hold a password."""
        return self._table(SETTINGS)

    def folders(self) -> dict[str, str]:
        """Folder of the data, if the role may see it."""
        query = "select setting from pg_catalog.pg_settings where name = 'data_directory'"
        row = self.connection.execute(query).fetchone()
        if row is None:
            self.lacks.append(
                "data_directory: not shown to this role, so the data's device is unknown: GRANT pg_read_all_settings"
            )
            return {}
        return {"data": row[0], "log": f"{row[0]}/pg_wal"}

    def _table(self, query: str) -> str:
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow([column.name for column in cursor.description])
            writer.writerows(cursor.fetchall())
        return text.getvalue()

    def close(self) -> None:
        """End the connection."""
        self.connection.close()


def connect() -> PostgreSql:
    """A connection by libpq's places. Raises InputError if there is no server or it refuses, InstallationError."""
    try:
        import psycopg
    except ImportError as error:
        raise InstallationError("measure: reading PostgreSQL needs psycopg: pip install 'oltpsim[measure]'") from error
    try:
        connection = psycopg.connect(
            "",
            autocommit=True,
            connect_timeout=CONNECT_S,
            application_name=APPLICATION,
            options=f"-c statement_timeout={LONGEST_QUERY_MS} -c lock_timeout={LONGEST_QUERY_MS}",
        )
    except psycopg.Error as error:
        raise InputError(
            f"measure: PostgreSQL: {_reason(error)}; set PGHOST, PGPORT, PGUSER, PGDATABASE or PGSERVICE, and the "
            "password in PGPASSFILE; or --database none"
        ) from error
    database = PostgreSql(connection)
    _choose(database)
    return database


def _choose(database: PostgreSql) -> None:
    """Take the counters whose view has the columns and may be read; say which are missing. Raises InputError."""
    import psycopg

    views = sorted({counter.view for counter in COUNTERS})
    columns: dict[str, set[str]] = {}
    for view, column in database.connection.execute(COLUMNS, (views,)).fetchall():
        columns.setdefault(view, set()).add(column)
    refused: dict[str, str] = {}
    for view in sorted(columns):
        try:
            database.connection.execute(f"select 1 from pg_catalog.{view} limit 1")  # noqa: S608 - a name of COUNTERS
        except psycopg.Error as error:
            refused[view] = _reason(error)
    for counter in COUNTERS:
        has = set(counter.columns) <= columns.get(counter.view, set()) and counter.view not in refused
        if has and counter.name not in [chosen.name for chosen in database.counters]:
            database.counters.append(counter)
    _say_missing(database, refused)
    if not database.counters:
        raise InputError(f"measure: PostgreSQL: {'; '.join(database.lacks)}")


def _say_missing(database: PostgreSql, refused: dict[str, str]) -> None:
    chosen = {counter.purpose for counter in database.counters}
    for purpose in dict.fromkeys(counter.purpose for counter in COUNTERS):
        if purpose in chosen:
            continue
        views = [counter.view for counter in COUNTERS if counter.purpose == purpose]
        denied = [f"{view}: {refused[view]}; GRANT pg_monitor TO this role" for view in views if view in refused]
        reason = denied[0] if denied else f"{_listed(views)}: not in this version"
        database.lacks.append(f"{purpose} not recorded: {reason}")


def _listed(views: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(views))


def _reason(error: Exception) -> str:
    """What the server or libpq said, in one line."""
    return " ".join(str(error).split()).rstrip(";. ") or type(error).__name__
