"""BenchmarkSQL's log, of 4 and 5.

Traps: "Measured tpmC" is of new orders, tpmTOTAL of all transactions; the running averages before the end are of no
window; `limitTxnsPerMin` bounds the rate; the log holds no response times.
"""

import re

from oltpsim.calibration.importers.several_runs import RunMarks
from oltpsim.calibration.importers.vocabulary import labelled, moment_s
from oltpsim.calibration.records import FileReading
from oltpsim.models.input import SourceFile

KIND = "BenchmarkSQL log"
FIGURES = {
    "tpmC": re.compile(r"Term-00, Measured tpmC \(NewOrders\) = (\S+)"),
    "tpmTOTAL": re.compile(r"Term-00, Measured tpmTOTAL = (\S+)"),
    "count": re.compile(r"Term-00, Transaction Count = (\S+)"),
    "warehouses": re.compile(r"Term-00, warehouses=(\d+)"),
    "terminals": re.compile(r"Term-00, terminals=(\d+)"),
    "minutes": re.compile(r"Term-00, runMins=(\d+)"),
    "limit": re.compile(r"Term-00, limitTxnsPerMin=(\d+)"),
}
TEXTS = {
    "db": re.compile(r"Term-00, db=(\w+)"),
    "start": re.compile(r"Term-00, Session Start\s+= (.+)"),
    "end": re.compile(r"Term-00, Session End\s+= (.+)"),
}
DATABASES = {
    "postgres": "PostgreSQL",
    "oracle": "Oracle",
    "firebird": "Firebird",
    "mariadb": "MariaDB",
    "mysql": "MySQL",
}
RUNS = RunMarks(FIGURES["tpmC"], (re.compile(r"Term-00,\s+BenchmarkSQL v"),))


def detect(file: SourceFile) -> bool:
    """By the lines of its class jTPCC."""
    return "jTPCC : Term-00" in file.head


def read(file: SourceFile) -> FileReading:
    """Rates over the session. Raises InputError for a session that didn't end, or figures that differ."""
    reading = FileReading(KIND, file.name, tool="BenchmarkSQL")
    figures = {
        name: (file.number(word, f"{place}, {name}"), place) for name, (word, place) in labelled(file, FIGURES).items()
    }
    texts = labelled(file, TEXTS)
    missing = [name for name in ("tpmC", "tpmTOTAL") if name not in figures]
    missing += [f"Session {name.title()}" for name in ("start", "end") if name not in texts]
    if missing:
        file.truncated(f"the end of the session ({', '.join(missing)})")
    start_s, end_s = moment_s(texts["start"][0]), moment_s(texts["end"][0])
    if start_s is None or end_s is None or end_s <= start_s:
        seen = f"a session from {texts['start'][0]} to {texts['end'][0]}"
        file.refuse(texts["end"][1], seen, "two times in order", "give the log of one run")
    seconds = end_s - start_s
    _compare(file, figures, seconds)
    reading.window = (start_s, end_s)
    reading.set_window("whole", seconds, "s", texts["end"][1], "transactions of the session, from its start to its end")
    means = "new orders per minute of the session; not an audited tpmC"
    reading.add("outcome.new_orders_per_minute", *_leaf(figures["tpmC"], "tpmC"), means)
    per_minute, place = figures["tpmTOTAL"]
    reading.add("outcome.transactions_per_s", per_minute / 60.0, "1/min", place, "tpmTOTAL: all transactions, per s")
    for name, key, means in (
        ("terminals", "workload.clients", "terminals without think time"),
        ("warehouses", "workload.warehouses", "warehouses used"),
    ):
        if name in figures:
            reading.add(key, *_leaf(figures[name], name), means)
    if "limit" in figures and figures["limit"][0] > 0:
        means = "most transactions per minute that were asked for"
        reading.add("outcome.reported.limitTxnsPerMin", *_leaf(figures["limit"], "1/min"), means)
        reading.notes.append(f"limitTxnsPerMin {figures['limit'][0]:g}: the rate may be the limit's")
    reading.add_text("workload.driver", "BenchmarkSQL", figures["tpmC"][1], "load generator")
    if "db" in texts:
        name, place = texts["db"]
        reading.set_database(DATABASES.get(name, name), place)
    return reading


def _leaf(figure: tuple[float, str], unit: str) -> tuple[float, str, str]:
    return figure[0], unit, figure[1]


def _compare(file: SourceFile, figures: dict[str, tuple[float, str]], seconds: float) -> None:
    """Hold count, minutes and rates against the session's times, which are whole seconds."""
    if figures.get("minutes", (0.0, ""))[0] > 0:
        file.agree("runMins", *figures["minutes"], seconds / 60.0, "the session's times", 0.1 + 0.05 * seconds / 60.0)
    if "count" in figures:
        per_minute = figures["count"][0] / seconds * 60.0
        rounding = per_minute * 2.0 / seconds
        file.agree("tpmTOTAL", *figures["tpmTOTAL"], per_minute, "Transaction Count over the session", rounding)
    if figures["tpmC"][0] > figures["tpmTOTAL"][0]:
        file.refuse(figures["tpmC"][1], f"tpmC {figures['tpmC'][0]:g}", "at most tpmTOTAL", "give the log of one run")
