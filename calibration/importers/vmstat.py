"""vmstat's text.

Traps: the first row is since boot and is dropped; the columns differ by version (`st`, `gu`) and by -w; swap is in
KiB/s unless -S said otherwise; `bi` and `bo` are of all block devices, stacked ones twice, and are not used.
"""

from __future__ import annotations

import re

from calibration.importers.columns import cpu_values, moment_s
from calibration.importers.iostat import timed
from calibration.records import FileReading, Meaning, MonitorSample, MonitorSamples, RecordKey
from models.input import SourceFile

KIND = "vmstat"
HEADER = re.compile(r"^\s*r\s+b\s+swpd\s+free\s", re.MULTILINE)
SWAP = {"si": "swap_in_kib_per_s", "so": "swap_out_kib_per_s"}


def detect(file: SourceFile) -> bool:
    """By its line of columns."""
    return bool(HEADER.search(file.head))


def read(file: SourceFile) -> FileReading:
    """Samples without the first. Raises InputError if there is no second one."""
    reading = FileReading(KIND, file.name)
    meanings: dict[RecordKey, Meaning] = {}
    rows: list[MonitorSample] = []
    header: list[str] = []
    for at, line in enumerate(file.whole_lines, 1):
        if HEADER.match(line):
            header = line.split()
        elif header and re.match(r"^\s*\d+\s+\d+\s", line):
            rows.append(_row(file, at, header, line.split(), meanings))
    if len(rows) < 2:
        file.refuse("", f"{len(rows)} sample", "at least two: the first is since boot", "run vmstat with an interval")
    reading.notes.append(f"the first of {len(rows)} samples is since boot and left out")
    reading.samples = MonitorSamples(tuple(timed(rows)[1:]), meanings)
    return reading


def _row(
    file: SourceFile, at: int, header: list[str], words: list[str], meanings: dict[RecordKey, Meaning]
) -> MonitorSample:
    names = [name for name in header if not re.fullmatch(r"[A-Z+\d-]+", name)]
    if len(words) not in (len(names), len(names) + 2):
        file.refuse(
            f"line {at}",
            f"{len(words)} columns",
            f"{len(names)} as in the header",
            "the file is cut off: copy it again",
        )
    named = dict(zip(names, words, strict=False))
    values, found = cpu_values(named, file.number, f"line {at}")
    for word, key in SWAP.items():
        if word in named:
            path = ("resources", key)
            values[path] = file.number(named[word], f"line {at}, {word}")
            found[path] = Meaning("KiB/s", 1.0, f"{word}: swap of the whole machine, unless -S changed its unit")
    meanings.update(found)
    return MonitorSample(f"line {at}", values, end_s=moment_s(" ".join(words[len(names) :])))
