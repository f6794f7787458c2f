r"""SHOW GLOBAL STATUS of MySQL or MariaDB before and after, tab-separated, in frames or by `\G`, with a header or not.

Traps: totals since the start, of which only differences mean something; a hit is a read request without a read;
`Uptime` is the clock between two snapshots.
"""

import re

from oltpsim.calibration.importers.vocabulary import phase_of
from oltpsim.calibration.records import CounterRate, CounterSnapshot, FileReading
from oltpsim.models.input import SourceFile

KIND = "MySQL global status"
NAME = re.compile(r"^ *Variable_name: ([A-Z]\w+)$")
VALUE = re.compile(r"^ *(?:Value|Variable_value): (-?[\d.,]+)$", re.IGNORECASE)
ROW = re.compile(r"^\|?\s*([A-Z][A-Za-z]+_\w+|Queries|Questions|Uptime)\s*[\t|]\s*(-?[\d.,]+)\s*\|?$")


def detect(file: SourceFile) -> bool:
    """By InnoDB's counters."""
    pattern = r"^(?:\|?\s*|\s*Variable_name: )Innodb_buffer_pool_read_requests\s*(?:[\t|]|$)"
    return bool(re.search(pattern, file.head, re.MULTILINE))


def read(file: SourceFile) -> FileReading:
    """Counters at one moment. Raises InputError if those of the pool are not all there."""
    reading = FileReading(KIND, file.name)
    counters: dict[str, float] = {}
    name = ""
    for at, line in enumerate(file.whole_lines, 1):
        if match := NAME.match(line):
            name = match[1]
        elif name and (match := VALUE.match(line)):
            counters[name], name = file.number(match[1], f"line {at}, {name}"), ""
        elif match := ROW.match(line):
            counters[match[1]] = file.number(match[2], f"line {at}, {match[1]}")
    missing = {"Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads", "Uptime"} - set(counters)
    if missing:
        file.truncated(f"{', '.join(sorted(missing))}")
    counters["hits"] = counters["Innodb_buffer_pool_read_requests"] - counters["Innodb_buffer_pool_reads"]
    page = counters.get("Innodb_page_size")
    if page:
        reading.add("engine.page_kib", page / 1024, "B", "Innodb_page_size", "size of a page")
    known = [
        ("buffer_hits_per_s", "hits", "pages", "read requests less reads: pages found in the pool"),
        ("buffer_reads_per_s", "Innodb_buffer_pool_reads", "pages", "pages read because they were not in the pool"),
        ("buffer_writes_per_s", "Innodb_buffer_pool_pages_flushed", "pages", "pages flushed from the pool"),
        ("log_bytes_per_s", "Innodb_os_log_written", "B", "bytes of log written"),
        ("log_flushes_per_s", "Innodb_os_log_fsyncs", "fsyncs", "fsyncs of the log"),
        ("commits_per_s", "Com_commit", "commits", "COMMIT statements"),
    ]
    rates = tuple(
        CounterRate(("resources", key), name, unit, means) for key, name, unit, means in known if name in counters
    )
    reading.snapshot = CounterSnapshot(phase_of(file.name), counters, rates, clock_s=counters["Uptime"])
    reading.set_database("MySQL or MariaDB", "Innodb_ counters")
    return reading
