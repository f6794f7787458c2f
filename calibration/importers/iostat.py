"""iostat, JSON (`-o JSON`) or text, extended (`-x`) or not.

Traps: wrappers write a time before each line; the first sample is since boot and is dropped; columns differ by version
and are found by name; MB/s or kB/s by flag, told by the column's name.
"""

import re
from collections.abc import Iterator

from oltpsim.calibration.importers.vocabulary import (
    STAMP,
    MonitorColumns,
    by_header,
    moment_s,
    since_boot_dropped,
    stamped_lines,
    sysstat_banner,
    sysstat_statistics,
)
from oltpsim.calibration.records import FileReading, MonitorSample, MonitorSamples, RecordKey
from oltpsim.models.input import SourceFile

KIND = "iostat"
HEADER = re.compile(r"^Device:?\s.*(?:r/s|tps)")


def detect(file: SourceFile) -> bool:
    """By "avg-cpu" with "disk" in JSON, or by a line of columns that begins with Device."""
    lines = file.head.splitlines()
    return '"disk_device"' in file.head or any(HEADER.match(STAMP.sub("", line)) for line in lines)


def read(file: SourceFile) -> FileReading:
    """Samples without the first. Raises InputError if there is no second one."""
    reading = FileReading(KIND, file.name)
    columns = MonitorColumns(file)
    from_file = _from_json if file.text.lstrip().startswith("{") else _from_text
    rows = list(from_file(file, reading, columns))
    samples = since_boot_dropped(file, "iostat", rows)
    reading.notes.append(f"the first of {len(rows)} samples is since boot (unless iostat ran with -y) and left out")
    reading.samples = MonitorSamples(samples, columns.meanings)
    return reading


def _from_json(file: SourceFile, reading: FileReading, columns: MonitorColumns) -> Iterator[MonitorSample]:
    remedy = "write it with iostat -o JSON"
    _, samples = sysstat_statistics(file, reading, "disk", remedy)
    for at, sample in enumerate(samples, 1):
        place = f"sample {at}"
        values = columns.cpu(sample.get("avg-cpu", {}), place)
        for words in sample["disk"]:
            if "disk_device" not in words:
                file.refuse(place, "a disk without a name", "disk_device", remedy)
            values |= columns.device(words["disk_device"], words, place)
        yield MonitorSample(place, values, end_s=moment_s(str(sample.get("timestamp", ""))))


def _from_text(file: SourceFile, reading: FileReading, columns: MonitorColumns) -> Iterator[MonitorSample]:
    sysstat_banner(file, reading)
    samples: list[MonitorSample] = []
    values: dict[RecordKey, float] = {}
    """of the sample that is being read: CPU shares come first, then its devices"""
    header: list[str] = []
    cpu: dict[RecordKey, float] = {}
    end_s: float | None = None
    for at, stamp_s, line in stamped_lines(file):
        end_s = end_s if stamp_s is None else stamp_s
        words = line.split()
        if not words:
            header = []
        elif words[0].startswith("avg-cpu"):
            header = ["avg-cpu", *words[1:]]
        elif words[0].rstrip(":") == "Device":
            header, values, cpu = ["Device", *words[1:]], cpu, {}
            samples.append(MonitorSample(f"line {at}", values, end_s=end_s))
        elif header and header[0] == "Device":
            values.update(columns.device(words[0], by_header(file, at, header, words), f"line {at}"))
        elif header:
            cpu = columns.cpu(by_header(file, at, header[1:], words), f"line {at}")
        else:
            end_s = moment_s(line) or end_s
    devices = [{path[2] for path in sample.values if len(path) == 4} for sample in samples[-2:]]
    if len(devices) == 2 and devices[0] - devices[1] and not file.text.endswith("\n"):
        samples.pop()
        reading.notes.append("its last sample is incomplete and left out")
    elif len(devices) == 2 and devices[0] - devices[1]:
        remedy = "the file is cut off: drop its last sample"
        file.refuse(samples[-1].place, "a sample without all devices", "every device in each", remedy)
    yield from samples
