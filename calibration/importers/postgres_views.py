"""PostgreSQL's statistics views before and after, as CSV, JSON (json_agg), or psql's tables and expanded records.

Traps: `blks_read` asks the operating system, whose cache may answer; in 18 pg_stat_io's `reads` counts calls and
`read_bytes` bytes; 17 moved checkpoints out of pg_stat_bgwriter; 18 moved log flushes into pg_stat_io. All are
totals since a reset and mean something only as differences.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from oltpsim.calibration.importers.printed_tables import printed_columns, printed_rows
from oltpsim.calibration.importers.vocabulary import phase_of
from oltpsim.calibration.records import CounterRate, CounterSnapshot, FileReading
from oltpsim.models.input import SourceFile

KIND = "PostgreSQL"
Row = Mapping[str, object]
VIEWS: dict[str, set[str]] = {
    "pg_stat_database": {"datname", "xact_commit", "blks_read", "blks_hit"},
    "pg_stat_io": {"backend_type", "object", "context", "reads"},
    "pg_stat_statements": {"query", "calls", "shared_blks_read"},
    "pg_stat_wal": {"wal_records", "wal_bytes"},
    "pg_stat_checkpointer": {"num_timed", "buffers_written"},
    "pg_stat_bgwriter": {"buffers_clean", "maxwritten_clean", "buffers_alloc"},
    "pg_statio_user_tables": {"relname", "heap_blks_read", "heap_blks_hit"},
    "pg_statio_user_indexes": {"indexrelname", "idx_blks_read", "idx_blks_hit"},
    "pg_stat_user_tables": {"relname", "seq_scan", "n_tup_ins"},
    "pg_stat_slru": {"name", "blks_zeroed"},
    "pg_stat_activity": {"pid", "query_start", "backend_type"},
    "pg_buffercache": {"rel", "buffers", "dirty"},
}
"""By which columns each is known, whatever else a version has; the first that fits: statements have wal_bytes too."""
READS = "buffer_reads_per_s"
READ_MEANS = "pages that the pool asked the operating system for; its page cache may have answered"


def detect(file: SourceFile) -> bool:
    """By the columns."""
    return _view(file) is not None


def _view(file: SourceFile) -> str | None:
    names = printed_columns(file)
    return next((view for view, columns in VIEWS.items() if columns <= names), None)


def read(file: SourceFile) -> FileReading:
    """Counters of one view at one moment."""
    view = _view(file)
    assert view is not None
    reading = FileReading(f"{KIND} {view}", file.name)
    rows: list[Row] = [row for _, row in printed_rows(file)]
    if not rows:
        file.refuse("", f"no rows of {view}", "one at least", "export it again")
    phase = phase_of(file.name)

    def number(row: Row, column: str) -> float:
        word = row.get(column)
        return 0.0 if word in (None, "") else file.number(word, column)

    if view == "pg_stat_activity":
        _activity(rows, reading, phase)
    elif view in PARTS:
        counters, rates = PARTS[view](rows, number)
        reading.snapshot = CounterSnapshot(phase, counters, tuple(rates))
        reading.set_database("PostgreSQL", view)
    return reading


ViewFigures = tuple[dict[str, float], list[CounterRate]]
ColumnNumber = Callable[[Row, str], float]


def _rate(key: str, counter: str, unit: str, definition: str, factor: float = 1.0) -> CounterRate:
    return CounterRate(("resources", key), counter, unit, definition, factor)


def _database(rows: list[Row], number: ColumnNumber) -> ViewFigures:
    """Every database's counters; which one the run used shows only in the difference."""
    columns = ("xact_commit", "xact_rollback", "blks_read", "blks_hit")
    named = [row for row in rows if row["datname"]]
    return {column: sum(number(row, column) for row in named) for column in columns}, [
        _rate("commits_per_s", "xact_commit", "commits", "commits of all databases; pings of drivers count too"),
        _rate("buffer_hits_per_s", "blks_hit", "pages", "pages found in the pool"),
        _rate(READS, "blks_read", "pages", READ_MEANS),
    ]


def _io(rows: list[Row], number: ColumnNumber) -> ViewFigures:
    """Version 18 counts bytes beside calls; before it every call was one page of op_bytes."""
    relations = [row for row in rows if row["object"] == "relation"]

    def moved(row: Row, way: str) -> float:
        if f"{way}_bytes" in row:
            return number(row, f"{way}_bytes")
        return number(row, f"{way}s") * (number(row, "op_bytes") or 8192.0)

    counters = {f"relation_{way}_bytes": sum(moved(row, way) for row in relations) for way in ("read", "write")}
    counters["hits"] = sum(number(row, "hits") for row in relations)
    counters["wal_fsyncs"] = sum(number(row, "fsyncs") for row in rows if row["object"] == "wal")
    pages, read_means = 1.0 / 8192.0, f"{READ_MEANS}; read_bytes over 8 KiB, for `reads` counts calls"
    rates = [
        _rate(READS, "relation_read_bytes", "B", read_means, pages),
        _rate("buffer_writes_per_s", "relation_write_bytes", "B", "pages written by all backends", pages),
        _rate("buffer_hits_per_s", "hits", "pages", "pages found in the pool"),
    ]
    if counters["wal_fsyncs"]:
        rates.append(_rate("log_flushes_per_s", "wal_fsyncs", "fsyncs", "fsyncs of the log"))
    return counters, rates


def _wal(rows: list[Row], number: ColumnNumber) -> ViewFigures:
    counters = {column: number(rows[0], column) for column in ("wal_bytes", "wal_sync")}
    rates = [_rate("log_bytes_per_s", "wal_bytes", "B", "bytes of log made")]
    if "wal_sync" in rows[0]:
        rates.append(_rate("log_flushes_per_s", "wal_sync", "fsyncs", "fsyncs of the log"))
    return counters, rates


def _writer(rows: list[Row], number: ColumnNumber) -> ViewFigures:
    """Until 16 all writes of pages; from 17 on only the background writer's, which are no sum to report."""
    if "buffers_backend" not in rows[0]:
        return {}, []
    columns = ("buffers_checkpoint", "buffers_clean", "buffers_backend")
    definition = "pages written by checkpoints, background writer and backends; new pages count as written by backends"
    counters = {"written": sum(number(rows[0], column) for column in columns)}
    return counters, [_rate("buffer_writes_per_s", "written", "pages", definition)]


def _statements(rows: list[Row], number: ColumnNumber) -> ViewFigures:
    """What all statements together did; it lacks what was evicted from the view."""
    counters = {name: sum(number(row, name) for row in rows) for name in ("shared_blks_hit", "shared_blks_read")}
    return counters, [
        _rate("buffer_hits_per_s", "shared_blks_hit", "pages", "pages found in the pool by the statements kept"),
        _rate(READS, "shared_blks_read", "pages", READ_MEANS),
    ]


PARTS: dict[str, Callable[[list[Row], ColumnNumber], ViewFigures]] = {
    "pg_stat_database": _database,
    "pg_stat_statements": _statements,
    "pg_stat_io": _io,
    "pg_stat_wal": _wal,
    "pg_stat_bgwriter": _writer,
}


def _activity(rows: list[Row], reading: FileReading, phase: str | None) -> None:
    """The moment of the snapshot is when its own query began: no query began later."""
    starts = [str(row["query_start"]) for row in rows if row.get("query_start")]
    moments = [moment for text in starts if (moment := _moment_s(text)) is not None]
    if moments:
        reading.snapshot = CounterSnapshot(phase, {}, (), at_s=max(moments))
    clients = sum(1 for row in rows if row.get("backend_type") == "client backend") - 1
    if phase == "start" and clients > 0:
        reading.notes.append(f"{clients} clients were connected")


def _moment_s(text: str) -> float | None:
    word = text.strip()
    for form in ("%Y-%m-%d %H:%M:%S.%f%z", "%Y-%m-%d %H:%M:%S%z"):
        try:
            zone = "00" if word[-3:-2] in "+-" else ""
            return datetime.strptime(word + zone, form).astimezone(UTC).timestamp()
        except ValueError:
            continue
    return None
