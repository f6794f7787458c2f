"""SHOW ENGINE INNODB STATUS before and after.

Trap: the rates it prints are over the seconds since somebody last asked (2 s or an hour); only its totals are used,
and of them only differences.
"""

import re

from oltpsim.calibration.importers.vocabulary import moment_s, phase_of
from oltpsim.calibration.records import CounterRate, CounterSnapshot, FileReading
from oltpsim.models.input import SourceFile

KIND = "InnoDB status"
BANNER = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \S+ INNODB MONITOR OUTPUT", re.MULTILINE)
END = "END OF INNODB MONITOR OUTPUT"
TOTALS = {
    "pages_read": re.compile(r"^Pages read (\d+), created \d+, written \d+", re.MULTILINE),
    "pages_written": re.compile(r"^Pages read \d+, created \d+, written (\d+)", re.MULTILINE),
    "fsyncs": re.compile(r"^\d+ OS file reads, \d+ OS file writes, (\d+) OS fsyncs", re.MULTILINE),
    "log_sequence_number": re.compile(r"^Log sequence number\s+(\d+)", re.MULTILINE),
}
RATES = (
    CounterRate(("resources", "buffer_reads_per_s"), "pages_read", "pages", "pages read into the pool"),
    CounterRate(("resources", "buffer_writes_per_s"), "pages_written", "pages", "pages written from the pool"),
    CounterRate(("resources", "log_bytes_per_s"), "log_sequence_number", "B", "growth of the log sequence number"),
)


def detect(file: SourceFile) -> bool:
    """By its banner."""
    return BANNER.search(file.head) is not None


def read(file: SourceFile) -> FileReading:
    """Totals at its moment. Raises InputError for an output that was cut (the client cuts it at 1 MB)."""
    reading = FileReading(KIND, file.name)
    banner = BANNER.search(file.text)
    assert banner
    if END not in file.text:
        file.truncated(END)
    counters = {}
    for name, pattern in TOTALS.items():
        match = pattern.search(file.text)
        if match is None:
            file.refuse("", f"no line with {name}", "InnoDB's totals", "give the whole output")
        counters[name] = float(match[1])
    reading.snapshot = CounterSnapshot(phase_of(file.name), counters, RATES, clock_s=moment_s(banner[1]))
    reading.set_database("MySQL or MariaDB", "InnoDB's monitor")
    return reading
