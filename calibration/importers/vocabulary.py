"""Words that tools share: columns of the sysstat family, names of transactions, of snapshots' files, dates.

Columns come and go with versions, so none is found by its place.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from oltpsim.calibration.records import FileReading, Meaning, MonitorSample, RecordKey
from oltpsim.models.input import CUT_OFF, DAMAGED, SourceFile

DEVICE_COLUMNS: dict[str, tuple[str, float, str]] = {
    "r/s": ("reads_per_s", 1.0, "reads completed per s, after merging"),
    "w/s": ("writes_per_s", 1.0, "writes completed per s, after merging"),
    "tps": ("requests_per_s", 1.0, "reads and writes per s, after merging"),
    "rkB/s": ("read_kib_per_s", 1.0, "KiB read per s"),
    "wkB/s": ("write_kib_per_s", 1.0, "KiB written per s"),
    "rkB": ("read_kib_per_s", 1.0, "KiB read per s"),
    "wkB": ("write_kib_per_s", 1.0, "KiB written per s"),
    "kB_read/s": ("read_kib_per_s", 1.0, "KiB read per s"),
    "kB_wrtn/s": ("write_kib_per_s", 1.0, "KiB written per s"),
    "rMB/s": ("read_kib_per_s", 1024.0, "MiB read per s"),
    "wMB/s": ("write_kib_per_s", 1024.0, "MiB written per s"),
    "MB_read/s": ("read_kib_per_s", 1024.0, "MiB read per s"),
    "MB_wrtn/s": ("write_kib_per_s", 1024.0, "MiB written per s"),
    "rsec/s": ("read_kib_per_s", 0.5, "sectors of 512 bytes read per s"),
    "wsec/s": ("write_kib_per_s", 0.5, "sectors of 512 bytes written per s"),
    "r_await": ("read_await_ms", 1.0, "time of a read, queue and service"),
    "w_await": ("write_await_ms", 1.0, "time of a write, queue and service"),
    "await": ("await_ms", 1.0, "time of a request, queue and service"),
    "aqu-sz": ("queue_length", 1.0, "requests waiting or in service"),
    "avgqu-sz": ("queue_length", 1.0, "requests waiting or in service"),
    "util": ("utilisation_fraction", 0.01, "share of time with a request in flight"),
    "%util": ("utilisation_fraction", 0.01, "share of time with a request in flight"),
    "util-percent": ("utilisation_fraction", 0.01, "share of time with a request in flight"),
}
"""Field, factor to its unit, definition; kB of these tools are KiB."""

CPU_SHARES: dict[str, str] = {
    "user": "user", "usr": "user", "nice": "user", "guest": "user", "gnice": "user", "us": "user", "gu": "user",
    "system": "system", "sys": "system", "irq": "system", "soft": "system", "sy": "system",
    "iowait": "iowait", "wa": "iowait", "steal": "steal", "st": "steal", "idle": "idle", "id": "idle",
}  # fmt: skip
"""To which share of the record each column adds: niced work is user work, interrupts are system work."""

CPU_DEFINITION = {
    "user": "share of all CPUs' time in user mode, niced and guest work with it",
    "system": "share of all CPUs' time in the kernel, interrupts with it",
    "iowait": "share of all CPUs' time idle with I/O pending",
    "steal": "share of all CPUs' time taken by the hypervisor",
    "idle": "share of all CPUs' time idle without I/O pending",
}

ALL_SHARES = {f"cpu_{share}_fraction" for share in ("user", "system", "iowait", "idle")}
TPCC_CLASSES = ("new_order", "payment", "order_status", "delivery", "stock_level")
SHORT_CLASSES = {"neword": "new_order", "ostat": "order_status", "slev": "stock_level"}
BEFORE = {"start", "before", "begin", "pre"}
AFTER = {"end", "after", "stop", "post"}
DATE_FORMS = (
    "%m/%d/%y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%y %I:%M:%S %p",
    "%d-%b-%y %H:%M:%S",
)
SINCE_BOOT = "at least two: the first is since boot"
STAMP = re.compile(
    r"^\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|[+-]\d\d:?\d\d))?|\d{10}(?:\.\d+)?|"
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d\d:\d\d:\d\d(?:\.\d+)?)\]?(?:[ \t]+|$)"
)
"""Time that `ts` and wrappers write before each line"""
MOST_SHARES_OFF, MOST_WHOLE_SHARES_OFF = 1.0, 3.0
"""Percent that the CPU's shares may be off from 100, with decimals and as vmstat has them, without"""


@dataclass
class MonitorColumns:
    """Columns of one file, by name, as fields of the record. `meanings`: of the fields that were read so far."""

    file: SourceFile
    meanings: dict[RecordKey, Meaning] = field(default_factory=dict)

    def cpu(self, words: Mapping[str, object], place: str) -> dict[RecordKey, float]:
        """Shares of 1 from columns in percent, `%` before a name or not."""
        values: dict[RecordKey, float] = {}
        number = self.file.number
        for word, text in words.items():
            share = CPU_SHARES.get(word.strip("%"))
            if share is not None:
                path = ("resources", f"cpu_{share}_fraction")
                values[path] = values.get(path, 0.0) + number(text, f"{place}, {word}") * 0.01
                self.meanings[path] = Meaning("%", 0.01, CPU_DEFINITION[share])
        total = 100.0 * sum(values.values())
        has_decimals = any("." in str(text) for word, text in words.items() if word.strip("%") in CPU_SHARES)
        most = MOST_SHARES_OFF if has_decimals else MOST_WHOLE_SHARES_OFF
        if {path[-1] for path in values} >= ALL_SHARES and total > 0 and abs(total - 100.0) > most:
            self.file.refuse(f"{place}, CPU shares", f"{total:.1f} % together", "100 %", DAMAGED)
        return values

    def device(self, name: str, words: Mapping[str, object], place: str) -> dict[RecordKey, float]:
        """The columns that are known, of one device, in the record's units."""
        values: dict[RecordKey, float] = {}
        for word, text in words.items():
            if word in DEVICE_COLUMNS:
                key, factor, definition = DEVICE_COLUMNS[word]
                path = ("resources", "devices", name, key)
                values[path] = self.file.number(text, f"{place}, {name} {word}") * factor
                self.meanings[path] = Meaning(word, factor, definition)
        self._sizes(name, words, place)
        return values

    def _sizes(self, name: str, words: Mapping[str, object], place: str) -> None:
        """Hold the mean size of a request against the rates of bytes and requests beside it."""
        for way in ("r", "w"):
            columns = (f"{way}areq-sz", f"{way}kB/s", f"{way}/s")
            if all(column in words for column in columns):
                size, kib, per_s = (self.file.number(words[column], f"{place}, {name} {column}") for column in columns)
                if per_s >= 1.0:
                    rounding = 0.01 + 0.01 * (1.0 + size) / per_s
                    self.file.agree(
                        f"{name} {columns[0]}", size, place, kib / per_s, " over ".join(columns[1:]), rounding
                    )

    def swap(
        self, words: Mapping[str, object], names: Sequence[str], unit: str, factor: float, place: str, definition: str
    ) -> dict[RecordKey, float]:
        """Swap in and out, in columns of these two names."""
        values: dict[RecordKey, float] = {}
        for word, way in zip(names, ("in", "out"), strict=True):
            if word in words:
                path = ("resources", f"swap_{way}_kib_per_s")
                values[path] = self.file.number(words[word], f"{place}, {word}") * factor
                self.meanings[path] = Meaning(unit, factor, f"{word}: {definition}")
        return values


def class_name(word: str) -> str:
    """`new_order` for "New Order", "NEW_ORDER", "NEWORD", "neword"; other names in the same style."""
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    return SHORT_CLASSES.get(plain, plain)


def percentile(ordered: Sequence[float], percent: str) -> float:
    """The value that so many % of the values are at most, which are in order."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * float(percent) / 100.0))]


def mean_bounds(percentiles: Mapping[str, float], least: float, most: float) -> tuple[float, float]:
    """The least and the greatest mean that values with these percentiles and extremes can have."""
    points = sorted((float(percent) / 100.0, value) for percent, value in percentiles.items())
    shares = [0.0, *(share for share, _ in points), 1.0]
    values = [least, *(value for _, value in points), most]
    parts = [after - before for before, after in pairwise(shares)]
    low = sum(part * value for part, value in zip(parts, values[:-1], strict=True))
    return low, sum(part * value for part, value in zip(parts, values[1:], strict=True))


def phase_of(name: str) -> str | None:
    """Whether a file's name says that its counters are from the `start` or the `end` of a run; None if it doesn't."""
    words = set(re.split(r"[^a-z0-9]+", name.lower().rsplit("/", 1)[-1]))
    before, after = bool(words & BEFORE), bool(words & AFTER)
    return None if before == after else "start" if before else "end"


def moment_s(text: str) -> float | None:
    """Seconds since 1970 of a date with time as these tools print it, for UTC without an offset; None if it is none."""
    if re.fullmatch(r"\d{10}(?:\.\d+)?", text.strip()):
        return float(text)
    if re.search(r"\d[ T]\d\d:\d\d", text):
        try:
            moment = datetime.fromisoformat(text.strip().replace(",", "."))
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except ValueError:
            pass
    for form in DATE_FORMS:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return None


def by_header(file: SourceFile, at: int, header: Sequence[str], words: Sequence[str]) -> dict[str, str]:
    """A line's words by the columns above them. Raises InputError if it has another number of them."""
    if len(words) != len(header):
        file.refuse(f"line {at}", f"{len(words)} columns", f"{len(header)} as in the header", CUT_OFF)
    return dict(zip(header, words, strict=True))


def stamped_lines(file: SourceFile) -> Iterator[tuple[int, float | None, str]]:
    """Number, time and text of each line that has an end; the time that stands before it, None if none does."""
    for at, line in enumerate(file.ended_lines, 1):
        match = STAMP.match(line)
        yield (at, moment_s(match[1]), line[match.end() :]) if match else (at, None, line)


def labelled(file: SourceFile, patterns: Mapping[str, re.Pattern[str]]) -> dict[str, tuple[str, str]]:
    """Word that each pattern finds in a line, and the line's place; the last line of a name counts."""
    found: dict[str, tuple[str, str]] = {}
    for at, line in enumerate(file.lines, 1):
        for name, pattern in patterns.items():
            if match := pattern.search(line):
                found[name] = match[1], f"line {at}"
    return found


def sysstat_statistics(file: SourceFile, reading: FileReading, key: str, remedy: str) -> tuple[Any, list[Any]]:
    """The host of a JSON file of the sysstat family, and its samples that have a key; reads the number of CPUs."""
    try:
        host = file.data["sysstat"]["hosts"][0]
        samples = [sample for sample in host["statistics"] if key in sample]
    except (KeyError, IndexError, TypeError):
        file.refuse("", "JSON of another shape", f"sysstat.hosts[0].statistics with {key}", remedy)
    if host.get("number-of-cpus") is not None:
        reading.set_cores(file.number(host["number-of-cpus"], "number of CPUs"), "banner")
    return host, samples


def sysstat_banner(file: SourceFile, reading: FileReading) -> str:
    """The first line of a text of the sysstat family; reads the number of CPUs."""
    if match := re.match(r"^Linux \S+ \(.*\((\d+) CPU\)", file.lines[0]):
        reading.set_cores(file.number(match[1], "number of CPUs"), "banner")
    return file.lines[0]


def with_starts(rows: list[MonitorSample]) -> list[MonitorSample]:
    """Samples with each start where the one before ended, if ends are known."""
    ends = [row.end_s for row in rows]
    if any(end is None for end in ends):
        return rows
    starts = [None, *ends[:-1]]
    return [MonitorSample(row.place, row.values, start, row.end_s) for row, start in zip(rows, starts, strict=True)]


def since_boot_dropped(file: SourceFile, tool: str, rows: list[MonitorSample]) -> tuple[MonitorSample, ...]:
    """Samples but the first. Raises InputError if there is no second one."""
    if len(rows) < 2:
        file.refuse("", f"{len(rows)} sample", SINCE_BOOT, f"run {tool} with an interval")
    return tuple(with_starts(rows)[1:])
