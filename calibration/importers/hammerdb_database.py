"""HammerDB's own SQLite database, hammer.DB, since 4.6.

Traps: columns were added over the versions, so they are asked for by name; JOBMETRIC is not there in 4.6 and 4.9;
one file holds many jobs, of which only those with a result count; only summary rows of JOBTIMING are of all virtual
users.
"""

import re
import sqlite3
from contextlib import closing

from oltpsim.calibration.importers import hammerdb
from oltpsim.calibration.importers.vocabulary import moment_s
from oltpsim.calibration.records import FileReading, MonitorSample, MonitorSamples
from oltpsim.models.input import SQLITE_MAGIC, SourceFile

KIND = "HammerDB database"
SETTINGS = {"warehouses": r"count_ware\s+(\d+)", "ramp": r"_rampup\s+(\d+)", "minutes": r"_duration\s+(\d+)"}
TIMINGS = (
    "procname", "calls", "avg_ms", "max_ms", "total_ms", "p99_ms", "p95_ms", "p75_ms", "p50_ms", "p25_ms",
    "elapsed_ms",
)  # fmt: skip


def detect(file: SourceFile) -> bool:
    """By SQLite's first bytes and the name of HammerDB's main table."""
    return file.opening.startswith(SQLITE_MAGIC) and b"JOBMAIN" in file.opening


def read(file: SourceFile) -> FileReading:
    """The only job with a result. Raises InputError for none, for several, and for a file that SQLite can't read."""
    reading = FileReading(KIND, file.name, tool=hammerdb.TOOL)
    try:
        with closing(sqlite3.connect(f"{file.path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            _read(file, reading, database)
    except sqlite3.DatabaseError as error:
        remedy = "copy it again after HammerDB ended"
        file.refuse("", f"a database that SQLite can't read ({error})", "a whole hammer.DB", remedy)
    return reading


def _columns(database: sqlite3.Connection, table: str) -> set[str]:
    return {str(row["name"]) for row in database.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _read(file: SourceFile, reading: FileReading, database: sqlite3.Connection) -> None:
    jobs: dict[str, list[str]] = {}
    for row in database.execute("SELECT jobid, output FROM JOBOUTPUT"):
        jobs.setdefault(str(row["jobid"]), []).append(str(row["output"]))
    done = [job for job, lines in jobs.items() if any(hammerdb.RESULT_LINE in line for line in lines)]
    if len(done) != 1:
        remedy = "delete the others, or export each with 'job ID'"
        file.refuse("", f"{len(done)} jobs with a result ({', '.join(done[:5])})", "one", remedy)
    job = done[0]
    hammerdb.virtual_users(file, reading, ((f"JOBOUTPUT, job {job}", line) for line in jobs[job]))
    main = database.execute("SELECT jobdict FROM JOBMAIN WHERE jobid = ?", (job,)).fetchone()
    settings = {
        key: match[1]
        for key, pattern in SETTINGS.items()
        if main and (match := re.search(pattern, str(main["jobdict"])))
    }
    if "minutes" in settings:
        hammerdb.period(
            reading,
            float(settings["minutes"]),
            float(settings["ramp"]) if "ramp" in settings else None,
            "JOBMAIN, jobdict",
        )
    if "warehouses" in settings:
        reading.add(
            "workload.warehouses", float(settings["warehouses"]), "warehouses", "JOBMAIN, jobdict", "warehouses built"
        )
    _timings(file, reading, database, job)
    _counter(file, reading, database, job)
    _metrics(file, reading, database, job)


def _timings(file: SourceFile, reading: FileReading, database: sqlite3.Connection, job: str) -> None:
    known = _columns(database, "JOBTIMING")
    if not {"procname", "calls", "total_ms", "elapsed_ms", "summary"} <= known:
        reading.notes.append("JOBTIMING has no summary: no latencies")
        return
    wanted = ", ".join(column for column in TIMINGS if column in known)
    query = f"SELECT {wanted} FROM JOBTIMING WHERE jobid = ? AND summary = 1"  # noqa: S608 - names of our own
    rows = {str(row["procname"]): dict(row) for row in database.execute(query, (job,))}
    if rows:
        hammerdb.timings(file, reading, rows, "JOBTIMING")


def _counter(file: SourceFile, reading: FileReading, database: sqlite3.Connection, job: str) -> None:
    """The active window is where the counter shows work; the timed period is its last minutes."""
    query = "SELECT counter, timestamp FROM JOBTCOUNT WHERE jobid = ? ORDER BY timestamp"
    points = [
        (moment_s(str(row["timestamp"])), file.number(row["counter"], "JOBTCOUNT"))
        for row in database.execute(query, (job,))
    ]
    busy = [(at, value) for at, value in points if at is not None and value > 0]
    ramp, duration = (reading.values.get(("window", key)) for key in ("ramp_s", "duration_s"))
    if len(busy) < 2 or not isinstance(duration, dict):
        return
    interval_s = (busy[-1][0] - busy[0][0]) / (len(busy) - 1)
    begin_s = busy[0][0] - interval_s + (float(str(ramp["value"])) if isinstance(ramp, dict) else 0.0)
    reading.window = (begin_s, begin_s + float(str(duration["value"])))
    kept = [(at, value) for at, value in busy if reading.window[0] < at <= reading.window[1]]
    ends_s, rates, means = [at for at, _ in kept], [value for _, value in kept], "commits per minute, timed period"
    reading.add_series("commits_per_minute", ends_s, rates, "TPM", "JOBTCOUNT", means)


def _metrics(file: SourceFile, reading: FileReading, database: sqlite3.Connection, job: str) -> None:
    if not _columns(database, "JOBMETRIC"):
        reading.notes.append("no table JOBMETRIC (4.6 and 4.9 have none): no CPU shares")
        return
    rows: list[MonitorSample] = []
    for row in database.execute("SELECT * FROM JOBMETRIC WHERE jobid = ? ORDER BY timestamp", (job,)):
        values = hammerdb.cpu_shares(file, dict(row), "", "JOBMETRIC")
        end_s = moment_s(str(row["timestamp"]))
        start_s = rows[-1].end_s if rows else None
        rows.append(MonitorSample(f"JOBMETRIC at {row['timestamp']}", values, start_s, end_s))
    if rows:
        reading.samples = MonitorSamples(tuple(rows), hammerdb.CPU_MEANINGS)
