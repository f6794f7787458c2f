"""dstat's CSV (--output), of 0.7.

Traps: the first row is since boot; the header is of two rows, a group's name standing over the first of its columns;
disks are in bytes/s (dsk/) and requests/s (io/); `time` has a day and no year, which stands in the line Cmdline.
"""

import csv
import re
from datetime import UTC, datetime

from oltpsim.calibration.importers.vocabulary import MonitorColumns, by_header, since_boot_dropped
from oltpsim.calibration.records import FileReading, Meaning, MonitorSample, MonitorSamples, RecordKey
from oltpsim.models.input import SourceFile

KIND = "dstat"
OPENING = re.compile(r'^"?(?:Dstat|pcp-dstat) [\d.]+ CSV output')
CPU = {"usr": "usr", "sys": "sys", "idl": "idle", "wai": "iowait", "stl": "steal", "hiq": "irq", "siq": "soft"}
DISK = {
    ("dsk", "read"): ("read_kib_per_s", 1 / 1024, "bytes read per s"),
    ("dsk", "writ"): ("write_kib_per_s", 1 / 1024, "bytes written per s"),
    ("io", "read"): ("reads_per_s", 1.0, "reads per s"),
    ("io", "writ"): ("writes_per_s", 1.0, "writes per s"),
}
YEAR = re.compile(r'"Date:","[^"]*?(\d{4})')


def detect(file: SourceFile) -> bool:
    """By its first line."""
    return OPENING.match(file.head) is not None


def read(file: SourceFile) -> FileReading:
    """Samples without the first. Raises InputError if there is no second one, or no header."""
    reading = FileReading(KIND, file.name)
    columns = MonitorColumns(file)
    year = YEAR.search(file.head)
    rows: list[MonitorSample] = []
    groups: list[str] = []
    header: list[str] = []
    above: list[str] = []
    for at, line in enumerate(file.ended_lines, 1):
        words = next(csv.reader([line.replace("\r", "")]), [])
        if not words or words[0].rstrip(":") in ("Author", "Host", "Cmdline") or OPENING.match(line):
            above = []
        elif re.match(r"^[\d.-]", words[0]) and header:
            named = by_header(file, at, header, words)
            values = _values(columns, groups, named, f"line {at}")
            rows.append(MonitorSample(f"line {at}", values, end_s=_moment_s(named, year[1] if year else "")))
        else:
            groups, header = _header(above, words) if above else ([], [])
            above = words
    samples = since_boot_dropped(file, "dstat", rows)
    reading.notes.append(f"the first of {len(rows)} samples is since boot and left out")
    reading.samples = MonitorSamples(samples, columns.meanings)
    return reading


def _header(above: list[str], words: list[str]) -> tuple[list[str], list[str]]:
    """Group of each column, and its name within the group, which the number keeps apart from others."""
    groups: list[str] = []
    for at in range(len(words)):
        name = above[at] if at < len(above) else ""
        groups.append(name or (groups[-1] if groups else ""))
    return groups, [f"{number} {word}" for number, word in enumerate(words)]


def _values(columns: MonitorColumns, groups: list[str], named: dict[str, str], place: str) -> dict[RecordKey, float]:
    shares: dict[str, object] = {}
    values: dict[RecordKey, float] = {}
    for group, (numbered, text) in zip(groups, named.items(), strict=True):
        word = numbered.partition(" ")[2]
        kind, _, device = group.partition("/")
        if group.startswith("total cpu usage") and word in CPU:
            shares[CPU[word]] = text
        elif (kind, word) in DISK and device:
            key, factor, definition = DISK[kind, word]
            path = ("resources", "devices", device, key)
            values[path] = columns.file.number(text, f"{place}, {group} {word}") * factor
            columns.meanings[path] = Meaning(word, factor, definition)
    return values | columns.cpu(shares, place)


def _moment_s(named: dict[str, str], year: str) -> float | None:
    """Seconds since 1970 by the columns epoch or time, for UTC."""
    words = {name.partition(" ")[2]: text for name, text in named.items()}
    try:
        if "epoch" in words:
            return float(words["epoch"])
        return datetime.strptime(f"{year} {words['time']}", "%Y %d-%m %H:%M:%S").replace(tzinfo=UTC).timestamp()
    except (KeyError, ValueError):
        return None
