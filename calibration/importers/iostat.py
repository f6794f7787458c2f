"""iostat, JSON (`-o JSON`) or text, extended (`-x`) or not.

Traps: the first sample is since boot and is dropped; columns differ by version and are found by name; MB/s or kB/s
by flag, told by the column's name.
"""

from __future__ import annotations

import re
from itertools import pairwise

from calibration.importers.columns import cpu_values, device_values, moment_s
from calibration.records import FileReading, Meaning, MonitorSample, MonitorSamples, RecordKey
from models.input import SourceFile

KIND = "iostat"
BANNER = re.compile(r"^Linux \S+ \(.*\((\d+) CPU\)")
SINCE_BOOT = "the first of {} samples is since boot (unless iostat ran with -y) and left out"


def detect(file: SourceFile) -> bool:
    """By "avg-cpu" with "disk" in JSON, or by a line of columns that begins with Device."""
    return '"disk_device"' in file.head or bool(re.search(r"^Device:?\s.*(?:r/s|tps)", file.head, re.MULTILINE))


def read(file: SourceFile) -> FileReading:
    """Samples without the first. Raises InputError if there is no second one."""
    reading = FileReading(KIND, file.name)
    meanings: dict[RecordKey, Meaning] = {}
    rows = (
        _from_json(file, reading, meanings)
        if file.text.lstrip().startswith("{")
        else _from_text(file, reading, meanings)
    )
    if len(rows) < 2:
        file.refuse("", f"{len(rows)} sample", "at least two: the first is since boot", "run iostat with an interval")
    reading.notes.append(SINCE_BOOT.format(len(rows)))
    reading.samples = MonitorSamples(tuple(timed(rows)[1:]), meanings)
    return reading


def timed(rows: list[MonitorSample]) -> list[MonitorSample]:
    """The same with each start where the one before ended, if ends are known."""
    ends = [row.end_s for row in rows]
    if any(end is None for end in ends):
        return rows
    starts = [None, *ends[:-1]]
    return [MonitorSample(row.place, row.values, start, row.end_s) for row, start in zip(rows, starts, strict=True)]


def _from_json(file: SourceFile, reading: FileReading, meanings: dict[RecordKey, Meaning]) -> list[MonitorSample]:
    try:
        host = file.data["sysstat"]["hosts"][0]
        statistics = host["statistics"]
        disks = [{disk["disk_device"]: disk for disk in each["disk"]} for each in statistics]
    except (KeyError, IndexError, TypeError):
        file.refuse(
            "", "JSON of another shape", "sysstat.hosts[0].statistics with disk_device", "write it with iostat -o JSON"
        )
    cores(reading, file, host.get("number-of-cpus"))
    rows = []
    for at, (each, devices) in enumerate(zip(statistics, disks, strict=True), 1):
        place = f"sample {at}"
        values, found = cpu_values(each.get("avg-cpu", {}), file.number, place)
        for name, words in devices.items():
            more = device_values(name, words, file.number, place)
            values, found = values | more[0], found | more[1]
        meanings.update(found)
        rows.append(MonitorSample(place, values, end_s=moment_s(str(each.get("timestamp", "")))))
    return rows


def cores(reading: FileReading, file: SourceFile, word: object) -> None:
    """The number of CPUs that sysstat's banner names."""
    if word is not None:
        reading.observe(
            ("environment", "cores"), file.number(word, "number of CPUs"), "CPUs", "banner", "CPUs that are on line"
        )


def _from_text(file: SourceFile, reading: FileReading, meanings: dict[RecordKey, Meaning]) -> list[MonitorSample]:
    banner = BANNER.match(file.lines[0])
    if banner:
        cores(reading, file, banner[1])
    blocks: list[tuple[int, dict[RecordKey, float], float | None]] = []
    header: list[str] = []
    cpu: dict[RecordKey, float] = {}
    end_s: float | None = None
    for at, line in enumerate(file.whole_lines, 1):
        words = line.split()
        if not words:
            header = []
        elif words[0].startswith("avg-cpu"):
            header = ["avg-cpu", *words[1:]]
        elif words[0].rstrip(":") == "Device":
            header = ["Device", *words[1:]]
            blocks.append((at, cpu, end_s))
            cpu = {}
        elif header:
            named = words if header[0] == "Device" else ["", *words]
            if len(named) != len(header):
                file.refuse(
                    f"line {at}",
                    f"{len(words)} columns",
                    f"{len(header)} as in the header",
                    "the file is cut off: copy it again",
                )
            rest = dict(zip(header[1:], named[1:], strict=True))
            if header[0] == "Device":
                values, found = device_values(named[0], rest, file.number, f"line {at}")
                blocks[-1][1].update(values)
            else:
                cpu, found = cpu_values(rest, file.number, f"line {at}")
            meanings.update(found)
        else:
            end_s = moment_s(line) or end_s
    _complete(file, blocks)
    return [MonitorSample(f"line {at}", values, end_s=end_s) for at, values, end_s in blocks]


def _complete(file: SourceFile, blocks: list[tuple[int, dict[RecordKey, float], float | None]]) -> None:
    """Refuse a last sample that lacks what the one before it has."""
    for (_, before, _), (at, last, _) in list(pairwise(blocks))[-1:]:
        if {path[2] for path in before if len(path) == 4} - {path[2] for path in last if len(path) == 4}:
            file.refuse(
                f"line {at}",
                "a sample without all devices",
                "every device in each",
                "the file is cut off: drop its last sample",
            )
