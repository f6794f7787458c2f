"""performance_schema's file_summary_by_instance before and after, as a client prints it.

Traps: its timers are picoseconds; totals since a reset, of which only differences mean something; it counts calls
of the engine, which the operating system's cache may answer.
"""

from oltpsim.calibration.importers.printed_tables import printed_columns, printed_rows
from oltpsim.calibration.importers.vocabulary import phase_of
from oltpsim.calibration.records import CounterRate, CounterSnapshot, FileReading
from oltpsim.models.input import SourceFile

KIND = "MySQL file summary"
PS_PER_MS = 1e9
DEVICE = "data files"
COLUMNS = {
    "count_read": "reads",
    "count_write": "writes",
    "sum_number_of_bytes_read": "read_bytes",
    "sum_number_of_bytes_write": "write_bytes",
    "sum_timer_read": "read_ps",
    "sum_timer_write": "write_ps",
}


def detect(file: SourceFile) -> bool:
    """By its columns."""
    return {"file_name", "count_read", "count_write"} <= printed_columns(file)


def read(file: SourceFile) -> FileReading:
    """Totals of the tables' files (.ibd, ibdata)."""
    reading = FileReading(KIND, file.name)
    counters = dict.fromkeys(COLUMNS.values(), 0.0)
    found: set[str] = set()
    for place, words in printed_rows(file):
        if words["file_name"].endswith(".ibd") or "/ibdata" in words["file_name"]:
            for column, name in COLUMNS.items():
                if column in words:
                    found.add(name)
                    counters[name] += file.number(words[column], f"{place}, {column}")
    rates = []
    base = ("resources", "devices", DEVICE)
    for way in ("read", "write"):
        if {f"{way}s", f"{way}_bytes"} <= found:
            rates += [
                CounterRate((*base, f"{way}s_per_s"), f"{way}s", "calls", f"{way}s of the tables' files, by calls"),
                CounterRate((*base, f"{way}_kib_per_s"), f"{way}_bytes", "B", f"bytes of {way}s", 1 / 1024),
            ]
        if f"{way}_ps" in found:
            rates.append(
                CounterRate(
                    (*base, f"{way}_await_ms"), f"{way}_ps", "ps", f"time of a {way}", 1 / PS_PER_MS, per=f"{way}s"
                )
            )
    if "read_ps" not in found:
        reading.notes.append("no sum_timer_read: no times; export the columns as they are, in picoseconds")
    reading.snapshot = CounterSnapshot(phase_of(file.name), {name: counters[name] for name in found}, tuple(rates))
    return reading
