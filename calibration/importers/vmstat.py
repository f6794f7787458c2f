"""vmstat's text.

Traps: wrappers write a time before each line, the line of columns too; the first row is since boot and is dropped; the
columns differ by version (`st`, `gu`) and by -w; swap is in KiB/s unless -S said otherwise; `bi` and `bo` are of all
block devices, stacked ones twice, and are not used.
"""

import re

from oltpsim.calibration.importers.vocabulary import STAMP, MonitorColumns, moment_s, since_boot_dropped, stamped_lines
from oltpsim.calibration.records import FileReading, MonitorSample, MonitorSamples
from oltpsim.models.input import CUT_OFF, SourceFile

KIND = "vmstat"
HEADER = re.compile(r"^\s*r\s+b\s+swpd\s+free\s")
SWAP = "swap of the whole machine, unless -S changed its unit"


def detect(file: SourceFile) -> bool:
    """By its line of columns."""
    return any(HEADER.match(STAMP.sub("", line)) for line in file.head.splitlines()[:200])


def read(file: SourceFile) -> FileReading:
    """Samples without the first. Raises InputError if there is no second one."""
    reading = FileReading(KIND, file.name)
    columns = MonitorColumns(file)
    rows: list[MonitorSample] = []
    names: list[str] = []
    for at, stamp_s, line in stamped_lines(file):
        if HEADER.match(line):
            names = [name for name in line.split() if not re.fullmatch(r"[A-Z+\d-]+", name)]
        elif names and re.match(r"^\s*\d+\s+\d+\s", line):
            words, place = line.split(), f"line {at}"
            if len(words) not in (len(names), len(names) + 2):
                file.refuse(place, f"{len(words)} columns", f"{len(names)} as in the header", CUT_OFF)
            named = dict(zip(names, words, strict=False))
            values = columns.cpu(named, place) | columns.swap(named, ("si", "so"), "KiB/s", 1.0, place, SWAP)
            end_s = moment_s(" ".join(words[len(names) :]))
            rows.append(MonitorSample(place, values, end_s=stamp_s if end_s is None else end_s))
    samples = since_boot_dropped(file, "vmstat", rows)
    reading.notes.append(f"the first of {len(rows)} samples is since boot and left out")
    reading.samples = MonitorSamples(samples, columns.meanings)
    return reading
